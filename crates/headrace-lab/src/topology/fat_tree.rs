//! Three tiers: pods of ToR and aggregation switches, and cores between the pods.

use headrace_cc::units::Rate;

use super::{CORE_SET, DELAY, HOST_DELAY, HOST_RATE, HOST_SET, LOSS, RATE};
use super::{Line, Topology, TopologyKind, common_line, few_enough, few_links, own_line};
use crate::scenario::reader::{Key, Section, Takes};

pub(super) const KIND: TopologyKind = TopologyKind {
    name: "fat-tree",
    summary: "pods of ToR and aggregation switches under a core: k-ary, or by given numbers",
    source: "Al-Fares et al., SIGCOMM 2008, section 3; with `pods` any three-tier Clos",
    keys: &[
        Key::optional(
            "k",
            Takes::Count,
            "8 unless `pods` is given",
            "arity: k pods of k/2 ToR and \
            k/2 aggregation switches, k/2 hosts a ToR, (k/2)^2 cores",
        )
        .from("Al-Fares et al., SIGCOMM 2008"),
        Key::optional("pods", Takes::Count, "k-ary", "number of pods, instead of `k`"),
        Key::with("tors", Takes::Count, "4", "with `pods`: ToR switches in a pod"),
        Key::with("aggs", Takes::Count, "4", "with `pods`: aggregation switches in a pod"),
        Key::with("cores", Takes::Count, "8", "with `pods`: core switches in all")
            .from("Annulus section 5.2.1"),
        Key::optional(
            "hosts_per_tor",
            Takes::Count,
            "by `oversubscription`",
            "with `pods`: hosts on each ToR",
        ),
        Key::optional(
            "oversubscription",
            Takes::Number,
            "by `hosts_per_tor`",
            "with `pods`: the hosts' capacity of a ToR over that of its uplinks",
        ),
        RATE,
        DELAY,
        HOST_RATE,
        HOST_DELAY,
        Key::optional("fabric_rate", Takes::Rate, "`rate`", "rate between ToR and aggregation"),
        Key::optional("fabric_delay", Takes::Time, "`delay`", "delay between ToR and aggregation"),
        Key::optional("core_rate", Takes::Rate, "`rate`", "rate between aggregation and core"),
        Key::optional("core_delay", Takes::Time, "`delay`", "delay between aggregation and core"),
        LOSS,
    ],
    build,
};

/// How many of each.
#[derive(Clone, Copy)]
struct Shape {
    pods: u64,
    tors: u64,
    aggs: u64,
    cores: u64,
    hosts_per_tor: u64,
}

/// What the three tiers of links are like.
#[derive(Clone, Copy)]
struct Lines {
    host: Line,
    fabric: Line,
    core: Line,
}

fn build(section: &mut Section<'_>) -> Option<Topology> {
    let line = common_line(section)?;
    let lines = Lines {
        host: own_line(section, line, "host_rate", "host_delay"),
        fabric: own_line(section, line, "fabric_rate", "fabric_delay"),
        core: own_line(section, line, "core_rate", "core_delay"),
    };
    let shape = shape(section, lines.host.rate, lines.fabric.rate)?;
    let key = if section.has("pods") { "pods" } else { "k" };
    few_enough(section, key, "hosts", &[shape.pods, shape.tors, shape.hosts_per_tor])?;
    few_enough(section, key, "switches", &[shape.pods, shape.aggs])?;
    few_enough(section, key, "switches", &[shape.cores])?;
    few_links(section, key, &[shape.pods, shape.tors, shape.aggs])?;
    few_links(section, key, &[shape.pods, shape.aggs.max(shape.cores)])?;
    Some(assemble(shape, lines))
}

fn shape(section: &mut Section<'_>, host: Rate, fabric: Rate) -> Option<Shape> {
    section.exclusive("k", "pods");
    if !section.has("pods") {
        for key in ["tors", "aggs", "cores", "hosts_per_tor", "oversubscription"] {
            let message = format!("`{key}` goes with `pods`, not with `k`");
            section.refuse_if(section.has(key), key, &message, "give `pods`, or remove it");
        }
        let k = if section.has("k") { section.count("k", 2)? } else { 8 };
        section.resolve("k", k.into());
        section.refuse_if(k % 2 != 0, "k", "k: odd", "k is even: half of a pod's ports go up");
        let half = k / 2;
        let cores = few_enough(section, "k", "switches", &[half, half])?;
        return Some(Shape { pods: k, tors: half, aggs: half, cores, hosts_per_tor: half });
    }
    let pods = section.count("pods", 1);
    let (tors, aggs) = (section.count("tors", 1), section.count("aggs", 1)?);
    let cores = section.count("cores", 1)?;
    if cores % aggs != 0 && aggs % cores != 0 {
        let message = format!("{cores} cores cannot be spread evenly over {aggs} aggregations");
        section.refuse("cores", message, "make one a multiple of the other");
    }
    section.exclusive("hosts_per_tor", "oversubscription");
    let hosts_per_tor = if section.has("oversubscription") {
        hosts_by_oversubscription(section, aggs as f64 * fabric.bps() as f64 / host.bps() as f64)
    } else if section.has("hosts_per_tor") {
        section.count("hosts_per_tor", 1)
    } else {
        let remedy = "add hosts_per_tor = 8, or oversubscription = 4";
        section.missing("the number of hosts is open", remedy);
        None
    };
    Some(Shape { pods: pods?, tors: tors?, aggs, cores, hosts_per_tor: hosts_per_tor? })
}

/// `hosts_at_one`: the hosts whose capacity equals that of a ToR's uplinks.
fn hosts_by_oversubscription(section: &mut Section<'_>, hosts_at_one: f64) -> Option<u64> {
    let ratio: f64 = section.get("oversubscription")?;
    let hosts = ratio * hosts_at_one;
    if hosts < 1.0 || hosts.fract() != 0.0 {
        let message = format!("oversubscription: {ratio} gives {hosts} hosts a ToR");
        section.refuse("oversubscription", message, "choose it so that this is a whole number");
        return None;
    }
    Some(hosts as u64)
}

fn assemble(shape: Shape, lines: Lines) -> Topology {
    let Shape { pods, tors, aggs, cores, hosts_per_tor } = shape;
    let mut topology = Topology::default();
    topology.add_hosts(pods * tors * hosts_per_tor);
    let tor = topology.add_switches(pods * tors, "tor");
    let agg = topology.add_switches(pods * aggs, "agg");
    let core = topology.add_switches(cores, "core");
    for host in 0..topology.hosts() {
        let under = tor[host / hosts_per_tor as usize];
        topology.add_link(host, under, lines.host, &[HOST_SET]);
    }
    let (tors, aggs) = (tors as usize, aggs as usize);
    for pod in 0..pods as usize {
        for &t in &tor[pod * tors..][..tors] {
            for &a in &agg[pod * aggs..][..aggs] {
                topology.add_link(t, a, lines.fabric, &["tor-agg"]);
            }
        }
        for (i, &a) in agg[pod * aggs..][..aggs].iter().enumerate() {
            for c in cores_above(i, aggs, core.len()) {
                topology.add_link(a, core[c], lines.core, &["agg-core", CORE_SET]);
            }
        }
    }
    topology
}

/// The cores that a pod's aggregation switch `i` is linked with: a block of its own, or one core
/// shared by several where there are fewer cores than aggregation switches in a pod.
fn cores_above(i: usize, aggs: usize, cores: usize) -> std::ops::Range<usize> {
    if cores >= aggs {
        let block = cores / aggs;
        i * block..(i + 1) * block
    } else {
        let core = i % cores;
        core..core + 1
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::tests::build;

    #[test]
    fn k_ary() {
        let t = build("kind = \"fat-tree\"\nk = 4").unwrap();
        assert_eq!((t.hosts(), t.nodes.len()), (16, 16 + 8 + 8 + 4));
        assert_eq!(t.links.len(), 16 * 3);
        // Every core reaches every pod once.
        let neighbours = t.neighbours();
        let core = t.node_named("core3").unwrap();
        let pods: Vec<String> =
            neighbours[core].iter().map(|n| t.nodes[n.1].name.clone()).collect();
        assert_eq!(pods, ["agg1", "agg3", "agg5", "agg7"]);
    }

    #[test]
    fn pods_with_given_numbers() {
        // Annulus 5.2.1: 128 hosts, 4 pods, 4 aggregation + 4 ToR each, 8 cores.
        let text = "kind = \"fat-tree\"\npods = 4\noversubscription = 2\nrate = \"10Gbps\"";
        let t = build(text).unwrap();
        assert_eq!(t.hosts(), 128);
        assert_eq!(t.set("tor-agg").unwrap().len(), 64);
        assert_eq!(t.set("agg-core").unwrap().len(), 4 * 4 * 2);
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let refused = |keys: &str| build(&format!("kind = \"fat-tree\"\n{keys}")).unwrap_err();
        assert!(refused("k = 5")[0].contains("odd"));
        assert!(refused("k = 4\npods = 2\nhosts_per_tor = 1")[0].contains("exclude each other"));
        assert!(refused("tors = 3")[0].contains("goes with `pods`"));
        assert!(refused("pods = 2")[0].contains("number of hosts is open"));
        assert!(refused("pods = 2\naggs = 3\ncores = 5\nhosts_per_tor = 1")[0].contains("evenly"));
        assert!(refused("pods = 2\noversubscription = 1.3")[0].contains("whole number"));
        assert!(refused("k = 1000000")[0].contains("k: too many switches"));
    }
}
