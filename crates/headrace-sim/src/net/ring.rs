//! A growable FIFO whose entries can be reached by position.

/// A FIFO in a power-of-two buffer. It allocates only when it grows.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    slots: Box<[T]>,
    head: u32,
    len: u32,
}

impl<T: Copy + Default> Ring<T> {
    pub(crate) fn new() -> Self {
        Ring { slots: Box::default(), head: 0, len: 0 }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Entries that fit without growing.
    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    fn at(&self, position: usize) -> usize {
        (self.head as usize + position) & (self.slots.len().wrapping_sub(1))
    }

    /// The entry at `position` from the front. Panics if the ring has never held one.
    #[inline(always)]
    pub(crate) fn get(&self, position: usize) -> &T {
        debug_assert!(position < self.len());
        let at = self.at(position);
        &self.slots[at]
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, position: usize) -> &mut T {
        debug_assert!(position < self.len());
        let at = self.at(position);
        &mut self.slots[at]
    }

    /// Adds an entry at the back; it can be changed there.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: T) -> &mut T {
        if self.len() == self.slots.len() {
            self.grow();
        }
        let at = self.at(self.len());
        self.len += 1;
        let slot = &mut self.slots[at];
        *slot = value;
        slot
    }

    /// Removes and returns the front. The ring must not be empty.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> T {
        debug_assert!(self.len > 0);
        let value = self.slots[self.head as usize];
        self.len -= 1;
        // An emptied ring starts over, so that one that is mostly short stays in the cache.
        let next = (self.head + 1) & (self.slots.len() as u32).wrapping_sub(1);
        self.head = if self.len == 0 { 0 } else { next };
        value
    }

    /// Forgets the entries, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.head = 0;
        self.len = 0;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).map(|i| self.get(i))
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut slots = std::mem::take(&mut self.slots).into_vec();
        slots.rotate_left(self.head as usize);
        self.head = 0;
        let doubled = (2 * slots.len()).max(8);
        slots.resize(doubled, T::default());
        self.slots = slots.into_boxed_slice();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn it_is_a_fifo_across_growth() {
        let mut ring = Ring::<u32>::new();
        let mut model = VecDeque::new();
        for step in 0..10_000u32 {
            if step % 3 == 2 || step % 7 == 6 {
                assert_eq!(model.pop_front(), (!ring.is_empty()).then(|| ring.pop()));
            } else {
                ring.push(step);
                model.push_back(step);
            }
            assert!(ring.iter().eq(model.iter()));
            if step % 64 != 0 && ring.len() > 20 {
                assert_eq!(ring.get(17), &model[17]);
                ring.clear();
                model.clear();
            }
        }
    }
}
