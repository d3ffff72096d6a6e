//! A chain of switches: flows over the whole chain meet flows over one link of it.

use super::{CORE_SET, DELAY, HOST_SET, LOSS, RATE, Topology, TopologyKind};
use super::{common_line, few_enough, own_line};
use crate::scenario::reader::{Key, Section, Takes};

pub(super) const KIND: TopologyKind = TopologyKind {
    name: "parking-lot",
    summary: "a chain of switches s0, s1, ... with hosts on each",
    source: "",
    keys: &[
        Key::with("switches", Takes::Count, "4", "switches in the chain"),
        Key::with("hosts_per_switch", Takes::Count, "2", "hosts on each, numbered along the chain"),
        Key::optional("chain_rate", Takes::Rate, "`rate`", "rate between two switches"),
        Key::optional("chain_delay", Takes::Time, "`delay`", "delay between two switches"),
        RATE,
        DELAY,
        LOSS,
    ],
    build,
};

fn build(section: &mut Section<'_>) -> Option<Topology> {
    let switches = section.count("switches", 2);
    let each = section.count("hosts_per_switch", 1);
    let line = common_line(section)?;
    let chain = own_line(section, line, "chain_rate", "chain_delay");
    let (switches, each) = (switches?, each?);
    let hosts = few_enough(section, "switches", "hosts", &[switches, each])?;
    let mut topology = Topology::default();
    topology.add_hosts(hosts);
    let row: Vec<usize> =
        (0..switches).map(|i| topology.add_switch(format!("s{i}"), "switch")).collect();
    for host in 0..hosts {
        topology.add_link(host as usize, row[(host / each) as usize], line, &[HOST_SET]);
    }
    for pair in row.windows(2) {
        topology.add_link(pair[0], pair[1], chain, &["chain", CORE_SET]);
    }
    Some(topology)
}
