//! What the results need to know of a scenario beyond the records: names, classes, links.

use headrace_cc::units::{Rate, Time};
use headrace_sim::spec::{NodeKind, RunSpec};

use crate::scenario::{Scenario, SizeClass};

/// A direction of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkDirection {
    /// `from->to`, by the nodes' names.
    pub name: String,
    /// Its rate.
    pub rate: Rate,
    /// Whether a host sends on it.
    pub from_host: bool,
}

/// A traffic class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassName {
    /// The class's name.
    pub name: String,
    /// The name of its law.
    pub scheme: String,
}

/// The names and bounds by which records become tables and summaries.
#[derive(Clone, Debug)]
pub struct Context {
    /// Names of all nodes, in the network's order.
    pub nodes: Vec<String>,
    /// Names of the hosts, in their order.
    pub hosts: Vec<String>,
    /// Traffic classes, in their order.
    pub classes: Vec<ClassName>,
    /// Size classes, in their order.
    pub size_classes: Vec<SizeClass>,
    /// Directions of links, in the order of [`headrace_sim::record::Totals::links`].
    pub links: Vec<LinkDirection>,
    /// Named sets of links, each with the indices of its links.
    pub link_sets: Vec<(String, Vec<usize>)>,
    /// When the run ends at the latest.
    pub until: Time,
}

impl Context {
    /// Of a scenario.
    pub fn of(scenario: &Scenario) -> Context {
        let sets = scenario.link_sets();
        let link_sets = sets.iter().map(|(name, links)| (name.to_string(), links.to_vec()));
        Context::from_spec(&scenario.spec, scenario.size_classes.clone(), link_sets.collect())
    }

    /// Of a run that came from no scenario file.
    pub fn from_spec(
        spec: &RunSpec,
        size_classes: Vec<SizeClass>,
        link_sets: Vec<(String, Vec<usize>)>,
    ) -> Context {
        let nodes: Vec<String> = spec.network.nodes.iter().map(|node| node.name.clone()).collect();
        let is_host = |kind: &NodeKind| matches!(kind, NodeKind::Host(_));
        let hosts = spec.network.nodes.iter().filter(|node| is_host(&node.kind));
        let hosts = hosts.map(|node| node.name.clone()).collect();
        let direction = |from: usize, to: usize, rate: Rate| LinkDirection {
            name: format!("{}->{}", nodes[from], nodes[to]),
            rate,
            from_host: is_host(&spec.network.nodes[from].kind),
        };
        let links = spec.network.links.iter();
        let links = links.flat_map(|l| [direction(l.a, l.b, l.rate), direction(l.b, l.a, l.rate)]);
        let links = links.collect();
        let classes = spec.classes.iter().map(|class| ClassName {
            name: class.name.clone(),
            scheme: class.scheme.name().to_owned(),
        });
        let classes = classes.collect();
        Context { hosts, classes, size_classes, links, link_sets, until: spec.until, nodes }
    }
}
