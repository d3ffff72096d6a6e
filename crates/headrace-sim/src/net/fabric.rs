//! The links and switches' buffers: what a packet meets between two nodes.

use headrace_cc::units::Time;

use super::packet::{Extra, Flags, Packet};
use super::port::{Detail, End, LinkKind, Port};
use crate::engine::pending::Pending;
use crate::record::DropReason;
use crate::switch::buffer::Pool;

/// Every port with the wire behind it, every pool, and the pending events.
///
/// Port `p`'s arrivals are source `p` of `arrivals`; a scheduled port's end of transmission is
/// source `done_source[p]` of `local`.
pub(crate) struct Fabric {
    pub(crate) ports: Vec<Port>,
    pub(crate) ends: Vec<End>,
    pub(crate) kinds: Vec<LinkKind>,
    pub(crate) details: Vec<Detail>,
    /// Pool 0 stands for none.
    pub(crate) pools: Vec<Pool>,
    /// The first arrival of each port's wire.
    pub(crate) arrivals: Pending,
    /// What nodes have pending for themselves (see `engine`).
    pub(crate) local: Pending,
    /// No later than the first local event, and than anything else that arrivals must not pass.
    pub(crate) alarm: Time,
    /// Bytes of a packet on the wire that no buffer holds.
    pub(crate) unbuffered: u16,
    pub(crate) done_source: Vec<u32>,
    pub(crate) drops: Drops,
    /// The extra of the packet at hand, where its flags say it has one.
    pub(crate) carried: Extra,
}

/// Packets that were not delivered, by reason.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drops {
    pub(crate) packets: [u64; 5],
    pub(crate) bytes: [u64; 5],
    /// Sum of the dropped packets' fingerprints (see `engine::conservation`).
    pub(crate) fingerprint: u64,
}

/// What a packet adds to the conservation sums: distinct for each flow and size, and not changed on
/// the way.
#[inline(always)]
pub(crate) fn fingerprint(packet: Packet) -> u64 {
    u64::from(packet.hash).wrapping_mul(u64::from(packet.wire))
}

impl Fabric {
    /// Sets the time of a node's own event.
    pub(crate) fn schedule(&mut self, source: usize, time: Time) {
        self.local.set(source, time);
        self.alarm = self.alarm.min(time);
    }

    /// Hands `packet` to port `id`, which queues or drops it. Its extra, if any, is in `carried`.
    #[inline(always)]
    pub(crate) fn offer(&mut self, id: usize, packet: Packet, ingress: u16, now: Time) {
        let port = &mut self.ports[id];
        let kind = &self.kinds[usize::from(port.kind)];
        let done = port.busy_until.max(now) + kind.serialization(packet.wire);
        if port.lit || done - now > kind.calm {
            return self.offer_lit(id, packet, ingress, now);
        }
        port.peak_backlog = port.peak_backlog.max(done - now);
        port.busy_until = done;
        let arrival = done + kind.delay;
        let was_empty = port.wire.is_empty();
        port.wire.push(Packet { arrival, ..packet });
        if packet.flags.has(Flags::EXTRA) {
            self.details[id].extras.push_back(self.carried);
        }
        if was_empty {
            self.arrivals.set(id, arrival);
        }
    }

    /// Takes the packet that arrives now off port `id`'s wire; `None` if it was lost on the way.
    #[inline(always)]
    pub(crate) fn take_arrival(&mut self, id: usize, now: Time) -> Option<Packet> {
        let plain = self.ends[id].plain;
        if !plain {
            self.settle_front(id, now);
        }
        let port = &mut self.ports[id];
        let packet = port.wire.pop();
        debug_assert_eq!(packet.arrival, now);
        port.crossed_packets += 1;
        port.crossed_wire_bytes += u64::from(packet.wire);
        self.arrivals.set(id, port.next_arrival());
        if packet.flags.has(Flags::EXTRA) {
            self.carried = self.details[id].extras.pop_front().unwrap_or_default();
        }
        if !plain && self.is_lost(id, packet) {
            return None;
        }
        Some(packet)
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
        let sum = self.drops.fingerprint.wrapping_add(fingerprint(packet));
        self.drops.fingerprint = sum;
    }

    /// Bytes of a packet's frame, as buffers count them.
    #[inline(always)]
    pub(crate) fn frame(&self, packet: Packet) -> u64 {
        u64::from(packet.wire - self.unbuffered)
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
            let (packets, bytes) = if packet.arrival - delay <= now {
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

    /// Every packet that port `id` holds, in its queues and on its wire.
    pub(crate) fn held(&self, id: usize) -> impl Iterator<Item = &Packet> {
        self.ports[id].wire.iter().chain(self.details[id].waiting())
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
