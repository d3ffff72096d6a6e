//! Which part of the engine each node belongs to, and in which order nodes are numbered.
//!
//! Parts run on threads of their own (`parallel`). Results depend on neither the parts nor the
//! order, only the time it takes.

use headrace_cc::units::Time;

use crate::net::graph::Graph;
use crate::record::SimError;
use crate::spec::NetworkSpec;

/// Most parts: a packet's flow names its sender's part in six bits.
pub(crate) const MAX_PARTS: usize = 64;

/// How a network is spread inside the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The nodes in the order in which the engine numbers them.
    pub order: Vec<usize>,
    /// The part of each node, from 0 on.
    pub part_of: Vec<usize>,
}

impl Layout {
    /// Everything in one part, in the network's own order.
    pub fn whole(network: &NetworkSpec) -> Layout {
        let nodes = network.nodes.len();
        Layout { order: (0..nodes).collect(), part_of: vec![0; nodes] }
    }

    /// `parts` parts of about the same work, cut where links are longest. There are fewer where the
    /// network is too small.
    ///
    /// Work is taken to go with the rates of a node's links. Hosts stay with their switch. A part
    /// grows from one switch by the switch that most of its capacity leads to, which keeps pods and
    /// sites together.
    pub fn automatic(network: &NetworkSpec, parts: usize) -> Layout {
        let graph = Graph::new(network);
        let parts = parts.clamp(1, MAX_PARTS);
        let order = (0..network.nodes.len()).collect();
        let part_of = Units::at_longest_links(network, &graph, parts).deal(parts);
        Layout { order, part_of }
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        self.part_of.iter().max().map_or(1, |&last| last + 1)
    }

    pub(crate) fn check(&self, network: &NetworkSpec) -> Result<(), SimError> {
        let nodes = network.nodes.len();
        let mut sorted = self.order.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..nodes) || self.part_of.len() != nodes {
            return Err(SimError::Spec("the layout is not one of this network's nodes".into()));
        }
        if self.parts() > MAX_PARTS {
            return Err(SimError::Spec(format!("more than {MAX_PARTS} parts")));
        }
        Ok(())
    }
}

/// Groups of nodes that stay together.
struct Units {
    /// Of each node.
    unit_of: Vec<usize>,
    /// Expected work of each unit, in bits per second handled.
    work: Vec<u64>,
    /// Capacity between units: (unit, unit, bits per second), both ways.
    between: Vec<Vec<(usize, u64)>>,
}

impl Units {
    /// Joins all links shorter than the longest delay that still leaves enough even units.
    fn at_longest_links(network: &NetworkSpec, graph: &Graph, parts: usize) -> Units {
        let mut delays: Vec<Time> = network.links.iter().map(|l| l.delay).collect();
        delays.sort_unstable();
        delays.dedup();
        let even = |units: &Units| {
            let total: u64 = units.work.iter().sum();
            let heaviest = units.work.iter().max().copied().unwrap_or(0);
            units.work.len() >= parts && heaviest <= total / parts as u64 + total / 20
        };
        let joined = |shorter: Time, with_hosts| Units::join(network, graph, shorter, with_hosts);
        let choices = delays.iter().rev().map(|&delay| joined(delay, true));
        choices.into_iter().find(even).unwrap_or_else(|| joined(Time::ZERO, false))
    }

    /// Joins nodes over links shorter than `shorter`, and hosts to the only node they hang on.
    fn join(network: &NetworkSpec, graph: &Graph, shorter: Time, with_hosts: bool) -> Units {
        let nodes = network.nodes.len();
        let mut leader: Vec<usize> = (0..nodes).collect();
        for link in &network.links {
            let lone = |n: usize| graph.host_of[n].is_some() && graph.neighbours[n].len() == 1;
            if link.delay < shorter || with_hosts && (lone(link.a) || lone(link.b)) {
                let (a, b) = (find(&mut leader, link.a), find(&mut leader, link.b));
                leader[a.max(b)] = a.min(b);
            }
        }
        let mut number = vec![usize::MAX; nodes];
        let mut units = Units { unit_of: vec![0; nodes], work: Vec::new(), between: Vec::new() };
        for node in 0..nodes {
            let leader = find(&mut leader, node);
            if number[leader] == usize::MAX {
                number[leader] = units.work.len();
                units.work.push(0);
                units.between.push(Vec::new());
            }
            units.unit_of[node] = number[leader];
            // A packet costs a host about twice what it costs a switch.
            let cost = if graph.host_of[node].is_some() { 2 } else { 1 };
            let rates = graph.neighbours[node].iter().map(|n| network.links[n.link].rate.bps());
            units.work[number[leader]] += cost * rates.sum::<u64>();
        }
        for link in &network.links {
            let (a, b) = (units.unit_of[link.a], units.unit_of[link.b]);
            if a != b {
                units.between[a].push((b, link.rate.bps()));
                units.between[b].push((a, link.rate.bps()));
            }
        }
        units
    }

    /// Deals the units out to parts; the part of each node.
    fn deal(self, parts: usize) -> Vec<usize> {
        let count = self.work.len();
        let mut part_of = vec![usize::MAX; count];
        let mut left: u64 = self.work.iter().sum();
        for part in 0..parts {
            let target = left / (parts - part) as u64;
            let mut taken = 0;
            let mut pull = vec![0u64; count];
            while let Some(unit) = best(&part_of, &pull) {
                let work = self.work[unit];
                // The unit that passes the target is taken if that is the smaller error.
                let passes = taken + work > target;
                let last = part + 1 == parts;
                let enough = 2 * taken >= target;
                if !last && passes && enough && taken + work - target > target - taken {
                    break;
                }
                part_of[unit] = part;
                taken += work;
                self.between[unit].iter().for_each(|&(other, rate)| pull[other] += rate);
                if !last && taken >= target {
                    break;
                }
            }
            left -= taken;
        }
        // Parts without a node would leave gaps in the numbering.
        let mut used: Vec<usize> = part_of.clone();
        used.sort_unstable();
        used.dedup();
        let number = |unit: &usize| used.binary_search(&part_of[*unit]).unwrap_or(0);
        self.unit_of.iter().map(number).collect()
    }
}

/// The unit that no part has and that is pulled most; the first of equals.
fn best(part_of: &[usize], pull: &[u64]) -> Option<usize> {
    let free = (0..part_of.len()).filter(|&unit| part_of[unit] == usize::MAX);
    free.max_by_key(|&unit| (pull[unit], std::cmp::Reverse(unit)))
}

fn find(leader: &mut [usize], mut node: usize) -> usize {
    while leader[node] != node {
        leader[node] = leader[leader[node]];
        node = leader[node];
    }
    node
}
