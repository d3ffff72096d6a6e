//! TCP NewReno: additive increase, halving at a loss (RFC 5681, RFC 6582), with byte counting
//! (RFC 3465) and, if asked for, ECN (RFC 3168).

use super::aimd::Window;
use super::{Ack, Allowance, Ecn, Law, Loss, Sender, Start, Timeout};
use crate::units::Rate;

crate::params! {
    /// Parameters of [`NewReno`].
    pub struct NewRenoParams {
        /// Sends ECN-capable packets and halves once per window of data in which a mark is echoed.
        ecn: Flag = false, from "RFC 3168 section 6.1.2";
    }
}

/// TCP NewReno.
#[derive(Clone, Debug)]
pub struct NewReno {
    window: Window,
    ecn: bool,
}

impl Law for NewReno {
    type Params = NewRenoParams;
    const SUMMARY: &'static str =
        "loss-based: one segment more per round trip, half the window at a loss";
    const SOURCE: &'static str = "RFC 5681, RFC 6582, RFC 3465";

    fn ecn(params: &NewRenoParams) -> Ecn {
        if params.ecn { Ecn::Classic } else { Ecn::Off }
    }

    fn new(params: &NewRenoParams, start: &Start) -> Self {
        NewReno { window: Window::new(start), ecn: params.ecn }
    }
}

impl Sender for NewReno {
    fn allowance(&self) -> Allowance {
        Allowance { window: self.window.cwnd(), rate: None }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if self.ecn {
            self.window.halve_on_mark(ack);
        }
        self.window.grow(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.halve_on_loss(loss);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        // RFC 5681 section 3.1, eq. 4.
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
    use crate::sender::testing::{MSS, ack, loss, start};

    #[test]
    fn marks_count_only_where_ecn_is_on() {
        let mark = Ack { ece: true, marked_bytes: MSS, ..ack() };
        let mut deaf = NewReno::new(&NewRenoParams::default(), &start());
        deaf.on_ack(&mark);
        assert_eq!(deaf.allowance().window, 10 * MSS);
        let mut law = NewReno::new(&NewRenoParams { ecn: true }, &start());
        law.on_ack(&mark);
        law.on_ack(&Ack { una: 2 * MSS, ..mark });
        assert_eq!(law.allowance().window, 5 * MSS);
    }

    #[test]
    fn a_loss_halves_what_is_in_flight() {
        let mut law = NewReno::new(&NewRenoParams::default(), &start());
        law.on_loss(&loss(8 * MSS));
        assert_eq!(law.allowance().window, 4 * MSS);
        assert_eq!(law.ssthresh(), 4 * MSS);
    }
}
