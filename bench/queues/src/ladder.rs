//! A ladder queue (Tang, Goh and Thng, "Ladder queue: an O(1) priority queue structure for
//! large-scale discrete event simulation", ACM TOMACS 15(3), 2005).

use crate::{NEVER, Pending};

/// Most events that a bucket hands to the bottom, and that the bottom holds before it becomes a
/// rung (the paper's `THRES`).
const THRESHOLD: usize = 50;

/// Most rungs of the ladder (the paper's `MaxRungs`).
const MAX_RUNGS: usize = 8;

/// One rung: buckets of equal width.
#[derive(Debug, Default)]
struct Rung {
    /// Key at which bucket 0 begins.
    start: u64,
    /// A bucket is `1 << shift` key units wide.
    shift: u32,
    /// First bucket not yet handed down.
    current: usize,
    /// Events in the buckets from `current` on.
    len: usize,
    buckets: Vec<Vec<u64>>,
}

impl Rung {
    /// The least key that belongs to this rung still.
    #[inline]
    fn floor(&self) -> u64 {
        self.start + ((self.current as u64) << self.shift)
    }

    #[inline]
    fn push(&mut self, key: u64) {
        self.buckets[((key - self.start) >> self.shift) as usize].push(key);
        self.len += 1;
    }

    /// Takes the keys from `start` to below `end`, one a bucket on average.
    fn spread(&mut self, keys: &mut Vec<u64>, start: u64, end: u64) {
        let width = (end - start).div_ceil(keys.len().max(1) as u64).max(1);
        self.start = start;
        self.shift = width.next_power_of_two().trailing_zeros();
        self.current = 0;
        self.len = 0;
        let buckets = ((end - start) >> self.shift) as usize + 1;
        // Buckets beyond keep their allocations and stay empty.
        if self.buckets.len() < buckets {
            self.buckets.resize_with(buckets, Vec::new);
        }
        for key in keys.drain(..) {
            self.push(key);
        }
    }
}

/// A ladder queue whose buckets are powers of two wide.
#[derive(Debug)]
pub struct LadderQueue {
    /// Unsorted events from `top_start` on.
    top: Vec<u64>,
    top_start: u64,
    top_max: u64,
    /// Rungs, the coarsest first; those from `height` on are spare.
    rungs: Vec<Rung>,
    height: usize,
    /// The earliest events, sorted, the earliest last.
    bottom: Vec<u64>,
}

impl LadderQueue {
    /// Makes the bottom hold the minimum, if there is one.
    #[inline]
    fn settle(&mut self) {
        while self.bottom.is_empty() && self.refill() {}
    }

    /// One step towards a bottom that is not empty; false if there is no event.
    fn refill(&mut self) -> bool {
        while self.height > 0 && self.rungs[self.height - 1].len == 0 {
            self.height -= 1;
        }
        if self.height == 0 {
            return self.lower_top();
        }
        let rung = &mut self.rungs[self.height - 1];
        while rung.buckets[rung.current].is_empty() {
            rung.current += 1;
        }
        let start = rung.floor();
        let bucket = rung.current;
        rung.current += 1;
        let end = rung.floor();
        rung.len -= rung.buckets[bucket].len();
        if rung.buckets[bucket].len() > THRESHOLD && self.height < MAX_RUNGS {
            let mut keys = std::mem::take(&mut rung.buckets[bucket]);
            self.rungs[self.height].spread(&mut keys, start, end);
            self.height += 1;
            self.rungs[self.height - 2].buckets[bucket] = keys;
        } else {
            // The bottom is empty: swapping keeps both allocations.
            std::mem::swap(&mut self.bottom, &mut rung.buckets[bucket]);
            self.bottom.sort_unstable_by(|a, b| b.cmp(a));
        }
        true
    }

    /// Makes the top the first rung; false if the top is empty.
    fn lower_top(&mut self) -> bool {
        let Some(&least) = self.top.iter().min() else { return false };
        let rung = &mut self.rungs[0];
        rung.spread(&mut self.top, least, self.top_max + 1);
        self.height = 1;
        // The rung's last bucket may reach past the greatest key: what falls there belongs to it.
        let buckets = ((self.top_max + 1 - least) >> rung.shift) + 1;
        self.top_start = rung.start + (buckets << rung.shift);
        self.top_max = 0;
        true
    }

    /// Inserts into the sorted bottom, which becomes a rung when it grows too long.
    fn insert_bottom(&mut self, key: u64) {
        let mut at = self.bottom.len();
        self.bottom.push(key);
        while at > 0 && self.bottom[at - 1] < key {
            self.bottom[at] = self.bottom[at - 1];
            at -= 1;
        }
        self.bottom[at] = key;
        if self.bottom.len() > THRESHOLD && self.height < MAX_RUNGS {
            let least = self.bottom[self.bottom.len() - 1];
            let end = match self.height {
                0 => self.top_start,
                height => self.rungs[height - 1].floor(),
            };
            self.rungs[self.height].spread(&mut self.bottom, least, end);
            self.height += 1;
        }
    }
}

impl Pending for LadderQueue {
    const NAME: &'static str = "ladder queue";

    fn new(_: usize) -> Self {
        LadderQueue {
            top: Vec::new(),
            top_start: 0,
            top_max: 0,
            rungs: (0..MAX_RUNGS).map(|_| Rung::default()).collect(),
            height: 0,
            bottom: Vec::new(),
        }
    }

    #[inline]
    fn push(&mut self, key: u64) {
        if key >= self.top_start {
            self.top_max = self.top_max.max(key);
            self.top.push(key);
            return;
        }
        for rung in &mut self.rungs[..self.height] {
            if key >= rung.floor() {
                rung.push(key);
                return;
            }
        }
        self.insert_bottom(key);
    }

    #[inline]
    fn min(&mut self) -> u64 {
        self.settle();
        self.bottom.last().copied().unwrap_or(NEVER)
    }

    #[inline]
    fn pop(&mut self) -> u64 {
        self.settle();
        self.bottom.pop().unwrap_or(NEVER)
    }
}
