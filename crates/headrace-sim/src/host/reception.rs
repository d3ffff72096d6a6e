//! The receiving side of hosts: data in, acknowledgements out.

use headrace_cc::units::Time;

use super::nic::Net;
use super::receiver::AckOut;
use super::timers::{Timer, Wake};
use super::transport::{Transport, part_and_place};
use crate::net::packet::{Flags, Header, Kind, Packet};
use crate::record::SimError;
use crate::workload::Delivered;

impl Transport {
    #[inline(always)]
    pub(super) fn on_data(&mut self, net: &mut Net<'_>, packet: Packet, now: Time) {
        let slot = packet.flow();
        let (part, place) = part_and_place(slot);
        let receiver = &mut self.receivers[part][place];
        receiver.balance -= i64::from(packet.wire());
        let (class, ecn) = &self.classes[usize::from(receiver.peer.class)];
        let arrival = receiver.on_data(packet, now, &class.tcp, *ecn);
        if arrival.fresh {
            let last = packet.flags().has(Flags::LAST);
            let payload = if last { receiver.peer.tail } else { self.sizes.mss };
            self.tally.goodput_bytes += u64::from(payload);
        }
        if let Some(ack) = arrival.first {
            self.send_ack(net, slot, ack, false, now);
        }
        if let Some(ack) = arrival.ack {
            self.send_ack(net, slot, ack, true, now);
        } else {
            self.arm_receiver(net, slot);
        }
        if arrival.completed {
            self.on_completed(net, slot, now);
        }
    }

    #[inline(never)]
    fn send_ack(&mut self, net: &mut Net<'_>, slot: u32, ack: AckOut, with_extra: bool, now: Time) {
        let (part, place) = part_and_place(slot);
        let receiver = &self.receivers[part][place];
        let (mut blocks, has_extra) = (0, with_extra && receiver.has_extra());
        if has_extra {
            let extra = receiver.extra();
            blocks = extra.sack.iter().filter(|(start, end)| start < end).count();
            net.fabric.carried = extra;
        }
        let priority = self.classes[usize::from(receiver.peer.class)].0.priority;
        let flags =
            Flags::new(Kind::Ack, priority).with(Flags::ECE, ack.ece).with(Flags::EXTRA, has_extra);
        let packet = Packet::new(Header {
            flow: slot,
            seq: ack.seq,
            ack: ack.ack,
            hash: receiver.peer.hash,
            dst: receiver.peer.src,
            wire: self.sizes.ack[blocks],
            flags,
        });
        self.answer(net, packet, now);
    }

    /// Hands a receiver's packet to its NIC.
    #[inline(always)]
    fn answer(&mut self, net: &mut Net<'_>, packet: Packet, now: Time) {
        self.tally.sent_packets += 1;
        let receiver = self.receiver(packet.flow());
        receiver.balance += i64::from(packet.wire());
        net.fabric.offer(receiver.peer.port as usize, packet, 0, now);
    }

    /// A SYN needs no state at the receiver: each is answered.
    pub(super) fn on_syn(&mut self, net: &mut Net<'_>, syn: Packet, now: Time) {
        let receiver = self.receiver(syn.flow());
        receiver.balance -= i64::from(syn.wire());
        let answer = Packet::new(Header {
            flow: syn.flow(),
            seq: syn.seq(),
            ack: syn.ack(),
            hash: receiver.peer.hash,
            dst: receiver.peer.src,
            wire: self.sizes.ack[0],
            flags: Flags::new(Kind::SynAck, syn.flags().priority()),
        });
        self.answer(net, answer, now);
    }

    fn arm_receiver(&mut self, net: &mut Net<'_>, slot: u32) {
        let receiver = self.receiver(slot);
        if receiver.ack_deadline < receiver.timer_at {
            receiver.timer_at = receiver.ack_deadline;
            let (time, flow) = (receiver.ack_deadline, receiver.peer.id);
            let host = receiver.peer.dst.into();
            let timer = Timer { time, flow, wake: Wake::Receiver, slot };
            self.push_timer(net, host, timer);
        }
    }

    /// False if nobody waits for it any more.
    pub(super) fn on_receiver_timer(&mut self, net: &mut Net<'_>, slot: u32, now: Time) -> bool {
        let receiver = self.receiver(slot);
        if receiver.timer_at != now {
            return false;
        }
        receiver.timer_at = Time::NEVER;
        let due = receiver.ack_deadline <= now;
        if due {
            let ack = receiver.flush();
            self.send_ack(net, slot, ack, true, now);
        } else {
            self.arm_receiver(net, slot);
        }
        due
    }

    /// A flow has arrived whole: a reactive one may call for another at the host that it reached.
    fn on_completed(&mut self, net: &mut Net<'_>, slot: u32, now: Time) {
        let peer = self.receiver(slot).peer;
        if !self.classes[usize::from(peer.class)].0.reactive {
            return;
        }
        let (src, dst) = (u32::from(peer.src), u32::from(peer.dst));
        let delivered = Delivered { id: peer.id, class: peer.class, src, dst, now };
        let Some(next) = net.replies.on_delivered(&delivered) else { return };
        if next.src != dst {
            let text = format!("flow {} answers flow {} from another host", next.id, peer.id);
            self.error.get_or_insert(SimError::Spec(text));
        } else {
            self.start_reactive(net, next, now);
        }
    }
}
