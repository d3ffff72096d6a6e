//! The books: every packet sent was delivered, dropped or is on its way, and every buffer's count is
//! the sum of what it holds.

use super::Simulation;
use crate::net::fabric::fingerprint;
use crate::net::packet::Flags;
use crate::net::port::{Port, Receiver};
use crate::record::SimError;
use crate::workload::Workload;

impl<W: Workload> Simulation<W> {
    /// Checks the whole run, when it ends.
    ///
    /// Per flow, sums of fingerprints stand for a count of each flow: a packet adds (its flow's hash
    /// x its size), so that a packet lost by one flow and found by another shows.
    pub(super) fn check_conservation(&self) -> Result<(), SimError> {
        let tally = &self.transport.tally;
        let drops = &self.fabric.drops;
        let ports = &self.fabric.ports;
        let held: u64 = ports.iter().map(|p| p.held_packets()).sum();
        let dropped: u64 = drops.packets.iter().sum();
        if tally.sent_packets != tally.delivered_packets + dropped + held {
            return err(format!(
                "{} packets sent, but {} delivered, {dropped} dropped and {held} on their way",
                tally.sent_packets, tally.delivered_packets
            ));
        }
        let on_the_way = ports.iter().flat_map(Port::packets).map(|&p| fingerprint(p));
        let on_the_way = on_the_way.fold(0, u64::wrapping_add);
        let accounted = tally.delivered_fingerprint.wrapping_add(drops.fingerprint);
        if tally.sent_fingerprint != accounted.wrapping_add(on_the_way) {
            return err("some flow's packets sent are not its packets delivered, dropped and on \
                        their way"
                .into());
        }
        for (port, name) in ports.iter().zip(&self.names) {
            check_port(port, name, self.fabric.unbuffered)?;
        }
        for pool in 1..self.fabric.pools.len() {
            self.check_pool(pool)?;
        }
        match self.transport.inconsistent_flow() {
            Some(flow) => err(format!("the scoreboard of flow {flow} miscounts")),
            None => Ok(()),
        }
    }

    /// In debug builds, after each event: the buffers of the node that the event was at.
    pub(super) fn check_event(&self, source: usize) -> Result<(), SimError> {
        let Some(port) = self.fabric.ports.get(source) else { return Ok(()) };
        match port.receiver {
            Receiver::Switch { switch, .. } => {
                self.router_pools[switch as usize].clone().try_for_each(|pool| self.check_pool(pool))
            }
            Receiver::Host(_) => Ok(()),
        }
    }

    /// The sum over queues is the pool's occupancy.
    fn check_pool(&self, index: usize) -> Result<(), SimError> {
        let pool = &self.fabric.pools[index];
        let ports = pool.ports.iter().map(|&p| &self.fabric.ports[p as usize]);
        let held: u64 = ports.flat_map(Port::buffers).map(|buffer| match buffer.pool as usize {
            mine if mine == index => buffer.shared_used,
            _ => 0,
        }).sum();
        if held != pool.used || pool.used > pool.capacity {
            return err(format!(
                "pool {index} counts {} of {} bytes, but its queues hold {held}",
                pool.used, pool.capacity,
            ));
        }
        Ok(())
    }
}

/// A port's packets in and out, and its bytes against the packets that it holds.
fn check_port(port: &Port, name: &str, unbuffered: u16) -> Result<(), SimError> {
    if port.sent_packets != port.crossed_packets + port.sent_on_wire() {
        return err(format!(
            "{name} sent {} packets, but {} crossed it and {} are on the wire",
            port.sent_packets,
            port.crossed_packets,
            port.sent_on_wire()
        ));
    }
    let frame = |wire: u16| u64::from(wire - unbuffered);
    match &port.scheduled {
        None => {
            let held = (port.wire.len() - port.unsettled as usize..port.wire.len())
                .map(|i| port.wire.get(i))
                .map(|p| (frame(p.wire), p.flags.has(Flags::SHARED)));
            check_queue(&port.queue, held, name)
        }
        Some(s) => {
            for (i, queue) in s.queues.iter().enumerate() {
                let waiting = queue.waiting.iter().map(|w| &w.packet);
                let waiting = waiting.map(|p| (frame(p.wire), p.flags.has(Flags::SHARED)));
                let sending = s.sending.filter(|s| s.queue == i).map(|s| (s.frame, s.shared));
                check_queue(&queue.buffer, waiting.chain(sending), &format!("{name} queue {i}"))?;
            }
            Ok(())
        }
    }
}

fn check_queue(
    buffer: &crate::switch::buffer::QueueBuffer,
    held: impl Iterator<Item = (u64, bool)>,
    name: &str,
) -> Result<(), SimError> {
    let (mut bytes, mut shared) = (0, 0);
    for (frame, in_pool) in held {
        bytes += frame;
        shared += if in_pool { frame } else { 0 };
    }
    if (bytes, shared) != (buffer.bytes, buffer.shared_used) || !buffer.consistent() {
        return err(format!(
            "{name} counts {} bytes, {} of them shared, but holds {bytes} and {shared}",
            buffer.bytes, buffer.shared_used
        ));
    }
    Ok(())
}

fn err(text: String) -> Result<(), SimError> {
    Err(SimError::Invariant(text))
}
