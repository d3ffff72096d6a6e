//! What scenarios may name, with parameters: what `headrace list` and `headrace explain` print.

use super::reader::Key;
use super::{HOST_KEYS, SCENARIO_KEYS, classes, switch, trace};
use crate::topology;
use crate::traffic;
use crate::traffic::workloads::{WORKLOADS, Workload};

/// A thing that a scenario may name, or a section of one.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name in scenario files.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// Where it comes from; empty where it is common knowledge.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Key],
}

/// Every topology.
pub fn topologies() -> Vec<Entry> {
    let entry = |kind: &topology::TopologyKind| Entry {
        name: kind.name,
        summary: kind.summary,
        source: kind.source,
        parameters: kind.keys,
    };
    topology::KINDS.iter().map(entry).collect()
}

/// Every kind of traffic, with the parameters of its own; see [`sections`] for the common ones.
pub fn traffic() -> Vec<Entry> {
    let entry = |kind: &traffic::TrafficKind| Entry {
        name: kind.name,
        summary: kind.summary,
        source: "",
        parameters: kind.keys,
    };
    traffic::KINDS.iter().map(entry).collect()
}

/// Every named flow-size distribution: name, table, source; its mean is `cdf().mean()`.
pub fn workloads() -> &'static [Workload] {
    WORKLOADS
}

/// The sections of a scenario with their keys.
pub fn sections() -> Vec<Entry> {
    let entry = |name, summary, parameters| Entry { name, summary, source: "", parameters };
    vec![
        entry("scenario", "keys at the top of a scenario", SCENARIO_KEYS),
        entry("traffic", "keys of every [[traffic]]", classes::TRAFFIC_KEYS),
        entry("tcp", "keys of [tcp]", classes::TCP_KEYS),
        entry("host", "keys of [host]", HOST_KEYS),
        entry("switch", "keys of [switch], beside those of its queues", switch::SWITCH_KEYS),
        entry("switch.queue", "keys of a queue, or of [switch] for all queues", switch::QUEUE_KEYS),
        entry("switch.queue.own", "keys of a queue alone", switch::OWN_QUEUE_KEYS),
        entry("switch.bcc", "keys of bcc = { ... }", switch::BCC_KEYS),
        entry("trace", "keys of [trace]", trace::TRACE_KEYS),
        entry("results", "keys of [results]", trace::RESULTS_KEYS),
    ]
}

/// The topology, kind of traffic or section of that name.
pub fn explain(name: &str) -> Option<Entry> {
    [topologies(), traffic(), sections()].into_iter().flatten().find(|e| e.name == name)
}
