//! A host's timers, in the order of (time, owner, kind).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headrace_cc::units::Time;

/// What a timer wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wake {
    /// A flow that was called for earlier starts; the slot is its place among those.
    Start,
    /// A flow's sender.
    Sender,
    /// A flow's receiver.
    Receiver,
}

/// An entry. The order of the fields is the order of the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timer {
    pub(crate) time: Time,
    /// Id of the flow that owns it.
    pub(crate) flow: u64,
    pub(crate) wake: Wake,
    pub(crate) slot: u32,
}

/// The timers of one host. An entry is never taken back: its owner ignores one it no longer wants.
#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<Timer>>,
}

impl Timers {
    /// Adds an entry; true if it is the earliest now.
    pub(crate) fn push(&mut self, timer: Timer) -> bool {
        self.heap.push(Reverse(timer));
        self.heap.peek().is_some_and(|first| first.0 == timer)
    }

    /// Removes and returns the earliest.
    pub(crate) fn pop(&mut self) -> Option<Timer> {
        self.heap.pop().map(|entry| entry.0)
    }

    /// Time of the earliest; [`Time::NEVER`] for none.
    pub(crate) fn next(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |first| first.0.time)
    }
}
