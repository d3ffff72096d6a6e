//! Records that wait to leave in an order that depends on nothing but their content.

use headrace_cc::units::Time;

use crate::record::{FlowRecord, RateSample};

/// What hosts have to tell. Nodes go on by themselves, so it comes in no order.
#[derive(Default)]
pub(crate) struct Outbox {
    /// When each flow ended, with its record.
    flows: Vec<(Time, FlowRecord)>,
    rates: Vec<RateSample>,
    /// When a flow started (+1) or ended (-1).
    changes: Vec<(Time, i64)>,
    active: i64,
    peak_active: i64,
    leaving: Leaving,
}

/// What leaves, in order.
#[derive(Default)]
pub(crate) struct Leaving {
    /// By (time of the end, id).
    pub(crate) flows: Vec<(Time, FlowRecord)>,
    /// By (time, flow).
    pub(crate) rates: Vec<RateSample>,
}

impl Outbox {
    pub(super) fn started(&mut self, now: Time) {
        self.changes.push((now, 1));
    }

    pub(super) fn ended(&mut self, now: Time, record: FlowRecord) {
        self.changes.push((now, -1));
        self.flows.push((now, record));
    }

    pub(super) fn rate(&mut self, sample: RateSample) {
        self.rates.push(sample);
    }

    /// Adds what another part of the engine has to tell.
    pub(crate) fn append(&mut self, other: &mut Outbox) {
        self.flows.append(&mut other.flows);
        self.rates.append(&mut other.rates);
        self.changes.append(&mut other.changes);
    }

    /// Takes out what happened before `until`. Nothing that happens later may come in before it.
    pub(crate) fn before(&mut self, until: Time) -> &Leaving {
        self.flows.sort_unstable_by_key(|(at, r)| (*at, r.id));
        self.rates.sort_by_key(|r| (r.time, r.flow));
        // At one instant, those that end make room for those that start.
        self.changes.sort_unstable();
        let flows = self.flows.partition_point(|(at, _)| *at < until);
        let rates = self.rates.partition_point(|r| r.time < until);
        let changes = self.changes.partition_point(|(at, _)| *at < until);
        for (_, change) in self.changes.drain(..changes) {
            self.active += change;
            self.peak_active = self.peak_active.max(self.active);
        }
        self.leaving.flows.clear();
        self.leaving.rates.clear();
        self.leaving.flows.extend(self.flows.drain(..flows));
        self.leaving.rates.extend(self.rates.drain(..rates));
        &self.leaving
    }

    /// Most flows active at once, of what has left.
    pub(crate) fn peak_active(&self) -> u64 {
        self.peak_active as u64
    }
}
