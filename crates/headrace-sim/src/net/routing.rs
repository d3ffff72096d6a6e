//! ECMP over all shortest paths, computed once.

use std::collections::BTreeMap;

use super::graph::Graph;
use super::packet::Packet;
use crate::rng::{mix, stream_seed};
use crate::spec::NetworkSpec;

/// Next hops of every router towards every host.
///
/// A router is a switch, or a host with several ports. Hosts that hang off one switch share the way
/// to it: a router's row has an entry an *anchor* (such a switch, or a host with ways of its own),
/// and the anchor's own row one for each of its hosts.
pub(crate) struct Routes {
    /// Where the row of each router begins in `groups`.
    rows: Vec<u32>,
    /// Where in `egress` the next hops are, and how many.
    groups: Vec<Group>,
    /// Directed links, as the sending node's part of the engine numbers them.
    egress: Vec<u32>,
    /// The same links, as the whole network numbers them.
    links: Vec<u32>,
    /// Each router's ECMP salt.
    salt: Vec<u32>,
    /// Of each router, which anchor it is; [`NO_ANCHOR`]: none.
    anchor: Vec<u16>,
    /// Of each host: its anchor, and its place among that anchor's hosts, counted from the end of
    /// the anchors.
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    anchor: u16,
    member: u16,
}

const NO_ANCHOR: u16 = u16::MAX;

/// Where in `egress` the next hops begin, and how many there are.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    first: u32,
    count: u32,
}

/// The groups of next hops that there are. Most nodes have few, used again and again.
#[derive(Default)]
struct Groups {
    known: BTreeMap<Vec<Egress>, Group>,
    /// Room for a list in the making.
    next: Vec<Egress>,
}

impl Groups {
    fn number(&mut self, next: &[Egress], egress: &mut Vec<u32>, links: &mut Vec<u32>) -> Group {
        if let Some(group) = self.known.get(next) {
            return *group;
        }
        let group = Group { first: egress.len() as u32, count: next.len() as u32 };
        egress.extend(next.iter().map(|e| e.local));
        links.extend(next.iter().map(|e| e.link));
        self.known.insert(next.to_vec(), group);
        group
    }
}

/// A directed link: what the sending node's part of the engine calls it, and the whole network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Egress {
    pub(crate) local: u32,
    pub(crate) link: u32,
}

impl Routes {
    /// For the routers given as nodes; `egress_of(node, port)` names the directed link of a port.
    pub(crate) fn new(
        network: &NetworkSpec,
        graph: &Graph,
        routers: &[usize],
        seed: u64,
        egress_of: impl Fn(usize, usize) -> Egress,
    ) -> Self {
        let anchors = anchors(graph);
        let mut places = vec![Place { anchor: 0, member: 0 }; graph.hosts.len()];
        for (anchor, (_, members)) in anchors.iter().enumerate() {
            for (member, &host) in members.iter().enumerate() {
                let member = (anchors.len() + member) as u16;
                places[host] = Place { anchor: anchor as u16, member };
            }
        }
        let number_of = |node| {
            let found = anchors.binary_search_by_key(&node, |(anchor, _)| *anchor);
            found.map_or(NO_ANCHOR, |number| number as u16)
        };
        let anchor: Vec<u16> = routers.iter().map(|&node| number_of(node)).collect();
        let lengths = anchor.iter().map(|&own| match own {
            NO_ANCHOR => anchors.len(),
            own => anchors.len() + anchors[usize::from(own)].1.len(),
        });
        let mut end = 0;
        let mut begins = |length: usize| {
            end += length;
            (end - length) as u32
        };
        let rows: Vec<u32> = lengths.map(&mut begins).collect();
        let mut routes = Routes {
            groups: vec![Group::default(); end],
            rows,
            egress: Vec::new(),
            links: Vec::new(),
            salt: (routers.iter())
                .map(|&n| stream_seed(seed, &format!("{}/ecmp", network.nodes[n].name)) as u32)
                .collect(),
            anchor,
            places,
        };
        routes.fill(graph, routers, &anchors, egress_of);
        routes
    }

    fn fill(
        &mut self,
        graph: &Graph,
        routers: &[usize],
        anchors: &[(usize, Vec<usize>)],
        egress_of: impl Fn(usize, usize) -> Egress,
    ) {
        let mut groups = Groups::default();
        for (number, (anchor, members)) in anchors.iter().enumerate() {
            let distance = graph.distances(*anchor);
            let forwards = |n: usize| n == *anchor || graph.host_of[n].is_none();
            for (router, &node) in routers.iter().enumerate() {
                let row = self.rows[router] as usize;
                let ports = &graph.neighbours[node];
                if node == *anchor && graph.host_of[node].is_none() {
                    let mut towards = vec![Vec::new(); members.len()];
                    for (port, neighbour) in ports.iter().enumerate() {
                        let host = graph.host_of[neighbour.node].map(|host| host as usize);
                        let member = host.and_then(|host| members.binary_search(&host).ok());
                        if let Some(member) = member {
                            towards[member].push(egress_of(node, port));
                        }
                    }
                    for (member, next) in towards.iter().enumerate() {
                        let group = groups.number(next, &mut self.egress, &mut self.links);
                        self.groups[row + anchors.len() + member] = group;
                    }
                } else {
                    let mut nearest = u32::MAX;
                    groups.next.clear();
                    for (port, neighbour) in ports.iter().enumerate() {
                        let far = if forwards(neighbour.node) {
                            distance[neighbour.node]
                        } else {
                            u32::MAX
                        };
                        if far < nearest {
                            nearest = far;
                            groups.next.clear();
                        }
                        if far == nearest && far != u32::MAX {
                            groups.next.push(egress_of(node, port));
                        }
                    }
                    let next = std::mem::take(&mut groups.next);
                    let group = groups.number(&next, &mut self.egress, &mut self.links);
                    groups.next = next;
                    self.groups[row + number] = group;
                }
            }
        }
    }

    /// The directed link by which `router` sends a packet with flow hash `hash` to host `dst`.
    pub(crate) fn egress(&self, router: usize, dst: usize, hash: u32) -> Egress {
        let at = self.row(router).pick(dst, hash);
        Egress { local: self.egress[at], link: self.links[at] }
    }

    /// One router's next hops.
    #[inline(always)]
    pub(crate) fn row(&self, router: usize) -> Row<'_> {
        Row {
            groups: &self.groups[self.rows[router] as usize..],
            egress: &self.egress,
            places: &self.places,
            salt: self.salt[router],
            anchor: self.anchor[router],
        }
    }
}

/// See [`Routes::row`].
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    groups: &'a [Group],
    egress: &'a [u32],
    places: &'a [Place],
    salt: u32,
    anchor: u16,
}

impl Row<'_> {
    /// The directed link by which the router sends a packet on, as its part numbers it.
    #[inline(always)]
    pub(crate) fn next_hop(self, packet: Packet) -> usize {
        self.egress[self.pick(usize::from(packet.dst()), packet.hash())] as usize
    }

    #[inline(always)]
    fn pick(self, dst: usize, hash: u32) -> usize {
        let place = self.places[dst];
        let entry = if place.anchor == self.anchor { place.member } else { place.anchor };
        let group = self.groups[usize::from(entry)];
        let draw = mix32(hash ^ self.salt);
        let pick = (u64::from(draw) * u64::from(group.count)) >> 32;
        group.first as usize + pick as usize
    }
}

/// The nodes from which the way to some hosts is the same for all, each with those hosts, in order:
/// the switch that all links of a host go to, or the host itself.
fn anchors(graph: &Graph) -> Vec<(usize, Vec<usize>)> {
    let mut anchors: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, &host) in graph.hosts.iter().enumerate() {
        let first = graph.neighbours[host][0].node;
        let only = graph.neighbours[host].iter().all(|n| n.node == first);
        let anchor = if only && graph.host_of[first].is_none() { first } else { host };
        anchors.entry(anchor).or_default().push(number);
    }
    anchors.into_iter().collect()
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
