//! Winner trees: what the simulator's engine uses, in its plainest form.

use crate::{NEVER, Pending, slot_of};

/// A complete binary tree whose leaves are the slots' keys and whose inner nodes are the lesser of
/// their two children (Knuth, "The Art of Computer Programming" vol. 3, section 5.4.1). Setting a
/// leaf replays its path to the root with one `min` a level: no comparison is branched on, and the
/// path is known from the slot alone, so that its loads do not wait for each other.
#[derive(Debug)]
pub struct WinnerTree {
    /// `nodes[1]` is the root; slot `s` is `nodes[leaves + s]`.
    nodes: Box<[u64]>,
    /// Leaves: the slots, up to a power of two.
    leaves: usize,
}

impl WinnerTree {
    fn with_leaves(leaves: usize) -> Self {
        WinnerTree { nodes: vec![NEVER; 2 * leaves].into_boxed_slice(), leaves }
    }

    /// Sets a leaf and replays its path.
    #[inline]
    fn set(&mut self, slot: usize, key: u64) {
        let mut node = self.leaves + slot;
        let mut winner = key;
        self.nodes[node] = winner;
        while node > 1 {
            winner = winner.min(self.nodes[node ^ 1]);
            node >>= 1;
            self.nodes[node] = winner;
        }
    }
}

impl Pending for WinnerTree {
    const NAME: &'static str = "winner tree";
    const ONE_PER_SLOT: bool = true;

    fn new(slots: usize) -> Self {
        WinnerTree::with_leaves(slots.next_power_of_two())
    }

    #[inline]
    fn push(&mut self, key: u64) {
        self.set(slot_of(key), key);
    }

    #[inline]
    fn min(&mut self) -> u64 {
        self.nodes[1]
    }

    #[inline]
    fn pop(&mut self) -> u64 {
        let top = self.nodes[1];
        if top != NEVER {
            self.set(slot_of(top), NEVER);
        }
        top
    }

    #[inline]
    fn replace_min(&mut self, key: u64) {
        self.set(slot_of(key), key);
    }
}

/// A winner tree whose leaves are lent to slots for as long as they have an event: its height
/// follows the events that are pending, not the slots that exist.
#[derive(Debug)]
pub struct CompactWinnerTree {
    tree: WinnerTree,
    /// Leaf of each slot that has one.
    leaf_of: Box<[u32]>,
    /// Leaves to lend; the one returned last is lent first, for it is still in the cache.
    free: Vec<u32>,
}

impl CompactWinnerTree {
    /// Doubles the leaves; those lent keep their numbers.
    #[cold]
    fn grow(&mut self) {
        let leaves = self.tree.leaves;
        let mut wider = WinnerTree::with_leaves(2 * leaves);
        wider.nodes[2 * leaves..3 * leaves].copy_from_slice(&self.tree.nodes[leaves..]);
        for node in (1..2 * leaves).rev() {
            wider.nodes[node] = wider.nodes[2 * node].min(wider.nodes[2 * node + 1]);
        }
        self.tree = wider;
        self.free.extend((leaves as u32..2 * leaves as u32).rev());
    }
}

impl Pending for CompactWinnerTree {
    const NAME: &'static str = "winner tree, leaves lent";
    const ONE_PER_SLOT: bool = true;

    fn new(slots: usize) -> Self {
        CompactWinnerTree {
            tree: WinnerTree::with_leaves(1),
            leaf_of: vec![0; slots].into_boxed_slice(),
            free: vec![0],
        }
    }

    #[inline]
    fn push(&mut self, key: u64) {
        if self.free.is_empty() {
            self.grow();
        }
        if let Some(leaf) = self.free.pop() {
            self.leaf_of[slot_of(key)] = leaf;
            self.tree.set(leaf as usize, key);
        }
    }

    #[inline]
    fn min(&mut self) -> u64 {
        self.tree.nodes[1]
    }

    #[inline]
    fn pop(&mut self) -> u64 {
        let top = self.tree.nodes[1];
        if top != NEVER {
            let leaf = self.leaf_of[slot_of(top)];
            self.tree.set(leaf as usize, NEVER);
            self.free.push(leaf);
        }
        top
    }

    #[inline]
    fn replace_min(&mut self, key: u64) {
        self.tree.set(self.leaf_of[slot_of(key)] as usize, key);
    }
}
