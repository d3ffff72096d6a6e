//! The graph's shape: who is beside whom, and what a specification must satisfy.

use std::collections::{BTreeSet, VecDeque};

use headrace_cc::units::{Rate, Time};

use crate::record::SimError;
use crate::spec::{NetworkSpec, NodeKind, SwitchSpec};

/// Most hosts of a network: a packet names its destination in 16 bits.
pub const MAX_HOSTS: usize = 65_000;

/// One of a node's ports: the link and who is at its other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour {
    pub(crate) node: usize,
    pub(crate) link: usize,
    /// The port's number at the other end.
    pub(crate) far_port: usize,
}

/// Each node's ports, in link order.
pub(crate) struct Graph {
    pub(crate) neighbours: Vec<Vec<Neighbour>>,
    /// Nodes that are hosts, in order: host number to node.
    pub(crate) hosts: Vec<usize>,
    /// Node to host number.
    pub(crate) host_of: Vec<Option<u32>>,
}

impl Graph {
    pub(crate) fn new(network: &NetworkSpec) -> Self {
        let mut neighbours: Vec<Vec<Neighbour>> = vec![Vec::new(); network.nodes.len()];
        for (link, spec) in network.links.iter().enumerate() {
            let (at_a, at_b) = (neighbours[spec.a].len(), neighbours[spec.b].len());
            neighbours[spec.a].push(Neighbour { node: spec.b, link, far_port: at_b });
            neighbours[spec.b].push(Neighbour { node: spec.a, link, far_port: at_a });
        }
        let is_host = |&n: &usize| matches!(network.nodes[n].kind, NodeKind::Host(_));
        let hosts: Vec<usize> = (0..network.nodes.len()).filter(is_host).collect();
        let mut host_of = vec![None; network.nodes.len()];
        for (number, &node) in hosts.iter().enumerate() {
            host_of[node] = Some(number as u32);
        }
        Graph { neighbours, hosts, host_of }
    }

    /// Two hosts with no way between them, if there are any.
    fn cut_off(&self) -> Option<(usize, usize)> {
        let nearest = self.neighbours[self.hosts[0]].first().map(|n| n.node);
        let switch = nearest.filter(|&n| self.host_of[n].is_none());
        // A switch that all hosts reach joins them all. Where there is none, each host counts.
        if let Some(switch) = switch {
            let distance = self.distances(switch);
            if self.hosts.iter().all(|&host| distance[host] != u32::MAX) {
                return None;
            }
        }
        self.hosts.iter().find_map(|&a| {
            let distance = self.distances(a);
            let lost = self.hosts.iter().find(|&&b| distance[b] == u32::MAX);
            lost.map(|&b| (a, b))
        })
    }

    /// Hops from every node to `to`, which hosts other than `to` do not forward to; `u32::MAX` where
    /// there is no way.
    pub(crate) fn distances(&self, to: usize) -> Vec<u32> {
        let mut distance = vec![u32::MAX; self.neighbours.len()];
        distance[to] = 0;
        let mut queue = VecDeque::from([to]);
        while let Some(node) = queue.pop_front() {
            if node != to && self.host_of[node].is_some() {
                continue;
            }
            for next in &self.neighbours[node] {
                if distance[next.node] == u32::MAX {
                    distance[next.node] = distance[node] + 1;
                    queue.push_back(next.node);
                }
            }
        }
        distance
    }
}

/// Checks that a network can be run.
///
/// # Errors
/// [`SimError::Spec`] with the place and the remedy for the first thing found wrong.
pub fn check(network: &NetworkSpec) -> Result<(), SimError> {
    if !(128..=65_000).contains(&network.mtu) {
        return err(format!("the MTU is {} bytes; it must be 128 to 65000", network.mtu));
    }
    let mut names = BTreeSet::new();
    for node in &network.nodes {
        if !names.insert(node.name.as_str()) {
            return err(format!("two nodes are named '{}'; names must be unique", node.name));
        }
        if let NodeKind::Switch(switch) = &node.kind {
            check_switch(&node.name, switch)?;
        }
    }
    check_links(network)?;
    check_connected(network)
}

fn check_links(network: &NetworkSpec) -> Result<(), SimError> {
    let kinds: BTreeSet<_> = network.links.iter().map(|l| (l.rate, l.delay)).collect();
    if kinds.len() > 1 << 12 {
        return err("more than 4096 different pairs of rate and delay; round them".into());
    }
    for link in &network.links {
        if link.a >= network.nodes.len() || link.b >= network.nodes.len() {
            return err(format!("a link names node {}, which is not there", link.a.max(link.b)));
        }
        let name = format!("{} - {}", network.nodes[link.a].name, network.nodes[link.b].name);
        if link.a == link.b {
            return err(format!("link {name} ends where it begins"));
        }
        if !(Rate::from_bps(1_000)..=Rate::from_gbps(100_000)).contains(&link.rate) {
            return err(format!("link {name} has rate {}; give 1Kbps to 100Tbps", link.rate));
        }
        if link.delay == Time::ZERO || link.delay > Time::from_ms(100_000) {
            return err(format!(
                "link {name} has delay {}; give more than zero and at most 100s, since nothing \
                 reaches another node in no time",
                link.delay
            ));
        }
        if !(0.0..1.0).contains(&link.loss) {
            return err(format!("link {name} has loss {}; give 0 to below 1", link.loss));
        }
    }
    Ok(())
}

fn check_connected(network: &NetworkSpec) -> Result<(), SimError> {
    let graph = Graph::new(network);
    if graph.hosts.len() < 2 {
        return err("a network needs at least two hosts".into());
    }
    if graph.hosts.len() > MAX_HOSTS {
        return err(format!("{} hosts; at most {MAX_HOSTS} can be simulated", graph.hosts.len()));
    }
    match graph.cut_off() {
        Some((a, b)) => err(format!(
            "the topology is disconnected: no path between hosts '{}' and '{}'; add a link",
            network.nodes[a].name, network.nodes[b].name
        )),
        None => Ok(()),
    }
}

fn check_switch(name: &str, switch: &SwitchSpec) -> Result<(), SimError> {
    if switch.queues.is_empty() {
        return err(format!("switch '{name}' has no queue"));
    }
    if switch.ports_per_mmu == Some(0) {
        return err(format!("switch '{name}' has 0 ports an MMU; give at least 1"));
    }
    if switch.queue_of_priority.iter().any(|&q| usize::from(q) >= switch.queues.len()) {
        return err(format!("switch '{name}' sends a priority to a queue that it does not have"));
    }
    for (i, queue) in switch.queues.iter().enumerate() {
        let what = format!("queue {i} of switch '{name}'");
        if queue.weight == 0 {
            return err(format!("{what} has weight 0; give at least 1"));
        }
        if queue.pool.is_some_and(|pool| pool >= switch.pools.len()) {
            return err(format!("{what} uses a pool that is not there"));
        }
        if queue.alpha_q16.is_some_and(|alpha| alpha == 0 || alpha > 1 << 26) {
            return err(format!("{what} has an alpha outside 1/65536 to 1024"));
        }
        if queue.private_bytes == 0 && queue.pool.is_none() {
            return err(format!("{what} has neither a private buffer nor a pool"));
        }
    }
    Ok(())
}

fn err<T>(text: String) -> Result<T, SimError> {
    Err(SimError::Spec(text))
}
