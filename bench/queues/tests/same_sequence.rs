//! Every structure takes events in the same order.

use headrace_bench_queues::workload::{Entries, Hold, Increment, Random, Replay};
use headrace_bench_queues::{
    BinaryHeap, BinaryHeapPopPush, CalendarQueue, CompactWinnerTree, FourAryHeap, LadderQueue,
    NEVER, Pending, RadixHeap, WinnerTree, key, slot_of, time_of,
};
use proptest::prelude::*;

const STEPS: usize = 20_000;

/// The order itself: a sorted set.
struct Reference(std::collections::BTreeSet<u64>);

impl Pending for Reference {
    const NAME: &'static str = "sorted set";

    fn new(_: usize) -> Self {
        Reference(Default::default())
    }
    fn push(&mut self, key: u64) {
        assert!(self.0.insert(key), "keys are unique");
    }
    fn min(&mut self) -> u64 {
        self.0.first().copied().unwrap_or(NEVER)
    }
    fn pop(&mut self) -> u64 {
        self.0.pop_first().unwrap_or(NEVER)
    }
}

/// Calls a generic function with each structure.
macro_rules! for_each_structure {
    ($call:ident($($argument:expr),*)) => {
        $call::<BinaryHeap>($($argument),*);
        $call::<BinaryHeapPopPush>($($argument),*);
        $call::<FourAryHeap>($($argument),*);
        $call::<RadixHeap>($($argument),*);
        $call::<CalendarQueue>($($argument),*);
        $call::<LadderQueue>($($argument),*);
        $call::<WinnerTree>($($argument),*);
        $call::<CompactWinnerTree>($($argument),*);
    };
}

fn holds<Q: Pending>(pending: usize, increment: Increment, seed: u64) {
    let mut reference = Hold::<Reference>::new(pending, increment, seed);
    let mut hold = Hold::<Q>::new(pending, increment, seed);
    for step in 0..STEPS {
        assert_eq!(hold.step(), reference.step(), "{} at step {step} of {pending}", Q::NAME);
    }
}

#[test]
fn hold_model() {
    for increment in Increment::ALL {
        for pending in [1, 2, 3, 64, 1000, 4096] {
            for_each_structure!(holds(pending, increment, 7));
        }
    }
}

fn replays<Q: Pending>(links: usize, packets: usize, entries: Entries) {
    let mut reference = Replay::<Reference>::new(links, packets, entries, 11);
    let mut replay = Replay::<Q>::new(links, packets, entries, 11);
    let mut last = 0;
    for step in 0..STEPS {
        let now = replay.step();
        assert_eq!(now, reference.step(), "{} at step {step} of {links} links", Q::NAME);
        assert!(now > last || packets == 0, "time never goes back");
        last = now;
    }
}

#[test]
fn link_replay() {
    for (links, packets) in [(2, 1), (2, 9), (384, 1920), (768, 100), (60_000, 6000), (5, 0)] {
        for_each_structure!(replays(links, packets, Entries::PerLink));
    }
}

#[test]
fn an_entry_a_packet_gives_the_sequence_of_an_entry_a_link() {
    let mut per_packet = Replay::<BinaryHeapPopPush>::new(384, 1920, Entries::PerPacket, 3);
    let mut per_link = Replay::<WinnerTree>::new(384, 1920, Entries::PerLink, 3);
    for _ in 0..STEPS {
        assert_eq!(per_packet.step(), per_link.step());
    }
}

/// A random mix of pushes (one a slot), replacements and pops, until the set is empty again.
fn mixes<Q: Pending>(slots: usize, spread: u64, seed: u64) {
    let mut random = Random::new(seed);
    let (mut reference, mut queue) = (Reference::new(slots), Q::new(slots));
    let mut busy = vec![false; slots];
    let mut now = 0;
    for _ in 0..2000 {
        // Spreads from a picosecond to far beyond any bucket a structure has seen.
        let later = now + 1 + random.bits() % (1 << random.below(spread as usize));
        let slot = random.below(slots);
        let least = reference.min();
        assert_eq!(queue.min(), least, "{}", Q::NAME);
        match random.below(3) {
            0 | 1 if !busy[slot] => {
                busy[slot] = true;
                reference.push(key(later, slot));
                queue.push(key(later, slot));
            }
            2 if least != NEVER => {
                now = time_of(least);
                busy[slot_of(least)] = false;
                assert_eq!((queue.pop(), reference.pop()), (least, least), "{}", Q::NAME);
            }
            _ if least != NEVER => {
                now = time_of(least);
                let again = key(later.max(now + 1), slot_of(least));
                reference.replace_min(again);
                queue.replace_min(again);
            }
            _ => {}
        }
        now = now.max(if reference.min() == NEVER { 0 } else { time_of(reference.min()) });
    }
    while reference.min() != NEVER {
        assert_eq!(queue.pop(), reference.pop(), "{}", Q::NAME);
    }
    assert_eq!((queue.min(), queue.pop()), (NEVER, NEVER), "{}", Q::NAME);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_mix(slots in 1..300usize, spread in 1..34u64, seed: u64) {
        for_each_structure!(mixes(slots, spread, seed));
    }
}
