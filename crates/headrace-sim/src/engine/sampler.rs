//! Samples of the switches' ports.

use headrace_cc::units::Time;

use super::parallel::Held;
use crate::record::{PortSample, Recorder};

/// Takes the switch ports' samples.
pub(super) struct Sampler {
    pub(super) interval: Time,
    pub(super) next: Time,
    /// In the order of (node, port).
    pub(super) ports: Vec<SampledPort>,
}

/// A port to sample.
pub(super) struct SampledPort {
    pub(super) node: u32,
    pub(super) port: u32,
    /// Its part of the engine.
    pub(super) part: usize,
    /// Its directed link there.
    pub(super) link: u32,
    /// The pools of its MMU there.
    pub(super) pools: std::ops::Range<usize>,
}

impl Sampler {
    /// Samples every port now. Samples come last in their instant: what ends transmission now has
    /// left.
    pub(super) fn sample(&mut self, parts: &mut Held<'_>, recorder: &mut impl Recorder) {
        let now = self.next;
        self.next = now.saturating_add(self.interval);
        let after = now + Time::from_ps(1);
        let mut pools: Vec<Vec<Option<u64>>> =
            parts.iter().map(|part| vec![None; part.fabric.pools.len()]).collect();
        for port in &self.ports {
            let fabric = &mut parts[port.part].fabric;
            let known = &mut pools[port.part];
            fabric.settle(port.link as usize, after);
            for pool in port.pools.clone() {
                if known[pool].is_none() {
                    fabric.settle_pool(pool, after);
                    known[pool] = Some(fabric.pool_bytes(pool, now));
                }
            }
            let account = fabric.port_account(port.link as usize, now);
            let detail = &fabric.details[port.link as usize];
            recorder.port(&PortSample {
                time: now,
                node: port.node,
                port: port.port,
                queue_bytes: account.queue_bytes,
                pool_bytes: port.pools.clone().filter_map(|pool| known[pool]).sum(),
                tx_bytes: account.sent_bytes,
                tx_packets: account.sent_packets,
                drops: detail.drops,
                marks: detail.marks(),
                paused: Time::ZERO,
            });
        }
    }
}
