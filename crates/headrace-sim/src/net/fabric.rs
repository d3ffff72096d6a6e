//! The links and switches' buffers: what a packet meets between two nodes.

use headrace_cc::units::Time;

use super::border::{Far, Mail};
use super::packet::{Extra, Flags, Kind, Packet};
use super::port::{Detail, ELSEWHERE, LinkKind, Port};
use crate::engine::schedule::Schedule;
use crate::record::DropReason;
use crate::switch::buffer::Pool;

/// Every port with the wire behind it, every pool, and what is pending.
pub(crate) struct Fabric {
    pub(crate) ports: Vec<Port>,
    pub(crate) kinds: Vec<LinkKind>,
    pub(crate) details: Vec<Detail>,
    /// Pool 0 stands for none.
    pub(crate) pools: Vec<Pool>,
    pub(crate) schedule: Schedule,
    /// The number of the first link that leads out of the part.
    pub(crate) first_out: usize,
    /// The other halves of those that do.
    pub(crate) far: Vec<Far>,
    /// Those of them that hold packets.
    pub(crate) leaving: Vec<u32>,
    /// What is ready for each other part.
    pub(crate) outgoing: Vec<Mail>,
    /// Bytes of a packet on the wire that no buffer holds.
    pub(crate) unbuffered: u16,
    /// Of a scheduled port: its node, and its source in the node's agenda.
    pub(crate) done_source: Vec<(u32, u32)>,
    pub(crate) drops: Drops,
    /// The extra of the packet at hand, where its flags say it has one.
    pub(crate) carried: Extra,
}

/// Packets that were not delivered, by reason.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drops {
    pub(crate) packets: [u64; 5],
    pub(crate) bytes: [u64; 5],
    /// Those of them that were data.
    pub(crate) data_packets: u64,
    /// Flow and bytes on the wire of each drop that its flow has not been told of yet.
    pub(crate) untold: Vec<(u32, u16)>,
    /// Those of flows that start in other parts of the engine.
    pub(crate) foreign: Vec<(u32, u16)>,
}

impl Fabric {
    /// Hands `packet` to port `id`, which queues or drops it. Its extra, if any, is in `carried`.
    #[inline(always)]
    pub(crate) fn offer(&mut self, id: usize, packet: Packet, ingress: u16, now: Time) {
        let port = &mut self.ports[id];
        let kind = &self.kinds[usize::from(port.kind)];
        let done = port.busy_until.max(now) + kind.serialization(packet.wire());
        if port.lit || done - now > kind.calm {
            return self.offer_lit(id, packet, ingress, now);
        }
        port.peak_backlog = port.peak_backlog.max(done - now);
        port.busy_until = done;
        let arrival = done + kind.delay;
        if port.wire.is_empty() {
            match port.receiver {
                ELSEWHERE => self.leaving.push(id as u32),
                node => self.schedule.announce(node as usize, id, arrival),
            }
        }
        port.wire.push(packet.arriving(arrival));
        if packet.flags().has(Flags::EXTRA) {
            self.details[id].extras.push_back(self.carried);
        }
    }

    /// Takes the packet that arrives now at port `ingress` of `node` off the wire of link `id`.
    #[inline(always)]
    pub(crate) fn take(&mut self, node: usize, ingress: usize, id: usize) -> Packet {
        if !self.ports[id].plain {
            self.settle_front(id);
        }
        let port = &mut self.ports[id];
        let packet = port.wire.pop();
        port.crossed_packets += 1;
        port.crossed_wire_bytes += u64::from(packet.wire());
        let next = port.next_arrival();
        self.schedule.set_arrival(node, ingress, next);
        if packet.flags().has(Flags::EXTRA) {
            self.carried = self.details[id].extras.pop_front().unwrap_or_default();
        }
        packet
    }

    /// Whether a packet taken off link `id` was lost on the way.
    #[inline(always)]
    pub(crate) fn loses(&mut self, id: usize, packet: Packet) -> bool {
        !self.ports[id].plain && self.is_lost(id, packet)
    }

    #[inline(never)]
    fn is_lost(&mut self, id: usize, packet: Packet) -> bool {
        let lost = self.details[id].loss.as_mut().is_some_and(|loss| loss.strikes());
        if lost {
            self.count_drop(DropReason::LinkLoss, packet);
        }
        lost
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn drop_at_port(&mut self, id: usize, reason: DropReason, packet: Packet) {
        self.details[id].drops += 1;
        self.count_drop(reason, packet);
    }

    fn count_drop(&mut self, reason: DropReason, packet: Packet) {
        self.drops.packets[reason as usize] += 1;
        self.drops.bytes[reason as usize] += self.frame(packet);
        self.drops.data_packets += u64::from(packet.flags().kind() == Kind::Data);
        self.drops.untold.push((packet.flow(), packet.wire()));
    }

    /// Bytes of a packet's frame, as buffers count them.
    #[inline(always)]
    pub(crate) fn frame(&self, packet: Packet) -> u64 {
        u64::from(packet.wire() - self.unbuffered)
    }

    /// What port `id` has sent and what it holds, at the end of the instant `now`.
    pub(crate) fn port_account(&self, id: usize, now: Time) -> PortAccount {
        let port = &self.ports[id];
        let delay = self.kinds[usize::from(port.kind)].delay;
        let unbuffered = u64::from(self.unbuffered);
        let mut account = PortAccount {
            sent_packets: port.crossed_packets,
            sent_bytes: port.crossed_wire_bytes - port.crossed_packets * unbuffered,
            queue_packets: 0,
            queue_bytes: 0,
        };
        for &packet in port.wire.iter() {
            let (packets, bytes) = if packet.arrival() - delay <= now {
                (&mut account.sent_packets, &mut account.sent_bytes)
            } else {
                (&mut account.queue_packets, &mut account.queue_bytes)
            };
            *packets += 1;
            *bytes += self.frame(packet);
        }
        for &packet in self.details[id].waiting() {
            account.queue_packets += 1;
            account.queue_bytes += self.frame(packet);
        }
        account
    }

    /// Bytes of pool `pool` in use at the end of the instant `now`, once its lit ports are settled.
    pub(crate) fn pool_bytes(&self, pool: usize, now: Time) -> u64 {
        let dark = self.pools[pool]
            .ports
            .iter()
            .map(|&id| id as usize)
            .filter(|&id| !self.ports[id].lit && !self.details[id].queue.has_private());
        self.pools[pool].used + dark.map(|id| self.port_account(id, now).queue_bytes).sum::<u64>()
    }

    /// Every packet that ports hold, in their queues and on their wires.
    pub(crate) fn all_held(&self) -> impl Iterator<Item = &Packet> {
        let both = self.ports.iter().zip(&self.details);
        both.flat_map(|(port, detail)| port.wire.iter().chain(detail.waiting()))
    }
}

/// See [`Fabric::port_account`]; bytes are of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PortAccount {
    pub(crate) sent_packets: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) queue_packets: u64,
    pub(crate) queue_bytes: u64,
}
