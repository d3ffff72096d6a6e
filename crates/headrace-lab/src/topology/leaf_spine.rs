//! Leaves with hosts, each leaf linked with every spine.

use super::{CORE_SET, HOST_DELAY, HOST_RATE, HOST_SET, LOSS, RATE, Topology, TopologyKind};
use super::{common_line, few_enough, few_links, own_line};
use crate::scenario::reader::{Key, Section, Takes};

pub(super) const KIND: TopologyKind = TopologyKind {
    name: "leaf-spine",
    summary: "leaves leaf0, ... with hosts, each linked with every spine spine0, ...",
    source: "BCC section 5",
    keys: &[
        Key::with("leaves", Takes::Count, "8", "leaf switches").from("BCC section 5"),
        Key::with("spines", Takes::Count, "8", "spine switches").from("BCC section 5"),
        Key::with("hosts_per_leaf", Takes::Count, "16", "hosts on each leaf")
            .from("BCC section 5: 128 hosts on 8 leaves"),
        Key::with("links", Takes::Count, "1", "parallel links between a leaf and a spine"),
        RATE,
        Key::with("delay", Takes::Time, "10us", "propagation delay of each link")
            .from("BCC section 5: 80 us across the spine, here evenly over eight link crossings"),
        HOST_RATE,
        HOST_DELAY,
        Key::optional("fabric_rate", Takes::Rate, "`rate`", "rate between leaf and spine"),
        Key::optional("fabric_delay", Takes::Time, "`delay`", "delay between leaf and spine"),
        LOSS,
    ],
    build,
};

fn build(section: &mut Section<'_>) -> Option<Topology> {
    let (leaves, spines) = (section.count("leaves", 1), section.count("spines", 1));
    let (each, links) = (section.count("hosts_per_leaf", 1), section.count("links", 1));
    let line = common_line(section)?;
    let host = own_line(section, line, "host_rate", "host_delay");
    let fabric = own_line(section, line, "fabric_rate", "fabric_delay");
    let (leaves, spines, each, links) = (leaves?, spines?, each?, links?);
    let hosts = few_enough(section, "leaves", "hosts", &[leaves, each])?;
    few_enough(section, "spines", "switches", &[spines])?;
    few_enough(section, "links", "parallel links", &[links])?;
    few_links(section, "spines", &[leaves, spines, links])?;
    let mut topology = Topology::default();
    topology.add_hosts(hosts);
    let leaves = topology.add_switches(leaves, "leaf");
    let spines = topology.add_switches(spines, "spine");
    for number in 0..hosts {
        let leaf = leaves[(number / each) as usize];
        topology.add_link(number as usize, leaf, host, &[HOST_SET]);
    }
    for &leaf in &leaves {
        for &spine in &spines {
            for _ in 0..links {
                topology.add_link(leaf, spine, fabric, &["leaf-spine", CORE_SET]);
            }
        }
    }
    Some(topology)
}

#[cfg(test)]
mod tests {
    use crate::topology::tests::build;

    #[test]
    fn default_is_the_papers_fabric() {
        let t = build("kind = \"leaf-spine\"").unwrap();
        assert_eq!((t.hosts(), t.nodes.len(), t.links.len()), (128, 144, 128 + 64));
        assert_eq!(t.nodes[127].name, "h127");
        assert_eq!(t.nodes[128].name, "leaf0");
        assert_eq!(t.links[17].b, t.node_named("leaf1").unwrap());
    }

    #[test]
    fn parallel_links_count() {
        let t = build("kind = \"leaf-spine\"\nlinks = 3\nleaves = 2\nspines = 2").unwrap();
        assert_eq!(t.set("leaf-spine").unwrap().len(), 12);
    }
}
