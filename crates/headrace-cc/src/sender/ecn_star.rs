//! ECN\*: TCP NewReno on ECN-capable packets, which halves its window once per window of data in
//! which a mark is echoed (RFC 3168; the name is BCC's, section 2.2).

use super::aimd::Window;
use super::{Ack, Allowance, Ecn, Law, Loss, Sender, Start, Timeout};
use crate::units::Rate;

crate::params! {
    /// Parameters of [`EcnStar`]: there are none.
    pub struct EcnStarParams {}
}

/// ECN\*.
#[derive(Clone, Debug)]
pub struct EcnStar {
    window: Window,
}

impl Law for EcnStar {
    type Params = EcnStarParams;
    const SUMMARY: &'static str = "ECN-enabled TCP: half the window once per window with a mark";
    const SOURCE: &'static str = "BCC section 2.2, RFC 3168";

    fn ecn(_: &EcnStarParams) -> Ecn {
        Ecn::Classic
    }

    fn new(_: &EcnStarParams, start: &Start) -> Self {
        EcnStar { window: Window::new(start) }
    }
}

impl Sender for EcnStar {
    fn allowance(&self) -> Allowance {
        Allowance { window: self.window.cwnd(), rate: None }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.window.halve_on_mark(ack);
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
    use crate::sender::testing::{MSS, ack, start};

    #[test]
    fn one_mark_or_ten_halve_once() {
        // The slides' two windows: TCP halves both times.
        for pattern in ["1011110111", "0000000001"] {
            let mut law =
                EcnStar::new(&EcnStarParams {}, &Start { initial_window: 100 * MSS, ..start() });
            law.window.scale_down(99, 100);
            for (segment, mark) in (1..).zip(pattern.bytes()) {
                let (una, ece) = (segment * MSS, mark == b'1');
                law.on_ack(&Ack { ece, una, next: una + 10 * MSS, ..ack() });
            }
            assert_eq!(law.allowance().window, 99 * MSS / 2, "{pattern}");
        }
    }
}
