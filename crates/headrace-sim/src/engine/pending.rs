//! The pending events: at most one for each source (a link, a port, a host, the sampler).
//!
//! A binary winner tree over the sources. A leaf holds `time << bits | source`, so that one integer
//! comparison orders by time and then by source, and every inner node holds the smaller of its two
//! children. Changing a leaf walks to the root without a branch that depends on the data. `bench/queues`
//! has the comparison with heaps, calendar and ladder queues.

use headrace_cc::units::Time;

/// The earliest event of each source.
pub(crate) struct Pending {
    /// The root: the least key.
    least: u64,
    /// `tree[1]` is the root too; the leaf of source `s` is `tree[leaves + s]`.
    tree: Box<[u64]>,
    /// The leaves are a power of two: 2^levels.
    levels: u32,
    /// The latest time that can be pending: 213 days over the number of sources. What is later is
    /// held here, so that it is seen to be too late rather than lost.
    horizon: Time,
    /// [`replay`] for this many levels.
    replay: Replay,
}

/// The latest time that can be pending with `count` sources.
pub(crate) fn horizon_of(count: usize) -> Time {
    Time::from_ps((IDLE >> count.next_power_of_two().trailing_zeros()) - 1)
}

/// See [`Pending::limit`].
#[derive(Clone, Copy)]
pub(crate) struct Limit(u64);

/// Leaf of a source that has nothing pending.
const IDLE: u64 = u64::MAX;

/// Most levels of the tree: a million sources.
const MAX_LEVELS: u32 = 20;

impl Pending {
    /// For sources `0..count`, all idle. Panics for more than 2^20.
    pub(crate) fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two();
        let levels = leaves.trailing_zeros();
        let replay = replay_for(levels);
        let tree = vec![IDLE; 2 * leaves].into_boxed_slice();
        Pending { least: IDLE, tree, levels, horizon: horizon_of(count), replay }
    }

    /// The earliest event: its time ([`Time::NEVER`]: there is none) and source. At equal times the
    /// lowest source.
    #[inline(always)]
    pub(crate) fn first(&self) -> (Time, usize) {
        let key = self.least;
        let time = if key == IDLE { u64::MAX } else { key >> self.levels };
        (Time::from_ps(time), (key & ((1 << self.levels) - 1)) as usize)
    }

    /// The earliest event if it is before `limit`.
    #[inline(always)]
    pub(crate) fn first_before(&self, limit: Limit) -> Option<(Time, usize)> {
        let key = self.least;
        let found = (Time::from_ps(key >> self.levels), (key & ((1 << self.levels) - 1)) as usize);
        (key < limit.0).then_some(found)
    }

    /// `time` as a limit of [`Pending::first_before`].
    #[inline(always)]
    pub(crate) fn limit(&self, time: Time) -> Limit {
        // Past the horizon only what is idle is left out.
        Limit(if time > self.horizon { IDLE } else { time.ps() << self.levels })
    }

    /// Sets the time of `source`'s event; [`Time::NEVER`] for none.
    #[inline(always)]
    pub(crate) fn set(&mut self, source: usize, time: Time) {
        let busy = time.min(self.horizon).ps() << self.levels | source as u64;
        let key = if time == Time::NEVER { IDLE } else { busy };
        self.least = (self.replay)(&mut self.tree, source, key);
    }
}

type Replay = fn(&mut [u64], usize, u64) -> u64;

/// The walk for a number of levels.
fn replay_for(levels: u32) -> Replay {
    macro_rules! by_levels {
        ($($levels:literal)+) => {
            match levels {
                $($levels => replay::<{ 2 << $levels }>,)+
                _ => panic!("{levels} levels of event sources; at most {MAX_LEVELS}"),
            }
        };
    }
    by_levels!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
}

/// Writes a leaf and plays its matches up to the root. The tree's length `N` is a constant, so that
/// the walk is unrolled and no index is checked. Returns the root.
fn replay<const N: usize>(tree: &mut [u64], source: usize, key: u64) -> u64 {
    let tree: &mut [u64; N] = tree.try_into().expect("the tree has the length of its levels");
    let mut i = (N / 2 + source) % N;
    let mut smallest = key;
    tree[i] = key;
    for _ in 1..N.trailing_zeros() {
        smallest = smallest.min(tree[i ^ 1]);
        i /= 2;
        tree[i] = smallest;
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn first_is_the_least_of_all(
            count in 1usize..70,
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0u64..50), 1..200),
        ) {
            let mut pending = Pending::new(count);
            let mut model = vec![Time::NEVER; count];
            for (index, time) in changes {
                let source = index.index(count);
                let time = if time == 0 { Time::NEVER } else { Time::from_ps(time) };
                pending.set(source, time);
                model[source] = time;
                let least = model.iter().enumerate().map(|(s, t)| (*t, s)).min().unwrap();
                prop_assert_eq!(pending.first().0, least.0);
                prop_assert!(least.0 == Time::NEVER || pending.first() == least);
            }
        }
    }
}
