//! The links and switches' buffers: what a packet meets between two nodes.

use headrace_cc::units::Time;

use super::packet::{Extra, Flags, Packet};
use super::port::Port;
use crate::engine::pending::Pending;
use crate::record::DropReason;
use crate::switch::buffer::{Pool, PortView};
use crate::switch::scheduled::{Sending, Waiting};

/// Every port with the wire behind it, every pool, and the pending events.
///
/// Port `p`'s arrivals are source `p` of `arrivals`; a scheduled port's end of transmission is
/// source `done_source[p]` of `local`.
pub(crate) struct Fabric {
    pub(crate) ports: Vec<Port>,
    /// Pool 0 stands for none.
    pub(crate) pools: Vec<Pool>,
    /// The first arrival of each port's wire.
    pub(crate) arrivals: Pending,
    /// What nodes have pending for themselves (see `engine`).
    pub(crate) local: Pending,
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

impl Drops {
    fn count(&mut self, reason: DropReason, fingerprint: u64, frame: u64) {
        self.packets[reason as usize] += 1;
        self.bytes[reason as usize] += frame;
        self.fingerprint = self.fingerprint.wrapping_add(fingerprint);
    }
}

/// What a packet adds to the conservation sums: distinct for each flow and size, and not changed on
/// the way.
#[inline(always)]
pub(crate) fn fingerprint(packet: Packet) -> u64 {
    u64::from(packet.hash).wrapping_mul(u64::from(packet.wire))
}

impl Fabric {
    /// Hands `packet` to port `id`, which queues or drops it. Its extra, if any, is in `carried`.
    ///
    /// Where nobody looks at the occupancy, it is left as it was when the port was last settled:
    /// never less than the truth.
    #[inline(always)]
    pub(crate) fn offer(&mut self, id: usize, packet: Packet, ingress: u16, now: Time) {
        let frame = u64::from(packet.wire - self.unbuffered);
        let port = &mut self.ports[id];
        let pool = &mut self.pools[port.queue.pool as usize];
        if !port.queue.stays_calm(frame) || port.has_scheduler {
            return self.offer_exactly(id, packet, ingress, now);
        }
        let admitted = port.queue.admit(pool, frame);
        let shared = admitted == Ok(true);
        if admitted.is_err() || shared && pool.used + frame > pool.quiet {
            return self.offer_exactly(id, packet, ingress, now);
        }
        let arrival = join(port, pool, packet, frame, shared, now);
        if packet.flags.has(Flags::EXTRA) {
            port.extras.push_back(self.carried);
        }
        if port.wire.len() == 1 {
            self.arrivals.set(id, arrival);
        }
    }

    /// As `offer`, where the exact occupancy decides or matters to a congestion point, and for
    /// scheduled ports.
    #[inline(never)]
    fn offer_exactly(&mut self, id: usize, packet: Packet, ingress: u16, now: Time) {
        if self.ports[id].has_scheduler {
            return self.offer_scheduled(id, packet, ingress, now);
        }
        self.settle(id, now);
        let frame = u64::from(packet.wire - self.unbuffered);
        let pool_id = self.ports[id].queue.pool as usize;
        let mut admitted = self.ports[id].queue.admit(&self.pools[pool_id], frame);
        let pool = &self.pools[pool_id];
        if admitted.is_err() || admitted == Ok(true) && pool.used + frame > pool.quiet {
            self.settle_pool(pool_id, now);
            admitted = self.ports[id].queue.admit(&self.pools[pool_id], frame);
        }
        let port = &mut self.ports[id];
        let pool = &mut self.pools[pool_id];
        match admitted {
            Ok(shared) => {
                let starts_now = port.unsettled == 0;
                let arrival = join(port, pool, packet, frame, shared, now);
                if port.queue.loud(pool) && (starts_now || port.queue.watches_arrivals()) {
                    ask_at_join(port, pool, starts_now, ingress, now);
                }
                if packet.flags.has(Flags::EXTRA) {
                    port.extras.push_back(self.carried);
                }
                if port.wire.len() == 1 {
                    self.arrivals.set(id, arrival);
                }
            }
            Err(reason) => self.drop_at_port(id, reason, fingerprint(packet), frame),
        }
    }

    /// Brings FIFO port `id` up to date: every transmission that ended before `before`. Where a
    /// congestion point may be looking at the pool, all its ports go together, in order of time.
    #[inline(never)]
    pub(crate) fn settle(&mut self, id: usize, before: Time) {
        let pool_id = self.ports[id].queue.pool as usize;
        let pool = &mut self.pools[pool_id];
        if pool.used > pool.quiet {
            return self.settle_pool(pool_id, before);
        }
        let port = &mut self.ports[id];
        while port.next_done < before {
            finish_transmission(port, pool);
        }
    }

    /// Brings all ports of a pool up to date, in order of (time, port).
    #[inline(never)]
    pub(crate) fn settle_pool(&mut self, pool_id: usize, before: Time) {
        let pool = &mut self.pools[pool_id];
        let members = std::mem::take(&mut pool.ports);
        loop {
            let next = members.iter().map(|&p| (self.ports[p as usize].next_done, p));
            let Some((done, first)) = next.min_by_key(|&(done, _)| done) else { break };
            if done >= before {
                break;
            }
            finish_transmission(&mut self.ports[first as usize], pool);
        }
        pool.ports = members;
    }

    /// Brings every FIFO port up to date.
    pub(crate) fn settle_all(&mut self, before: Time) {
        for pool in 1..self.pools.len() {
            self.settle_pool(pool, before);
        }
        for id in 0..self.ports.len() {
            if !self.ports[id].has_scheduler {
                self.settle(id, before);
            }
        }
    }

    /// Takes the packet that arrives now off port `id`'s wire; `None` if it was lost on the way.
    #[inline(always)]
    pub(crate) fn take_arrival(&mut self, id: usize, now: Time) -> Option<Packet> {
        let mut port = &mut self.ports[id];
        if port.unsettled as usize == port.wire.len() {
            // The front is the first unsettled packet, and its transmission is over.
            let pool = &mut self.pools[port.queue.pool as usize];
            if pool.used > pool.quiet {
                self.settle(id, now);
                port = &mut self.ports[id];
            } else {
                finish_transmission(port, pool);
            }
        }
        let packet = port.wire.pop();
        debug_assert_eq!(packet.arrival, now);
        port.crossed_packets += 1;
        self.arrivals.set(id, port.next_arrival());
        if packet.flags.has(Flags::EXTRA) {
            self.carried = port.extras.pop_front().unwrap_or_default();
        }
        if port.has_loss && port.loss.as_mut().is_some_and(|loss| loss.strikes()) {
            let frame = u64::from(packet.wire - self.unbuffered);
            self.drops.count(DropReason::LinkLoss, fingerprint(packet), frame);
            return None;
        }
        Some(packet)
    }

    #[cold]
    #[inline(never)]
    fn drop_at_port(&mut self, id: usize, reason: DropReason, fingerprint: u64, frame: u64) {
        self.ports[id].drops += 1;
        self.drops.count(reason, fingerprint, frame);
    }

    #[inline(never)]
    fn offer_scheduled(&mut self, id: usize, packet: Packet, ingress: u16, now: Time) {
        let frame = u64::from(packet.wire - self.unbuffered);
        let port = &mut self.ports[id];
        let serialization = port.serialization(packet.wire);
        let scheduled = port.scheduled.as_mut().expect("asked only of a scheduled port");
        let queue_id = scheduled.queue_of(packet.flags.priority());
        let queue = &mut scheduled.queues[queue_id];
        let pool = &mut self.pools[queue.buffer.pool as usize];
        let shared = match queue.buffer.admit(pool, frame) {
            Ok(shared) => shared,
            Err(reason) => return self.drop_at_port(id, reason, fingerprint(packet), frame),
        };
        queue.buffer.add(pool, frame, shared);
        let flags = packet.flags.assign(Flags::SHARED, shared);
        let joined = queue.waiting.push(Waiting { packet: Packet { flags, ..packet }, ingress });
        if queue.buffer.watches_arrivals() && queue.buffer.loud(pool) {
            let view = PortView { now, tx_bytes: port.sent_bytes, rate: port.rate, ingress, size: frame as u32 };
            queue.buffer.on_arrival(pool, &view, &mut joined.packet);
        }
        if flags.has(Flags::EXTRA) {
            queue.extras.push_back(self.carried);
        }
        let rest = scheduled.sending.map_or(Time::ZERO, |s| s.done.since(now));
        scheduled.waiting += serialization;
        let peak = &mut port.queue.peak_backlog;
        *peak = (*peak).max(rest + scheduled.waiting);
        if scheduled.sending.is_none() {
            self.start_transmission(id, now);
        }
    }

    /// A scheduled port's transmission has ended: frees its buffer and starts the next.
    pub(crate) fn transmission_done(&mut self, id: usize, now: Time) {
        let port = &mut self.ports[id];
        let scheduled = port.scheduled.as_mut().expect("asked only of a scheduled port");
        let sent = scheduled.sending.take().expect("a transmission ends only after it started");
        port.sent_packets += 1;
        port.sent_bytes += sent.frame;
        let buffer = &mut scheduled.queues[sent.queue].buffer;
        buffer.remove(&mut self.pools[buffer.pool as usize], sent.frame, sent.shared);
        self.start_transmission(id, now);
    }

    fn start_transmission(&mut self, id: usize, now: Time) {
        let source = self.done_source[id] as usize;
        let port = &mut self.ports[id];
        let serialize = port.serializer();
        let scheduled = port.scheduled.as_mut().expect("asked only of a scheduled port");
        let Some(queue_id) = scheduled.next() else {
            self.local.set(source, Time::NEVER);
            return;
        };
        let queue = &mut scheduled.queues[queue_id];
        let Waiting { mut packet, ingress } = queue.waiting.pop();
        let serialization = serialize(packet.wire);
        let frame = u64::from(packet.wire - self.unbuffered);
        let pool = &self.pools[queue.buffer.pool as usize];
        if queue.buffer.loud(pool) {
            let tx_bytes = port.sent_bytes;
            let view = PortView { now, tx_bytes, rate: port.rate, ingress, size: frame as u32 };
            queue.buffer.on_departure(pool, &view, &mut packet);
        }
        if packet.flags.has(Flags::EXTRA) {
            port.extras.extend(queue.extras.pop_front());
        }
        let shared = packet.flags.has(Flags::SHARED);
        let done = now + serialization;
        scheduled.waiting = scheduled.waiting - (done - now);
        scheduled.sending = Some(Sending { queue: queue_id, frame, shared, done });
        packet.arrival = done + port.delay;
        port.wire.push(packet);
        self.local.set(source, done);
        if self.ports[id].wire.len() == 1 {
            self.arrivals.set(id, packet.arrival);
        }
    }
}

/// An admitted packet joins a FIFO port. When it leaves is known at once; answers with the time of
/// its arrival at the far end.
#[inline(always)]
fn join(
    port: &mut Port,
    pool: &mut Pool,
    packet: Packet,
    frame: u64,
    shared: bool,
    now: Time,
) -> Time {
    port.queue.add(pool, frame, shared);
    let done = port.busy_until.max(now) + port.serialization(packet.wire);
    let arrival = done + port.delay;
    port.busy_until = done;
    port.queue.peak_backlog = port.queue.peak_backlog.max(done - now);
    port.next_done = if port.unsettled == 0 { done } else { port.next_done };
    port.unsettled += 1;
    let flags = packet.flags.assign(Flags::SHARED, shared);
    port.wire.push(Packet { arrival, flags, ..packet });
    arrival
}

/// Asks the congestion points of a FIFO port about the packet that has just joined.
#[inline(never)]
fn ask_at_join(port: &mut Port, pool: &Pool, starts_now: bool, ingress: u16, now: Time) {
    let last = port.wire.len() - 1;
    let joined = port.wire.get_mut(last);
    let tx_bytes = port.sent_bytes;
    let size = u32::from(joined.wire - port.unbuffered);
    let view = PortView { now, tx_bytes, rate: port.rate, ingress, size };
    if port.queue.watches_arrivals() {
        port.queue.on_arrival(pool, &view, joined);
    }
    if starts_now {
        port.queue.on_departure(pool, &view, joined);
    }
}

/// A FIFO port's first unsettled transmission has ended: frees its buffer, and asks the congestion
/// points about the next packet, whose transmission starts at that moment.
#[inline(always)]
fn finish_transmission(port: &mut Port, pool: &mut Pool) {
    let unbuffered = port.unbuffered;
    let at = port.wire.len() - port.unsettled as usize;
    let gone = port.wire.get(at);
    let frame = u64::from(gone.wire - unbuffered);
    port.queue.remove(pool, frame, gone.flags.has(Flags::SHARED));
    port.unsettled -= 1;
    port.sent_packets += 1;
    port.sent_bytes += frame;
    if port.unsettled == 0 {
        port.next_done = Time::NEVER;
        return;
    }
    let starts = port.next_done;
    port.next_done = port.wire.get(at + 1).arrival - port.delay;
    if port.queue.restless(pool) {
        ask_at_start(port, pool, at + 1, starts);
    }
}

/// Asks the congestion points of a FIFO port about the packet at `at` of its wire, whose
/// transmission starts at `now`.
#[inline(never)]
fn ask_at_start(port: &mut Port, pool: &Pool, at: usize, now: Time) {
    if port.queue.loud(pool) {
        let packet = port.wire.get_mut(at);
        let size = u32::from(packet.wire - port.unbuffered);
        let view = PortView { now, tx_bytes: port.sent_bytes, rate: port.rate, ingress: 0, size };
        port.queue.on_departure(pool, &view, packet);
    }
}
