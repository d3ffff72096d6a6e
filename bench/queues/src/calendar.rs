//! A calendar queue (Brown, "Calendar queues: a fast O(1) priority queue implementation for the
//! simulation event set problem", CACM 31(10), 1988).

use crate::{NEVER, Pending};

/// Fewest days of a calendar.
const MIN_DAYS: usize = 2;

/// Events that a resize samples for the width of a day (Brown, `newwidth`).
const SAMPLE: usize = 25;

/// A calendar queue whose days are powers of two wide, so that a day is a shift and a mask.
///
/// Its size and its width follow the number of events as Brown's do: twice the days when there are
/// more than two events a day, half when there is less than one in two days; a day is three mean
/// gaps of the earliest events wide, outliers left out, here rounded up to a power of two.
#[derive(Debug)]
pub struct CalendarQueue {
    /// Each day's events, the earliest last.
    days: Vec<Vec<u64>>,
    /// A day is `1 << shift` key units wide.
    shift: u32,
    /// Day, counted from time 0 and not wrapped, that the search for the minimum stands at: no
    /// event is earlier.
    today: u64,
    len: usize,
}

impl CalendarQueue {
    #[inline]
    fn index(&self, key: u64) -> usize {
        (key >> self.shift) as usize & (self.days.len() - 1)
    }

    #[inline]
    fn insert(&mut self, key: u64) {
        let index = self.index(key);
        let day = &mut self.days[index];
        let mut at = day.len();
        day.push(key);
        while at > 0 && day[at - 1] < key {
            day[at] = day[at - 1];
            at -= 1;
        }
        day[at] = key;
    }

    /// Moves `today` to the minimum's day and returns that day's index; `None` if empty.
    #[inline]
    fn find(&mut self) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        for _ in 0..self.days.len() {
            let index = self.today as usize & (self.days.len() - 1);
            if let Some(&key) = self.days[index].last()
                && key >> self.shift == self.today
            {
                return Some(index);
            }
            self.today += 1;
        }
        // Nothing in a whole year: look at every day's earliest (Brown's "direct search").
        let least = self.days.iter().filter_map(|day| day.last()).copied().min().unwrap_or(NEVER);
        self.today = least >> self.shift;
        Some(self.index(least))
    }

    fn resize(&mut self, days: usize) {
        let mut keys: Vec<u64> = self.days.iter_mut().flat_map(|day| day.drain(..)).collect();
        keys.sort_unstable();
        self.shift = day_width(&keys).unwrap_or(self.shift);
        self.days.resize_with(days, Vec::new);
        self.today = keys.first().map_or(0, |&least| least >> self.shift);
        // Latest first, so that each lands at the end of its day.
        for &key in keys.iter().rev() {
            let index = self.index(key);
            self.days[index].push(key);
        }
    }
}

/// Base-2 logarithm, rounded up, of three mean gaps between the earliest of the sorted `keys`.
fn day_width(keys: &[u64]) -> Option<u32> {
    let head = &keys[..keys.len().min(SAMPLE)];
    let gaps = || head.windows(2).map(|pair| pair[1] - pair[0]);
    let count = gaps().count() as u64;
    let mean = gaps().sum::<u64>().checked_div(count)?;
    let (kept, sum) =
        gaps().filter(|&gap| gap <= 2 * mean).fold((0, 0), |(n, sum), gap| (n + 1, sum + gap));
    let width = 3 * u64::checked_div(sum, kept)?;
    Some(width.max(1).next_power_of_two().trailing_zeros())
}

impl Pending for CalendarQueue {
    const NAME: &'static str = "calendar queue";

    fn new(_: usize) -> Self {
        CalendarQueue { days: vec![Vec::new(); MIN_DAYS], shift: 0, today: 0, len: 0 }
    }

    #[inline]
    fn push(&mut self, key: u64) {
        // Before the first `min`, events may come in any order.
        self.today = self.today.min(key >> self.shift);
        self.insert(key);
        self.len += 1;
        if self.len > 2 * self.days.len() {
            self.resize(2 * self.days.len());
        }
    }

    #[inline]
    fn min(&mut self) -> u64 {
        self.find().and_then(|index| self.days[index].last().copied()).unwrap_or(NEVER)
    }

    #[inline]
    fn pop(&mut self) -> u64 {
        let Some(index) = self.find() else { return NEVER };
        let Some(key) = self.days[index].pop() else { return NEVER };
        self.len -= 1;
        if self.days.len() > MIN_DAYS && self.len < self.days.len() / 2 {
            self.resize(self.days.len() / 2);
        }
        key
    }

    /// A hold leaves the size as it is: no resize in between.
    #[inline]
    fn replace_min(&mut self, key: u64) {
        if let Some(index) = self.find() {
            self.days[index].pop();
            self.insert(key);
        }
    }
}
