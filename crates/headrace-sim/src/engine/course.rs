//! What the run itself has to do, between epochs.

use std::sync::Mutex;

use headrace_cc::units::Time;

use super::Progress;
use super::parallel::Held;
use super::part::Part;
use super::sampler::Sampler;
use crate::host::outbox::Outbox;
use crate::host::transport::sending_part;
use crate::net::path::Paths;
use crate::record::{Recorder, SimError};
use crate::workload::{FlowSpec, Workload};

/// The run's own state.
pub(super) struct Course {
    /// The next flow of the workload that no host has been told of.
    pub(super) coming: Option<FlowSpec>,
    pub(super) sampler: Option<Sampler>,
    pub(super) until: Time,
    /// How far an epoch goes, at most.
    pub(super) stride: Time,
    pub(super) longest_stride: Time,
    /// Times from here on cannot be told apart.
    pub(super) horizon: Time,
    /// Packet-hops before this epoch.
    pub(super) hops_before: u64,
    /// Samples taken.
    pub(super) samples: u64,
    pub(super) last_sample: Time,
    pub(super) outbox: Outbox,
    pub(super) error: Option<SimError>,
}

/// An epoch is meant to handle about this many packet-hops, so that the run looks at the watch, hands
/// over records and finds places of ended flows often enough, and not too often.
pub(super) const EPOCH_HOPS: std::ops::Range<u64> = 1 << 17..1 << 19;

/// How many flows the hosts are told of ahead of their starts, at most, if they start at different
/// times.
const TOLD_AHEAD: usize = 4096;

/// One picosecond: what is before `t + TICK` is at `t` at the latest.
pub(super) const TICK: Time = Time::from_ps(1);

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To be asked again.
    Again,
    /// An epoch, from the next event to before the bound.
    Epoch {
        next: Time,
        bound: Time,
    },
    End,
}

impl Course {
    /// Every part stands still: does the next thing that the run has to do, or says that there is
    /// none before the next epoch.
    pub(super) fn attend<W: Workload>(
        &mut self,
        parts: &mut Held<'_>,
        paths: &Paths,
        workload: &Mutex<W>,
        recorder: &mut impl Recorder,
    ) -> Result<Step, SimError> {
        self.tidy(parts, paths);
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let next = parts.iter().map(|part| part.next()).min().unwrap_or(Time::NEVER);
        let bound = self.bound();
        if next < bound && next >= self.horizon {
            let horizon = self.horizon;
            let text =
                format!("a network of this size can be simulated up to {horizon}; set `until`");
            return Err(SimError::Spec(text));
        }
        if next < bound {
            self.fit_stride(parts);
            self.flush(next, recorder);
            let bound = bound.min(self.horizon);
            return Ok(Step::Epoch { next, bound: bound.min(next.saturating_add(self.stride)) });
        }
        let sample = self.sampler.as_ref().map_or(Time::NEVER, |s| s.next);
        let start = self.coming.map_or(Time::NEVER, |flow| flow.start);
        let over = self.is_over(parts) || bound == Time::NEVER;
        if !over && start <= sample.min(self.until) {
            self.tell_ahead(start, parts, paths, workload);
        } else if !over && sample <= self.until {
            self.samples += 1;
            self.last_sample = sample;
            self.sampler.iter_mut().for_each(|s| s.sample(parts, recorder));
        } else {
            self.flush(Time::NEVER, recorder);
            return Ok(Step::End);
        }
        Ok(Step::Again)
    }

    /// The first thing that the run itself has to do: what starts now must be known before, what is
    /// sampled now comes last in its instant, and so does the end.
    fn bound(&self) -> Time {
        let sample = self.sampler.as_ref().map_or(Time::NEVER, |s| s.next.saturating_add(TICK));
        let start = self.coming.map_or(Time::NEVER, |flow| flow.start);
        start.min(sample).min(self.until.saturating_add(TICK))
    }

    /// Nothing is on its way, and no flow is active or to come.
    fn is_over(&self, parts: &Held<'_>) -> bool {
        self.coming.is_none()
            && parts.iter().all(|part| part.transport.is_idle())
            && parts.iter().map(|part| part.in_flight()).sum::<i64>() == 0
    }

    /// When the run ended: at its last event, or where it was to end with more to come.
    pub(super) fn end(&self, parts: &Held<'_>) -> Time {
        let over = self.is_over(parts) || self.until == Time::NEVER;
        if over { self.latest(parts) } else { self.until }
    }

    /// Time of the latest event.
    fn latest(&self, parts: &Held<'_>) -> Time {
        parts.iter().map(|part| part.now).max().unwrap_or(Time::ZERO).max(self.last_sample)
    }

    /// Tells hosts of the flows that start at `start`, and of some that start after it, so that
    /// epochs need not end at each start of a flow.
    fn tell_ahead<W: Workload>(
        &mut self,
        start: Time,
        parts: &mut Held<'_>,
        paths: &Paths,
        workload: &Mutex<W>,
    ) {
        let mut workload = workload.lock().expect("a workload does not panic");
        let mut told = 0;
        while let Some(flow) = self.coming
            && (flow.start <= start || told < TOLD_AHEAD)
        {
            told += 1;
            if let Err(error) = parts[0].transport.check_flow(paths, &flow) {
                self.error.get_or_insert(error);
                return;
            }
            let part = &mut *parts[usize::from(paths.hosts[flow.src as usize].0)];
            part.transport.expect(&mut part.fabric, paths, flow);
            self.coming = workload.next_flow();
            if let Some(next) = &self.coming
                && next.start < flow.start
            {
                let (id, at, ahead) = (next.id, next.start, flow.start);
                let text =
                    format!("flow {id} starts at {at}, before the one ahead of it ({ahead})");
                self.error.get_or_insert(SimError::Spec(text));
                return;
            }
        }
    }

    /// Gathers what the parts have to tell, and settles what concerns flows between parts.
    fn tidy(&mut self, parts: &mut Held<'_>, paths: &Paths) {
        for part in parts.iter_mut() {
            self.outbox.append(&mut part.transport.outbox);
            if let Some(error) = part.take_error() {
                self.error.get_or_insert(error);
            }
        }
        settle_flows(parts, paths);
    }

    /// Fits the stride to the work that the last epoch was.
    fn fit_stride(&mut self, parts: &Held<'_>) {
        let hops: u64 = parts.iter().map(|part| part.packet_hops).sum();
        let done = hops - std::mem::replace(&mut self.hops_before, hops);
        if done < EPOCH_HOPS.start {
            self.stride = self.stride.saturating_mul(2).min(self.longest_stride);
        } else if done > EPOCH_HOPS.end {
            self.stride = Time::from_ps((self.stride.ps() / 2).max(1));
        }
    }

    /// Hands over the records of everything before `until`, which is no later than any event to come.
    fn flush(&mut self, until: Time, recorder: &mut impl Recorder) {
        let ready = self.outbox.before(until);
        ready.flows.iter().for_each(|(_, r)| recorder.flow(r));
        ready.rates.iter().for_each(|r| recorder.rate(r));
    }

    pub(super) fn progress(&self, parts: &Held<'_>, step: Step) -> Progress {
        let sum = |of: fn(&Part) -> u64| parts.iter().map(|part| of(part)).sum();
        Progress {
            now: match step {
                Step::Epoch { next, .. } => next,
                Step::Again => self.latest(parts),
                Step::End => self.end(parts),
            },
            packet_hops: sum(|p| p.packet_hops),
            flows_started: sum(|p| p.transport.tally.flows_started),
            flows_finished: sum(|p| p.transport.tally.flows_finished),
        }
    }
}

/// Tells flows of drops in other parts, and frees the places of ended flows whose receivers are in
/// other parts.
fn settle_flows(parts: &mut Held<'_>, paths: &Paths) {
    for from in 0..parts.len() {
        let part = &mut *parts[from];
        part.transport.take_drops(&mut part.fabric.drops);
        let mut foreign = std::mem::take(&mut part.fabric.drops.foreign);
        for (slot, wire) in foreign.drain(..) {
            parts[sending_part(slot)].transport.note_drop(slot, wire);
        }
        parts[from].fabric.drops.foreign = foreign;
    }
    for from in 0..parts.len() {
        let mut ended = std::mem::take(&mut parts[from].transport.ended_far);
        ended.retain(|&place| {
            let (dst, slot, sent) = parts[from].transport.ended_flow(place);
            let receiving = &parts[usize::from(paths.hosts[dst as usize].0)].transport;
            let gone = receiving.owed(slot).is_some_and(|owed| sent + owed == 0);
            if gone {
                parts[from].transport.free(place);
            }
            !gone
        });
        parts[from].transport.ended_far = ended;
    }
}
