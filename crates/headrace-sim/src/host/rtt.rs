//! Round-trip time and retransmission timeout (RFC 6298).

use headrace_cc::units::Time;

use crate::spec::TcpSpec;

/// SRTT, RTTVAR and the timeout with its back-off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttEstimator {
    srtt: Time,
    variation: Time,
    /// The last sample.
    pub(crate) latest: Time,
    base: Time,
    /// The timeout now, backed off and bounded.
    rto: Time,
    /// Timeouts in a row.
    backoff: u32,
}

impl RttEstimator {
    pub(crate) fn new(initial: Time, spec: &TcpSpec) -> Self {
        RttEstimator {
            srtt: Time::ZERO,
            variation: Time::ZERO,
            latest: Time::ZERO,
            base: initial,
            rto: initial.min(spec.rto_max.max(spec.rto_min)),
            backoff: 0,
        }
    }

    /// Smoothed round-trip time; zero before the first sample.
    pub(crate) fn srtt(&self) -> Time {
        self.srtt
    }

    /// A sample (equations 2.2 and 2.3: alpha 1/8, beta 1/4, K 4), which also ends the back-off.
    #[inline(always)]
    pub(crate) fn sample(&mut self, rtt: Time, spec: &TcpSpec) {
        let r = rtt.ps();
        if self.srtt == Time::ZERO {
            self.srtt = rtt;
            self.variation = Time::from_ps(r / 2);
        } else {
            let error = self.srtt.ps().abs_diff(r);
            self.variation = Time::from_ps((3 * self.variation.ps() + error) / 4);
            self.srtt = Time::from_ps((7 * self.srtt.ps() + r) / 8);
        }
        self.latest = rtt;
        self.backoff = 0;
        self.base = Time::from_ps(self.srtt.ps() + 4 * self.variation.ps()).max(spec.rto_min);
        self.rto = self.base.min(spec.rto_max.max(spec.rto_min));
    }

    /// Another timeout without progress (5.5), bounded (2.5). Returns how many there were in a row.
    pub(crate) fn back_off(&mut self, spec: &TcpSpec) -> u32 {
        self.set_backoff(self.backoff + 1, spec);
        self.backoff
    }

    /// Progress without a sample: the next timeout starts from the estimate again.
    pub(crate) fn end_backoff(&mut self, spec: &TcpSpec) {
        self.set_backoff(0, spec);
    }

    fn set_backoff(&mut self, backoff: u32, spec: &TcpSpec) {
        self.backoff = backoff;
        let backed_off = self.base.saturating_mul(1 << backoff.min(32));
        self.rto = backed_off.min(spec.rto_max.max(spec.rto_min));
    }

    /// The timeout now.
    #[inline(always)]
    pub(crate) fn rto(&self) -> Time {
        self.rto
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimator_follows_rfc_6298() {
        let spec = TcpSpec { rto_min: Time::from_us(1), ..TcpSpec::default() };
        let mut rtt = RttEstimator::new(Time::from_ms(1), &spec);
        assert_eq!(rtt.rto(), Time::from_ms(1));
        rtt.sample(Time::from_us(80), &spec);
        assert_eq!((rtt.srtt(), rtt.rto()), (Time::from_us(80), Time::from_us(240)));
        rtt.sample(Time::from_us(120), &spec);
        // RTTVAR = 3/4 x 40 + 1/4 x |80 - 120| = 40, SRTT = 7/8 x 80 + 1/8 x 120 = 85.
        assert_eq!((rtt.srtt(), rtt.rto()), (Time::from_us(85), Time::from_us(245)));
        assert_eq!((rtt.back_off(&spec), rtt.back_off(&spec)), (1, 2));
        assert_eq!(rtt.rto(), Time::from_us(980));
        let in_a_row = (0..60).map(|_| rtt.back_off(&spec)).last();
        assert_eq!(in_a_row, Some(62));
        assert_eq!(rtt.rto(), spec.rto_max);
        rtt.end_backoff(&spec);
        assert_eq!(rtt.rto(), Time::from_us(245));
    }

    #[test]
    fn the_minimum_holds() {
        let spec = TcpSpec::default();
        let mut rtt = RttEstimator::new(Time::from_ms(1), &spec);
        rtt.sample(Time::from_us(80), &spec);
        assert_eq!(rtt.rto(), Time::from_ms(5));
    }
}
