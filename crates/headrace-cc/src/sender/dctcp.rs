//! DCTCP (RFC 8257): the window falls by half the fraction of bytes that were marked.

use super::aimd::Window;
use super::{Ack, Allowance, Ecn, Law, Loss, Sender, Start, Timeout};
use crate::units::Rate;

crate::params! {
    /// Parameters of [`Dctcp`].
    pub struct DctcpParams {
        /// Weight of the newest window of data in the estimate alpha.
        g: Number = 0.0625, within 0.0..=1.0, from "RFC 8257 section 4.2";
        /// Estimate alpha of the marked fraction before the first window of data.
        initial_alpha: Number = 1.0, within 0.0..=1.0, from "RFC 8257 section 3.3";
        /// Segments below which a mark does not push the window. RFC 8257 sets no floor of its own
        /// and RFC 3168's is one segment; two is the floor of ssthresh and what Linux keeps to.
        min_window: Count = 2, within 1..=1_000, from "RFC 5681 eq. 4, Linux tcp_dctcp.c";
        /// Additive increase goes on while marks are echoed: DCTCP changes the reaction to a mark and
        /// leaves the increase alone. Without it the window stands still for those round trips, as
        /// RFC 3168 section 6.1.2 has it for TCP.
        increase_on_echo: Flag = true, from "SIGCOMM 2010 section 3.1; SIGMETRICS 2011 section 3";
    }
}

/// DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: Window,
    /// Estimate of the fraction of bytes marked, 0 to 1 (DCTCP.Alpha).
    alpha: f64,
    g: f64,
    /// Bytes acknowledged in this observation window (DCTCP.BytesAcked).
    acked: u64,
    /// Those of them that were marked (DCTCP.BytesMarked).
    marked: u64,
    /// End of the observation window (DCTCP.WindowEnd).
    window_end: u64,
    min_window: u32,
    increase_on_echo: bool,
}

impl Dctcp {
    /// The estimate alpha of the fraction of bytes marked, 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// RFC 8257 section 3.3, steps 1 to 8.
    fn estimate(&mut self, ack: &Ack<'_>) {
        self.acked += ack.acked_bytes;
        self.marked += ack.marked_bytes;
        if ack.una <= self.window_end {
            return;
        }
        if self.acked > 0 {
            // M = BytesMarked / BytesAcked; Alpha = Alpha * (1 - g) + g * M
            let fraction = self.marked.min(self.acked) as f64 / self.acked as f64;
            self.alpha = self.alpha * (1.0 - self.g) + self.g * fraction;
        }
        self.window_end = ack.next;
        self.acked = 0;
        self.marked = 0;
    }
}

impl Law for Dctcp {
    type Params = DctcpParams;
    const SUMMARY: &'static str = "ECN-based: cuts the window by half the fraction of marked bytes";
    const SOURCE: &'static str = "RFC 8257; Alizadeh et al., SIGCOMM 2010";

    fn ecn(_: &DctcpParams) -> Ecn {
        Ecn::Exact
    }

    fn new(params: &DctcpParams, start: &Start) -> Self {
        Dctcp {
            window: Window::new(start),
            alpha: params.initial_alpha,
            g: params.g,
            acked: 0,
            marked: 0,
            window_end: 0,
            min_window: params.min_window as u32,
            increase_on_echo: params.increase_on_echo,
        }
    }
}

impl Sender for Dctcp {
    fn allowance(&self) -> Allowance {
        Allowance { window: self.window.cwnd(), rate: None }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.estimate(ack);
        // RFC 8257 section 3.3 step 9: cwnd = cwnd * (1 - Alpha / 2), on an echo as in RFC 3168
        // section 6.1.2: at the first marked ACK of a window of data, and never without one.
        if self.window.mark_is_news(ack) {
            let cwnd = (self.window.cwnd() as f64 * (1.0 - self.alpha / 2.0)) as u64;
            let floor = u64::from(self.min_window) * self.window.mss();
            self.window.reduce(cwnd, floor, ack.next);
        } else if self.increase_on_echo {
            self.window.grow_under_marks(ack);
        } else {
            self.window.grow(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        // RFC 8257 section 3.5: as conventional TCP.
        self.window.halve_on_loss(loss);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.collapse(timeout.flight_size / 2, timeout);
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh()
    }

    fn limit_growth(&mut self, limit: Option<Rate>) {
        self.window.limit_growth(limit);
    }

    fn scale_down(&mut self, numerator: u64, denominator: u64) {
        self.window.scale_down(numerator, denominator);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::testing::{MSS, ack, loss, start, timeout};

    /// Acknowledges windows of ten segments marked by `pattern`, from segment `from` on.
    fn windows(law: &mut Dctcp, pattern: &str, from: u64, count: u64) -> u64 {
        let mut una = from;
        for _ in 0..count {
            for mark in pattern.bytes() {
                let marked_bytes = if mark == b'1' { MSS } else { 0 };
                una += MSS;
                law.on_ack(&Ack {
                    marked_bytes,
                    ece: marked_bytes > 0,
                    una,
                    next: una + 9 * MSS,
                    ..ack()
                });
            }
        }
        una
    }

    fn dctcp() -> Dctcp {
        Dctcp::new(&DctcpParams::default(), &start())
    }

    /// Share of the window that a mark costs once alpha has come to rest under a pattern.
    fn cut(pattern: &str, alpha: f64) -> f64 {
        let mut law = dctcp();
        let una = windows(&mut law, pattern, 0, 300);
        assert!((law.alpha() - alpha).abs() < 0.01, "alpha {} for {pattern}", law.alpha());
        law.window = Window::new(&Start { initial_window: 1000 * MSS, ..start() });
        let mark = Ack { marked_bytes: MSS, ece: true, una: una + MSS, next: una + MSS, ..ack() };
        law.on_ack(&mark);
        1.0 - law.allowance().window as f64 / (1000 * MSS) as f64
    }

    #[test]
    fn cuts_by_forty_and_by_five_per_cent() {
        // The slides' two windows of ten packets: eight marks, and one.
        assert!((cut("1011110111", 0.8) - 0.40).abs() < 0.01);
        assert!((cut("0000000001", 0.1) - 0.05).abs() < 0.01);
        assert!((cut("1111111111", 1.0) - 0.50).abs() < 0.01);
    }

    #[test]
    fn alpha_moves_by_g_a_window() {
        let mut law = dctcp();
        assert_eq!(law.alpha(), 1.0);
        windows(&mut law, "0", 0, 1);
        assert_eq!(law.alpha(), 15.0 / 16.0);
        // Ten more segments complete the window that began with the first.
        windows(&mut law, "0000000000", MSS, 1);
        assert_eq!(law.alpha(), 15.0 / 16.0 * 15.0 / 16.0);
    }

    #[test]
    fn never_cuts_without_a_mark() {
        let mut law = dctcp();
        let before = law.allowance().window;
        windows(&mut law, "0000000000", 0, 3);
        assert_eq!(law.allowance().window, before + 30 * MSS);
    }

    #[test]
    fn the_first_mark_ends_slow_start_and_halves() {
        let mut law = dctcp();
        law.on_ack(&Ack { marked_bytes: MSS, ece: true, ..ack() });
        // Initial alpha 1.
        assert_eq!((law.allowance().window, law.ssthresh()), (5 * MSS, 5 * MSS));
        // Nine more marks in the same window of data: no other cut, but the increase goes on.
        let mut still = Dctcp { increase_on_echo: false, ..law.clone() };
        for una in 2..=10 {
            let marked = Ack { marked_bytes: MSS, ece: true, una: una * MSS, ..ack() };
            law.on_ack(&marked);
            still.on_ack(&marked);
        }
        assert_eq!(law.allowance().window, 6 * MSS);
        assert_eq!(still.allowance().window, 5 * MSS);
    }

    #[test]
    fn marks_stop_at_the_floor() {
        let params = DctcpParams { increase_on_echo: false, ..DctcpParams::default() };
        let mut law = Dctcp::new(&params, &start());
        windows(&mut law, "1111111111", 0, 50);
        assert_eq!(law.allowance().window, 2 * MSS);
        let params = DctcpParams { min_window: 1, ..params };
        let mut law = Dctcp::new(&params, &start());
        windows(&mut law, "1111111111", 0, 50);
        assert_eq!(law.allowance().window, MSS);
    }

    #[test]
    fn a_loss_halves_and_a_timeout_restarts() {
        let mut law = dctcp();
        windows(&mut law, "0000000000", 0, 100);
        let alpha = law.alpha();
        law.window = Window::new(&Start { initial_window: 40 * MSS, ..start() });
        law.on_loss(&loss(40 * MSS));
        assert_eq!(law.allowance().window, 20 * MSS);
        law.on_timeout(&timeout(20 * MSS, 1));
        assert_eq!((law.allowance().window, law.ssthresh()), (MSS, 10 * MSS));
        assert_eq!(law.alpha(), alpha);
    }
}
