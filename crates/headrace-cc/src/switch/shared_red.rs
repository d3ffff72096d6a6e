//! RED on the occupancy of the shared buffer pool: what BCC adds to a queue's own marker (section
//! 4.3). [`bcc_params`](super::bcc_params) computes its thresholds.

use super::curve::{Curve, MarkAt};
use super::{CongestionPoint, QueueView, Quiet, SwitchLaw, Verdict};
use crate::params::ParamError;

crate::params! {
    /// Parameters of [`SharedRed`]. The defaults are BCC's for 8 ports of 100 Gb/s on a pool of
    /// 3 MB.
    pub struct SharedRedParams {
        /// Pool occupancy up to which nothing is marked.
        k_min: Bytes = 1_802_000, from "BCC section 4.3 eq. 3 with section 5's figures";
        /// Pool occupancy above which everything is marked.
        k_max: Bytes = 2_602_000, from "BCC section 4.3 with section 5's figures";
        /// Probability of a mark at `k_max`; it rises linearly from 0 at `k_min`.
        p_max: Number = 0.1, within 0.0..=1.0, from "BCC section 4.3";
        /// Whether the pool is looked at as a packet's transmission starts or as it is admitted.
        at: Word<MarkAt> = MarkAt::Egress, from "BCC section 4.3, footnote 6";
    }
}

/// RED on the shared pool.
#[derive(Clone, Debug)]
pub struct SharedRed {
    curve: Curve,
    at: MarkAt,
}

impl SharedRed {
    fn verdict(&mut self, view: &QueueView, at: MarkAt) -> Verdict {
        let mark = self.at == at && view.ect && self.curve.marks(view.pool_bytes);
        if mark { Verdict::MARK } else { Verdict::NOTHING }
    }
}

impl SwitchLaw for SharedRed {
    type Params = SharedRedParams;
    const SUMMARY: &'static str = "marks by the shared pool's occupancy (BCC)";
    const SOURCE: &'static str = "Bai et al., BCC, APNet 2017, section 4.3";

    fn new(params: &SharedRedParams, seed: u64) -> Self {
        let curve = Curve::new(params.k_min, params.k_max, params.p_max, seed);
        SharedRed { curve, at: params.at }
    }

    fn check(params: &SharedRedParams) -> Result<(), ParamError> {
        Curve::check(params.k_min, params.k_max)
    }
}

impl CongestionPoint for SharedRed {
    #[inline]
    fn on_arrival(&mut self, view: &QueueView) -> Verdict {
        self.verdict(view, MarkAt::Ingress)
    }

    #[inline]
    fn on_departure(&mut self, view: &QueueView) -> Verdict {
        self.verdict(view, MarkAt::Egress)
    }

    fn quiet(&self) -> Quiet {
        Quiet { queue_bytes: u64::MAX, pool_bytes: self.curve.quiet() }
    }

    fn acts_at_arrival(&self) -> bool {
        self.at == MarkAt::Ingress
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Time};

    #[test]
    fn marks_by_the_pool_and_not_by_the_queue() {
        let view = |queue_bytes, pool_bytes| QueueView {
            now: Time::ZERO,
            queue_bytes,
            pool_bytes,
            tx_bytes: 0,
            rate: Rate::from_gbps(100),
            size: 1538,
            flow: 1,
            ingress: 0,
            priority: 0,
            ect: true,
        };
        let mut red = SharedRed::new(&SharedRedParams::default(), 1);
        assert_eq!(red.on_departure(&view(2_700_000, 1_802_000)), Verdict::NOTHING);
        assert_eq!(red.on_departure(&view(1538, 2_602_001)), Verdict::MARK);
        assert_eq!(red.on_arrival(&view(1538, 2_602_001)), Verdict::NOTHING);
        assert_eq!(red.quiet(), Quiet { queue_bytes: u64::MAX, pool_bytes: 1_802_000 });
        let marks = (0..10_000).filter(|_| red.on_departure(&view(1538, 2_202_000)).mark).count();
        // p = 0.05: 500 expected, standard deviation 22.
        assert!((412..588).contains(&marks), "{marks}");
    }
}
