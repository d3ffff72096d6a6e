//! The engine's numbers: of nodes in their part, and of directed links at both ends.

use super::layout::Layout;
use crate::net::graph::Graph;
use crate::net::routing::Egress;

/// A directed link as the specification has it: out of `port` of `node`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction {
    pub(super) node: usize,
    pub(super) port: usize,
}

/// Which end of a directed link a part has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// Both.
    Whole,
    /// The sending end; the other is in this part, under this number.
    Sending { part: u16, id: u32 },
    /// The receiving end.
    Receiving,
}

/// A part's nodes and links.
///
/// Links are numbered by receiving node, then by its port; those that lead out of the part follow.
#[derive(Default)]
pub(super) struct PartNumbers {
    /// In stepping order.
    pub(super) nodes: Vec<usize>,
    pub(super) links: Vec<(Direction, Half)>,
    /// Number of the first link that leads out of the part.
    pub(super) first_out: usize,
}

pub(super) struct Numbering {
    pub(super) parts: Vec<PartNumbers>,
    /// Of each node: its part, and its number there.
    pub(super) place: Vec<(u16, u32)>,
    /// `[node][port]`: the directed link out of that port, in the node's part and in the network.
    pub(super) out: Vec<Vec<Egress>>,
}

impl Numbering {
    pub(super) fn new(graph: &Graph, layout: &Layout) -> Self {
        let mut parts: Vec<PartNumbers> =
            (0..layout.parts()).map(|_| PartNumbers::default()).collect();
        let mut place = vec![(0, 0); layout.order.len()];
        for &node in &layout.order {
            let part = layout.part_of[node];
            place[node] = (part as u16, parts[part].nodes.len() as u32);
            parts[part].nodes.push(node);
        }
        let mut out: Vec<Vec<Egress>> = (graph.neighbours.iter())
            .map(|ports| vec![Egress { local: u32::MAX, link: u32::MAX }; ports.len()])
            .collect();
        let mut cut = Vec::new();
        let mut link = 0;
        for (number, part) in parts.iter_mut().enumerate() {
            for &receiver in &part.nodes {
                for sender in &graph.neighbours[receiver] {
                    let direction = Direction { node: sender.node, port: sender.far_port };
                    let id = part.links.len() as u32;
                    let whole = layout.part_of[sender.node] == number;
                    let egress = &mut out[sender.node][sender.far_port];
                    egress.link = link;
                    link += 1;
                    if whole {
                        egress.local = id;
                    } else {
                        cut.push((direction, Half::Sending { part: number as u16, id }));
                    }
                    let half = if whole { Half::Whole } else { Half::Receiving };
                    part.links.push((direction, half));
                }
            }
            part.first_out = part.links.len();
        }
        for (direction, half) in cut {
            let part = &mut parts[layout.part_of[direction.node]];
            out[direction.node][direction.port].local = part.links.len() as u32;
            part.links.push((direction, half));
        }
        Numbering { parts, place, out }
    }
}
