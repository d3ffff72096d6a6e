//! One switch with every host on it.

use super::{DELAY, HOST_SET, LOSS, RATE, Topology, TopologyKind, common_line, few_enough};
use crate::scenario::reader::{Key, Section, Takes};

pub(super) const KIND: TopologyKind = TopologyKind {
    name: "star",
    summary: "hosts h0, h1, ... on one switch s0",
    source: "",
    keys: &[Key::with("hosts", Takes::Count, "16", "number of hosts"), RATE, DELAY, LOSS],
    build,
};

fn build(section: &mut Section<'_>) -> Option<Topology> {
    let hosts = section.count("hosts", 2);
    let line = common_line(section);
    let hosts = few_enough(section, "hosts", "hosts", &[hosts?])?;
    let line = line?;
    let mut topology = Topology::default();
    topology.add_hosts(hosts);
    let switch = topology.add_switch("s0".to_owned(), "switch");
    for host in 0..hosts as usize {
        topology.add_link(host, switch, line, &[HOST_SET]);
    }
    Some(topology)
}
