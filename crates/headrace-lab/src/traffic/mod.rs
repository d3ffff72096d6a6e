//! Traffic: sources of flows, from a scenario's `[[traffic]]`.
//!
//! Each source draws from a random stream of its own, seeded by (seed, `traffic/NAME`), so that it
//! does not depend on what other sources there are. Sources are generated lazily.

mod all_to_all;
pub mod cdf;
mod draw;
mod hosts;
mod incast;
mod list;
pub mod load;
mod long;
pub mod merge;
mod on_off;
mod pairs;
mod permutation;
mod poisson;
mod rpc;
mod sizes;
pub mod workloads;

use std::sync::Arc;

use headrace_cc::units::Time;
use headrace_sim::spec::Framing;
use headrace_sim::workload::Delivered;

use crate::scenario::problems::nearest;
use crate::scenario::reader::{Key, Section, Takes};
use crate::topology::Topology;
use load::TimedLoad;

/// A flow that a source starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// When.
    pub at: Time,
    /// It sends nothing new from here on; [`Time::NEVER`] for a flow that ends by its size.
    pub stop: Time,
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Payload bytes; [`headrace_sim::workload::FlowSpec::UNBOUNDED`] for a long-lived flow.
    pub size: u64,
    /// Identity within a closed-loop source; `None`: numbered in order of start.
    pub id: Option<u64>,
}

impl Start {
    /// A flow that ends by its size.
    pub(crate) fn sized(at: Time, src: u32, dst: u32, size: u64) -> Start {
        Start { at, stop: Time::NEVER, src, dst, size, id: None }
    }
}

/// The flows of a source, in order of start.
pub type Starts = Box<dyn Iterator<Item = Start> + Send>;

/// A source of flows with all its parameters: makes the same flows each time it is asked.
pub trait Plan: std::fmt::Debug + Send + Sync {
    /// Its flows, from the seed of its own random stream.
    fn starts(&self, seed: u64) -> Starts;

    /// A flow of this source was delivered: what its receiver sends next, if the source is
    /// closed-loop.
    fn on_delivered(&self, seed: u64, delivered: &Delivered, within: u64) -> Option<Start> {
        let _ = (seed, delivered, within);
        None
    }

    /// Whether it answers deliveries.
    fn closed_loop(&self) -> bool {
        false
    }

    /// Whether its flows have no size: see [`headrace_sim::workload::FlowSpec::UNBOUNDED`].
    fn long_lived(&self) -> bool {
        false
    }

    /// The load on a set of links that it was asked for.
    fn load(&self) -> Option<TimedLoad> {
        None
    }

    /// Why the run needs an `until`, in a word; `None` where it ends by itself.
    fn endless(&self) -> Option<&'static str>;

    /// What to print of it.
    fn notes(&self) -> Vec<String>;
}

/// A kind of traffic: one entry of [`KINDS`].
#[derive(Clone, Copy, Debug)]
pub struct TrafficKind {
    /// Name in scenario files.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// Its keys, beside those that all kinds have.
    pub keys: &'static [Key],
    /// Reads it; `None` where something was refused.
    pub(crate) read: fn(&mut Section<'_>, &Setup<'_>) -> Option<Arc<dyn Plan>>,
}

/// Every kind of traffic.
pub const KINDS: &[TrafficKind] = &[
    poisson::KIND,
    incast::KIND,
    permutation::KIND,
    all_to_all::KIND,
    on_off::KIND,
    long::KIND,
    rpc::KIND,
    list::KIND,
];

/// The kind of that name.
pub fn kind_named(name: &str) -> Option<&'static TrafficKind> {
    KINDS.iter().find(|k| k.name == name)
}

/// The kind nearest to a name that is none, as a remedy.
pub(crate) fn nearest_kind(name: &str) -> String {
    nearest(name, KINDS.iter().map(|k| k.name))
}

/// What a source may know of the rest of the scenario.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The network.
    pub topology: &'a Topology,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// What a packet costs beyond itself.
    pub framing: Framing,
    /// The run's end, where it is stated.
    pub until: Option<Time>,
}

impl Setup<'_> {
    /// Payload of a full packet, bytes: what the IPv4 and TCP headers leave.
    pub fn mss(&self) -> u64 {
        u64::from(self.mtu.saturating_sub(40)).max(1)
    }

    /// The largest flow, payload bytes: the simulator numbers a flow's segments in 32 bits.
    pub fn largest_flow(&self) -> u64 {
        u64::from(u32::MAX) * self.mss()
    }
}

pub(crate) const START: Key =
    Key::with("start", Takes::Time, "0s", "time of the first flow or of the source's beginning");
pub(crate) const STOP: Key =
    Key::optional("stop", Takes::Time, "the run's end", "no flow starts from here on");
pub(crate) const SRC: Key = Key::with("src", Takes::Hosts, "all", "sending hosts");
pub(crate) const DST: Key = Key::with("dst", Takes::Hosts, "all", "receiving hosts");
pub(crate) const SIZE: Key =
    Key::optional("size", Takes::Bytes, "by `workload`", "payload bytes of each flow, all alike");
pub(crate) const WORKLOAD: Key = Key::optional(
    "workload",
    Takes::Any,
    "by `size`",
    "flow sizes: a workload's name, or { file = \"sizes.cdf\" } with `packet` = bytes of a unit",
);

/// Reads `start` and `stop`; a `stop` before the start is refused.
pub(crate) fn window(section: &mut Section<'_>, setup: &Setup<'_>) -> Option<(Time, Time)> {
    let start: Option<Time> = section.get("start");
    let stop: Option<Time> = section.get("stop");
    let (start, end) = (start?, stop.or(setup.until).unwrap_or(Time::NEVER));
    if stop.is_some_and(|stop| stop <= start) {
        section.refuse("stop", "stop: not after `start`", format!("choose a time after {start}"));
        return None;
    }
    Some((start, end))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::scenario::reader::Context;
    use crate::scenario::tree::Node;
    use std::path::Path;

    /// A plan from its section on a topology, or the lines of what is wrong.
    pub(crate) fn plan(topology: &str, text: &str) -> Result<Arc<dyn Plan>, String> {
        let topology = crate::topology::tests::build(topology).unwrap();
        let setup = Setup { topology: &topology, mtu: 1500, framing: Framing::None, until: None };
        let node = Node::parse("x.toml", text).unwrap();
        let context = Context::new(Path::new("."));
        let kind_key = Key::required("kind", Takes::Text, "kind");
        let name = match &node.get("kind").unwrap().data {
            crate::scenario::tree::Data::Text(name) => name.clone(),
            other => panic!("{other:?}"),
        };
        let kind = kind_named(&name).unwrap();
        let keys: Vec<Key> = std::iter::once(kind_key).chain(kind.keys.iter().copied()).collect();
        let mut section = Section::open(&context, &node, "traffic", &keys);
        let plan = (kind.read)(&mut section, &setup);
        let problems: Vec<String> = context.take().iter().map(|p| p.line()).collect();
        match plan {
            Some(plan) if problems.is_empty() => Ok(plan),
            _ => Err(problems.join("\n")),
        }
    }

    pub(crate) fn starts(topology: &str, text: &str, take: usize) -> Vec<Start> {
        let starts: Vec<Start> = plan(topology, text).unwrap().starts(1).take(take).collect();
        assert!(starts.is_sorted_by_key(|s| s.at));
        assert!(starts.iter().all(|s| s.src != s.dst && s.size >= 1));
        starts
    }
}
