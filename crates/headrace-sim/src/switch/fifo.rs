//! The accounts of FIFO ports.
//!
//! Most ports hold so little that nothing depends on how much: no congestion point acts, and nothing
//! can be refused. Such a port is *dark*: it keeps no account. It is *lit* when its backlog passes
//! the calm limit of its queue, or when its pool fills so far that every byte in it counts; its
//! account is then made from the packets that it holds, whose departures are known. A lit port goes
//! dark when it is empty and its pool allows.
//!
//! A lit port is brought up to date (settled) before anyone looks at it: each transmission that has
//! ended frees its buffer, and at that moment the next packet's starts and is shown to the
//! congestion points. What they see, and so every result, is as if each departure had been an event;
//! but for the bytes sent so far and, at departure, the port by which the packet came, which points
//! that only mark do not look at.

use headrace_cc::units::Time;

use super::buffer::Pool;
use super::view::PortView;
use crate::net::fabric::Fabric;
use crate::net::packet::{Flags, Packet};
use crate::net::port::ELSEWHERE;

impl Fabric {
    /// As [`Fabric::offer`], for ports with an account, or where one is needed now.
    #[inline(never)]
    pub(crate) fn offer_lit(&mut self, id: usize, packet: Packet, ingress: u16, now: Time) {
        if self.details[id].scheduled.is_some() {
            return self.offer_scheduled(id, packet, ingress, now);
        }
        if !self.ports[id].lit {
            self.light(id, now);
        }
        self.settle(id, now);
        let frame = self.frame(packet);
        let pool_id = self.details[id].queue.pool as usize;
        let pool = &self.pools[pool_id];
        let at_most = pool.used + pool.dark;
        let mut admitted = self.details[id].queue.admit(pool, at_most, frame);
        if admitted.is_err() || admitted == Ok(true) && pool.used + frame > pool.slack {
            self.light_pool(pool_id, now);
            self.settle_pool(pool_id, now);
            let pool = &self.pools[pool_id];
            admitted = self.details[id].queue.admit(pool, pool.used, frame);
        }
        match admitted {
            Ok(shared) => self.join_lit(id, packet, shared, ingress, now),
            Err(reason) => self.drop_at_port(id, reason, packet),
        }
    }

    fn join_lit(&mut self, id: usize, packet: Packet, shared: bool, ingress: u16, now: Time) {
        let frame = self.frame(packet);
        let (port, detail) = (&mut self.ports[id], &mut self.details[id]);
        let kind = &self.kinds[usize::from(port.kind)];
        let pool = &mut self.pools[detail.queue.pool as usize];
        detail.queue.add(pool, frame, shared);
        let done = port.busy_until.max(now) + kind.serialization(packet.wire());
        port.busy_until = done;
        port.peak_backlog = port.peak_backlog.max(done - now);
        let starts_now = detail.unsettled == 0;
        if starts_now {
            detail.next_done = done;
        }
        detail.unsettled += 1;
        let arrival = done + kind.delay;
        if port.wire.is_empty() {
            match port.receiver {
                ELSEWHERE => self.leaving.push(id as u32),
                node => self.schedule.announce(node as usize, id, arrival),
            }
        }
        let joined = port.wire.push(packet.assign(Flags::SHARED, shared).arriving(arrival));
        if detail.queue.loud(pool) {
            let view = PortView { now, tx_bytes: 0, rate: kind.rate };
            if detail.queue.watches_arrivals() {
                let seen = joined.view(self.unbuffered, ingress);
                *joined = joined.marked(detail.queue.on_arrival(pool, &view, &seen));
            }
            if starts_now {
                let seen = joined.view(self.unbuffered, ingress);
                *joined = joined.marked(detail.queue.on_departure(pool, &view, &seen));
            }
        }
        if packet.flags().has(Flags::EXTRA) {
            detail.extras.push_back(self.carried);
        }
    }

    /// Makes the account of a dark port: of its packets, those whose transmission ends at `now` or
    /// later.
    fn light(&mut self, id: usize, now: Time) {
        let (port, detail) = (&mut self.ports[id], &mut self.details[id]);
        let delay = self.kinds[usize::from(port.kind)].delay;
        let pool = &mut self.pools[detail.queue.pool as usize];
        let holds = port.wire.iter().filter(|p| p.arrival() - delay >= now).count();
        // A dark queue lies in its private buffer whole, or has none.
        let shared = !detail.queue.has_private();
        let first = port.wire.len() - holds;
        for position in first..port.wire.len() {
            let packet = port.wire.get_mut(position);
            *packet = packet.assign(Flags::SHARED, shared);
            detail.queue.add(pool, u64::from(packet.wire() - self.unbuffered), shared);
        }
        detail.unsettled = holds as u32;
        detail.next_done =
            if holds > 0 { port.wire.get(first).arrival() - delay } else { Time::NEVER };
        port.lit = true;
        port.plain = false;
    }

    /// Lights every port of a pool: from here on `used` counts every byte.
    pub(crate) fn light_pool(&mut self, pool_id: usize, now: Time) {
        for member in 0..self.pools[pool_id].ports.len() {
            let id = self.pools[pool_id].ports[member] as usize;
            if !self.ports[id].lit {
                self.light(id, now);
            }
        }
    }

    /// A packet is about to arrive at the end of port `id`'s wire, so its transmission is over. The
    /// account is brought up to that moment and no further: the port's own node may not be past it.
    #[inline(never)]
    pub(crate) fn settle_front(&mut self, id: usize) {
        let detail = &self.details[id];
        if detail.scheduled.is_some() || !self.ports[id].lit {
            return;
        }
        if detail.unsettled as usize == self.ports[id].wire.len() {
            self.settle(id, detail.next_done + Time::from_ps(1));
        }
        let detail = &self.details[id];
        if detail.unsettled == 0 && self.pools[detail.queue.pool as usize].lets_go_dark() {
            self.ports[id].lit = false;
            self.ports[id].plain = detail.loss.is_none();
        }
    }

    /// Brings lit port `id` up to date: every transmission that ended before `before`. Where a
    /// congestion point may be looking at the pool, all its ports go together, in order of time.
    pub(crate) fn settle(&mut self, id: usize, before: Time) {
        let pool_id = self.details[id].queue.pool as usize;
        if self.pools[pool_id].used > self.pools[pool_id].quiet {
            return self.settle_pool(pool_id, before);
        }
        while self.details[id].next_done < before {
            self.finish_transmission(id);
        }
    }

    /// Brings the lit ports of a pool up to date, in order of (time, port).
    pub(crate) fn settle_pool(&mut self, pool_id: usize, before: Time) {
        let members = std::mem::take(&mut self.pools[pool_id].ports);
        loop {
            let next = members.iter().map(|&p| (self.details[p as usize].next_done, p));
            let Some((done, first)) = next.min_by_key(|&(done, _)| done) else { break };
            if done >= before {
                break;
            }
            self.finish_transmission(first as usize);
        }
        self.pools[pool_id].ports = members;
    }

    /// Brings every lit port up to date.
    pub(crate) fn settle_all(&mut self, before: Time) {
        for pool in 1..self.pools.len() {
            self.settle_pool(pool, before);
        }
        for id in 0..self.ports.len() {
            self.settle(id, before);
        }
    }

    /// A lit port's first unsettled transmission has ended: frees its buffer, and asks the congestion
    /// points about the next packet, whose transmission starts at that moment.
    #[inline(always)]
    fn finish_transmission(&mut self, id: usize) {
        let (port, detail) = (&mut self.ports[id], &mut self.details[id]);
        let pool: &mut Pool = &mut self.pools[detail.queue.pool as usize];
        let at = port.wire.len() - detail.unsettled as usize;
        let gone = port.wire.get(at);
        let frame = u64::from(gone.wire() - self.unbuffered);
        detail.queue.remove(pool, frame, gone.flags().has(Flags::SHARED));
        detail.unsettled -= 1;
        if detail.unsettled == 0 {
            detail.next_done = Time::NEVER;
            return;
        }
        let starts = detail.next_done;
        let kind = &self.kinds[usize::from(port.kind)];
        let next = port.wire.get_mut(at + 1);
        detail.next_done = next.arrival() - kind.delay;
        if detail.queue.loud(pool) {
            let view = PortView { now: starts, tx_bytes: 0, rate: kind.rate };
            let seen = next.view(self.unbuffered, 0);
            *next = next.marked(detail.queue.on_departure(pool, &view, &seen));
        }
    }
}
