//! Pending-event structures, compared under the pattern that a packet-level simulator gives them.
//!
//! An event is one `u64` key, `time << SLOT_BITS | slot` ([`key`]): time in picoseconds, and the
//! link (or other source) that it belongs to. A FIFO link never has two events at one time, so keys
//! are unique, and their order is the order by (time, link): every structure here must give the
//! same sequence, and the tests hold them to it.
//!
//! [`workload`] has the two loads: the classic hold model, and the replay of packets over links.

mod binary_heap;
mod calendar;
mod four_ary;
mod ladder;
mod radix;
mod winner_tree;
pub mod workload;

pub use binary_heap::{BinaryHeap, BinaryHeapPopPush};
pub use calendar::CalendarQueue;
pub use four_ary::FourAryHeap;
pub use ladder::LadderQueue;
pub use radix::RadixHeap;
pub use winner_tree::{CompactWinnerTree, WinnerTree};

/// Bits of a key that hold the slot: up to 65,536 links, and 48 bits of picoseconds (281 s).
pub const SLOT_BITS: u32 = 16;

/// The key of no event: later than every event.
pub const NEVER: u64 = u64::MAX;

/// The key of slot `slot`'s event at `time` picoseconds.
#[inline]
pub fn key(time: u64, slot: usize) -> u64 {
    debug_assert!(time < 1 << (64 - SLOT_BITS) && slot < 1 << SLOT_BITS);
    time << SLOT_BITS | slot as u64
}

/// The time of a key, picoseconds.
#[inline]
pub fn time_of(key: u64) -> u64 {
    key >> SLOT_BITS
}

/// The slot of a key.
#[inline]
pub fn slot_of(key: u64) -> usize {
    (key & ((1 << SLOT_BITS) - 1)) as usize
}

/// A set of pending events, ordered by key.
///
/// Callers keep the simulator's contract: keys are unique, and none is pushed that is less than a
/// key which [`Pending::min`] or [`Pending::pop`] has already returned. Where
/// [`Pending::ONE_PER_SLOT`] holds, a slot has at most one event at a time.
pub trait Pending {
    /// Name in the tables.
    const NAME: &'static str;

    /// A slot holds at most one event at a time.
    const ONE_PER_SLOT: bool = false;

    /// An empty set for slots 0 to `slots - 1`.
    fn new(slots: usize) -> Self;

    /// Adds an event.
    fn push(&mut self, key: u64);

    /// The earliest event, which stays; [`NEVER`] if there is none.
    fn min(&mut self) -> u64;

    /// Removes and returns the earliest event; [`NEVER`] if there is none.
    fn pop(&mut self) -> u64;

    /// Replaces the earliest event, of which there is one, by an event of the same slot.
    #[inline]
    fn replace_min(&mut self, key: u64) {
        self.pop();
        self.push(key);
    }
}
