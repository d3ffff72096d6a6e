//! The ways through the network, and how long they take when nothing else is there.

use headrace_cc::units::Time;

use super::fabric::Fabric;
use super::routing::Routes;

/// What a node does with a packet that comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The host of this number: it keeps it.
    Host(u32),
    /// The router of this number: it sends it on.
    Router(u32),
}

/// How hosts and switches reach the next hop.
pub(crate) struct Paths {
    pub(crate) routes: Routes,
    /// What each node is.
    pub(crate) roles: Vec<Role>,
    /// Each host's way out.
    pub(crate) uplinks: Vec<Uplink>,
}

/// A host's way out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Uplink {
    /// One port: its directed link.
    Only(u32),
    /// Several ports: its number among the routers.
    Router(u32),
}

impl Paths {
    /// The directed link by which host `src` sends towards host `dst`.
    #[inline(always)]
    pub(crate) fn uplink(&self, src: u32, dst: u32, hash: u32) -> usize {
        match self.uplinks[src as usize] {
            Uplink::Only(link) => link as usize,
            Uplink::Router(router) => self.routes.next_hop(router as usize, dst as usize, hash),
        }
    }

    /// The directed links from `src` to `dst` for a flow hash.
    pub(crate) fn links(&self, src: u32, dst: u32, hash: u32) -> PathIter<'_> {
        let first = self.uplink(src, dst, hash);
        PathIter { paths: self, next: Some(first), dst, hash }
    }
}

/// See [`Paths::links`].
pub(crate) struct PathIter<'a> {
    paths: &'a Paths,
    next: Option<usize>,
    dst: u32,
    hash: u32,
}

impl PathIter<'_> {
    /// The next link; the fabric says what is at its end.
    pub(crate) fn next_in(&mut self, fabric: &Fabric) -> Option<usize> {
        let link = self.next?;
        self.next = match self.paths.roles[fabric.ports[link].receiver as usize] {
            Role::Host(_) => None,
            Role::Router(router) => {
                Some(self.paths.routes.next_hop(router as usize, self.dst as usize, self.hash))
            }
        };
        Some(link)
    }
}

/// Time from the first bit out of `src` to the last bit into `dst` for `count` packets of `full`
/// wire bytes, sent back to back on an empty path, the last of them of `last` bytes.
///
/// Packets 1 to N-1 are equal, so they pass as in a flow shop with equal jobs: with a_i the time of
/// a full packet on link i and l_i that of the last, the last bit arrives at
/// `sum of delays + max over j of (sum_{i<=j} a_i + (N-2) max_{i<=j} a_i + sum_{i>=j} l_i)`.
pub(crate) fn transfer_time(
    fabric: &Fabric,
    mut path: PathIter<'_>,
    count: u64,
    full: u16,
    last: u16,
) -> Time {
    let (mut delays, mut before, mut widest, mut best) = (0u64, 0u64, 0u64, 0u64);
    // `best` holds the maximum over j so far, with the last packet's times summed up to here.
    while let Some(link) = path.next_in(fabric) {
        let kind = &fabric.kinds[usize::from(fabric.ports[link].kind)];
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
