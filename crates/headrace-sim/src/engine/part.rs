//! A part of the network: its nodes' turns, on one thread.

use headrace_cc::units::Time;

use crate::host::nic::{Net, Replies};
use crate::host::transport::{STARTS, Transport};
use crate::net::border::Mail;
use crate::net::fabric::Fabric;
use crate::net::path::{Paths, Role};
use crate::record::SimError;

/// Some nodes, with the links that come in and the sending halves of those that lead out.
pub(crate) struct Part {
    pub(crate) fabric: Fabric,
    pub(crate) transport: Transport,
    /// What each node is: the host's number here, or the router's in the network.
    pub(super) roles: Vec<Role>,
    /// Each node's scheduled ports, whose ends of transmission are the first sources of its agenda.
    pub(super) done_ports: Vec<Box<[u32]>>,
    /// Each router's pools, a range; empty for routers of other parts.
    pub(super) router_pools: Vec<std::ops::Range<usize>>,
    /// Names of the directed links, for errors.
    pub(super) names: Vec<String>,
    /// Time of the latest event.
    pub(super) now: Time,
    /// Events that were not arrivals.
    pub(super) own_events: u64,
    pub(super) packet_hops: u64,
    /// An invariant that does not hold.
    pub(super) error: Option<SimError>,
}

/// What a part's nodes may look at besides the part.
#[derive(Clone, Copy)]
pub(super) struct World<'a> {
    pub(super) paths: &'a Paths,
    pub(super) replies: &'a (dyn Replies + Sync),
}

impl Part {
    /// Handles every event before `limit`, before which nothing comes from other parts.
    pub(super) fn run_to(&mut self, limit: Time, world: World<'_>) {
        loop {
            let (time, node) = self.fabric.schedule.next_turn();
            if time >= limit {
                return;
            }
            let end = self.fabric.schedule.horizon(node, time).min(limit);
            match self.roles[node] {
                Role::Router(router) => self.router_turn(node, router as usize, end, world),
                Role::Host(host) => self.host_turn(node, host as usize, end, world),
            }
            self.fabric.schedule.end_turn(node, end);
        }
    }

    /// A switch forwards what arrives before `limit`.
    #[inline(never)]
    fn router_turn(&mut self, node: usize, router: usize, limit: Time, world: World<'_>) {
        let row = world.paths.routes.row(router);
        let fabric = &mut self.fabric;
        let arrivals_limit = fabric.schedule.agenda(node).arrivals.limit(limit);
        let (mut hops, mut last) = (0, Time::ZERO);
        loop {
            let agenda = fabric.schedule.agenda(node);
            let own = agenda.own_next;
            if let Some((now, ingress)) = agenda.arrivals.first_before(arrivals_limit)
                && now <= own
            {
                hops += 1;
                last = now;
                let link = agenda.first_link as usize + ingress;
                let packet = fabric.take(node, ingress, link);
                if !fabric.loses(link, packet) {
                    fabric.offer(row.next_hop(packet), packet, ingress as u16, now);
                }
            } else if own < limit {
                self.own_events += 1;
                last = own;
                let port = self.done_ports[node][agenda.own_source()];
                fabric.transmission_done(port as usize, own);
            } else {
                break;
            }
            if cfg!(debug_assertions) {
                let mut pools = self.router_pools[router].clone();
                if let Err(error) = pools.try_for_each(|pool| fabric.check_pool(pool)) {
                    self.error.get_or_insert(error);
                }
            }
        }
        self.packet_hops += hops;
        self.now = self.now.max(last);
    }

    /// A host takes what arrives, starts its flows and minds its timers before `limit`.
    #[inline(never)]
    fn host_turn(&mut self, node: usize, host: usize, limit: Time, world: World<'_>) {
        let arrivals_limit = self.fabric.schedule.agenda(node).arrivals.limit(limit);
        let (mut hops, mut last) = (0, Time::ZERO);
        loop {
            let agenda = self.fabric.schedule.agenda(node);
            let own = agenda.own_next;
            if let Some((now, ingress)) = agenda.arrivals.first_before(arrivals_limit)
                && now <= own
            {
                hops += 1;
                last = now;
                let link = agenda.first_link as usize + ingress;
                let packet = self.fabric.take(node, ingress, link);
                if !self.fabric.loses(link, packet) {
                    let World { paths, replies } = world;
                    let mut net = Net { fabric: &mut self.fabric, paths, replies };
                    self.transport.on_packet(&mut net, packet, now);
                }
            } else if own < limit {
                let source = agenda.own_source();
                if self.handle_own(node, host, source, own, world) {
                    self.own_events += 1;
                    last = own;
                }
            } else {
                break;
            }
        }
        self.packet_hops += hops;
        self.now = self.now.max(last);
    }

    /// A host's own event. False if it was a timer that nobody waits for any more.
    fn handle_own(
        &mut self,
        node: usize,
        host: usize,
        source: usize,
        now: Time,
        World { paths, replies }: World<'_>,
    ) -> bool {
        let mut net = Net { fabric: &mut self.fabric, paths, replies };
        match source.checked_sub(self.done_ports[node].len()) {
            None => net.fabric.transmission_done(self.done_ports[node][source] as usize, now),
            Some(STARTS) => self.transport.start_next(&mut net, host, now),
            Some(_) => return self.transport.on_timer(&mut net, host, now),
        }
        true
    }

    /// The first event that is pending; [`Time::NEVER`]: there is none.
    pub(super) fn next_event(&self) -> Time {
        self.fabric.schedule.next_turn().0
    }

    /// The same, or the first end of transmission of a packet that is leaving the part.
    pub(super) fn next(&self) -> Time {
        self.next_event().min(self.fabric.next_leaving())
    }

    /// Takes in what another part sent.
    pub(super) fn receive_mail(&mut self, mail: &mut Mail) {
        for (slot, peer) in mail.flows.drain(..) {
            self.transport.meet(slot, peer);
        }
        self.fabric.receive_mail(mail);
    }

    /// Packets sent and not delivered or dropped by this part: what is on its way in the network is
    /// the sum over all parts.
    pub(super) fn in_flight(&self) -> i64 {
        let tally = &self.transport.tally;
        let dropped: u64 = self.fabric.drops.packets.iter().sum();
        tally.sent_packets as i64 - tally.delivered_packets as i64 - dropped as i64
    }

    /// Whatever went wrong.
    pub(super) fn take_error(&mut self) -> Option<SimError> {
        self.error.take().or_else(|| self.transport.error.take())
    }
}
