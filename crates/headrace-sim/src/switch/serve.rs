//! The transmitter of a port with a scheduler: an event at the end of each transmission.

use std::collections::VecDeque;

use headrace_cc::units::Time;

use super::scheduled::Scheduled;
use super::view::PortView;
use crate::net::fabric::Fabric;
use crate::net::packet::{Extra, Flags, Packet};
use crate::net::port::ELSEWHERE;

/// A packet that waits, with the port by which it came in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) packet: Packet,
    pub(crate) ingress: u16,
}

/// The frame being sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) queue: usize,
    pub(crate) frame: u64,
    pub(crate) shared: bool,
    done: Time,
}

/// A port's queues with what the simulator keeps of them.
pub(crate) struct Transmitter {
    pub(crate) order: Scheduled<Waiting>,
    /// Of each queue, the extras of its packets, in their order.
    extras: Vec<VecDeque<Extra>>,
    pub(crate) sending: Option<Sending>,
    /// Bytes on the wire of all transmissions that have started.
    sent_bytes: u64,
    /// Time to send all that wait.
    backlog: Time,
}

impl Transmitter {
    pub(crate) fn new(order: Scheduled<Waiting>) -> Self {
        let extras = order.queues().iter().map(|_| VecDeque::new()).collect();
        Transmitter { order, extras, sending: None, sent_bytes: 0, backlog: Time::ZERO }
    }
}

impl Fabric {
    /// As [`Fabric::offer`], for a port with a scheduler.
    pub(super) fn offer_scheduled(&mut self, id: usize, packet: Packet, ingress: u16, now: Time) {
        let frame = self.frame(packet);
        let unbuffered = self.unbuffered;
        let (port, detail) = (&mut self.ports[id], &mut self.details[id]);
        let kind = &self.kinds[usize::from(port.kind)];
        let transmitter = detail.scheduled.as_mut().expect("asked only of a scheduled port");
        let queue = transmitter.order.queue_of(packet.flags().priority());
        let buffer = transmitter.order.buffer_mut(queue);
        let pool = &mut self.pools[buffer.pool as usize];
        let shared = match buffer.admit(pool, pool.used, frame) {
            Ok(shared) => shared,
            Err(reason) => return self.drop_at_port(id, reason, packet),
        };
        buffer.add(pool, frame, shared);
        let mut packet = packet.assign(Flags::SHARED, shared);
        if buffer.watches_arrivals() && buffer.loud(pool) {
            let view = PortView { now, tx_bytes: transmitter.sent_bytes, rate: kind.rate };
            let marks = buffer.on_arrival(pool, &view, &packet.view(unbuffered, ingress));
            packet = packet.marked(marks);
        }
        transmitter.order.push(queue, Waiting { packet, ingress });
        if packet.flags().has(Flags::EXTRA) {
            transmitter.extras[queue].push_back(self.carried);
        }
        let rest = transmitter.sending.map_or(Time::ZERO, |s| s.done.since(now));
        transmitter.backlog += kind.serialization(packet.wire());
        port.peak_backlog = port.peak_backlog.max(rest + transmitter.backlog);
        if transmitter.sending.is_none() {
            self.start_transmission(id, now);
        }
    }

    /// A scheduled port's transmission has ended: frees its buffer and starts the next.
    pub(crate) fn transmission_done(&mut self, id: usize, now: Time) {
        let detail = &mut self.details[id];
        let transmitter = detail.scheduled.as_mut().expect("asked only of a scheduled port");
        let sent = transmitter.sending.take().expect("a transmission ends only after it started");
        let buffer = transmitter.order.buffer_mut(sent.queue);
        buffer.remove(&mut self.pools[buffer.pool as usize], sent.frame, sent.shared);
        self.start_transmission(id, now);
    }

    fn start_transmission(&mut self, id: usize, now: Time) {
        let (node, source) = self.done_source[id];
        let (node, source) = (node as usize, source as usize);
        let (port, detail) = (&mut self.ports[id], &mut self.details[id]);
        let kind = &self.kinds[usize::from(port.kind)];
        let transmitter = detail.scheduled.as_mut().expect("asked only of a scheduled port");
        let Some(queue) = transmitter.order.next(|w| u64::from(w.packet.wire())) else {
            self.schedule.set_own(node, source, Time::NEVER);
            return;
        };
        let Waiting { mut packet, ingress } = transmitter.order.pop(queue);
        let buffer = transmitter.order.buffer_mut(queue);
        let pool = &self.pools[buffer.pool as usize];
        if buffer.loud(pool) {
            let view = PortView { now, tx_bytes: transmitter.sent_bytes, rate: kind.rate };
            let marks = buffer.on_departure(pool, &view, &packet.view(self.unbuffered, ingress));
            packet = packet.marked(marks);
        }
        if packet.flags().has(Flags::EXTRA) {
            detail.extras.extend(transmitter.extras[queue].pop_front());
        }
        let frame = u64::from(packet.wire() - self.unbuffered);
        let shared = packet.flags().has(Flags::SHARED);
        let serialization = kind.serialization(packet.wire());
        let done = now + serialization;
        transmitter.sent_bytes += u64::from(packet.wire());
        transmitter.backlog = transmitter.backlog - serialization;
        transmitter.sending = Some(Sending { queue, frame, shared, done });
        packet = packet.arriving(done + kind.delay);
        if port.wire.is_empty() {
            match port.receiver {
                ELSEWHERE => self.leaving.push(id as u32),
                node => self.schedule.announce(node as usize, id, packet.arrival()),
            }
        }
        port.wire.push(packet);
        self.schedule.set_own(node, source, done);
    }
}
