//! The run: events in order, from the first flow to the last.
//!
//! # Order of events
//!
//! A node's events are ordered by (time, kind, source, sequence). The kinds, in order: arrivals,
//! by the port they come in at; ends of transmission, by port; starts of flows, in the workload's
//! order; timers, by (flow, kind); samples. Links are FIFO, so that no two arrivals on one tie.
//! Between nodes there is no order to keep but that of cause and effect, since nothing reaches
//! another node in no time: [`schedule`] lets each node go on by itself as far as nothing can reach
//! it.

mod build;
mod conservation;
pub(crate) mod pending;
pub(crate) mod schedule;

use std::ops::ControlFlow;

use headrace_cc::units::Time;

use crate::host::nic::Net;
use crate::host::transport::{STARTS, Transport};
use crate::net::fabric::Fabric;
use crate::net::graph::Graph;
use crate::net::path::{Paths, Role};
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
    /// Each node's scheduled ports, whose ends of transmission are the first sources of its agenda.
    done_ports: Vec<Box<[u32]>>,
    /// The next flow of the workload that no host has been told of.
    coming: Option<FlowSpec>,
    sampler: Option<Sampler>,
    until: Time,
    /// Nodes go on by themselves up to here, exclusive; then the run itself has something to do.
    bound: Time,
    /// Time of the latest event.
    now: Time,
    /// Events that were not arrivals.
    own_events: u64,
    packet_hops: u64,
    /// Directed links in the order of [`Totals::links`].
    pub(crate) canonical: Vec<u32>,
    /// Each router's pools, a range.
    pub(crate) router_pools: Vec<std::ops::Range<usize>>,
    /// Names of the directed links, in port order of the engine, for errors.
    pub(crate) names: Vec<String>,
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

/// How many flows the hosts are told of ahead of their starts, at most, if they start at different
/// times.
const TOLD_AHEAD: usize = 256;

/// One picosecond: what is before `t + TICK` is at `t` at the latest.
const TICK: Time = Time::from_ps(1);

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
        simulation.set_bound();
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
            let (time, node) = self.fabric.schedule.next_turn();
            if time < self.bound {
                let limit = self.fabric.schedule.horizon(node, time).min(self.bound);
                match self.paths.roles[node] {
                    Role::Router(router) => self.router_turn(node, router as usize, limit)?,
                    Role::Host(host) => self.host_turn(node, host as usize, limit),
                }
                self.fabric.schedule.end_turn(node);
            } else if !self.attend(recorder) {
                break;
            }
            if self.packet_hops >= next_watch {
                next_watch = self.packet_hops + WATCH_HOPS;
                self.flush(time, recorder);
                if watch(&self.progress(time)).is_break() {
                    return Err(SimError::Interrupted(time));
                }
                if let Some(error) = self.transport.error.take() {
                    return Err(error);
                }
            }
        }
        if watch(&self.progress(self.now)).is_break() {
            return Err(SimError::Interrupted(self.now));
        }
        self.finish(recorder)
    }

    /// A switch forwards what arrives before `limit`.
    #[inline(never)]
    fn router_turn(&mut self, node: usize, router: usize, limit: Time) -> Result<(), SimError> {
        let row = self.paths.routes.row(router);
        let fabric = &mut self.fabric;
        let arrivals_limit = fabric.schedule.agenda(node).arrivals.limit(limit);
        let (mut hops, mut last) = (0, Time::ZERO);
        loop {
            let agenda = fabric.schedule.agenda(node);
            let own = agenda.own_next;
            if let Some((now, ingress)) = agenda.arrivals.first_before(arrivals_limit)
                && now <= own
            {
                hops += 1;
                last = now;
                let link = agenda.first_link as usize + ingress;
                let packet = fabric.take(node, ingress, link);
                if !fabric.loses(link, packet) {
                    fabric.offer(row.next_hop(packet), packet, ingress as u16, now);
                }
            } else if own < limit {
                self.own_events += 1;
                last = own;
                let port = self.done_ports[node][agenda.own_source()];
                fabric.transmission_done(port as usize, own);
            } else {
                break;
            }
            if cfg!(debug_assertions) {
                self.router_pools[router].clone().try_for_each(|pool| fabric.check_pool(pool))?;
            }
        }
        self.packet_hops += hops;
        self.now = self.now.max(last);
        Ok(())
    }

    /// A host takes what arrives, starts its flows and minds its timers before `limit`.
    #[inline(never)]
    fn host_turn(&mut self, node: usize, host: usize, limit: Time) {
        let arrivals_limit = self.fabric.schedule.agenda(node).arrivals.limit(limit);
        let (mut hops, mut last) = (0, Time::ZERO);
        loop {
            let agenda = self.fabric.schedule.agenda(node);
            let own = agenda.own_next;
            if let Some((now, ingress)) = agenda.arrivals.first_before(arrivals_limit)
                && now <= own
            {
                hops += 1;
                last = now;
                let link = agenda.first_link as usize + ingress;
                let packet = self.fabric.take(node, ingress, link);
                if !self.fabric.loses(link, packet) {
                    let mut net = Net { fabric: &mut self.fabric, paths: &self.paths };
                    self.transport.on_packet(&mut net, packet, now);
                }
            } else if own < limit {
                let source = agenda.own_source();
                if self.handle_own(node, host, source, own) {
                    self.own_events += 1;
                    last = own;
                }
            } else {
                break;
            }
        }
        self.packet_hops += hops;
        self.now = self.now.max(last);
    }

    /// A host's own event. False if it was a timer that nobody waits for any more.
    fn handle_own(&mut self, node: usize, host: usize, source: usize, now: Time) -> bool {
        let mut net = Net { fabric: &mut self.fabric, paths: &self.paths };
        match source.checked_sub(self.done_ports[node].len()) {
            None => net.fabric.transmission_done(self.done_ports[node][source] as usize, now),
            Some(STARTS) => self.transport.start_next(&mut net, host, now),
            Some(_) => return self.transport.on_timer(&mut net, host, now),
        }
        true
    }

    /// Every event before the bound has been handled: tells hosts of their next flows, takes a
    /// sample, or ends the run (false).
    fn attend(&mut self, recorder: &mut impl Recorder) -> bool {
        let sample = self.sampler.as_ref().map_or(Time::NEVER, |s| s.next);
        let start = self.coming.map_or(Time::NEVER, |flow| flow.start);
        let over = self.coming.is_none() && self.transport.is_idle() && self.in_flight() == 0;
        if over || self.bound == Time::NEVER || self.transport.error.is_some() {
            return false;
        }
        if start <= sample.min(self.until) {
            self.tell_ahead(start);
        } else if sample <= self.until {
            self.sample(sample, recorder);
        } else {
            self.now = self.until;
            return false;
        }
        self.set_bound();
        true
    }

    /// The first thing that the run itself has to do: what starts now must be known before, what is
    /// sampled now comes last in its instant, and so does the end.
    fn set_bound(&mut self) {
        let sample = self.sampler.as_ref().map_or(Time::NEVER, |s| s.next.saturating_add(TICK));
        let start = self.coming.map_or(Time::NEVER, |flow| flow.start);
        self.bound = start.min(sample).min(self.until.saturating_add(TICK));
    }

    /// Tells hosts of the flows that start at `start` or as soon after it as a node may go on by
    /// itself, so that turns need not end at each start of a flow.
    fn tell_ahead(&mut self, start: Time) {
        let until = start.saturating_add(self.fabric.schedule.longest_lookahead());
        let mut told = 0;
        while let Some(flow) = self.coming
            && (flow.start <= start || flow.start <= until && told < TOLD_AHEAD)
        {
            told += 1;
            self.transport.expect(&mut self.fabric, flow);
            self.coming = self.transport.workload.next_flow();
            // One that would start in the past is refused by name when its turn comes.
            if let Some(next) = &self.coming
                && next.start < flow.start
            {
                self.transport.refuse_order(next, flow.start);
                self.coming = None;
            }
        }
    }

    /// Packets in queues and on links.
    fn in_flight(&self) -> u64 {
        let tally = &self.transport.tally;
        let dropped: u64 = self.fabric.drops.packets.iter().sum();
        tally.sent_packets - tally.delivered_packets - dropped
    }

    fn sample(&mut self, now: Time, recorder: &mut impl Recorder) {
        let Some(sampler) = &mut self.sampler else { return };
        sampler.next = now + sampler.interval;
        self.own_events += 1;
        self.now = self.now.max(now);
        // Samples come last in their instant: what ends transmission now has left.
        self.fabric.settle_all(now + TICK);
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

    /// Hands over the records of everything before `until`, which is no later than any event to come.
    fn flush(&mut self, until: Time, recorder: &mut impl Recorder) {
        self.transport.take_drops(&mut self.fabric.drops);
        let ready = self.transport.outbox.before(until);
        ready.flows.iter().for_each(|(_, r)| recorder.flow(r));
        ready.rates.iter().for_each(|r| recorder.rate(r));
    }

    fn progress(&self, now: Time) -> Progress {
        Progress {
            now: if now == Time::NEVER { self.now } else { now },
            packet_hops: self.packet_hops,
            flows_started: self.transport.tally.flows_started,
            flows_finished: self.transport.tally.flows_finished,
        }
    }

    fn finish(mut self, recorder: &mut impl Recorder) -> Result<Totals, SimError> {
        if let Some(error) = self.transport.error.take() {
            return Err(error);
        }
        self.flush(Time::NEVER, recorder);
        self.fabric.settle_all(self.now.saturating_add(TICK));
        self.check_conservation()?;
        self.transport.unfinished().iter().for_each(|r| recorder.flow(r));
        let tally = self.transport.tally;
        let fabric = &self.fabric;
        Ok(Totals {
            end: self.now,
            events: self.packet_hops + self.own_events,
            packet_hops: self.packet_hops,
            flows_started: tally.flows_started,
            flows_finished: tally.flows_finished,
            peak_active_flows: self.transport.outbox.peak_active(),
            sent_packets: tally.sent_packets,
            delivered_packets: tally.delivered_packets,
            in_flight_packets: self.in_flight(),
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
