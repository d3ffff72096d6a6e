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
        let mut pools: Vec<Vec<Option<u64>>> = Vec::new();
        for part in parts.iter_mut() {
            part.fabric.settle_all(now + Time::from_ps(1));
            pools.push(vec![None; part.fabric.pools.len()]);
        }
        for port in &self.ports {
            let fabric = &parts[port.part].fabric;
            let known = &mut pools[port.part];
            let account = fabric.port_account(port.link as usize, now);
            let detail = &fabric.details[port.link as usize];
            let mut in_pool =
                |pool: usize| *known[pool].get_or_insert_with(|| fabric.pool_bytes(pool, now));
            recorder.port(&PortSample {
                time: now,
                node: port.node,
                port: port.port,
                queue_bytes: account.queue_bytes,
                pool_bytes: port.pools.clone().map(&mut in_pool).sum(),
                tx_bytes: account.sent_bytes,
                tx_packets: account.sent_packets,
                drops: detail.drops,
                marks: detail.marks(),
                paused: Time::ZERO,
            });
        }
    }
}
