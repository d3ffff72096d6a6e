//! ECMP over all shortest paths, computed once.

use std::collections::BTreeMap;

use super::graph::Graph;
use super::packet::Packet;
use crate::rng::{mix, stream_seed};
use crate::spec::NetworkSpec;

/// Next hops of every forwarding node towards every host.
///
/// A router is a switch, or a host with several ports.
pub(crate) struct Routes {
    hosts: usize,
    /// `[router * hosts + destination]`: where in `egress` its next hops are and how many.
    groups: Vec<Group>,
    /// Directed links.
    egress: Vec<u32>,
    /// Each router's ECMP salt.
    salt: Vec<u32>,
}

/// Packed in 32 bits: `first` in the upper 22, `count` in the lower 10.
#[derive(Clone, Copy, Debug, Default)]
struct Group(u32);

impl Group {
    /// Most next hops of a destination.
    const MAX_COUNT: usize = (1 << 10) - 1;

    fn new(first: usize, count: usize) -> Self {
        assert!(first < 1 << 22 && count <= Group::MAX_COUNT, "too many next hops");
        Group((first as u32) << 10 | count as u32)
    }
}

impl Routes {
    /// For the routers given as nodes; `egress_of(node, port)` names the directed link of a port.
    pub(crate) fn new(
        network: &NetworkSpec,
        graph: &Graph,
        routers: &[usize],
        seed: u64,
        egress_of: impl Fn(usize, usize) -> u32,
    ) -> Self {
        let hosts = graph.hosts.len();
        let mut routes = Routes {
            hosts,
            groups: vec![Group::default(); routers.len() * hosts],
            egress: Vec::new(),
            salt: (routers.iter())
                .map(|&n| stream_seed(seed, &format!("{}/ecmp", network.nodes[n].name)) as u32)
                .collect(),
        };
        let mut known: BTreeMap<Vec<u32>, Group> = BTreeMap::new();
        for (anchor, members) in anchors(graph) {
            let distance = graph.distances(anchor);
            for (router, &node) in routers.iter().enumerate() {
                let towards = |target: &dyn Fn(usize) -> bool| -> Vec<u32> {
                    let ports = graph.neighbours[node].iter().enumerate();
                    ports.filter(|(_, n)| target(n.node)).map(|(p, _)| egress_of(node, p)).collect()
                };
                let forwards = |n: usize| n == anchor || graph.host_of[n].is_none();
                let next = graph.neighbours[node].iter().filter(|n| forwards(n.node));
                let nearest = next.map(|n| distance[n.node]).min();
                let to_anchor = towards(&|n| forwards(n) && Some(distance[n]) == nearest);
                for &host in &members {
                    let next = if node == anchor {
                        towards(&|n| n == graph.hosts[host])
                    } else {
                        to_anchor.clone()
                    };
                    let group = *known.entry(next).or_insert_with_key(|next| {
                        let first = routes.egress.len();
                        routes.egress.extend(next);
                        Group::new(first, next.len())
                    });
                    routes.groups[router * hosts + host] = group;
                }
            }
        }
        routes
    }

    /// The directed link by which `router` sends a packet with flow hash `hash` to host `dst`.
    pub(crate) fn next_hop(&self, router: usize, dst: usize, hash: u32) -> usize {
        self.row(router).pick(dst, hash)
    }

    /// One router's next hops.
    #[inline(always)]
    pub(crate) fn row(&self, router: usize) -> Row<'_> {
        let first = router * self.hosts;
        Row {
            groups: &self.groups[first..first + self.hosts],
            egress: &self.egress,
            salt: self.salt[router],
        }
    }
}

/// See [`Routes::row`].
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    groups: &'a [Group],
    egress: &'a [u32],
    salt: u32,
}

impl Row<'_> {
    /// The directed link by which the router sends a packet on.
    #[inline(always)]
    pub(crate) fn next_hop(self, packet: Packet) -> usize {
        self.pick(usize::from(packet.dst()), packet.hash())
    }

    #[inline(always)]
    fn pick(self, dst: usize, hash: u32) -> usize {
        let group = self.groups[dst];
        let draw = mix32(hash ^ self.salt);
        let (first, count) = (group.0 >> 10, group.0 & Group::MAX_COUNT as u32);
        let pick = (u64::from(draw) * u64::from(count)) >> 32;
        self.egress[first as usize + pick as usize] as usize
    }
}

/// Hosts by the node from which the way to them is the same for all: the switch that all links of
/// the host go to, or the host itself.
fn anchors(graph: &Graph) -> BTreeMap<usize, Vec<usize>> {
    let mut anchors: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, &host) in graph.hosts.iter().enumerate() {
        let first = graph.neighbours[host][0].node;
        let only = graph.neighbours[host].iter().all(|n| n.node == first);
        let anchor = if only && graph.host_of[first].is_none() { first } else { host };
        anchors.entry(anchor).or_default().push(number);
    }
    anchors
}

/// Two rounds of multiply and shift: every bit of the flow's hash and the salt reaches the top bits.
#[inline(always)]
fn mix32(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    (x ^ (x >> 15)).wrapping_mul(0x846c_a68b)
}

/// Hash of a flow's identity; `reverse` for its ACKs.
pub(crate) fn flow_hash(id: u64, src: u32, dst: u32, reverse: bool) -> u32 {
    let ends = u64::from(src) << 32 | u64::from(dst);
    (mix(mix(id) ^ ends.rotate_left(u32::from(reverse) * 32)) >> 32) as u32
}
