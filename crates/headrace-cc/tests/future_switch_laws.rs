//! A switch law of another kind against the same trait: one that samples arrivals and notifies the
//! source, instead of marking.

use headrace_cc::sender::Signal;
use headrace_cc::switch::{CongestionPoint, QueueView, Verdict};
use headrace_cc::units::{Rate, Time};

/// QCN's congestion point: samples every M bytes, notifies with the quantised feedback.
struct QcnCp {
    old: f64,
    left: f64,
}

impl CongestionPoint for QcnCp {
    fn on_arrival(&mut self, view: &QueueView) -> Verdict {
        const INTERVAL: [f64; 8] = [150e3, 75e3, 50e3, 37.5e3, 30e3, 25e3, 21.5e3, 18.5e3];
        self.left -= f64::from(view.size);
        if self.left > 0.0 {
            return Verdict::NOTHING;
        }
        let (equilibrium, weight, queue) = (33_000.0, 2.0, view.queue_bytes as f64);
        let most = equilibrium * (2.0 * weight + 1.0);
        let fb = (queue - equilibrium + weight * (queue - self.old)).clamp(0.0, most);
        let feedback = (fb * 63.0 / most) as u8;
        self.old = queue;
        self.left = INTERVAL[usize::from(feedback / 8)];
        let notify = (feedback > 0).then_some(Signal::CongestionNotification { feedback });
        Verdict { notify, ..Verdict::NOTHING }
    }
}

#[test]
fn a_qcn_switch_samples_and_notifies() {
    let mut point = QcnCp { old: 0.0, left: 150e3 };
    let mut notified = Vec::new();
    for packet in 1..=200u64 {
        let verdict = point.on_arrival(&QueueView {
            now: Time::from_us(packet),
            queue_bytes: packet * 1500,
            pool_bytes: 0,
            tx_bytes: 0,
            rate: Rate::from_gbps(10),
            size: 1500,
            flow: packet % 4,
            ingress: 0,
            priority: 0,
            ect: true,
        });
        if let Some(Signal::CongestionNotification { feedback }) = verdict.notify {
            notified.push((packet, feedback));
        }
        assert!(!verdict.mark);
    }
    // The first sample after 150 KB, saturated; from then on every 18.5 KB, 13 packets.
    assert_eq!(notified[..3], [(100, 63), (113, 63), (126, 63)]);
}
