//! The transmitter of a port with a scheduler: an event at the end of each transmission.

use headrace_cc::units::Time;

use super::buffer::PortView;
use super::scheduled::{Sending, Waiting};
use crate::net::fabric::Fabric;
use crate::net::packet::{Flags, Packet};
use crate::net::port::ELSEWHERE;

impl Fabric {
    /// As [`Fabric::offer`], for a port with a scheduler.
    pub(super) fn offer_scheduled(&mut self, id: usize, packet: Packet, ingress: u16, now: Time) {
        let frame = self.frame(packet);
        let (port, detail) = (&mut self.ports[id], &mut self.details[id]);
        let kind = &self.kinds[usize::from(port.kind)];
        let scheduled = detail.scheduled.as_mut().expect("asked only of a scheduled port");
        let queue_id = scheduled.queue_of(packet.flags().priority());
        let queue = &mut scheduled.queues[queue_id];
        let pool = &mut self.pools[queue.buffer.pool as usize];
        let shared = match queue.buffer.admit(pool, pool.used, frame) {
            Ok(shared) => shared,
            Err(reason) => return self.drop_at_port(id, reason, packet),
        };
        queue.buffer.add(pool, frame, shared);
        let packet = packet.assign(Flags::SHARED, shared);
        let joined = queue.waiting.push(Waiting { packet, ingress });
        if queue.buffer.watches_arrivals() && queue.buffer.loud(pool) {
            let (tx_bytes, size) = (scheduled.sent_bytes, frame as u32);
            let view = PortView { now, tx_bytes, rate: kind.rate, ingress, size };
            queue.buffer.on_arrival(pool, &view, &mut joined.packet);
        }
        if packet.flags().has(Flags::EXTRA) {
            queue.extras.push_back(self.carried);
        }
        let rest = scheduled.sending.map_or(Time::ZERO, |s| s.done.since(now));
        scheduled.waiting += kind.serialization(packet.wire());
        port.peak_backlog = port.peak_backlog.max(rest + scheduled.waiting);
        if scheduled.sending.is_none() {
            self.start_transmission(id, now);
        }
    }

    /// A scheduled port's transmission has ended: frees its buffer and starts the next.
    pub(crate) fn transmission_done(&mut self, id: usize, now: Time) {
        let detail = &mut self.details[id];
        let scheduled = detail.scheduled.as_mut().expect("asked only of a scheduled port");
        let sent = scheduled.sending.take().expect("a transmission ends only after it started");
        let buffer = &mut scheduled.queues[sent.queue].buffer;
        buffer.remove(&mut self.pools[buffer.pool as usize], sent.frame, sent.shared);
        self.start_transmission(id, now);
    }

    fn start_transmission(&mut self, id: usize, now: Time) {
        let (node, source) = self.done_source[id];
        let (node, source) = (node as usize, source as usize);
        let (port, detail) = (&mut self.ports[id], &mut self.details[id]);
        let kind = &self.kinds[usize::from(port.kind)];
        let scheduled = detail.scheduled.as_mut().expect("asked only of a scheduled port");
        let Some(queue_id) = scheduled.next() else {
            self.schedule.set_own(node, source, Time::NEVER);
            return;
        };
        let queue = &mut scheduled.queues[queue_id];
        let Waiting { mut packet, ingress } = queue.waiting.pop();
        let frame = u64::from(packet.wire() - self.unbuffered);
        let pool = &self.pools[queue.buffer.pool as usize];
        if queue.buffer.loud(pool) {
            let (tx_bytes, size) = (scheduled.sent_bytes, frame as u32);
            let view = PortView { now, tx_bytes, rate: kind.rate, ingress, size };
            queue.buffer.on_departure(pool, &view, &mut packet);
        }
        if packet.flags().has(Flags::EXTRA) {
            detail.extras.extend(queue.extras.pop_front());
        }
        let shared = packet.flags().has(Flags::SHARED);
        let serialization = kind.serialization(packet.wire());
        let done = now + serialization;
        scheduled.sent_bytes += u64::from(packet.wire());
        scheduled.waiting = scheduled.waiting - serialization;
        scheduled.sending = Some(Sending { queue: queue_id, frame, shared, done });
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
