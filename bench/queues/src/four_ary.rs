//! A 4-ary heap: half the levels of a binary one, four children in one cache line.

use crate::{NEVER, Pending};

/// Children a node has.
const ARITY: usize = 4;

/// An implicit 4-ary heap of keys: node `i` has children `4i + 1` to `4i + 4`.
#[derive(Debug, Default)]
pub struct FourAryHeap {
    keys: Vec<u64>,
}

impl FourAryHeap {
    /// Puts `key` where node `hole` was, moving lesser descendants up.
    #[inline]
    fn sift_down(&mut self, mut hole: usize, key: u64) {
        let keys = self.keys.as_mut_slice();
        loop {
            let first = hole * ARITY + 1;
            // Whole families are compared without a branch on their order; the last may be short.
            let (child, least) = match keys.get(first..first + ARITY) {
                Some(&[a, b, c, d]) => {
                    let (left, low) = if b < a { (1, b) } else { (0, a) };
                    let (right, high) = if d < c { (3, d) } else { (2, c) };
                    let (offset, least) = if high < low { (right, high) } else { (left, low) };
                    (first + offset, least)
                }
                _ => match keys.iter().copied().enumerate().skip(first).min_by_key(|pair| pair.1) {
                    Some(family) => family,
                    None => break,
                },
            };
            if key <= least {
                break;
            }
            keys[hole] = least;
            hole = child;
        }
        keys[hole] = key;
    }
}

impl Pending for FourAryHeap {
    const NAME: &'static str = "4-ary heap";

    fn new(slots: usize) -> Self {
        FourAryHeap { keys: Vec::with_capacity(slots) }
    }

    #[inline]
    fn push(&mut self, key: u64) {
        let mut hole = self.keys.len();
        self.keys.push(key);
        let keys = self.keys.as_mut_slice();
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if keys[parent] <= key {
                break;
            }
            keys[hole] = keys[parent];
            hole = parent;
        }
        keys[hole] = key;
    }

    #[inline]
    fn min(&mut self) -> u64 {
        self.keys.first().copied().unwrap_or(NEVER)
    }

    #[inline]
    fn pop(&mut self) -> u64 {
        let Some(last) = self.keys.pop() else { return NEVER };
        let Some(&top) = self.keys.first() else { return last };
        self.sift_down(0, last);
        top
    }

    #[inline]
    fn replace_min(&mut self, key: u64) {
        self.sift_down(0, key);
    }
}
