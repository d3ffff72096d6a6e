//! How often a flow crosses the links of a set, exactly: what turns a load into an arrival rate.

use std::collections::BTreeMap;

use super::{Role, Topology};

/// Expected crossings of a set's links by one flow's data, for each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Crossings {
    /// From the links' ends `a` to their ends `b`.
    pub forward: f64,
    /// From `b` to `a`.
    pub backward: f64,
}

impl Crossings {
    /// The busier direction's.
    pub fn most(self) -> f64 {
        self.forward.max(self.backward)
    }

    fn add(&mut self, other: Crossings, weight: f64) {
        self.forward += weight * other.forward;
        self.backward += weight * other.backward;
    }
}

impl Topology {
    /// Expected crossings of the links in `set` by a flow from a host drawn out of `sources` to
    /// another drawn out of `targets`, both uniformly. Flows take all shortest paths (in hops) with
    /// the chances that ECMP gives them: at each node every port on one of them is as likely.
    ///
    /// `sources` and `targets` are host numbers without repetition.
    pub fn crossings(&self, set: &[usize], sources: &[u32], targets: &[u32]) -> Crossings {
        let neighbours = self.neighbours();
        let mut in_set = vec![false; self.links.len()];
        set.iter().for_each(|&link| in_set[link] = true);
        let mut is_target = vec![false; self.nodes.len()];
        targets.iter().for_each(|&host| is_target[host as usize] = true);
        let mut is_source = vec![false; self.nodes.len()];
        sources.iter().for_each(|&host| is_source[host as usize] = true);
        // How likely a source's flow is to go to a given other host.
        let chance = |source: u32| match targets.len() - usize::from(is_target[source as usize]) {
            0 => 0.0,
            choices => 1.0 / choices as f64,
        };
        let chances: f64 = sources.iter().map(|&s| chance(s)).sum();
        let mut total = Crossings::default();
        // Hosts that hang on one switch alone have the same way but for their own link.
        for (anchor, members) in self.anchors(&neighbours, targets) {
            let expected = self.towards(anchor, &neighbours, &in_set);
            for &source in sources {
                let own = usize::from(members.binary_search(&source).is_ok());
                let others = (members.len() - own) as f64;
                total.add(expected[source as usize], others * chance(source));
            }
            // The last hop, from the anchor to each member.
            for &target in members.iter().filter(|&&t| t as usize != anchor) {
                let hop = self.hop(anchor, target as usize, &neighbours, &in_set);
                let own = if is_source[target as usize] { chance(target) } else { 0.0 };
                total.add(hop, chances - own);
            }
        }
        let scale = 1.0 / sources.len().max(1) as f64;
        Crossings { forward: total.forward * scale, backward: total.backward * scale }
    }

    /// Targets by the node where their ways become their own, sorted.
    fn anchors(
        &self,
        neighbours: &[Vec<(usize, usize)>],
        targets: &[u32],
    ) -> BTreeMap<usize, Vec<u32>> {
        let mut anchors: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for &target in targets {
            let host = target as usize;
            let first = neighbours[host].first().map_or(host, |n| n.1);
            let only = neighbours[host].iter().all(|n| n.1 == first);
            let switch = self.nodes[first].role != Role::Host;
            anchors.entry(if only && switch { first } else { host }).or_default().push(target);
        }
        anchors.values_mut().for_each(|members| members.sort_unstable());
        anchors
    }

    /// Mean over the links from a node to its neighbour.
    fn hop(
        &self,
        from: usize,
        to: usize,
        neighbours: &[Vec<(usize, usize)>],
        in_set: &[bool],
    ) -> Crossings {
        let links = neighbours[from].iter().filter(|n| n.1 == to);
        let mut sum = Crossings::default();
        let count = links.clone().count() as f64;
        for &(link, _) in links {
            sum.add(self.one(link, from, in_set), 1.0 / count);
        }
        sum
    }

    fn one(&self, link: usize, from: usize, in_set: &[bool]) -> Crossings {
        let forward = in_set[link] && self.links[link].a == from;
        let backward = in_set[link] && !forward;
        let as_number = |flag| if flag { 1.0 } else { 0.0 };
        Crossings { forward: as_number(forward), backward: as_number(backward) }
    }

    /// Expected crossings from every node to `goal`.
    fn towards(
        &self,
        goal: usize,
        neighbours: &[Vec<(usize, usize)>],
        in_set: &[bool],
    ) -> Vec<Crossings> {
        let mut distance = vec![usize::MAX; self.nodes.len()];
        let mut order = vec![goal];
        distance[goal] = 0;
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            if node != goal && self.nodes[node].role == Role::Host {
                continue;
            }
            for &(_, peer) in &neighbours[node] {
                if distance[peer] == usize::MAX {
                    distance[peer] = distance[node] + 1;
                    order.push(peer);
                }
            }
        }
        let mut expected = vec![Crossings::default(); self.nodes.len()];
        for &node in &order[1..] {
            let forwards = |peer: usize| peer == goal || self.nodes[peer].role != Role::Host;
            let nearer = |n: &&(usize, usize)| {
                forwards(n.1) && distance[n.1] != usize::MAX && distance[n.1] < distance[node]
            };
            let ways: Vec<&(usize, usize)> = neighbours[node].iter().filter(nearer).collect();
            let mut sum = Crossings::default();
            for &&(link, peer) in &ways {
                let weight = 1.0 / ways.len() as f64;
                sum.add(self.one(link, node, in_set), weight);
                sum.add(expected[peer], weight);
            }
            expected[node] = sum;
        }
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::build;

    fn all(topology: &Topology) -> Vec<u32> {
        (0..topology.hosts() as u32).collect()
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
    }

    #[test]
    fn a_uniform_pair_crosses_the_core_as_often_as_it_leaves_its_leaf() {
        let t = build("kind = \"leaf-spine\"\nlinks = 2").unwrap();
        let core = t.crossings(t.set("core").unwrap(), &all(&t), &all(&t));
        close(core.forward, 112.0 / 127.0);
        close(core.backward, 112.0 / 127.0);
        let host = t.crossings(t.set("host").unwrap(), &all(&t), &all(&t));
        close(host.forward, 1.0);
        close(host.backward, 1.0);
    }

    #[test]
    fn fat_tree_tiers() {
        let t = build("kind = \"fat-tree\"\nk = 4").unwrap();
        let hosts = all(&t);
        close(t.crossings(t.set("tor-agg").unwrap(), &hosts, &hosts).forward, 14.0 / 15.0);
        close(t.crossings(t.set("agg-core").unwrap(), &hosts, &hosts).forward, 12.0 / 15.0);
    }

    #[test]
    fn chosen_ends_and_directions_count() {
        let t = build("kind = \"dumbbell\"\nleft = 3\nright = 2").unwrap();
        let core = t.set("core").unwrap();
        let across = t.crossings(core, &[0, 1, 2], &[3, 4]);
        assert_eq!(across, Crossings { forward: 1.0, backward: 0.0 });
        let chosen = t.crossings(core, &[0, 3], &[0, 1, 3]);
        // h0 to h1 stays, to h3 crosses; h3 crosses to both of the left.
        close(chosen.forward, 0.25);
        close(chosen.backward, 0.5);
        let one_host = t.crossings(t.set("host").unwrap(), &[0], &[3]);
        assert_eq!(one_host, Crossings { forward: 1.0, backward: 1.0 });
    }

    #[test]
    fn a_chain_is_crossed_link_by_link() {
        let t = build("kind = \"parking-lot\"\nhosts_per_switch = 1").unwrap();
        close(t.crossings(t.set("chain").unwrap(), &[0], &[3]).forward, 3.0);
    }
}
