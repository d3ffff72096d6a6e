//! The pending events: at most one for each source (a link, a port, a host, the sampler).
//!
//! A binary winner tree over the sources. A leaf holds `time << bits | source`, so that one integer
//! comparison orders by time and then by source, and every inner node holds the smaller of its two
//! children. Changing a leaf walks to the root without a branch that depends on the data. `bench/`
//! has the comparison with heaps, calendars and wheels.

use headrace_cc::units::Time;

/// The earliest event of each source.
pub(crate) struct Pending {
    /// `tree[1]` is the root; the leaf of source `s` is `tree[leaves + s]`.
    tree: Vec<u64>,
    leaves: usize,
    bits: u32,
    horizon: Time,
}

/// Leaf of a source that has nothing pending.
const IDLE: u64 = u64::MAX;

impl Pending {
    /// For sources `0..count`, all idle.
    pub(crate) fn new(count: usize) -> Self {
        let leaves = count.max(2);
        let bits = usize::BITS - leaves.leading_zeros();
        let horizon = Time::from_ps((IDLE >> bits) - 1);
        Pending { tree: vec![IDLE; 2 * leaves], leaves, bits, horizon }
    }

    /// The latest time that can be pending: 213 days over (twice the number of sources).
    pub(crate) fn horizon(&self) -> Time {
        self.horizon
    }

    /// The earliest event: its time and source. At equal times the lowest source. `None`: nothing.
    #[inline(always)]
    pub(crate) fn first(&self) -> Option<(Time, usize)> {
        let key = self.tree[1];
        if key == IDLE {
            return None;
        }
        Some((Time::from_ps(key >> self.bits), (key & ((1 << self.bits) - 1)) as usize))
    }

    /// Sets the time of `source`'s event; [`Time::NEVER`], or any past the horizon, for none.
    #[inline(always)]
    pub(crate) fn set(&mut self, source: usize, time: Time) {
        let key = if time > self.horizon { IDLE } else { (time.ps() << self.bits) | source as u64 };
        let mut i = self.leaves + source;
        let tree = &mut self.tree[..];
        let mut smallest = key;
        tree[i] = key;
        while i > 1 {
            smallest = smallest.min(tree[i ^ 1]);
            i >>= 1;
            tree[i] = smallest;
        }
    }
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
                let expected = (least.0 != Time::NEVER).then_some(least);
                prop_assert_eq!(pending.first(), expected);
            }
        }
    }
}
