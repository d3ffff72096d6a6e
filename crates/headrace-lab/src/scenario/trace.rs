//! `[trace]` and `[results]`: what is recorded, and how flows are grouped by size.

use headrace_cc::units::Time;
use headrace_sim::spec::TraceSpec;
use serde_json::json;

use super::problems::nearest;
use super::reader::{Context, Count, Key, Section, Takes};
use super::tree::{Data, Node};
use crate::topology::{Role, Topology};

/// Keys of `[trace]`.
pub const TRACE_KEYS: &[Key] = &[
    Key::with(
        "port_interval",
        Takes::Time,
        "100us",
        "time between samples of switch ports, or \"none\"",
    ),
    Key::optional(
        "ports",
        Takes::List,
        "every switch port",
        "ports to sample: \"leaf0\" (all of \
        its ports), \"leaf0:3\" (by number), \"leaf0->spine1\" (towards a node)",
    ),
    Key::with(
        "rate_flows",
        Takes::Count,
        "0",
        "trace window and rate of flows with an id below this; \
        open-loop flows are numbered from 0 in order of start",
    ),
    Key::with("rate_interval", Takes::Time, "10us", "shortest time between two samples of a flow"),
];

/// Keys of `[results]`.
pub const RESULTS_KEYS: &[Key] = &[Key::optional(
    "size_classes",
    Takes::List,
    "small to 100KB, medium to 10MB, large",
    "[{ name, up_to }, ...] in rising order; the last \
    one has no `up_to`",
)
.from("BCC section 5")];

const CLASS_KEYS: &[Key] = &[
    Key::required("name", Takes::Text, "the class's name"),
    Key::optional("up_to", Takes::Bytes, "no limit", "largest flow of the class"),
];

/// Name under which results group the flows of all sizes.
pub const ALL_SIZES: &str = "all";

/// A class of flows by size: `above` < size <= `up_to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeClass {
    /// Its name.
    pub name: String,
    /// Bytes, exclusive.
    pub above: u64,
    /// Bytes, inclusive; `None`: without limit.
    pub up_to: Option<u64>,
}

/// BCC's classes (section 5): small (0, 100 KB], medium (100 KB, 10 MB], large.
pub(crate) fn default_size_classes() -> Vec<SizeClass> {
    let class = |name: &str, above, up_to| SizeClass { name: name.to_owned(), above, up_to };
    vec![
        class("small", 0, Some(100_000)),
        class("medium", 100_000, Some(10_000_000)),
        class("large", 10_000_000, None),
    ]
}

/// Reads `[trace]`.
pub(crate) fn read_trace(
    context: &Context,
    node: &Node,
    topology: &Topology,
) -> Option<(TraceSpec, serde_json::Value)> {
    let mut section = Section::open(context, node, "[trace]", TRACE_KEYS);
    let port_interval = section.get::<Option<Time>>("port_interval")?;
    let zero = port_interval == Some(Time::ZERO);
    section.refuse_if(zero, "port_interval", "port_interval: 0", "write a time above 0");
    let flows = section.get::<Count>("rate_flows");
    let rate_interval: Option<Time> = section.get("rate_interval");
    let mut ports = Vec::new();
    if section.has("ports") {
        let idle = port_interval.is_none();
        section.refuse_if(
            idle,
            "ports",
            "`ports` while `port_interval` is none",
            "give `port_interval` a time",
        );
        for text in section.get::<Vec<String>>("ports")? {
            match select(&text, topology) {
                Ok(selected) => ports.extend(selected),
                Err(remedy) => section.refuse("ports", format!("no switch port `{text}`"), remedy),
            }
        }
        ports.sort_unstable();
        ports.dedup();
    }
    let trace =
        TraceSpec { port_interval, ports, rate_flows: flows?.0, rate_interval: rate_interval? };
    Some((trace, section.resolved()))
}

/// The ports that a text names; the error is the remedy.
fn select(text: &str, topology: &Topology) -> Result<Vec<(usize, usize)>, String> {
    let switch = |name: &str| {
        let name = name.trim();
        let is_switch = |n: &usize| topology.nodes[*n].role != Role::Host;
        topology.node_named(name).filter(is_switch).ok_or_else(|| {
            let switches = topology.nodes.iter().filter(|n| n.role != Role::Host);
            nearest(name, switches.map(|n| n.name.as_str()))
        })
    };
    if let Some((from, to)) = text.split_once("->") {
        let node = switch(from)?;
        let neighbours = &topology.neighbours()[node];
        let name = |n: usize| topology.nodes[n].name.as_str();
        let towards = (0..neighbours.len()).filter(|&p| name(neighbours[p].1) == to.trim());
        let ports: Vec<_> = towards.map(|p| (node, p)).collect();
        return match ports.is_empty() {
            true => Err(nearest(to.trim(), neighbours.iter().map(|n| name(n.1)))),
            false => Ok(ports),
        };
    }
    let (name, port) = text.split_once(':').map_or((text, None), |(n, p)| (n, Some(p)));
    let node = switch(name)?;
    let count = topology.neighbours()[node].len();
    match port.map(|p| p.trim().parse::<usize>()) {
        None => Ok((0..count).map(|p| (node, p)).collect()),
        Some(Ok(port)) if port < count => Ok(vec![(node, port)]),
        Some(_) => Err(format!("its ports are 0 to {}", count.saturating_sub(1))),
    }
}

/// Reads `[results]`.
pub(crate) fn read_size_classes(context: &Context, node: &Node) -> Option<Vec<SizeClass>> {
    let section = Section::open(context, node, "[results]", RESULTS_KEYS);
    let Some(list) = section.node("size_classes") else { return Some(default_size_classes()) };
    let Data::List(nodes) = &list.data else {
        let remedy = "write [{ name = \"small\", up_to = \"100KB\" }, { name = \"large\" }]";
        section.refuse("size_classes", "size_classes is not a list", remedy);
        return None;
    };
    let mut classes: Vec<SizeClass> = Vec::new();
    let mut above = Some(0);
    for node in nodes {
        let mut class = Section::open(context, node, "a size class", CLASS_KEYS);
        let (name, up_to) = (class.get::<String>("name")?, class.get::<u64>("up_to"));
        if name == ALL_SIZES || classes.iter().any(|c| c.name == name) {
            let message = format!("name: there is a size class `{name}` already");
            class.refuse("name", message, format!("rename it; `{ALL_SIZES}` is every flow's"));
            return None;
        }
        let Some(from) = above.filter(|&from| up_to.is_none_or(|to| to > from)) else {
            class.refuse("up_to", "size classes that do not rise", "sort them by `up_to`");
            return None;
        };
        classes.push(SizeClass { name, above: from, up_to });
        above = up_to;
    }
    if classes.is_empty() || above.is_some() {
        let remedy = "add { name = \"large\" }, without `up_to`, at the end";
        section.refuse("size_classes", "the largest flows have no size class", remedy);
        return None;
    }
    Some(classes)
}

/// As the manifest shows them.
pub(crate) fn show_size_classes(classes: &[SizeClass]) -> serde_json::Value {
    let one =
        |c: &SizeClass| json!({ "name": c.name, "above_bytes": c.above, "up_to_bytes": c.up_to });
    json!({ "size_classes": classes.iter().map(one).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::build;
    use std::path::Path;

    #[test]
    fn ports_are_chosen_by_switch_number_or_neighbour() {
        let t = build("kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2").unwrap();
        assert_eq!(select("leaf0", &t).unwrap().len(), 4);
        assert_eq!(select("leaf0:3", &t), Ok(vec![(4, 3)]));
        assert_eq!(select("leaf0->spine1", &t), Ok(vec![(4, 3)]));
        assert_eq!(select("leaf0 -> h1", &t), Ok(vec![(4, 1)]));
        assert_eq!(select("leaf0:4", &t), Err("its ports are 0 to 3".into()));
        assert!(select("lef0", &t).unwrap_err().contains("did you mean"));
    }

    #[test]
    fn size_classes_rise_and_cover_all() {
        let read = |text: &str| {
            let node = Node::parse("x.toml", text).unwrap();
            let context = Context::new(Path::new("."));
            (read_size_classes(&context, &node), context.take())
        };
        assert_eq!(read("").0.unwrap(), default_size_classes());
        let (two, _) = read("size_classes = [{ name = \"s\", up_to = \"1KB\" }, { name = \"l\" }]");
        assert_eq!(two.unwrap()[1], SizeClass { name: "l".into(), above: 1000, up_to: None });
        assert!(read("size_classes = [{ name = \"s\", up_to = \"1KB\" }]").0.is_none());
        assert!(read("size_classes = [{ name = \"s\" }, { name = \"l\" }]").0.is_none());
        let (none, problems) = read("size_classes = [{ name = \"all\" }]");
        assert!(none.is_none());
        let line = problems[0].line();
        assert!(line.starts_with("x.toml:1:26: name: there is a size class `all`"), "{line}");
        let twice = "size_classes = [{ name = \"a\", up_to = \"1KB\" }, { name = \"a\" }]";
        assert!(read(twice).0.is_none());
    }
}
