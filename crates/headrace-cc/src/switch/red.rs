//! RED on the queue's instantaneous length, as switch chips offer it for ECN; with `k_min = k_max`
//! it is DCTCP's threshold.

use super::curve::Curve;
pub use super::curve::MarkAt;
use super::{CongestionPoint, QueueView, Quiet, SwitchLaw, Verdict};
use crate::params::ParamError;

crate::params! {
    /// Parameters of [`Red`].
    pub struct RedParams {
        /// Queue length up to which nothing is marked; 65 packets of 1500 bytes by default.
        k_min: Bytes = 97_500, from "DCTCP, SIGCOMM 2010, section 4: K = 65 packets at 10 Gb/s";
        /// Queue length above which everything is marked. Equal to `k_min`: a threshold.
        k_max: Bytes = 97_500, from "DCTCP, SIGCOMM 2010, section 4: K = 65 packets at 10 Gb/s";
        /// Probability of a mark at `k_max`; it rises linearly from 0 at `k_min`.
        p_max: Number = 1.0, within 0.0..=1.0, from "DCTCP, SIGCOMM 2010, section 3.1";
        /// Whether the queue is looked at as a packet's transmission starts or as it is admitted.
        at: Word<MarkAt> = MarkAt::Egress, from "BCC section 4.3, footnote 6";
    }
}

/// RED on the queue.
#[derive(Clone, Debug)]
pub struct Red {
    curve: Curve,
    at: MarkAt,
}

impl Red {
    fn verdict(&mut self, view: &QueueView, at: MarkAt) -> Verdict {
        let mark = self.at == at && view.ect && self.curve.marks(view.queue_bytes);
        if mark { Verdict::MARK } else { Verdict::NOTHING }
    }
}

impl SwitchLaw for Red {
    type Params = RedParams;
    const SUMMARY: &'static str =
        "marks by the queue's length: a threshold, or a slope between two";
    const SOURCE: &'static str = "Floyd and Jacobson 1993; DCTCP, SIGCOMM 2010, section 3.1";

    fn new(params: &RedParams, seed: u64) -> Self {
        let curve = Curve::new(params.k_min, params.k_max, params.p_max, seed);
        Red { curve, at: params.at }
    }

    fn check(params: &RedParams) -> Result<(), ParamError> {
        Curve::check(params.k_min, params.k_max)
    }
}

impl CongestionPoint for Red {
    #[inline]
    fn on_arrival(&mut self, view: &QueueView) -> Verdict {
        self.verdict(view, MarkAt::Ingress)
    }

    #[inline]
    fn on_departure(&mut self, view: &QueueView) -> Verdict {
        self.verdict(view, MarkAt::Egress)
    }

    fn quiet(&self) -> Quiet {
        Quiet { queue_bytes: self.curve.quiet(), pool_bytes: u64::MAX }
    }

    fn acts_at_arrival(&self) -> bool {
        self.at == MarkAt::Ingress
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Time};

    fn view(queue_bytes: u64) -> QueueView {
        QueueView {
            now: Time::ZERO,
            queue_bytes,
            pool_bytes: 10_000_000,
            tx_bytes: 0,
            rate: Rate::from_gbps(10),
            size: 1538,
            flow: 1,
            ingress: 0,
            priority: 0,
            ect: true,
        }
    }

    #[test]
    fn the_default_is_a_threshold_at_egress() {
        let mut red = Red::new(&RedParams::default(), 1);
        assert_eq!(red.on_departure(&view(97_500)), Verdict::NOTHING);
        assert_eq!(red.on_departure(&view(97_501)), Verdict::MARK);
        assert_eq!(red.on_arrival(&view(97_501)), Verdict::NOTHING);
        assert!(!red.acts_at_arrival());
        assert_eq!(red.quiet(), Quiet { queue_bytes: 97_500, pool_bytes: u64::MAX });
    }

    #[test]
    fn at_ingress_it_acts_at_arrival_alone() {
        let params = RedParams { at: MarkAt::Ingress, ..RedParams::default() };
        let mut red = Red::new(&params, 1);
        assert!(red.acts_at_arrival());
        assert_eq!(red.on_arrival(&view(97_501)), Verdict::MARK);
        assert_eq!(red.on_departure(&view(97_501)), Verdict::NOTHING);
    }

    #[test]
    fn what_cannot_be_marked_is_left_alone() {
        let mut red = Red::new(&RedParams::default(), 1);
        assert_eq!(red.on_departure(&QueueView { ect: false, ..view(97_501) }), Verdict::NOTHING);
    }
}
