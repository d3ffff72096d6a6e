//! Gathers, record by record, what the summary needs: 16 bytes a finished flow, and a few words a
//! traced flow and a sampled port.

use headrace_cc::units::Time;
use headrace_sim::record::{FlowRecord, PortSample, RateSample};
use headrace_sim::workload::FlowSpec;

use super::context::Context;

/// A finished flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finished {
    /// Completion time, ps.
    pub fct_ps: u64,
    /// Completion time over the ideal one.
    pub slowdown: f64,
}

/// Sums over a traffic class's flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassSums {
    /// Flows, finished or not.
    pub flows: u64,
    /// Of those with a size, not finished; of the others, [`Collector::long_flows`] tells.
    pub unfinished: u64,
    /// Payload bytes acknowledged.
    pub acked_bytes: u64,
    /// Payload bytes sent.
    pub sent_bytes: u64,
    /// Payload bytes sent again.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast-retransmit episodes.
    pub fast_recoveries: u64,
    /// Acknowledgements.
    pub acks: u64,
    /// Of these, with a mark.
    pub marked_acks: u64,
}

/// A long-lived flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongFlow {
    /// Its record's number among all, from 0: records of the flows that ended come first.
    pub number: u64,
    /// Its traffic class.
    pub class: u16,
    /// When it started.
    pub start: Time,
    /// Payload bytes acknowledged.
    pub acked_bytes: u64,
}

/// A traced flow's progress in the second half of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SteadyFlow {
    /// Time and bytes acknowledged at its first sample in the second half.
    pub first: Option<(Time, u64)>,
    /// The same at its last.
    pub last: (Time, u64),
}

/// A sampled port's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortQueue {
    /// Samples.
    pub samples: u64,
    /// Sum of the samples, bytes.
    pub sum: u128,
    /// The largest.
    pub max: u64,
    /// Samples in the second half of the run.
    pub steady_samples: u64,
    /// Their sum, bytes.
    pub steady_sum: u128,
}

/// What is gathered.
#[derive(Clone, Debug)]
pub struct Collector {
    /// Upper bound (inclusive) and lower bound (exclusive) of each size class.
    bounds: Vec<(u64, u64)>,
    classes: usize,
    /// Finished flows by size class and traffic class; flows in no size class come last.
    finished: Vec<Vec<Finished>>,
    records: u64,
    /// Sums by traffic class.
    pub sums: Vec<ClassSums>,
    /// Long-lived flows, in the order of their records.
    pub long_flows: Vec<LongFlow>,
    /// Traced flows by id.
    pub steady: Vec<SteadyFlow>,
    /// Sampled ports by node, then port.
    pub ports: Vec<Vec<PortQueue>>,
    half: Time,
    /// The first flow that was faster than the empty network allows.
    pub impossible: Option<FlowRecord>,
}

impl Collector {
    /// For a run.
    pub fn new(context: &Context) -> Collector {
        let bounds = context.size_classes.iter();
        let bounds: Vec<_> = bounds.map(|c| (c.above, c.up_to.unwrap_or(u64::MAX))).collect();
        let classes = context.classes.len();
        let half = match context.until {
            Time::NEVER => Time::NEVER,
            until => Time::from_ps(until.ps() / 2),
        };
        Collector {
            finished: vec![Vec::new(); (bounds.len() + 1) * classes],
            bounds,
            classes,
            records: 0,
            sums: vec![ClassSums::default(); classes],
            long_flows: Vec::new(),
            steady: Vec::new(),
            ports: vec![Vec::new(); context.nodes.len()],
            half,
            impossible: None,
        }
    }

    /// Takes a flow's record.
    #[inline]
    pub fn flow(&mut self, record: &FlowRecord) {
        let class = usize::from(record.class);
        let number = self.records;
        self.records += 1;
        let sums = &mut self.sums[class];
        sums.flows += 1;
        sums.acked_bytes += record.acked_bytes;
        sums.sent_bytes += record.sent_bytes;
        sums.retransmitted_bytes += record.retransmitted_bytes;
        sums.timeouts += u64::from(record.timeouts);
        sums.fast_recoveries += u64::from(record.fast_recoveries);
        sums.acks += record.acks;
        sums.marked_acks += record.marked_acks;
        let Some(fct) = record.fct else {
            if record.size == FlowSpec::UNBOUNDED {
                let FlowRecord { class, start, acked_bytes, .. } = *record;
                self.long_flows.push(LongFlow { number, class, start, acked_bytes });
            } else {
                sums.unfinished += 1;
            }
            return;
        };
        if fct < record.ideal_fct && self.impossible.is_none() {
            self.impossible = Some(*record);
        }
        let inside = |&(above, up_to): &(u64, u64)| above < record.size && record.size <= up_to;
        let size_class = self.bounds.iter().position(inside).unwrap_or(self.bounds.len());
        let slowdown = fct.ps() as f64 / record.ideal_fct.ps().max(1) as f64;
        self.finished[size_class * self.classes + class]
            .push(Finished { fct_ps: fct.ps(), slowdown });
    }

    /// Takes a port's sample.
    #[inline]
    pub fn port(&mut self, sample: &PortSample) {
        let ports = &mut self.ports[sample.node as usize];
        let index = sample.port as usize;
        if ports.len() <= index {
            ports.resize(index + 1, PortQueue::default());
        }
        let port = &mut ports[index];
        port.samples += 1;
        port.sum += u128::from(sample.queue_bytes);
        port.max = port.max.max(sample.queue_bytes);
        if sample.time >= self.half {
            port.steady_samples += 1;
            port.steady_sum += u128::from(sample.queue_bytes);
        }
    }

    /// Takes a traced flow's sample.
    #[inline]
    pub fn rate(&mut self, sample: &RateSample) {
        if sample.time < self.half {
            return;
        }
        let index = sample.flow as usize;
        if self.steady.len() <= index {
            self.steady.resize(index + 1, SteadyFlow::default());
        }
        let flow = &mut self.steady[index];
        let now = (sample.time, sample.acked);
        flow.first.get_or_insert(now);
        flow.last = now;
    }

    /// Finished flows of one size class, all traffic classes after one another.
    pub fn of_size(&self, size_class: usize) -> impl Iterator<Item = Finished> {
        let from = size_class * self.classes;
        self.finished[from..from + self.classes].iter().flatten().copied()
    }

    /// Finished flows of one traffic class.
    pub fn of_class(&self, class: usize) -> impl Iterator<Item = Finished> {
        self.finished.iter().skip(class).step_by(self.classes.max(1)).flatten().copied()
    }

    /// Finished flows of one traffic class and one size class.
    pub fn of_both(&self, class: usize, size_class: usize) -> impl Iterator<Item = Finished> {
        self.finished[size_class * self.classes + class].iter().copied()
    }

    /// All finished flows.
    pub fn all(&self) -> impl Iterator<Item = Finished> {
        self.finished.iter().flatten().copied()
    }

    /// When the second half of the run begins; [`Time::NEVER`] where its end was not given.
    pub fn half(&self) -> Time {
        self.half
    }
}
