//! Topologies: nodes, links and named sets of links, from a scenario's `[topology]`.
//!
//! Hosts come first among the nodes, so that a host's number is its node's. A link's end `a` is
//! the one nearer to the hosts (or to the left), which gives the links of a set one orientation.

mod connected;
pub mod crossing;
mod dumbbell;
mod edges;
mod fat_tree;
mod leaf_spine;
mod parking_lot;
mod star;

use headrace_cc::units::{Rate, Time};
use headrace_sim::spec::LinkSpec;

use crate::scenario::problems::nearest;
use crate::scenario::reader::{Context, Key, Section, Takes};
use crate::scenario::tree::Node;

/// Most hosts that a network may have.
pub const MAX_HOSTS: u64 = 65_000;
/// Most links between the switches of one built topology: a bound on what `check` may take.
const MAX_LINKS: u64 = 1 << 22;

/// A kind of topology: one entry of [`KINDS`].
#[derive(Clone, Copy, Debug)]
pub struct TopologyKind {
    /// Name in scenario files.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// Where it is described; empty where it is common knowledge.
    pub source: &'static str,
    /// Its keys, beside `kind`.
    pub keys: &'static [Key],
    /// Builds it; `None` where something was refused.
    build: fn(&mut Section<'_>) -> Option<Topology>,
}

/// Every kind of topology.
pub const KINDS: &[TopologyKind] =
    &[star::KIND, dumbbell::KIND, parking_lot::KIND, leaf_spine::KIND, fat_tree::KIND, edges::KIND];

/// A network's graph.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// Hosts, then switches.
    pub nodes: Vec<TopologyNode>,
    /// Links.
    pub links: Vec<LinkSpec>,
    /// Named sets of links, as indices.
    pub sets: Vec<(String, Vec<usize>)>,
}

/// A node of a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyNode {
    /// Unique name.
    pub name: String,
    /// What it is.
    pub role: Role,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An end host.
    Host,
    /// A switch, with the name by which `[switch.NAME]` reaches all of its kind.
    Switch(&'static str),
}

/// What a link is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub rate: Rate,
    pub delay: Time,
    pub loss: f64,
}

impl Topology {
    /// Reads `[topology]`: builds the graph and checks that it is connected.
    pub fn read(context: &Context, node: &Node) -> Option<(Topology, serde_json::Value)> {
        let kind_key = Key::required("kind", Takes::Text, "star, leaf-spine, fat-tree, ...");
        let node = node.clone().named("kind");
        let kind = match node.get("kind").map(|n| (&n.data, &n.place)) {
            Some((crate::scenario::tree::Data::Text(name), place)) => {
                let kind = KINDS.iter().find(|k| k.name == name);
                if kind.is_none() {
                    let remedy = nearest(name, KINDS.iter().map(|k| k.name));
                    context.refuse(place, format!("unknown topology `{name}`"), remedy);
                }
                kind?
            }
            _ => {
                let bare = node.only(|key| key == "kind");
                let mut section = Section::open(context, &bare, "[topology]", &[kind_key]);
                section.get::<String>("kind");
                return None;
            }
        };
        let keys: Vec<Key> = std::iter::once(kind_key).chain(kind.keys.iter().copied()).collect();
        let title = format!("[topology] of kind {}", kind.name);
        let mut section = Section::open(context, &node, &title, &keys);
        section.get::<String>("kind");
        let topology = (kind.build)(&mut section)?;
        let hosts = topology.hosts() as u64;
        section.refuse_if(hosts < 2, "kind", "fewer than two hosts", "add hosts");
        if let Some((one, other)) = topology.disconnected_hosts() {
            let remedy = "add links between their parts, through switches: hosts do not forward";
            let message = format!("no way from {one} to {other}: the topology is disconnected");
            section.refuse("kind", message, remedy);
            return None;
        }
        Some((topology, section.resolved()))
    }

    /// How many hosts.
    pub fn hosts(&self) -> usize {
        self.nodes.iter().filter(|n| n.role == Role::Host).count()
    }

    /// The index of a node.
    pub fn node_named(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|n| n.name == name)
    }

    /// The links of a named set.
    pub fn set(&self, name: &str) -> Option<&[usize]> {
        self.sets.iter().find(|s| s.0 == name).map(|s| &s.1[..])
    }

    /// Each node's links as (link, other end), in port order.
    pub fn neighbours(&self) -> Vec<Vec<(usize, usize)>> {
        let mut neighbours = vec![Vec::new(); self.nodes.len()];
        for (i, link) in self.links.iter().enumerate() {
            neighbours[link.a].push((i, link.b));
            neighbours[link.b].push((i, link.a));
        }
        neighbours
    }

    /// Adds hosts `h0`, `h1`, ...; they come before any switch.
    pub(crate) fn add_hosts(&mut self, count: u64) {
        let host = |i| TopologyNode { name: format!("h{i}"), role: Role::Host };
        self.nodes.extend((0..count).map(host));
    }

    pub(crate) fn add_switch(&mut self, name: String, role: &'static str) -> usize {
        self.nodes.push(TopologyNode { name, role: Role::Switch(role) });
        self.nodes.len() - 1
    }

    pub(crate) fn add_switches(&mut self, count: u64, role: &'static str) -> Vec<usize> {
        (0..count).map(|i| self.add_switch(format!("{role}{i}"), role)).collect()
    }

    /// Adds a link to the sets of these names.
    pub(crate) fn add_link(&mut self, a: usize, b: usize, line: Line, sets: &[&str]) {
        let index = self.links.len();
        let Line { rate, delay, loss } = line;
        self.links.push(LinkSpec { a, b, rate, delay, loss });
        for name in sets {
            match self.sets.iter_mut().find(|s| s.0 == *name) {
                Some((_, links)) => links.push(index),
                None => self.sets.push(((*name).to_owned(), vec![index])),
            }
        }
    }
}

/// Set of the links between hosts and switches.
pub(crate) const HOST_SET: &str = "host";
/// Set of the links in the middle of the network.
pub(crate) const CORE_SET: &str = "core";

pub(crate) const RATE: Key =
    Key::with("rate", Takes::Rate, "100Gbps", "rate of the links that have none of their own")
        .from("BCC section 5");
pub(crate) const DELAY: Key = Key::with(
    "delay",
    Takes::Time,
    "1us",
    "propagation delay of the links that have none of their own",
);
pub(crate) const LOSS: Key =
    Key::with("loss", Takes::Number, "0", "probability that a link loses a packet, below 1");
pub(crate) const HOST_RATE: Key =
    Key::optional("host_rate", Takes::Rate, "`rate`", "rate of the hosts' links");
pub(crate) const HOST_DELAY: Key =
    Key::optional("host_delay", Takes::Time, "`delay`", "propagation delay of the hosts' links");

/// Reads `rate`, `delay` and `loss`: what every link is that says nothing else.
pub(crate) fn common_line(section: &mut Section<'_>) -> Option<Line> {
    let (rate, delay) = (section.get("rate"), section.get("delay"));
    let loss: Option<f64> = section.get("loss");
    Some(Line { rate: rate?, delay: delay?, loss: checked_loss(section, loss?)? })
}

/// A line like `base` but for the keys of its own that are given.
pub(crate) fn own_line(section: &mut Section<'_>, base: Line, rate: &str, delay: &str) -> Line {
    Line {
        rate: section.get(rate).unwrap_or(base.rate),
        delay: section.get(delay).unwrap_or(base.delay),
        loss: base.loss,
    }
}

/// A probability of loss: 0 to below 1.
pub(crate) fn checked_loss(section: &Section<'_>, loss: f64) -> Option<f64> {
    let fine = (0.0..1.0).contains(&loss);
    section.refuse_if(!fine, "loss", "loss: not a probability from 0 to below 1", "write 0.001");
    fine.then_some(loss)
}

/// Refuses more hosts than the simulator numbers, and as many of other `things`.
pub(crate) fn few_enough(
    section: &Section<'_>,
    key: &str,
    things: &str,
    factors: &[u64],
) -> Option<u64> {
    let count = factors.iter().try_fold(1u64, |product, &f| product.checked_mul(f));
    let fits = count.filter(|&count| count <= MAX_HOSTS);
    if fits.is_none() {
        let message = format!("{key}: too many {things}");
        section.refuse(key, message, format!("choose at most {MAX_HOSTS} of them"));
    }
    fits
}

/// Refuses more links between switches than a network can have in memory.
pub(crate) fn few_links(section: &Section<'_>, key: &str, factors: &[u64]) -> Option<()> {
    let count = factors.iter().try_fold(1u64, |product, &f| product.checked_mul(f));
    if count.is_none_or(|count| count > MAX_LINKS) {
        let message = format!("{key}: too many links between switches");
        section.refuse(key, message, format!("choose numbers that give at most {MAX_LINKS}"));
        return None;
    }
    Some(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::path::Path;

    /// A topology from its section, or the lines of what is wrong.
    pub(crate) fn build(text: &str) -> Result<Topology, Vec<String>> {
        let node = Node::parse("x.toml", text).unwrap();
        let context = Context::new(Path::new("."));
        let built = Topology::read(&context, &node);
        let problems: Vec<String> = context.take().iter().map(|p| p.line()).collect();
        match built {
            Some((topology, _)) if problems.is_empty() => Ok(topology),
            _ => Err(problems),
        }
    }

    #[test]
    fn defaults_build_connected_graphs() {
        for kind in KINDS.iter().filter(|k| k.name != "edges") {
            let topology = build(&format!("kind = \"{}\"", kind.name)).unwrap();
            assert!(topology.set(HOST_SET).is_some(), "{}", kind.name);
            assert!(topology.nodes[..topology.hosts()].iter().all(|n| n.role == Role::Host));
        }
    }

    #[test]
    fn unknown_kinds_and_keys_are_refused() {
        assert_eq!(
            build("kind = \"leafspine\"").unwrap_err(),
            ["x.toml:1:8: unknown topology `leafspine`; did you mean `leaf-spine`?"]
        );
        let found = build("kind = \"star\"\nhost = 3\n").unwrap_err();
        assert!(found[0].contains("unknown key `host`") && found[0].contains("`hosts`"));
        assert!(build("").unwrap_err()[0].contains("needs `kind`"));
        assert!(build("kind = \"star\"\nhosts = 70000").unwrap_err()[0].contains("too many hosts"));
        let wide = "kind = \"leaf-spine\"\nleaves = 65000\nhosts_per_leaf = 1\nspines = 65000";
        assert!(build(wide).unwrap_err()[0].contains("too many links between switches"));
        let wide = "kind = \"fat-tree\"\npods = 1\ntors = 65000\naggs = 65000\ncores = 65000\n\
                    hosts_per_tor = 1";
        assert!(build(wide).unwrap_err()[0].contains("too many links between switches"));
        assert!(build("kind = \"star\"\nloss = 1.0").unwrap_err()[0].contains("probability"));
        assert!(build("kind = \"star\"\nrate = \"0Gbps\"").unwrap_err()[0].contains("rate of 0"));
    }
}
