//! CUBIC (RFC 9438): between losses the window follows a cubic of the time since the last one.
//! Slow start is the standard one (section 4.10 allows it).

use super::aimd::Window;
use super::{Ack, Allowance, Ecn, Law, Loss, Sender, Start, Timeout};
use crate::units::{Rate, Time};

crate::params! {
    /// Parameters of [`Cubic`].
    pub struct CubicParams {
        /// Scale C of the cubic, segments per second cubed.
        c: Number = 0.4, within 1e-6..=1e6, from "RFC 9438 section 5.1";
        /// Factor by which the window falls at a loss or a mark.
        beta: Number = 0.7, within 0.1..=0.99, from "RFC 9438 section 4.6";
        /// Gives up bandwidth faster when the window's peak falls.
        fast_convergence: Flag = true, from "RFC 9438 section 4.7";
        /// Sends ECN-capable packets and takes an echoed mark for a congestion event.
        ecn: Flag = false, from "RFC 9438 section 4.6, RFC 3168";
    }
}

/// CUBIC. Windows written `w_` are in segments, as in the RFC.
#[derive(Clone, Debug)]
pub struct Cubic {
    window: Window,
    /// Growth in congestion avoidance that does not make up a byte yet, 0 to 1.
    fraction: f32,
    c: f64,
    beta: f64,
    fast_convergence: bool,
    ecn: bool,
    /// A congestion avoidance stage has begun, so that `k` and `epoch` hold.
    in_epoch: bool,
    /// The window was not updated at the last acknowledgement, for want of data or by the limit of
    /// growth.
    held: bool,
    /// W_max; 0 where a stage shall start from its own window (after a timeout, or with no loss
    /// yet).
    w_max: f64,
    /// Estimate W_est of Reno's window.
    w_est: f64,
    /// Window before the last reduction, cwnd_prior.
    w_prior: f64,
    /// K, seconds.
    k: f64,
    /// Start t_epoch of the stage, moved on by the time in which the window was not updated.
    epoch: Time,
    /// When the window was last updated.
    updated: Time,
}

impl Cubic {
    fn segments(&self) -> f64 {
        self.window.cwnd() as f64 / self.window.mss() as f64
    }

    /// W_cubic(t), eq. 1; `t` in seconds.
    fn w_cubic(&self, t: f64) -> f64 {
        let d = t - self.k;
        self.c * d * d * d + self.w_max
    }

    /// Starts a congestion avoidance stage (sections 4.2, 4.3, 4.8, 4.10).
    fn start_epoch(&mut self, now: Time) {
        let w = self.segments();
        if self.w_max <= w {
            self.w_max = w;
            self.w_prior = self.w_prior.max(w);
            self.k = 0.0;
        } else {
            // Eq. 2.
            self.k = libm::cbrt((self.w_max - w) / self.c);
        }
        self.w_est = w;
        self.epoch = now;
        self.updated = now;
        self.fraction = 0.0;
        self.in_epoch = true;
        self.held = false;
    }

    /// One acknowledgement's growth in congestion avoidance.
    fn congestion_avoidance(&mut self, ack: &Ack<'_>) {
        if !self.in_epoch {
            self.start_epoch(ack.now);
        }
        // Section 4.2: t leaves out the periods in which the window was not updated.
        if self.held {
            self.epoch = self.epoch.saturating_add(ack.now.since(self.updated));
        }
        self.updated = ack.now;

        let w = self.segments();
        let acked = ack.acked_bytes as f64 / self.window.mss() as f64;
        let t = ack.now.since(self.epoch).as_secs();

        // Section 4.3, eq. 4; alpha becomes 1 once W_est has come back to cwnd_prior.
        let reno = 3.0 * (1.0 - self.beta) / (1.0 + self.beta);
        let alpha = if self.w_est >= self.w_prior { 1.0 } else { reno };
        self.w_est += alpha * acked / w;

        let next = if self.w_cubic(t) < self.w_est {
            // Reno-friendly region. The larger of the two: an acknowledgement never shrinks the
            // window, though it may still stand above W_est after the clamp below.
            self.w_est.max(w)
        } else {
            // Sections 4.2, 4.4 and 4.5: target within [cwnd, 1.5 cwnd].
            let target = self.w_cubic(t + ack.srtt.as_secs()).clamp(w, 1.5 * w);
            w + (target - w) / w * acked
        };
        // Growth of at most 1.5 times in a stretched acknowledgement too.
        let growth = (next.min(1.5 * w) - w) * self.window.mss() as f64 + f64::from(self.fraction);
        let whole = growth as u64;
        self.fraction = (growth - whole as f64) as f32;
        self.held = !self.window.grow_to(self.window.cwnd() + whole, ack.srtt);
        if self.held {
            // Reno would have been held as well.
            self.w_est = self.w_est.min(self.segments());
        }
    }

    /// What a congestion event leaves behind (sections 4.6 and 4.7).
    fn remember_peak(&mut self) {
        let w = self.segments();
        self.w_prior = w;
        self.w_max =
            if self.fast_convergence && w < self.w_max { w * (1.0 + self.beta) / 2.0 } else { w };
        self.in_epoch = false;
    }

    fn times_beta(&self, bytes: u64) -> u64 {
        libm::round(bytes as f64 * self.beta) as u64
    }
}

impl Law for Cubic {
    type Params = CubicParams;
    const SUMMARY: &'static str = "loss-based: a cubic of the time since the last loss";
    const SOURCE: &'static str = "RFC 9438";

    fn ecn(params: &CubicParams) -> Ecn {
        if params.ecn { Ecn::Classic } else { Ecn::Off }
    }

    fn new(params: &CubicParams, start: &Start) -> Self {
        Cubic {
            window: Window::new(start),
            fraction: 0.0,
            c: params.c,
            beta: params.beta,
            fast_convergence: params.fast_convergence,
            ecn: params.ecn,
            in_epoch: false,
            held: false,
            w_max: 0.0,
            w_est: 0.0,
            w_prior: 0.0,
            k: 0.0,
            epoch: start.now,
            updated: start.now,
        }
    }
}

impl Sender for Cubic {
    fn allowance(&self) -> Allowance {
        Allowance { window: self.window.cwnd(), rate: None }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if self.ecn && self.window.mark_is_news(ack) {
            // Section 4.6, from cwnd instead of flight_size, which the section allows to a sender
            // that does not grow while application-limited; down to one segment.
            self.remember_peak();
            let cwnd = self.times_beta(self.window.cwnd());
            self.window.reduce(cwnd, self.window.mss(), ack.next);
        }
        if !self.window.may_grow(ack) {
            self.held |= ack.app_limited;
        } else if self.window.in_slow_start() {
            self.window.slow_start(ack);
        } else {
            self.congestion_avoidance(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        if self.window.loss_is_news(loss) {
            self.remember_peak();
            let floor = 2 * self.window.mss();
            self.window.reduce(self.times_beta(loss.flight_size), floor, loss.next);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        // Section 4.8: ssthresh by beta; the next stage starts from its own window, with K = 0.
        if timeout.backoff <= 1 {
            self.w_prior = self.segments();
        }
        self.w_max = 0.0;
        self.in_epoch = false;
        self.window.collapse(self.times_beta(timeout.flight_size), timeout);
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh()
    }

    fn limit_growth(&mut self, limit: Option<Rate>) {
        self.window.limit_growth(limit);
    }

    /// Scales the whole curve, and starts a new stage on it.
    fn scale_down(&mut self, numerator: u64, denominator: u64) {
        if numerator >= denominator {
            return;
        }
        let factor = numerator as f64 / denominator as f64;
        self.window.scale_down(numerator, denominator);
        self.w_max *= factor;
        self.w_prior *= factor;
        self.in_epoch = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::testing::{MSS, ack, loss, start, timeout};

    const RTT: Time = Time::from_ms(100);

    fn cubic(segments: u64) -> Cubic {
        let start = Start { initial_window: segments * MSS, ..start() };
        Cubic::new(&CubicParams::default(), &start)
    }

    /// Acknowledges a window of data a round trip, segment by segment; returns the time after it.
    fn rounds(law: &mut Cubic, from: Time, until: Time, mut each: impl FnMut(Time, f64)) -> Time {
        let mut now = from;
        while now < until {
            let segments = law.window.cwnd() / MSS;
            for _ in 0..segments {
                now += Time::from_ps(RTT.ps() / segments);
                law.on_ack(&Ack { now, srtt: RTT, ..ack() });
            }
            each(now, law.segments());
        }
        now
    }

    #[test]
    fn the_window_follows_the_cubic_between_losses() {
        let mut law = cubic(1000);
        law.on_loss(&loss(1000 * MSS));
        assert_eq!(law.allowance().window, 700 * MSS);
        // Eq. 2: K = cbrt(1000 x 0.3 / 0.4) = 9.086 s.
        let k = libm::cbrt(300.0 / 0.4);
        rounds(&mut law, Time::ZERO, Time::from_ms(20_000), |now, w| {
            let d = now.as_secs() - k;
            let curve = 0.4 * d * d * d + 1000.0;
            // The window moves to W(t + RTT) within a round trip, so it trails W by less than one.
            assert!((w / curve - 1.0).abs() < 0.02, "{w} at {now}, curve {curve}");
        });
        assert!((law.k - k).abs() < 0.01);
    }

    #[test]
    fn the_epoch_leaves_out_time_without_data() {
        let mut law = cubic(1000);
        law.on_loss(&loss(1000 * MSS));
        let now = rounds(&mut law, Time::ZERO, Time::from_ms(3000), |_, _| ());
        let before = law.segments();
        law.on_ack(&Ack { now, srtt: RTT, app_limited: true, ..ack() });
        assert_eq!(law.segments(), before);
        let later = now + Time::from_ms(60_000);
        law.on_ack(&Ack { now: later, srtt: RTT, ..ack() });
        assert!(law.segments() - before < 1.0, "{} after {before}", law.segments());
        assert!(later.since(law.epoch) < Time::from_ms(3200));
    }

    #[test]
    fn growth_held_by_a_limit_does_not_let_the_curve_run_ahead() {
        // On the cubic, and in the Reno-friendly region.
        for segments in [1000, 20] {
            let mut law = cubic(segments);
            law.on_loss(&loss(segments * MSS));
            let now = rounds(&mut law, Time::ZERO, Time::from_ms(1000), |_, _| ());
            let before = law.segments();
            law.limit_growth(Some(Rate::from_bps(1)));
            let now = rounds(&mut law, now, now + Time::from_ms(30_000), |_, _| ());
            assert_eq!(law.segments(), before);
            law.limit_growth(None);
            rounds(&mut law, now, now + RTT, |_, _| ());
            assert!(law.segments() < before * 1.1, "{} after {before}", law.segments());
        }
    }

    #[test]
    fn fast_convergence_lowers_the_peak() {
        let mut law = cubic(1000);
        law.on_loss(&loss(1000 * MSS));
        assert_eq!(law.w_max, 1000.0);
        law.on_loss(&Loss { una: 1000 * MSS, next: 1700 * MSS, ..loss(700 * MSS) });
        // Section 4.7: 700 (1 + 0.7) / 2.
        assert!((law.w_max - 595.0).abs() < 1e-9);
        assert_eq!(law.w_prior, 700.0);
        assert_eq!(law.allowance().window, 490 * MSS);

        let params = CubicParams { fast_convergence: false, ..CubicParams::default() };
        let mut plain = Cubic { fast_convergence: params.fast_convergence, ..cubic(1000) };
        plain.on_loss(&loss(1000 * MSS));
        plain.on_loss(&Loss { una: 1000 * MSS, next: 1700 * MSS, ..loss(700 * MSS) });
        assert_eq!(plain.w_max, 700.0);
    }

    #[test]
    fn after_a_timeout_the_stage_starts_from_its_own_window() {
        let mut law = cubic(1000);
        law.on_timeout(&timeout(1000 * MSS, 1));
        assert_eq!((law.allowance().window, law.ssthresh()), (MSS, 700 * MSS));
        let mut now = Time::from_ms(5);
        while law.window.in_slow_start() {
            now += Time::from_ms(1);
            law.on_ack(&Ack { now, srtt: RTT, ..ack() });
        }
        law.on_ack(&Ack { now, srtt: RTT, ..ack() });
        // Section 4.8: K = 0, W_max and W_est at the window with which the stage began.
        assert_eq!((law.k, law.w_max), (0.0, 700.0));
        assert_eq!(law.epoch, now);
    }

    #[test]
    fn a_mark_cuts_by_beta_once_a_window_if_asked_for() {
        let mut law = Cubic { ecn: true, ..cubic(100) };
        let mark = Ack { ece: true, una: MSS, next: 100 * MSS, ..ack() };
        law.on_ack(&mark);
        law.on_ack(&Ack { una: 2 * MSS, ..mark });
        assert_eq!(law.allowance().window, 70 * MSS);
        let mut deaf = cubic(100);
        deaf.on_ack(&mark);
        assert_eq!(deaf.allowance().window, 100 * MSS);
    }

    #[test]
    fn the_target_is_clamped_to_half_as_much_again() {
        let mut law = cubic(10);
        law.on_loss(&loss(10 * MSS));
        law.on_ack(&Ack { now: RTT, srtt: RTT, ..ack() });
        // Far out on the curve, a whole window acknowledged at once.
        law.on_ack(&Ack {
            now: Time::from_ms(100_000),
            srtt: RTT,
            acked_bytes: 1000 * MSS,
            ..ack()
        });
        assert!(law.segments() <= 7.1 * 1.5, "{}", law.segments());
    }

    #[test]
    fn scaling_down_scales_the_curve() {
        let mut law = cubic(1000);
        law.on_loss(&loss(1000 * MSS));
        law.scale_down(1, 2);
        assert_eq!((law.allowance().window, law.w_max), (350 * MSS, 500.0));
        law.on_ack(&Ack { now: RTT, srtt: RTT, ..ack() });
        assert!((law.k - libm::cbrt(150.0 / 0.4)).abs() < 1e-9);
    }
}
