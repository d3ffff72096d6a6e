//! The run: events in order, from the first flow to the last.
//!
//! # Order of events
//!
//! A node's events are ordered by (time, kind, source, sequence). The kinds, in order: arrivals,
//! by the port they come in at; ends of transmission, by port; starts of flows, in the workload's
//! order; timers, by (flow, kind); samples. Links are FIFO, so that no two arrivals on one tie.
//! Between nodes the order at one instant does not matter, since nothing reaches another node in
//! no time. Two [`pending::Pending`] realise that order, for arrivals and for what a node has pending
//! for itself, by numbering their sources in it.

mod build;
mod conservation;
pub(crate) mod pending;

use std::ops::ControlFlow;

use headrace_cc::units::Time;

use crate::host::nic::Net;
use crate::host::transport::Transport;
use crate::net::fabric::Fabric;
use crate::net::graph::Graph;
use crate::net::path::Paths;
use crate::record::{LinkTotals, PortSample, Recorder, SimError, Totals};
use crate::spec::RunSpec;
use crate::workload::{FlowSpec, Workload};

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Packets that finished crossing a link.
    pub packet_hops: u64,
    /// Flows that have started.
    pub flows_started: u64,
    /// Flows that have finished.
    pub flows_finished: u64,
}

/// A run in the making.
pub struct Simulation<W> {
    pub(crate) fabric: Fabric,
    pub(crate) paths: Paths,
    pub(crate) transport: Transport<W>,
    sources: Sources,
    /// The next flow of the workload.
    coming: Option<FlowSpec>,
    sampler: Option<Sampler>,
    until: Time,
    now: Time,
    /// Events that were not arrivals.
    local_events: u64,
    packet_hops: u64,
    /// Directed links in the order of [`Totals::links`].
    pub(crate) canonical: Vec<u32>,
    /// Each router's pools, a range.
    pub(crate) router_pools: Vec<std::ops::Range<usize>>,
    /// Names of the directed links, in port order of the engine, for errors.
    pub(crate) names: Vec<String>,
}

/// Which local source is what: scheduled ports' ends of transmission, the workload, the hosts'
/// timers, the sampler.
#[derive(Clone, Debug)]
struct Sources {
    /// The port of each end-of-transmission source.
    done_port: Vec<u32>,
    workload: usize,
    timers: usize,
    sampler: usize,
}

/// Takes the switch ports' samples.
struct Sampler {
    interval: Time,
    next: Time,
    /// (node, port, directed link, the pools of its MMU), in that order.
    ports: Vec<(u32, u32, u32, Vec<u32>)>,
}

/// How many packet-hops pass between two looks at the watch.
const WATCH_HOPS: u64 = 1 << 17;

impl<W: Workload> Simulation<W> {
    /// Builds the network.
    ///
    /// # Errors
    /// [`SimError::Spec`] for a network that cannot be run.
    pub fn new(spec: &RunSpec, workload: W) -> Result<Self, SimError> {
        let in_order: Vec<usize> = (0..spec.network.nodes.len()).collect();
        Self::stepped(spec, workload, &in_order)
    }

    /// As [`Simulation::new`], with the nodes numbered inside the engine in the order given, which
    /// is the order in which they are stepped within an instant. The results do not depend on it.
    ///
    /// # Errors
    /// As [`Simulation::new`]; also if `order` is not a permutation of the nodes.
    pub fn stepped(spec: &RunSpec, workload: W, order: &[usize]) -> Result<Self, SimError> {
        crate::net::check(&spec.network)?;
        if spec.classes.is_empty() {
            return Err(SimError::Spec("a run needs at least one traffic class".into()));
        }
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..spec.network.nodes.len()) {
            return Err(SimError::Spec("the stepping order is not a permutation".into()));
        }
        let graph = Graph::new(&spec.network);
        let mut simulation = build::assemble(spec, workload, &graph, order);
        simulation.coming = simulation.transport.workload.next_flow();
        simulation.schedule_coming();
        if let Some(sampler) = &simulation.sampler {
            simulation.fabric.local.set(simulation.sources.sampler, sampler.next);
        }
        simulation.set_alarm();
        Ok(simulation)
    }

    /// Runs to the end. `watch` is called every 2^17 packet-hops; a break ends the run.
    ///
    /// # Errors
    /// [`SimError::Invariant`] where the simulation contradicts itself, [`SimError::Spec`] for a flow
    /// that cannot be carried, [`SimError::Interrupted`] where `watch` broke.
    pub fn run(
        mut self,
        recorder: &mut impl Recorder,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Totals, SimError> {
        let mut next_watch = 0;
        loop {
            let (arrival, link) = self.fabric.arrivals.first();
            if arrival <= self.fabric.alarm {
                self.now = arrival;
                self.arrive(link, arrival);
                if cfg!(debug_assertions) {
                    self.check_event(link)?;
                }
            } else if !self.handle_alarm(arrival, recorder) {
                break;
            }
            if self.packet_hops >= next_watch {
                next_watch = self.packet_hops + WATCH_HOPS;
                if watch(&self.progress()).is_break() {
                    return Err(SimError::Interrupted(self.now));
                }
                if let Some(error) = self.transport.error.take() {
                    return Err(error);
                }
            }
        }
        if watch(&self.progress()).is_break() {
            return Err(SimError::Interrupted(self.now));
        }
        self.finish(recorder)
    }

    /// Something is due before the next arrival: records to hand over, a local event, the end of the
    /// run. False at the end.
    #[inline(never)]
    fn handle_alarm(&mut self, arrival: Time, recorder: &mut impl Recorder) -> bool {
        let (own, source) = self.fabric.local.first();
        let time = arrival.min(own);
        if time > self.transport.outbox.at {
            self.flush(recorder);
        }
        if time > self.until {
            self.now = self.until;
            return false;
        }
        // What may be left then are timers of flows that have ended, and samples of nothing.
        let done = arrival == Time::NEVER && self.coming.is_none() && self.transport.is_idle();
        if done || time == Time::NEVER {
            return false;
        }
        if own < arrival {
            debug_assert!(own >= self.now, "time goes back at source {source}");
            self.now = own;
            self.local_events += 1;
            self.handle_local(source, own, recorder);
        }
        self.set_alarm();
        true
    }

    /// The next time at which anything but an arrival needs attention.
    fn set_alarm(&mut self) {
        let own = self.fabric.local.first().0;
        // Before "never", so that the end of all arrivals is an alarm too.
        let last = Time::from_ps(Time::NEVER.ps() - 1);
        self.fabric.alarm = own.min(self.until).min(self.transport.outbox.at).min(last);
    }

    /// A packet reaches the end of directed link `id`.
    #[inline(never)]
    fn arrive(&mut self, id: usize, now: Time) {
        self.packet_hops += 1;
        let Some(packet) = self.fabric.take_arrival(id, now) else { return };
        let end = self.fabric.ends[id];
        if end.is_host {
            let mut net = Net { fabric: &mut self.fabric, paths: &self.paths };
            self.transport.on_packet(&mut net, packet, now);
        } else {
            let dst = usize::from(packet.dst);
            let out = self.paths.routes.next_hop(end.node as usize, dst, packet.hash);
            self.fabric.offer(out, packet, end.ingress, now);
        }
    }

    #[inline(never)]
    fn handle_local(&mut self, source: usize, now: Time, recorder: &mut impl Recorder) {
        let sources = &self.sources;
        if source < sources.workload {
            let port = sources.done_port[source];
            self.fabric.transmission_done(port as usize, now);
        } else if source == sources.workload {
            let Some(spec) = self.coming.take() else { return };
            self.coming = self.transport.workload.next_flow();
            self.schedule_coming();
            let mut net = Net { fabric: &mut self.fabric, paths: &self.paths };
            self.transport.start_flow(&mut net, spec, now);
        } else if source < sources.sampler {
            let host = source - sources.timers;
            let mut net = Net { fabric: &mut self.fabric, paths: &self.paths };
            self.transport.on_timer(&mut net, host, now);
        } else {
            self.sample(now, recorder);
        }
    }

    fn schedule_coming(&mut self) {
        // A start in the past is reported when the flow starts.
        let start = self.coming.map_or(Time::NEVER, |flow| flow.start.max(self.now));
        self.fabric.local.set(self.sources.workload, start);
    }

    fn sample(&mut self, now: Time, recorder: &mut impl Recorder) {
        let Some(sampler) = &mut self.sampler else { return };
        sampler.next = now + sampler.interval;
        self.fabric.local.set(self.sources.sampler, sampler.next);
        // Samples come last in their instant: what ends transmission now has left.
        self.fabric.settle_all(now + Time::from_ps(1));
        let mut pools: Vec<Option<u64>> = vec![None; self.fabric.pools.len()];
        for (node, port, link, mine) in &sampler.ports {
            let account = self.fabric.port_account(*link as usize, now);
            let detail = &self.fabric.details[*link as usize];
            let mut in_pool = |pool: u32| {
                let fresh = || self.fabric.pool_bytes(pool as usize, now);
                *pools[pool as usize].get_or_insert_with(fresh)
            };
            recorder.port(&PortSample {
                time: now,
                node: *node,
                port: *port,
                queue_bytes: account.queue_bytes,
                pool_bytes: mine.iter().map(|&pool| in_pool(pool)).sum(),
                tx_bytes: account.sent_bytes,
                tx_packets: account.sent_packets,
                drops: detail.drops,
                marks: detail.marks(),
                paused: Time::ZERO,
            });
        }
    }

    fn flush(&mut self, recorder: &mut impl Recorder) {
        let outbox = &mut self.transport.outbox;
        outbox.at = Time::NEVER;
        outbox.flows.sort_unstable_by_key(|r| r.id);
        outbox.flows.drain(..).for_each(|r| recorder.flow(&r));
        outbox.rates.sort_by_key(|r| r.flow);
        outbox.rates.drain(..).for_each(|r| recorder.rate(&r));
    }

    fn progress(&self) -> Progress {
        Progress {
            now: self.now,
            packet_hops: self.packet_hops,
            flows_started: self.transport.tally.flows_started,
            flows_finished: self.transport.tally.flows_finished,
        }
    }

    fn finish(mut self, recorder: &mut impl Recorder) -> Result<Totals, SimError> {
        if let Some(error) = self.transport.error.take() {
            return Err(error);
        }
        self.flush(recorder);
        self.fabric.settle_all(self.now.saturating_add(Time::from_ps(1)));
        self.check_conservation()?;
        self.transport.unfinished().iter().for_each(|r| recorder.flow(r));
        let tally = self.transport.tally;
        let fabric = &self.fabric;
        let ids = 0..fabric.ports.len();
        Ok(Totals {
            end: self.now,
            events: self.packet_hops + self.local_events,
            packet_hops: self.packet_hops,
            flows_started: tally.flows_started,
            flows_finished: tally.flows_finished,
            peak_active_flows: tally.peak_active,
            sent_packets: tally.sent_packets,
            delivered_packets: tally.delivered_packets,
            in_flight_packets: ids.map(|id| fabric.held(id).count() as u64).sum(),
            sent_data_packets: tally.sent_data_packets,
            drops: self.fabric.drops.packets,
            dropped_bytes: self.fabric.drops.bytes,
            marks: fabric.details.iter().map(|d| d.marks()).sum(),
            goodput_bytes: tally.goodput_bytes,
            links: (self.canonical.iter())
                .map(|&id| link_totals(fabric, id as usize, self.now))
                .collect(),
        })
    }
}

fn link_totals(fabric: &Fabric, id: usize, end: Time) -> LinkTotals {
    let account = fabric.port_account(id, end);
    let (port, detail) = (&fabric.ports[id], &fabric.details[id]);
    LinkTotals {
        tx_packets: account.sent_packets,
        wire_bytes: account.sent_bytes + account.sent_packets * u64::from(fabric.unbuffered),
        drops: detail.drops,
        marks: detail.marks(),
        peak_queue_bytes: fabric.kinds[usize::from(port.kind)].rate.bytes_in(port.peak_backlog),
    }
}
