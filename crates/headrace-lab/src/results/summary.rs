//! `summary.json`: what a run came to, in numbers that depend on the scenario and seed alone.

use headrace_cc::units::Time;
use headrace_sim::record::{DropReason, LinkTotals, Totals};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::collect::{Collector, Finished};
use super::context::Context;
use super::peaks::PeakQueues;
use super::quantile::{QUANTILE_RULE, Stats, jain};
use super::schema::SCHEMA_VERSION;
use crate::scenario::ALL_SIZES;

/// Link directions and ports listed by name: the busiest.
const LISTED: usize = 10;

/// Values by name, in a fixed order; a JSON object.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Named<T> {
    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// The whole summary.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Summary {
    /// [`SCHEMA_VERSION`].
    pub schema: u32,
    /// How quantiles are taken.
    pub quantile: &'static str,
    /// Simulated time at the end, ns.
    pub end_ns: f64,
    /// Flows started, finished, active at once.
    pub flows: Flows,
    /// Completion times of finished flows, ns: `all`, then each size class.
    pub fct_ns: Named<Stats>,
    /// Completion time over that on an empty network: `all`, then each size class.
    pub slowdown: Named<Stats>,
    /// By traffic class.
    pub classes: Named<ClassSummary>,
    /// Payload bits delivered a second, duplicates excluded, over the whole run.
    pub goodput_bps: f64,
    /// Packets, all kinds.
    pub packets: Packets,
    /// Packets dropped.
    pub drops: Drops,
    /// Data packets dropped over data packets sent.
    pub loss_rate: f64,
    /// Packets marked by switches.
    pub marks: u64,
    /// Utilisation of links.
    pub links: Links,
    /// Flows that never end by themselves; null where there are none.
    pub long_flows: Option<Throughput>,
    /// Traced flows over the second half of a run whose end was given; null where there are none.
    pub steady: Option<Throughput>,
    /// Queues of sampled ports; null where none was sampled.
    pub queues: Option<Queues>,
    /// The longest queue of a switch and of a host, sampled or not.
    pub peak_queues: PeakQueues,
}

/// Counts of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Flows {
    /// Started.
    pub started: u64,
    /// Finished.
    pub finished: u64,
    /// Started and not finished.
    pub unfinished: u64,
    /// Most active at once.
    pub peak_active: u64,
}

/// A traffic class.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ClassSummary {
    /// Its law.
    pub scheme: String,
    /// Its flows, finished or not.
    pub flows: u64,
    /// Of these, not finished.
    pub unfinished: u64,
    /// Completion times, ns: `all`, then each size class.
    pub fct_ns: Named<Stats>,
    /// Slowdown: `all`, then each size class.
    pub slowdown: Named<Stats>,
    /// Payload bits acknowledged a second, over the whole run.
    pub goodput_bps: f64,
    /// Payload bytes sent again over payload bytes sent.
    pub retransmission_rate: f64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast-retransmit episodes.
    pub fast_recoveries: u64,
    /// ACKs that echoed a mark over ACKs.
    pub marked_ack_rate: f64,
}

/// Counts of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Packets {
    /// Handed to NICs by hosts.
    pub sent: u64,
    /// Of these, data.
    pub sent_data: u64,
    /// Reached their host.
    pub delivered: u64,
    /// In queues and on links at the end.
    pub in_flight: u64,
}

/// Dropped packets.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Drops {
    /// Packets.
    pub packets: u64,
    /// Frame bytes.
    pub bytes: u64,
    /// Packets by reason.
    pub by_reason: Named<u64>,
}

/// Links.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Links {
    /// By named set of links, both directions.
    pub sets: Named<LinkSet>,
    /// The most utilised directions.
    pub busiest: Vec<LinkUse>,
}

/// A set of links, both directions of each.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct LinkSet {
    /// Directions of links.
    pub directions: u64,
    /// Average utilisation over the run, wire bits over capacity, 0 to 1.
    pub avg_utilisation: f64,
    /// The highest of a direction.
    pub max_utilisation: f64,
    /// Packets that its ports refused.
    pub drops: u64,
    /// Packets marked at its ports.
    pub marks: u64,
    /// Largest queue, bytes.
    pub peak_queue_bytes: u64,
}

/// A direction of a link.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LinkUse {
    /// `from->to`.
    pub link: String,
    /// Average utilisation over the run, wire bits over capacity, 0 to 1.
    pub utilisation: f64,
    /// Packets that its port refused.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// Largest queue, bytes.
    pub peak_queue_bytes: u64,
}

/// Throughput of a set of flows.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Throughput {
    /// Flows.
    pub flows: u64,
    /// Payload bits acknowledged a second. Of long-lived flows: all their bytes over the time from
    /// the first one's start to the run's end. Of traced flows: the sum of their rates, each
    /// between its own first and last sample.
    pub goodput_bps: f64,
    /// The slowest flow's rate. A long-lived flow's is taken from its start to the run's end.
    pub min_bps: f64,
    /// The fastest flow's rate.
    pub max_bps: f64,
    /// Jain's fairness index over the flows.
    pub jain: Option<f64>,
}

/// Queues of the sampled ports.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Queues {
    /// Average over all samples, bytes.
    pub avg_bytes: f64,
    /// The largest sample, bytes.
    pub max_bytes: u64,
    /// The ports with the largest averages.
    pub longest: Vec<PortSummary>,
}

/// A sampled port.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PortSummary {
    /// The switch.
    pub node: String,
    /// Its port.
    pub port: usize,
    /// Average queue, bytes.
    pub avg_bytes: f64,
    /// Average over the second half of a run whose end was given, bytes.
    pub steady_avg_bytes: Option<f64>,
    /// Largest sample, bytes.
    pub max_bytes: u64,
}

/// `part / whole`, or 0 where the whole is.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Summary {
    /// Of a run's records and totals.
    pub fn of(context: &Context, collector: &Collector, totals: &Totals) -> Summary {
        let end = totals.end.as_secs();
        let dropped: u64 = totals.drops.iter().sum();
        let (fct_ns, slowdown) =
            by_size(context, |size| collector.of_size(size).collect(), collector.all().collect());
        Summary {
            schema: SCHEMA_VERSION,
            quantile: QUANTILE_RULE,
            end_ns: totals.end.as_ns(),
            flows: Flows {
                started: totals.flows_started,
                finished: totals.flows_finished,
                unfinished: totals.flows_started - totals.flows_finished,
                peak_active: totals.peak_active_flows,
            },
            fct_ns,
            slowdown,
            classes: classes(context, collector, totals),
            goodput_bps: share(totals.goodput_bytes as f64 * 8.0, end),
            packets: Packets {
                sent: totals.sent_packets,
                sent_data: totals.sent_data_packets,
                delivered: totals.delivered_packets,
                in_flight: totals.in_flight_packets,
            },
            drops: Drops {
                packets: dropped,
                bytes: totals.dropped_bytes.iter().sum(),
                by_reason: Named(
                    DropReason::ALL
                        .iter()
                        .zip(totals.drops)
                        .map(|(r, n)| (r.name().into(), n))
                        .collect(),
                ),
            },
            loss_rate: share(totals.dropped_data_packets as f64, totals.sent_data_packets as f64),
            marks: totals.marks,
            links: links(context, totals),
            long_flows: long_flows(collector, totals.end),
            steady: steady(collector),
            queues: queues(context, collector),
            peak_queues: PeakQueues::of(context, totals),
        }
    }

    /// As JSON; a number that is not finite is null.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("names are strings and numbers are numbers")
    }
}

/// Completion times (ns) and slowdowns: all, then by size class.
fn by_size(
    context: &Context,
    of_size: impl Fn(usize) -> Vec<Finished>,
    all: Vec<Finished>,
) -> (Named<Stats>, Named<Stats>) {
    let sizes = context.size_classes.iter().enumerate();
    let parts = sizes.map(|(size, class)| (class.name.clone(), of_size(size)));
    let (mut fct, mut slowdown) = (Vec::new(), Vec::new());
    for (name, flows) in std::iter::once((ALL_SIZES.to_owned(), all)).chain(parts) {
        let mut values: Vec<f64> = flows.iter().map(|f| f.fct_ps as f64 / 1e3).collect();
        fct.push((name.clone(), Stats::of(&mut values)));
        values.clear();
        values.extend(flows.iter().map(|f| f.slowdown));
        slowdown.push((name, Stats::of(&mut values)));
    }
    (Named(fct), Named(slowdown))
}

fn classes(context: &Context, collector: &Collector, totals: &Totals) -> Named<ClassSummary> {
    let end = totals.end.as_secs();
    let mut open = vec![0; context.classes.len()];
    // Records of the flows that ended come before all others.
    for flow in collector.long_flows.iter().filter(|f| f.number >= totals.flows_finished) {
        open[usize::from(flow.class)] += 1;
    }
    let summary = |index: usize, scheme: &str| {
        let sums = &collector.sums[index];
        let (fct_ns, slowdown) = by_size(
            context,
            |size| collector.of_both(index, size).collect(),
            collector.of_class(index).collect(),
        );
        ClassSummary {
            scheme: scheme.to_owned(),
            flows: sums.flows,
            unfinished: sums.unfinished + open[index],
            fct_ns,
            slowdown,
            goodput_bps: share(sums.acked_bytes as f64 * 8.0, end),
            retransmission_rate: share(sums.retransmitted_bytes as f64, sums.sent_bytes as f64),
            timeouts: sums.timeouts,
            fast_recoveries: sums.fast_recoveries,
            marked_ack_rate: share(sums.marked_acks as f64, sums.acks as f64),
        }
    };
    let classes = context.classes.iter().enumerate();
    Named(classes.map(|(i, class)| (class.name.clone(), summary(i, &class.scheme))).collect())
}

fn utilisation(context: &Context, direction: usize, used: &LinkTotals, end: f64) -> f64 {
    share(used.wire_bytes as f64 * 8.0, context.links[direction].rate.bps() as f64 * end)
}

fn links(context: &Context, totals: &Totals) -> Links {
    let end = totals.end.as_secs();
    let uses = totals.links.iter().enumerate();
    let uses: Vec<f64> = uses.map(|(i, used)| utilisation(context, i, used, end)).collect();
    let set = |links: &[usize]| {
        let mut sum = LinkSet {
            directions: 2 * links.len() as u64,
            avg_utilisation: 0.0,
            max_utilisation: 0.0,
            drops: 0,
            marks: 0,
            peak_queue_bytes: 0,
        };
        for direction in links.iter().flat_map(|link| [2 * link, 2 * link + 1]) {
            let used = &totals.links[direction];
            sum.avg_utilisation += share(uses[direction], sum.directions as f64);
            sum.max_utilisation = sum.max_utilisation.max(uses[direction]);
            sum.drops += used.drops;
            sum.marks += used.marks;
            sum.peak_queue_bytes = sum.peak_queue_bytes.max(used.peak_queue_bytes);
        }
        sum
    };
    let mut order: Vec<usize> = (0..uses.len()).collect();
    order.sort_by(|&a, &b| uses[b].total_cmp(&uses[a]).then(a.cmp(&b)));
    let busiest = order.into_iter().take(LISTED).map(|i| LinkUse {
        link: context.links[i].name.clone(),
        utilisation: uses[i],
        drops: totals.links[i].drops,
        marks: totals.links[i].marks,
        peak_queue_bytes: totals.links[i].peak_queue_bytes,
    });
    Links {
        sets: Named(context.link_sets.iter().map(|(name, l)| (name.clone(), set(l))).collect()),
        busiest: busiest.collect(),
    }
}

fn throughput(rates: &[f64]) -> Option<Throughput> {
    let fold = |f: fn(f64, f64) -> f64| rates.iter().copied().reduce(f);
    Some(Throughput {
        flows: rates.len() as u64,
        goodput_bps: rates.iter().sum(),
        min_bps: fold(f64::min)?,
        max_bps: fold(f64::max)?,
        jain: jain(rates),
    })
}

/// Bits a second of `bytes` in `time`.
fn rate(bytes: u64, time: Time) -> f64 {
    share(bytes as f64 * 8.0, time.as_secs())
}

fn long_flows(collector: &Collector, end: Time) -> Option<Throughput> {
    let flows = &collector.long_flows;
    let first = flows.iter().map(|f| f.start).min()?;
    let bytes = flows.iter().map(|f| f.acked_bytes).sum();
    let rates = flows.iter().map(|f| rate(f.acked_bytes, end.since(f.start)));
    let each = throughput(&rates.collect::<Vec<f64>>())?;
    Some(Throughput { goodput_bps: rate(bytes, end.since(first)), ..each })
}

fn steady(collector: &Collector) -> Option<Throughput> {
    let flows = collector.steady.iter().filter_map(|flow| {
        let (from, before) = flow.first?;
        let (to, after) = flow.last;
        (to > from).then(|| rate(after - before, to.since(from)))
    });
    throughput(&flows.collect::<Vec<f64>>())
}

fn queues(context: &Context, collector: &Collector) -> Option<Queues> {
    let average = |sum: u128, samples: u64| sum as f64 / samples as f64;
    let (mut sum, mut samples, mut max_bytes, mut ports) = (0, 0, 0, Vec::new());
    for (node, queues) in collector.ports.iter().enumerate() {
        for (port, queue) in queues.iter().enumerate().filter(|(_, queue)| queue.samples > 0) {
            sum += queue.sum;
            samples += queue.samples;
            max_bytes = queue.max.max(max_bytes);
            ports.push(PortSummary {
                node: context.nodes[node].clone(),
                port,
                avg_bytes: average(queue.sum, queue.samples),
                steady_avg_bytes: (queue.steady_samples > 0)
                    .then(|| average(queue.steady_sum, queue.steady_samples)),
                max_bytes: queue.max,
            });
        }
    }
    // Stable: equal averages stay in the order of nodes and ports.
    ports.sort_by(|a, b| b.avg_bytes.total_cmp(&a.avg_bytes));
    ports.truncate(LISTED);
    (samples > 0).then(|| Queues { avg_bytes: average(sum, samples), max_bytes, longest: ports })
}

#[cfg(test)]
mod tests {
    use headrace_cc::units::Rate;
    use headrace_sim::record::{FlowRecord, PortSample, RateSample};
    use headrace_sim::workload::FlowSpec;

    use super::super::context::{ClassName, LinkDirection};
    use super::*;
    use crate::scenario::SizeClass;

    fn context() -> Context {
        let size = |name: &str, above, up_to| SizeClass { name: name.into(), above, up_to };
        let class = |name: &str| ClassName { name: name.into(), scheme: "dctcp".into() };
        let link = |name: &str| LinkDirection {
            name: name.into(),
            rate: Rate::from_gbps(1),
            from_host: name.starts_with('h'),
        };
        Context {
            nodes: ["h0", "s0", "h1"].map(String::from).to_vec(),
            hosts: ["h0", "h1"].map(String::from).to_vec(),
            classes: vec![class("a"), class("b")],
            size_classes: vec![size("small", 0, Some(100)), size("large", 100, None)],
            links: ["h0->s0", "s0->h0", "s0->h1", "h1->s0"].map(link).to_vec(),
            link_sets: vec![("host".into(), vec![0, 1])],
            until: Time::from_us(100),
        }
    }

    fn flow(class: u16, size: u64, fct_us: Option<u64>) -> FlowRecord {
        FlowRecord {
            id: 1,
            class,
            src: 0,
            dst: 1,
            size,
            start: Time::ZERO,
            fct: fct_us.map(Time::from_us),
            ideal_fct: Time::from_us(10),
            acked_bytes: 1_250,
            sent_bytes: 2_000,
            retransmitted_bytes: 500,
            timeouts: 1,
            fast_recoveries: 2,
            acks: 10,
            marked_acks: 5,
        }
    }

    fn rate_sample(flow: u64, us: u64, acked: u64) -> RateSample {
        RateSample {
            time: Time::from_us(us),
            flow,
            cwnd: 1,
            ssthresh: 1,
            rate: Rate::from_bps(1),
            rtt: Time::ZERO,
            in_flight: 0,
            acked,
        }
    }

    fn port_sample(us: u64, queue_bytes: u64) -> PortSample {
        PortSample {
            time: Time::from_us(us),
            node: 1,
            port: 1,
            queue_bytes,
            pool_bytes: 0,
            tx_bytes: 0,
            tx_packets: 0,
            drops: 0,
            marks: 0,
            paused: Time::ZERO,
        }
    }

    fn summary() -> Summary {
        let context = context();
        let mut collector = Collector::new(&context);
        // Of the long-lived flows one stopped, one did not.
        let late = FlowRecord { start: Time::from_us(50), ..flow(1, FlowSpec::UNBOUNDED, None) };
        for record in [
            flow(0, 100, Some(10)),
            flow(0, 101, Some(30)),
            flow(1, 50, Some(20)),
            flow(1, FlowSpec::UNBOUNDED, None),
            late,
        ] {
            collector.flow(&record);
        }
        // Flow 0: 50 bytes in 10 us of the second half; flow 1 the same in 20 us.
        for sample in [(0, 40, 7), (0, 60, 50), (0, 70, 100), (1, 70, 0), (1, 90, 50)] {
            collector.rate(&rate_sample(sample.0, sample.1, sample.2));
        }
        for sample in [(10, 0), (60, 300)] {
            collector.port(&port_sample(sample.0, sample.1));
        }
        let mut totals = Totals {
            end: Time::from_us(100),
            flows_started: 5,
            flows_finished: 4,
            sent_data_packets: 200,
            dropped_data_packets: 2,
            drops: [1, 0, 0, 0, 1],
            goodput_bytes: 5_000,
            ..Totals::default()
        };
        totals.links = vec![LinkTotals::default(); 4];
        // Half of 1 Gb/s over 100 us.
        totals.links[2].wire_bytes = 6_250;
        for (link, bytes) in [700, 40, 90, 800].into_iter().enumerate() {
            totals.links[link].peak_queue_bytes = bytes;
        }
        Summary::of(&context, &collector, &totals)
    }

    #[test]
    fn flows_fall_into_size_and_traffic_classes() {
        let summary = summary();
        let count = |name: &str| summary.fct_ns.get(name).unwrap().count;
        assert_eq!([count("all"), count("small"), count("large")], [3, 2, 1]);
        assert_eq!(summary.fct_ns.get("small").unwrap().avg, Some(15_000.0));
        assert_eq!(summary.slowdown.get("large").unwrap().max, Some(3.0));
        let b = summary.classes.get("b").unwrap();
        assert_eq!((b.flows, b.unfinished, b.timeouts), (3, 1, 3));
        assert_eq!(summary.flows.unfinished, 1);
        assert_eq!(b.fct_ns.get("small").unwrap().p99, Some(20_000.0));
        assert_eq!(b.fct_ns.get("large").unwrap().p99, None);
        assert_eq!((b.retransmission_rate, b.marked_ack_rate), (0.25, 0.5));
        assert_eq!(b.goodput_bps, 3.0e8);
    }

    #[test]
    fn rates_are_over_the_run_or_its_second_half() {
        let summary = summary();
        assert_eq!(summary.goodput_bps, 4.0e8);
        assert_eq!(summary.loss_rate, 0.01);
        assert_eq!(summary.drops.by_reason.get("link_loss"), Some(&1));
        let steady = summary.steady.unwrap();
        assert_eq!((steady.max_bps, steady.min_bps), (4.0e7, 2.0e7));
        assert_eq!(steady.jain, Some(0.9));
        // 2,500 bytes in the 100 us since the first one's start.
        let long = summary.long_flows.unwrap();
        assert_eq!((long.goodput_bps, long.min_bps, long.max_bps), (2.0e8, 1.0e8, 2.0e8));
    }

    #[test]
    fn links_and_queues_are_the_busiest_first() {
        let summary = summary();
        let host = summary.links.sets.get("host").unwrap();
        assert_eq!((host.avg_utilisation, host.max_utilisation), (0.125, 0.5));
        assert_eq!(summary.links.busiest[0].link, "s0->h1");
        let queues = summary.queues.unwrap();
        assert_eq!((queues.avg_bytes, queues.max_bytes), (150.0, 300));
        assert_eq!(queues.longest[0].steady_avg_bytes, Some(300.0));
        let PeakQueues { switch, host } = summary.peak_queues;
        let (switch, host) = (switch.unwrap(), host.unwrap());
        assert_eq!((&switch.link[..], switch.bytes), ("s0->h1", 90));
        assert_eq!((&host.link[..], host.bytes), ("h1->s0", 800));
    }
}
