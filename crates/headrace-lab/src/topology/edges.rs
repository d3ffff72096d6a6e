//! Any graph: hosts, switches and a list of links.

use std::collections::BTreeMap;

use super::{CORE_SET, DELAY, HOST_SET, LOSS, MAX_HOSTS, RATE};
use super::{
    Line, Role, Topology, TopologyKind, TopologyNode, checked_loss, common_line, few_enough,
};
use crate::scenario::problems::nearest;
use crate::scenario::reader::{Key, Section, Takes};
use crate::scenario::tree::{Data, Node};
use crate::topology::own_line;

pub(super) const KIND: TopologyKind = TopologyKind {
    name: "edges",
    summary: "any graph: hosts, switches, and a list of links in the file",
    source: "",
    keys: &[
        Key::required("hosts", Takes::List, "hosts by name, or ranges: [\"h0..h3\", \"server\"]"),
        Key::required("switches", Takes::List, "switches by name, or ranges"),
        Key::required(
            "edges",
            Takes::List,
            "links: [{ a = \"h0\", b = \"s0\" }, ...]; each may \
            have `rate`, `delay`, `loss`, `links` (parallel ones) and `set` (a name for loads)",
        ),
        RATE,
        DELAY,
        LOSS,
    ],
    build,
};

const EDGE: &[Key] = &[
    Key::required("a", Takes::Text, "one end; the one nearer to the hosts"),
    Key::required("b", Takes::Text, "the other end"),
    Key::optional("rate", Takes::Rate, "the topology's", "rate of each direction"),
    Key::optional("delay", Takes::Time, "the topology's", "propagation delay"),
    Key::optional("loss", Takes::Number, "the topology's", "probability of loss"),
    Key::with("links", Takes::Count, "1", "parallel links"),
    Key::optional("set", Takes::Text, "`host` or `core`", "a further set that it belongs to"),
];

fn build(section: &mut Section<'_>) -> Option<Topology> {
    let line = common_line(section);
    let hosts: Option<Vec<String>> = section.get("hosts");
    let switches: Option<Vec<String>> = section.get("switches");
    let mut topology = Topology::default();
    let mut index = BTreeMap::new();
    for (key, names, role) in
        [("hosts", hosts?, Role::Host), ("switches", switches?, Role::Switch("switch"))]
    {
        for name in names
            .iter()
            .map(|n| expand(n))
            .collect::<Option<Vec<_>>>()
            .or_else(|| {
                section.refuse(key, format!("{key}: a range of too many"), "narrow it");
                None
            })?
            .concat()
        {
            if name.trim().is_empty() {
                section.refuse(key, format!("{key}: an empty name"), "give each node a name");
            }
            if index.insert(name.clone(), topology.nodes.len()).is_some() {
                section.refuse(key, format!("{key}: `{name}` twice"), "give each its own name");
            }
            topology.nodes.push(TopologyNode { name, role });
        }
    }
    few_enough(section, "hosts", "hosts", &[topology.hosts() as u64])?;
    let Some(node) = section.node("edges") else {
        section.get::<Vec<String>>("edges");
        return None;
    };
    let Data::List(edges) = &node.data else {
        section.refuse("edges", "edges is not a list", "write [{ a = \"h0\", b = \"s0\" }, ...]");
        return None;
    };
    let mut shown = Vec::new();
    for edge in edges {
        shown.extend(add_edge(section, edge, line?, &index, &mut topology));
    }
    section.resolve("edges", shown.into());
    Some(topology)
}

/// `h0..h3` as its names; any other text as itself. `None`: more names than a network has nodes.
fn expand(text: &str) -> Option<Vec<String>> {
    let numbered = |t: &str| {
        let digits = t.trim_start_matches(|c: char| !c.is_ascii_digit());
        Some((t[..t.len() - digits.len()].to_owned(), digits.parse::<u64>().ok()?))
    };
    let range = text.split_once("..").and_then(|(a, b)| Some((numbered(a)?, numbered(b)?)));
    match range {
        Some(((prefix, first), (same, last))) if prefix == same && first <= last => (last - first
            <= MAX_HOSTS)
            .then(|| (first..=last).map(|i| format!("{prefix}{i}")).collect()),
        _ => Some(vec![text.to_owned()]),
    }
}

fn add_edge(
    section: &Section<'_>,
    node: &Node,
    base: Line,
    index: &BTreeMap<String, usize>,
    topology: &mut Topology,
) -> Option<serde_json::Value> {
    let mut edge = Section::open(section.context, node, "an edge", EDGE);
    let (a, b) = (end(&mut edge, "a", index), end(&mut edge, "b", index));
    let mut line = own_line(&mut edge, base, "rate", "delay");
    if let Some(loss) = edge.get("loss") {
        line.loss = checked_loss(&edge, loss)?;
    }
    let links = edge.count("links", 1)?;
    let set: Option<String> = edge.get("set");
    let (a, b) = (a?, b?);
    if a == b {
        edge.refuse("b", "a link from a node to itself", "name two nodes");
        return None;
    }
    let host = [a, b].iter().any(|&end| topology.nodes[end].role == Role::Host);
    let usual = if host { HOST_SET } else { CORE_SET };
    let sets: Vec<&str> = match set.as_deref() {
        Some(name) if name != usual => vec![usual, name],
        _ => vec![usual],
    };
    for _ in 0..few_enough(&edge, "links", "parallel links", &[links])? {
        topology.add_link(a, b, line, &sets);
    }
    Some(edge.resolved())
}

fn end(edge: &mut Section<'_>, key: &str, index: &BTreeMap<String, usize>) -> Option<usize> {
    let name: String = edge.get(key)?;
    let found = index.get(&name).copied();
    if found.is_none() {
        let remedy = nearest(&name, index.keys().map(String::as_str));
        edge.refuse(key, format!("no node `{name}`"), remedy);
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::topology::tests::build;
    use headrace_cc::units::Rate;

    #[test]
    fn any_graph() {
        let t = build(
            "kind = \"edges\"\nhosts = [\"h0..h2\"]\nswitches = [\"s0\", \"s1\"]\nedges = [\n\
             { a = \"h0\", b = \"s0\" }, { a = \"h1\", b = \"s0\" }, { a = \"h2\", b = \"s1\" },\n\
             { a = \"s0\", b = \"s1\", rate = \"10Gbps\", links = 2, set = \"wan\" }]",
        )
        .unwrap();
        assert_eq!((t.hosts(), t.links.len()), (3, 5));
        assert_eq!(t.links[t.set("wan").unwrap()[1]].rate, Rate::from_gbps(10));
        assert_eq!(t.set("core"), t.set("wan"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let with = |edges: &str| {
            let text = format!(
                "kind = \"edges\"\nhosts = [\"h0..h1\"]\nswitches = [\"s0\", \"s1\"]\nedges = [{edges}]"
            );
            build(&text).unwrap_err().join("\n")
        };
        let apart = with("{ a = \"h0\", b = \"s0\" }, { a = \"h1\", b = \"s1\" }");
        assert!(apart.contains("no way from h0 to h1"), "{apart}");
        assert!(
            with("{ a = \"h0\", b = \"s7\" }").contains("no node `s7`; there are: h0, h1, s0, s1")
        );
        assert!(with("{ a = \"h0\", b = \"h0\" }").contains("to itself"));
        assert!(with("{ a = \"h0\", b = \"s0\", rat = 1 }").contains("did you mean `rate`?"));
        // A host does not forward.
        let through = build(
            "kind = \"edges\"\nhosts = [\"h0..h2\"]\nswitches = []\nedges = [\n\
             { a = \"h0\", b = \"h1\" }, { a = \"h1\", b = \"h2\" }]",
        );
        assert!(through.unwrap_err()[0].contains("no way from h0 to h2"));
    }
}
