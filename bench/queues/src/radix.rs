//! A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest path
//! problem", 1990): monotone, as simulated time is.

use crate::{NEVER, Pending};

/// One bucket for the last minimum itself, and one for each bit that may differ from it first.
const BUCKETS: usize = 65;

/// A one-level radix heap of 64-bit keys.
#[derive(Debug)]
pub struct RadixHeap {
    /// Bucket `b > 0` holds the keys whose highest bit different from `last` is bit `b - 1`.
    buckets: [Vec<u64>; BUCKETS],
    /// Bit `b - 1`: bucket `b` is not empty.
    occupied: u64,
    /// The least key that was ever the minimum and may still be in bucket 0.
    last: u64,
    /// The bucket being emptied, kept for its allocation.
    spill: Vec<u64>,
}

impl RadixHeap {
    /// Makes bucket 0 hold the minimum, if there is one.
    #[inline]
    fn settle(&mut self) {
        if !self.buckets[0].is_empty() || self.occupied == 0 {
            return;
        }
        let lowest = self.occupied.trailing_zeros() as usize + 1;
        self.occupied &= self.occupied - 1;
        let mut spill = std::mem::take(&mut self.spill);
        std::mem::swap(&mut spill, &mut self.buckets[lowest]);
        if let Some(&least) = spill.iter().min() {
            self.last = least;
        }
        for key in spill.drain(..) {
            self.place(key);
        }
        self.spill = spill;
    }

    #[inline]
    fn place(&mut self, key: u64) {
        let bucket = (u64::BITS - (key ^ self.last).leading_zeros()) as usize;
        // Bucket 0 has no bit: `1 << 0 >> 1` is 0.
        self.occupied |= ((1u128 << bucket) >> 1) as u64;
        self.buckets[bucket].push(key);
    }
}

impl Pending for RadixHeap {
    const NAME: &'static str = "radix heap";

    fn new(_: usize) -> Self {
        RadixHeap {
            buckets: std::array::from_fn(|_| Vec::new()),
            occupied: 0,
            last: 0,
            spill: Vec::new(),
        }
    }

    #[inline]
    fn push(&mut self, key: u64) {
        debug_assert!(key >= self.last, "a radix heap is monotone");
        self.place(key);
    }

    #[inline]
    fn min(&mut self) -> u64 {
        self.settle();
        self.buckets[0].last().copied().unwrap_or(NEVER)
    }

    #[inline]
    fn pop(&mut self) -> u64 {
        self.settle();
        self.buckets[0].pop().unwrap_or(NEVER)
    }
}
