//! The ways through the network, and how long they take when nothing else is there.

use headrace_cc::units::Time;

use super::port::LinkKind;
use super::routing::{Egress, Routes};

/// What a node does with a packet that comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The host of this number: it keeps it.
    Host(u32),
    /// The router of this number: it sends it on.
    Router(u32),
}

/// The whole network, as every part of the engine sees it.
pub(crate) struct Paths {
    pub(crate) routes: Routes,
    /// Each directed link.
    pub(crate) links: Vec<Link>,
    pub(crate) kinds: Vec<LinkKind>,
    /// Each host's way out.
    pub(crate) uplinks: Vec<Uplink>,
    /// Each host's part of the engine, and its number there.
    pub(crate) hosts: Vec<(u16, u32)>,
}

/// A directed link of the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Where it leads.
    pub(crate) to: Role,
    /// Index of its [`LinkKind`].
    pub(crate) kind: u16,
}

/// A host's way out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Uplink {
    /// One port: its directed link.
    Only(Egress),
    /// Several ports: its number among the routers.
    Router(u32),
}

impl Paths {
    /// The directed link by which host `src` sends towards host `dst`.
    pub(crate) fn uplink(&self, src: u32, dst: u32, hash: u32) -> Egress {
        match self.uplinks[src as usize] {
            Uplink::Only(egress) => egress,
            Uplink::Router(router) => self.routes.egress(router as usize, dst as usize, hash),
        }
    }

    /// Rate and delay of a directed link.
    pub(crate) fn kind(&self, link: u32) -> &LinkKind {
        &self.kinds[usize::from(self.links[link as usize].kind)]
    }

    /// The directed links from `src` to `dst` for a flow hash.
    pub(crate) fn walk(&self, src: u32, dst: u32, hash: u32) -> impl Iterator<Item = &LinkKind> {
        let mut next = Some(self.uplink(src, dst, hash).link);
        std::iter::from_fn(move || {
            let link = next?;
            next = match self.links[link as usize].to {
                Role::Host(_) => None,
                Role::Router(router) => {
                    Some(self.routes.egress(router as usize, dst as usize, hash).link)
                }
            };
            Some(self.kind(link))
        })
    }
}

/// Time from the first bit out of `src` to the last bit into `dst` for `count` packets of `full`
/// wire bytes, sent back to back on an empty path, the last of them of `last` bytes.
///
/// Packets 1 to N-1 are equal, so they pass as in a flow shop with equal jobs: with a_i the time of
/// a full packet on link i and l_i that of the last, the last bit arrives at
/// `sum of delays + max over j of (sum_{i<=j} a_i + (N-2) max_{i<=j} a_i + sum_{i>=j} l_i)`.
pub(crate) fn transfer_time<'a>(
    path: impl Iterator<Item = &'a LinkKind>,
    count: u64,
    full: u16,
    last: u16,
) -> Time {
    let (mut delays, mut before, mut widest, mut best) = (0u64, 0u64, 0u64, 0u64);
    // `best` holds the maximum over j so far, with the last packet's times summed up to here.
    for kind in path {
        let (a, l) = (kind.serialization(full).ps(), kind.serialization(last).ps());
        delays += kind.delay.ps();
        if count >= 2 {
            before += a;
            widest = widest.max(a);
            best = best.max(before + (count - 2) * widest) + l;
        } else {
            best += l;
        }
    }
    Time::from_ps(delays + best)
}
