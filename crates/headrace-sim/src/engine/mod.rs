//! The run: events in order, from the first flow to the last.
//!
//! # Order of events
//!
//! A node's events are ordered by (time, kind, source, sequence). The kinds, in order: arrivals,
//! by the port they come in at; ends of transmission, by port; starts of flows, in the workload's
//! order; timers, by (flow, kind); samples. Links are FIFO, so that no two arrivals on one tie.
//! Between nodes there is no order to keep but that of cause and effect, since nothing reaches
//! another node in no time: [`schedule`] lets each node go on by itself as far as nothing can reach
//! it, and `parallel` each part of the network.
//!
//! # Epochs
//!
//! The run goes on in epochs. Between them every part stands still at the same time, and the run
//! itself does what concerns all: it tells hosts of their next flows, takes samples, hands over
//! records and ends.

mod build;
mod conservation;
mod course;
pub(crate) mod layout;
mod numbering;
mod parallel;
mod part;
pub(crate) mod pending;
mod sampler;
pub(crate) mod schedule;
mod workers;

use std::ops::ControlFlow;
use std::sync::Mutex;

use headrace_cc::units::Time;

use self::course::{Course, Step, TICK};
use self::layout::Layout;
use self::parallel::Parts;
use self::part::World;
use crate::net::fabric::Fabric;
use crate::net::graph::Graph;
use crate::net::path::Paths;
use crate::record::{LinkTotals, Recorder, SimError, Totals};
use crate::spec::RunSpec;
use crate::workload::Workload;

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
    parts: Parts,
    paths: Paths,
    workload: Mutex<W>,
    course: Course,
    /// Directed links in the order of [`Totals::links`]: part and number there.
    canonical: Vec<(usize, u32)>,
}

impl<W: Workload + Send> Simulation<W> {
    /// Builds the network, to run on one thread.
    ///
    /// # Errors
    /// [`SimError::Spec`] for a network that cannot be run.
    pub fn new(spec: &RunSpec, workload: W) -> Result<Self, SimError> {
        Self::laid_out(spec, workload, &Layout::whole(&spec.network))
    }

    /// As [`Simulation::new`], with the nodes numbered and spread over threads as `layout` says. The
    /// results do not depend on it.
    ///
    /// # Errors
    /// As [`Simulation::new`]; also if the layout is not one of this network.
    pub fn laid_out(spec: &RunSpec, workload: W, layout: &Layout) -> Result<Self, SimError> {
        crate::net::check(&spec.network)?;
        if spec.classes.is_empty() {
            return Err(SimError::Spec("a run needs at least one traffic class".into()));
        }
        layout.check(&spec.network)?;
        let graph = Graph::new(&spec.network);
        let mut simulation = build::assemble(spec, workload, &graph, layout);
        let workload = simulation.workload.get_mut().expect("nobody has had it yet");
        simulation.course.coming = workload.next_flow();
        Ok(simulation)
    }

    /// Threads that the run takes.
    pub fn threads(&self) -> usize {
        self.parts.count()
    }

    /// Runs to the end. `watch` is called every few hundred thousand packet-hops; a break ends the
    /// run.
    ///
    /// # Errors
    /// [`SimError::Invariant`] where the simulation contradicts itself, [`SimError::Spec`] for a flow
    /// that cannot be carried, [`SimError::Interrupted`] where `watch` broke.
    pub fn run(
        mut self,
        recorder: &mut impl Recorder,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Totals, SimError> {
        let Simulation { parts, paths, workload, course, .. } = &mut self;
        let world = World { paths, replies: workload };
        let outcome = workers::with_workers(parts, world, |workers| {
            loop {
                parts.deliver_all();
                let mut held = parts.hold();
                let step = course.attend(&mut held, paths, workload, recorder)?;
                let progress = course.progress(&held, step);
                if watch(&progress).is_break() {
                    return Err(SimError::Interrupted(progress.now));
                }
                drop(held);
                match step {
                    Step::Again => {}
                    Step::End => return Ok(()),
                    Step::Epoch { next, bound } => {
                        parts.begin_epoch(next);
                        workers.run_epoch(bound);
                    }
                }
            }
        });
        outcome?;
        self.finish(recorder)
    }

    fn finish(self, recorder: &mut impl Recorder) -> Result<Totals, SimError> {
        let mut held = self.parts.hold();
        let end = self.course.end(&held);
        held.iter_mut().for_each(|part| part.fabric.settle_all(end.saturating_add(TICK)));
        conservation::check(&held, &self.paths)?;
        let mut unfinished: Vec<_> = held.iter().flat_map(|p| p.transport.unfinished()).collect();
        unfinished.sort_unstable_by_key(|r| r.id);
        unfinished.iter().for_each(|r| recorder.flow(r));
        let mut totals = Totals {
            end,
            events: self.course.samples,
            peak_active_flows: self.course.outbox.peak_active(),
            links: (self.canonical.iter())
                .map(|&(part, id)| link_totals(&held[part].fabric, id as usize, end))
                .collect(),
            ..Totals::default()
        };
        let mut in_flight = 0;
        for part in &held {
            let tally = part.transport.tally;
            totals.events += part.packet_hops + part.own_events;
            totals.packet_hops += part.packet_hops;
            totals.flows_started += tally.flows_started;
            totals.flows_finished += tally.flows_finished;
            totals.sent_packets += tally.sent_packets;
            totals.delivered_packets += tally.delivered_packets;
            totals.sent_data_packets += tally.sent_data_packets;
            totals.goodput_bytes += tally.goodput_bytes;
            in_flight += part.in_flight();
            let drops = &part.fabric.drops;
            totals.dropped_data_packets += drops.data_packets;
            for reason in 0..totals.drops.len() {
                totals.drops[reason] += drops.packets[reason];
                totals.dropped_bytes[reason] += drops.bytes[reason];
            }
            totals.marks += part.fabric.details.iter().map(|d| d.marks()).sum::<u64>();
        }
        totals.in_flight_packets = in_flight as u64;
        Ok(totals)
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
