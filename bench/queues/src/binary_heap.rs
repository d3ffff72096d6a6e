//! The standard library's binary heap.

use std::cmp::Reverse;
use std::collections::binary_heap::{BinaryHeap as StdHeap, PeekMut};

use crate::{NEVER, Pending};

/// [`std::collections::BinaryHeap`], its top replaced in place (one sift a hold).
#[derive(Debug, Default)]
pub struct BinaryHeap {
    heap: StdHeap<Reverse<u64>>,
}

impl Pending for BinaryHeap {
    const NAME: &'static str = "binary heap";

    fn new(slots: usize) -> Self {
        BinaryHeap { heap: StdHeap::with_capacity(slots) }
    }

    #[inline]
    fn push(&mut self, key: u64) {
        self.heap.push(Reverse(key));
    }

    #[inline]
    fn min(&mut self) -> u64 {
        self.heap.peek().map_or(NEVER, |top| top.0)
    }

    #[inline]
    fn pop(&mut self) -> u64 {
        self.heap.pop().map_or(NEVER, |top| top.0)
    }

    #[inline]
    fn replace_min(&mut self, key: u64) {
        if let Some(mut top) = self.heap.peek_mut() {
            *top = Reverse(key);
            // Sifts now rather than at the end of the scope, which is the same moment.
            drop::<PeekMut<'_, _>>(top);
        }
    }
}

/// [`std::collections::BinaryHeap`], a pop and a push a hold, as most simulators write it.
#[derive(Debug, Default)]
pub struct BinaryHeapPopPush(BinaryHeap);

impl Pending for BinaryHeapPopPush {
    const NAME: &'static str = "binary heap, pop + push";

    fn new(slots: usize) -> Self {
        BinaryHeapPopPush(BinaryHeap::new(slots))
    }

    #[inline]
    fn push(&mut self, key: u64) {
        self.0.push(key);
    }

    #[inline]
    fn min(&mut self) -> u64 {
        self.0.min()
    }

    #[inline]
    fn pop(&mut self) -> u64 {
        self.0.pop()
    }
}
