//! What became of each segment in flight (RFC 6675).

use headrace_cc::units::Time;

use crate::net::ring::Ring;

/// A segment between the first unacknowledged and the next to send.
/// Eight bytes: the time at which it was last sent above four bits of state, which leaves 13 days.
#[derive(Clone, Copy, Debug, Default)]
struct Segment(u64);

const SACKED: u64 = 1;
/// Deemed lost (RFC 6675 IsLost, or by a timeout).
const LOST: u64 = 2;
/// Sent again since it was deemed lost.
const RESENT: u64 = 4;
/// Sent more than once: no RTT sample (Karn's rule).
const AMBIGUOUS: u64 = 8;

impl Segment {
    #[inline(always)]
    fn new(sent: Time, state: u64) -> Self {
        Segment(sent.ps() << 4 | state)
    }

    #[inline(always)]
    fn sent(self) -> Time {
        Time::from_ps(self.0 >> 4)
    }

    #[inline(always)]
    fn has(self, bits: u64) -> bool {
        self.0 & bits != 0
    }

    /// What the segment adds to RFC 6675's pipe.
    fn in_pipe(self) -> u32 {
        if self.has(SACKED) {
            return 0;
        }
        u32::from(!self.has(LOST)) + u32::from(self.has(RESENT))
    }

    /// It is lost and waits to be sent again.
    fn waits(self) -> bool {
        self.0 & (LOST | RESENT | SACKED) == LOST
    }
}

/// When a segment was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) at: Time,
    /// It was sent once only.
    pub(crate) once: bool,
}

/// Largest duplicate threshold.
pub(crate) const MAX_DUP_THRESHOLD: usize = 8;

/// The SACK scoreboard, in segments.
pub(crate) struct Scoreboard {
    segments: Ring<Segment>,
    /// First segment not acknowledged.
    pub(crate) una: u32,
    /// First segment never sent.
    pub(crate) next: u32,
    /// Segments in flight (RFC 6675 SetPipe).
    pub(crate) pipe: u32,
    /// Lost segments that wait to be sent again.
    pub(crate) lost: u32,
    /// Segments delivered, cumulatively or selectively.
    pub(crate) delivered: u32,
    sacked: u32,
    /// The highest SACKed segments, highest first, each plus one; 0 where there is none.
    highest: [u32; MAX_DUP_THRESHOLD],
    /// Below this every segment is SACKed or deemed lost.
    lost_below: u32,
    /// No segment below this waits to be sent again.
    resend_from: u32,
}

impl Scoreboard {
    pub(crate) fn new() -> Self {
        Scoreboard {
            segments: Ring::new(),
            una: 0,
            next: 0,
            pipe: 0,
            lost: 0,
            delivered: 0,
            sacked: 0,
            highest: [0; MAX_DUP_THRESHOLD],
            lost_below: 0,
            resend_from: 0,
        }
    }

    /// For a new flow in the same memory.
    pub(crate) fn reset(&mut self) {
        let mut segments = std::mem::replace(&mut self.segments, Scoreboard::new().segments);
        segments.clear();
        *self = Scoreboard { segments, ..Scoreboard::new() };
    }

    /// Gives back the memory of a long flow.
    pub(crate) fn release(&mut self) {
        if self.segments.capacity() > 256 {
            *self = Scoreboard::new();
        }
    }

    /// Segments sent and not acknowledged cumulatively.
    pub(crate) fn outstanding(&self) -> u32 {
        self.next - self.una
    }

    /// The first segment not acknowledged is deemed lost.
    pub(crate) fn first_is_lost(&self) -> bool {
        self.una < self.lost_below.min(self.next)
    }

    /// Some segment is SACKed.
    pub(crate) fn has_sacked(&self) -> bool {
        self.sacked > 0
    }

    /// Sends the next new segment.
    #[inline(always)]
    pub(crate) fn send_new(&mut self, now: Time) -> u32 {
        self.segments.push(Segment::new(now, 0));
        self.pipe += 1;
        self.next += 1;
        self.next - 1
    }

    /// Sends `seq` again.
    pub(crate) fn send_again(&mut self, seq: u32, now: Time) {
        let segment = self.segments.get_mut((seq - self.una) as usize);
        let before = segment.in_pipe();
        self.lost -= u32::from(segment.waits());
        *segment = Segment::new(now, segment.0 & (SACKED | LOST) | RESENT | AMBIGUOUS);
        self.pipe += segment.in_pipe() - before;
    }

    /// When `seq`, which is outstanding, was last sent.
    #[inline(always)]
    pub(crate) fn sent(&self, seq: u32) -> Option<Sent> {
        if seq < self.una || seq >= self.next {
            return None;
        }
        let segment = self.segments.get((seq - self.una) as usize);
        Some(Sent { at: segment.sent(), once: !segment.has(AMBIGUOUS) })
    }

    /// Everything below `ack` has arrived. Returns how many segments that newly delivers.
    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, ack: u32) -> u32 {
        let mut fresh = 0;
        while self.una < ack {
            let segment = self.segments.pop();
            self.una += 1;
            self.pipe -= segment.in_pipe();
            if segment.has(SACKED) {
                self.sacked -= 1;
            } else {
                fresh += 1;
                self.lost -= u32::from(segment.waits());
            }
        }
        self.delivered += fresh;
        fresh
    }

    /// The segments `start..end` have arrived. Returns how many that newly delivers.
    pub(crate) fn sack(&mut self, start: u32, end: u32) -> u32 {
        let mut fresh = 0;
        for seq in start.max(self.una)..end.min(self.next) {
            let segment = self.segments.get_mut((seq - self.una) as usize);
            if segment.has(SACKED) {
                continue;
            }
            self.pipe -= segment.in_pipe();
            self.lost -= u32::from(segment.waits());
            segment.0 |= SACKED;
            fresh += 1;
            self.note_highest(seq + 1);
        }
        self.sacked += fresh;
        self.delivered += fresh;
        fresh
    }

    /// Deems lost what has `threshold` SACKed segments above it (RFC 6675 IsLost, counted in
    /// segments, since all but the last are of full size). Returns how many it newly finds.
    pub(crate) fn find_lost(&mut self, threshold: usize) -> u32 {
        let edge = self.highest[threshold.clamp(1, MAX_DUP_THRESHOLD) - 1].saturating_sub(1);
        self.lose_below(edge)
    }

    /// Deems lost everything outstanding below `edge` that is not SACKed. Returns how many of them
    /// wait to be sent again.
    pub(crate) fn lose_below(&mut self, edge: u32) -> u32 {
        let mut found = 0;
        for seq in self.lost_below.max(self.una)..edge.min(self.next) {
            let segment = self.segments.get_mut((seq - self.una) as usize);
            if !segment.has(SACKED | LOST) {
                self.pipe -= 1;
                segment.0 |= LOST;
                if !segment.has(RESENT) {
                    found += 1;
                    self.resend_from = self.resend_from.min(seq);
                }
            }
        }
        self.lost += found;
        self.lost_below = self.lost_below.max(edge);
        found
    }

    /// A timeout: everything outstanding and not SACKed is lost, also what was sent again.
    pub(crate) fn lose_all(&mut self) {
        self.lost = 0;
        for position in 0..self.segments.len() {
            let segment = self.segments.get_mut(position);
            if !segment.has(SACKED) {
                segment.0 = segment.0 & !RESENT | LOST;
                self.lost += 1;
            }
        }
        self.pipe = 0;
        self.lost_below = self.next;
        self.resend_from = self.una;
    }

    /// The first lost segment that waits to be sent again (NextSeg rule 1).
    pub(crate) fn next_lost(&mut self) -> Option<u32> {
        if self.lost == 0 {
            return None;
        }
        let from = self.resend_from.max(self.una);
        let waits = |seq: &u32| self.segments.get((seq - self.una) as usize).waits();
        let found = (from..self.next).find(waits);
        self.resend_from = found.unwrap_or(self.next);
        found
    }

    /// The first segment below the highest SACKed one that is neither SACKed nor sent again
    /// (NextSeg rule 3).
    pub(crate) fn next_hole(&self) -> Option<u32> {
        let top = self.highest[0].min(self.next);
        (self.una..top)
            .find(|seq| !self.segments.get((seq - self.una) as usize).has(SACKED | RESENT))
    }

    /// The highest outstanding segment that is not SACKed (NextSeg rule 4).
    pub(crate) fn last_unsacked(&self) -> Option<u32> {
        (self.una..self.next)
            .rev()
            .find(|seq| !self.segments.get((seq - self.una) as usize).has(SACKED))
    }

    fn note_highest(&mut self, mut seq: u32) {
        for slot in &mut self.highest {
            if seq > *slot {
                std::mem::swap(slot, &mut seq);
            }
        }
    }

    /// Recomputes the counts from the segments.
    pub(crate) fn consistent(&self) -> bool {
        let count = |f: &dyn Fn(&Segment) -> u32| self.segments.iter().map(f).sum::<u32>();
        self.segments.len() == self.outstanding() as usize
            && self.pipe == count(&|s| s.in_pipe())
            && self.sacked == count(&|s| u32::from(s.has(SACKED)))
            && self.lost == count(&|s| u32::from(s.waits()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn with_sent(count: u32) -> Scoreboard {
        let mut board = Scoreboard::new();
        for _ in 0..count {
            board.send_new(Time::ZERO);
        }
        board
    }

    #[test]
    fn three_sacked_above_make_a_loss() {
        let mut board = with_sent(10);
        assert_eq!(board.sack(1, 3), 2);
        assert_eq!(board.find_lost(3), 0);
        assert_eq!(board.sack(3, 4), 1);
        assert_eq!(board.find_lost(3), 1);
        assert_eq!((board.pipe, board.next_lost()), (6, Some(0)));
        board.send_again(0, Time::from_us(1));
        assert_eq!((board.pipe, board.lost, board.next_lost()), (7, 0, None));
        assert!(!board.sent(0).unwrap().once);
        assert_eq!(board.acknowledge(4), 1);
        assert_eq!((board.una, board.pipe, board.delivered), (4, 6, 4));
        assert!(board.consistent());
    }

    #[test]
    fn a_timeout_loses_all_but_the_sacked() {
        let mut board = with_sent(5);
        board.sack(2, 3);
        board.lose_all();
        assert_eq!((board.pipe, board.lost, board.next_lost()), (0, 4, Some(0)));
        for seq in [0, 1, 3, 4] {
            assert_eq!(board.next_lost(), Some(seq));
            board.send_again(seq, Time::from_us(9));
        }
        assert_eq!((board.pipe, board.next_lost()), (4, None));
        assert!(board.consistent());
    }

    #[derive(Clone, Debug)]
    enum Step {
        Send,
        Sack(u32, u32),
        Ack(u32),
        Resend,
        Timeout,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => Just(Step::Send),
            3 => (0u32..40, 1u32..6).prop_map(|(at, len)| Step::Sack(at, len)),
            2 => (0u32..8).prop_map(Step::Ack),
            3 => Just(Step::Resend),
            1 => Just(Step::Timeout),
        ]
    }

    proptest! {
        #[test]
        fn counts_agree_with_the_segments(steps in prop::collection::vec(step(), 1..300)) {
            let mut board = Scoreboard::new();
            for step in steps {
                match step {
                    Step::Send => { board.send_new(Time::ZERO); }
                    Step::Sack(at, len) => { board.sack(board.una + at, board.una + at + len); }
                    Step::Ack(len) => { board.acknowledge((board.una + len).min(board.next)); }
                    Step::Resend => {
                        if let Some(seq) = board.next_lost() {
                            board.send_again(seq, Time::ZERO);
                        }
                    }
                    Step::Timeout => board.lose_all(),
                }
                board.find_lost(3);
                prop_assert!(board.consistent());
                prop_assert!(board.delivered >= board.una);
            }
        }
    }
}
