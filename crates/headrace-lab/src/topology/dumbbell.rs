//! Two switches with one bottleneck between them.

use super::{CORE_SET, DELAY, HOST_SET, LOSS, RATE, Topology, TopologyKind};
use super::{common_line, few_enough, own_line};
use crate::scenario::reader::{Key, Section, Takes};

pub(super) const KIND: TopologyKind = TopologyKind {
    name: "dumbbell",
    summary: "hosts on a left and a right switch, one bottleneck between the two",
    source: "",
    keys: &[
        Key::with("left", Takes::Count, "2", "hosts on the left: h0 and on"),
        Key::with("right", Takes::Count, "2", "hosts on the right, numbered after the left ones"),
        Key::with("links", Takes::Count, "1", "parallel links between the switches"),
        Key::optional("bottleneck_rate", Takes::Rate, "`rate`", "rate between the switches"),
        Key::optional("bottleneck_delay", Takes::Time, "`delay`", "delay between the switches"),
        RATE,
        DELAY,
        LOSS,
    ],
    build,
};

fn build(section: &mut Section<'_>) -> Option<Topology> {
    let (left, right) = (section.count("left", 1), section.count("right", 1));
    let links = section.count("links", 1);
    let line = common_line(section)?;
    let bottleneck = own_line(section, line, "bottleneck_rate", "bottleneck_delay");
    let left = few_enough(section, "left", "hosts", &[left?])?;
    let hosts = few_enough(section, "right", "hosts", &[left + right?.min(1 << 32)])?;
    let links = few_enough(section, "links", "parallel links", &[links?])?;
    let mut topology = Topology::default();
    topology.add_hosts(hosts);
    let west = topology.add_switch("left".to_owned(), "switch");
    let east = topology.add_switch("right".to_owned(), "switch");
    for host in 0..hosts {
        let switch = if host < left { west } else { east };
        topology.add_link(host as usize, switch, line, &[HOST_SET]);
    }
    for _ in 0..links {
        topology.add_link(west, east, bottleneck, &["bottleneck", CORE_SET]);
    }
    Some(topology)
}

#[cfg(test)]
mod tests {
    use crate::topology::tests::build;
    use headrace_cc::units::Rate;

    #[test]
    fn the_bottleneck_has_a_rate_of_its_own() {
        let t = build("kind=\"dumbbell\"\nleft=3\nbottleneck_rate=\"10Gbps\"\nlinks=2").unwrap();
        assert_eq!(t.hosts(), 5);
        let set = t.set("bottleneck").unwrap();
        assert_eq!(set.len(), 2);
        assert_eq!(t.links[set[0]].rate, Rate::from_gbps(10));
        assert_eq!(t.links[0].rate, Rate::from_gbps(100));
    }
}
