//! The congestion window that TCP's laws share: slow start, congestion avoidance by byte counting,
//! and reactions at most once per window of data.

use super::{Ack, Loss, Start, Timeout};
use crate::units::{Rate, Time};

/// Upper end of any window, bytes: beyond every bandwidth-delay product, and exact in an `f64`.
const MAX_WINDOW: u64 = 1 << 40;

/// Congestion window and slow-start threshold (RFC 5681), in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    cwnd: u64,
    ssthresh: u64,
    /// Bytes acknowledged in congestion avoidance that have not yet grown the window.
    credit: u64,
    /// Value of `next` when the window was last reduced; 0 before that.
    reduced_at: u64,
    /// Rate past which the window may not grow, bit/s; `u64::MAX` for none.
    limit_bps: u64,
    mss: u32,
    /// A timeout is being repaired, or the slow start that follows it goes on.
    after_timeout: bool,
}

impl Window {
    pub(crate) fn new(start: &Start) -> Self {
        let mss = start.mss.clamp(1, u64::from(u32::MAX));
        Window {
            cwnd: start.initial_window.clamp(mss, MAX_WINDOW),
            ssthresh: u64::MAX,
            credit: 0,
            reduced_at: 0,
            limit_bps: u64::MAX,
            mss: mss as u32,
            after_timeout: false,
        }
    }

    pub(crate) fn cwnd(&self) -> u64 {
        self.cwnd
    }

    pub(crate) fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    pub(crate) fn mss(&self) -> u64 {
        u64::from(self.mss)
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whether an acknowledgement may grow the window at all. One that echoes congestion may not
    /// (RFC 3168 section 6.1.2), nor one that found the sender with nothing to send (RFC 7661), nor
    /// one in loss recovery; but the repair after a timeout is itself slow start (RFC 5681 section
    /// 3.1).
    pub(crate) fn may_grow(&mut self, ack: &Ack<'_>) -> bool {
        self.may_grow_despite(ack, false)
    }

    /// As [`Window::may_grow`]; with `marks_allowed`, an echo is no reason against it.
    #[inline]
    fn may_grow_despite(&mut self, ack: &Ack<'_>, marks_allowed: bool) -> bool {
        if !ack.in_recovery && !self.in_slow_start() {
            self.after_timeout = false;
        }
        let recovering = ack.in_recovery && !self.after_timeout;
        let echo = ack.ece && !marks_allowed;
        ack.acked_bytes > 0 && !ack.app_limited && !echo && !recovering
    }

    /// As [`Window::grow`], but in congestion avoidance also on acknowledgements that echo a mark.
    #[inline]
    pub(crate) fn grow_under_marks(&mut self, ack: &Ack<'_>) {
        let marks_allowed = !self.in_slow_start();
        if self.may_grow_despite(ack, marks_allowed) {
            self.grow_by(ack);
        }
    }

    /// Grows by the segments acknowledged (RFC 5681 section 3.1, eq. 2), as RFC 3465 counts them.
    #[inline]
    pub(crate) fn slow_start(&mut self, ack: &Ack<'_>) {
        // RFC 3465 sections 2.2 and 2.3: L = 2 SMSS, but 1 SMSS after a timeout.
        let limit = if self.after_timeout { 1 } else { 2 } * self.mss();
        self.grow_to(self.cwnd + ack.acked_bytes.min(limit), ack.srtt);
    }

    /// Grows by one segment per window of data (RFC 5681 section 3.1; RFC 3465 section 2.1).
    #[inline]
    pub(crate) fn congestion_avoidance(&mut self, ack: &Ack<'_>) {
        self.credit += ack.acked_bytes;
        if self.credit >= self.cwnd {
            self.credit -= self.cwnd;
            self.grow_to(self.cwnd + self.mss(), ack.srtt);
        }
        // One segment an acknowledgement at most: a stretched ACK leaves no debt behind.
        self.credit = self.credit.min(self.cwnd);
    }

    /// Reno's growth: slow start below ssthresh, congestion avoidance from there on.
    #[inline]
    pub(crate) fn grow(&mut self, ack: &Ack<'_>) {
        if self.may_grow(ack) {
            self.grow_by(ack);
        }
    }

    #[inline]
    fn grow_by(&mut self, ack: &Ack<'_>) {
        if self.in_slow_start() {
            self.slow_start(ack);
        } else {
            self.congestion_avoidance(ack);
        }
    }

    /// Grows to `target`, or as far towards it as the limit allows; never shrinks. Returns false
    /// where the limit held it back.
    #[inline]
    pub(crate) fn grow_to(&mut self, target: u64, srtt: Time) -> bool {
        let free = target.min(MAX_WINDOW);
        let held = match self.limit_bps {
            u64::MAX => free,
            bps => free.min(Rate::from_bps(bps).bytes_in(srtt)),
        };
        self.cwnd = self.cwnd.max(held);
        held == free
    }

    /// Whether an echoed mark is news. It is not while it may stem from the window of data in which
    /// the last reduction fell: the receiver learns of that reduction (CWR) with the first byte
    /// sent after it, so its echo counts again once that byte is acknowledged (RFC 3168 section
    /// 6.1.2).
    pub(crate) fn mark_is_news(&self, ack: &Ack<'_>) -> bool {
        ack.ece && (self.reduced_at == 0 || ack.una > self.reduced_at)
    }

    /// Whether a loss is news: the missing byte was first sent after the last reduction
    /// (RFC 6582 section 3.2; RFC 8257 section 3.5: once per window across all signals).
    pub(crate) fn loss_is_news(&self, loss: &Loss) -> bool {
        loss.una >= self.reduced_at
    }

    /// Reduces to `cwnd` bytes, at least `floor`, and goes on in congestion avoidance. `next` ends
    /// the window of data in which no other reduction follows. Never grows the window.
    pub(crate) fn reduce(&mut self, cwnd: u64, floor: u64, next: u64) {
        let cwnd = cwnd.max(floor).min(self.cwnd).max(self.mss());
        // RFC 5681 section 3.1, eq. 4: ssthresh is at least 2 SMSS.
        self.ssthresh = cwnd.max(2 * self.mss());
        // The part of a segment earned so far stays earned, as with RFC 5681's eq. 3.
        self.credit = scaled(self.credit, cwnd, self.cwnd);
        self.cwnd = cwnd;
        self.reduced_at = next;
        self.after_timeout = false;
    }

    /// Reno's reaction to a loss (RFC 5681 section 3.2 step 2, eq. 4). The transport sends by what
    /// is in the pipe (RFC 6675), so the window is ssthresh at once, with no inflation.
    pub(crate) fn halve_on_loss(&mut self, loss: &Loss) {
        if self.loss_is_news(loss) {
            self.reduce(loss.flight_size / 2, 2 * self.mss(), loss.next);
        }
    }

    /// Reno's reaction to an echoed mark: half the window, down to one segment (RFC 3168 section
    /// 6.1.2).
    pub(crate) fn halve_on_mark(&mut self, ack: &Ack<'_>) {
        if self.mark_is_news(ack) {
            self.reduce(self.cwnd / 2, self.mss(), ack.next);
        }
    }

    /// Falls to one segment (RFC 5681 section 3.1). `ssthresh` is what the first of a row of
    /// timeouts sets; the later ones leave it (same section).
    pub(crate) fn collapse(&mut self, ssthresh: u64, timeout: &Timeout) {
        if timeout.backoff <= 1 {
            self.ssthresh = ssthresh.max(2 * self.mss());
        }
        self.cwnd = self.mss();
        self.credit = 0;
        self.reduced_at = timeout.next;
        self.after_timeout = true;
    }

    /// Sets or lifts the limit of growth.
    pub(crate) fn limit_growth(&mut self, limit: Option<Rate>) {
        self.limit_bps = limit.map_or(u64::MAX, Rate::bps);
    }

    /// Scales the window by `numerator / denominator`, at most one. It goes on in congestion
    /// avoidance, since the fall stands for congestion somewhere on the path.
    pub(crate) fn scale_down(&mut self, numerator: u64, denominator: u64) {
        if numerator >= denominator {
            return;
        }
        self.cwnd = scaled(self.cwnd, numerator, denominator).max(self.mss());
        self.ssthresh = self.ssthresh.min(self.cwnd.max(2 * self.mss()));
        self.credit = scaled(self.credit, numerator, denominator);
    }
}

/// `bytes` times `numerator / denominator`, rounded down.
fn scaled(bytes: u64, numerator: u64, denominator: u64) -> u64 {
    (u128::from(bytes) * u128::from(numerator) / u128::from(denominator)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::testing::{MSS, ack, loss, start, timeout};

    fn window(segments: u64) -> Window {
        Window::new(&Start { initial_window: segments * MSS, ..start() })
    }

    #[test]
    fn slow_start_adds_what_is_acknowledged_up_to_two_segments() {
        let mut window = window(10);
        window.grow(&Ack { acked_bytes: MSS, ..ack() });
        assert_eq!(window.cwnd(), 11 * MSS);
        window.grow(&Ack { acked_bytes: 5 * MSS, ..ack() });
        assert_eq!(window.cwnd(), 13 * MSS);
        window.grow(&Ack { acked_bytes: 100, ..ack() });
        assert_eq!(window.cwnd(), 13 * MSS + 100);
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_a_window() {
        let mut window = window(20);
        window.halve_on_loss(&loss(20 * MSS));
        assert_eq!((window.cwnd(), window.ssthresh()), (10 * MSS, 10 * MSS));
        for _ in 0..9 {
            window.grow(&ack());
        }
        assert_eq!(window.cwnd(), 10 * MSS);
        window.grow(&ack());
        assert_eq!(window.cwnd(), 11 * MSS);
    }

    #[test]
    fn nothing_to_send_recovery_and_echoes_do_not_grow_the_window() {
        let mut window = window(10);
        window.grow(&Ack { app_limited: true, ..ack() });
        window.grow(&Ack { in_recovery: true, ..ack() });
        window.grow(&Ack { ece: true, ..ack() });
        assert_eq!(window.cwnd(), 10 * MSS);
    }

    #[test]
    fn one_reduction_a_window_of_data_whatever_the_signal() {
        let mut window = window(64);
        let mark = |una, next| Ack { ece: true, una, next, ..ack() };
        window.halve_on_mark(&mark(MSS, 64 * MSS));
        window.halve_on_mark(&mark(2 * MSS, 66 * MSS));
        // The last byte sent before the reduction: its echo is not news, but a loss right behind
        // it is.
        window.halve_on_mark(&mark(64 * MSS, 90 * MSS));
        assert_eq!(window.cwnd(), 32 * MSS);
        window.halve_on_loss(&Loss { una: 63 * MSS, ..loss(32 * MSS) });
        assert_eq!(window.cwnd(), 32 * MSS);
        window.halve_on_mark(&mark(65 * MSS, 90 * MSS));
        assert_eq!(window.cwnd(), 16 * MSS);
        window.halve_on_loss(&Loss { una: 90 * MSS, next: 106 * MSS, ..loss(16 * MSS) });
        assert_eq!(window.cwnd(), 8 * MSS);
    }

    #[test]
    fn marks_reach_one_segment_and_losses_two() {
        let mut marked = window(3);
        let mut lost = window(3);
        for round in 1..10 {
            let una = round * 10 * MSS;
            let next = una + MSS;
            marked.halve_on_mark(&Ack { ece: true, una, next, ..ack() });
            lost.halve_on_loss(&Loss { una, next, ..loss(3 * MSS) });
        }
        assert_eq!((marked.cwnd(), marked.ssthresh()), (MSS, 2 * MSS));
        assert_eq!((lost.cwnd(), lost.ssthresh()), (2 * MSS, 2 * MSS));
    }

    #[test]
    fn a_timeout_restarts_from_one_segment_and_repairs_in_slow_start() {
        let mut window = window(40);
        window.collapse(20 * MSS, &timeout(40 * MSS, 1));
        assert_eq!((window.cwnd(), window.ssthresh()), (MSS, 20 * MSS));
        window.collapse(MSS / 2, &timeout(MSS, 2));
        assert_eq!(window.ssthresh(), 20 * MSS);
        // RFC 3465 section 2.3: one segment an acknowledgement, in the repair too.
        window.grow(&Ack { acked_bytes: 9 * MSS, in_recovery: true, ..ack() });
        assert_eq!(window.cwnd(), 2 * MSS);
        window.halve_on_loss(&Loss { una: 50 * MSS, ..loss(8 * MSS) });
        let reduced = window.cwnd();
        window.grow(&Ack { in_recovery: true, ..ack() });
        assert_eq!(window.cwnd(), reduced);
    }

    #[test]
    fn a_limit_of_growth_holds_and_lifts() {
        // 10 segments in the 80 us of srtt.
        let mut window = window(9);
        let limit = Rate::from_bps(10 * MSS * 8 * 12_500);
        window.limit_growth(Some(limit));
        for _ in 0..5 {
            window.grow(&ack());
        }
        assert_eq!(window.cwnd(), 10 * MSS);
        window.limit_growth(Some(Rate::from_bps(1)));
        window.grow(&ack());
        assert_eq!(window.cwnd(), 10 * MSS, "a limit below the window does not shrink it");
        window.limit_growth(None);
        window.grow(&ack());
        assert_eq!(window.cwnd(), 11 * MSS);
    }

    #[test]
    fn scaling_down_ends_slow_start() {
        let mut window = window(40);
        window.scale_down(3, 2);
        assert_eq!((window.cwnd(), window.ssthresh()), (40 * MSS, u64::MAX));
        window.scale_down(1, 4);
        assert_eq!((window.cwnd(), window.ssthresh()), (10 * MSS, 10 * MSS));
        window.scale_down(0, 4);
        assert_eq!((window.cwnd(), window.ssthresh()), (MSS, 2 * MSS));
    }
}
