//! The books: every packet sent was delivered, dropped or is on its way, and every buffer's count is
//! the sum of what it holds.

use std::collections::BTreeMap;

use super::parallel::Held;
use super::part::Part;
use crate::net::fabric::Fabric;
use crate::net::packet::{Flags, Packet};
use crate::net::path::Paths;
use crate::net::port::Detail;
use crate::record::SimError;

/// Checks the whole run, when it ends.
pub(super) fn check(parts: &Held<'_>, paths: &Paths) -> Result<(), SimError> {
    let sum = |of: fn(&Part) -> u64| parts.iter().map(|part| of(part)).sum::<u64>();
    let sent = sum(|p| p.transport.tally.sent_packets);
    let delivered = sum(|p| p.transport.tally.delivered_packets);
    let dropped = sum(|p| p.fabric.drops.packets.iter().sum());
    let held = sum(|p| p.fabric.all_held().count() as u64);
    if sent != delivered + dropped + held {
        return err(format!(
            "{sent} packets sent, but {delivered} delivered, {dropped} dropped and {held} on their way"
        ));
    }
    check_flows(parts, paths)?;
    let crossed = sum(|p| {
        let received = &p.fabric.ports[..p.fabric.first_out];
        received.iter().map(|port| port.crossed_packets).sum()
    });
    let hops = sum(|p| p.packet_hops);
    if crossed != hops {
        return err(format!("{hops} packet-hops, but ports count {crossed}"));
    }
    parts.iter().try_for_each(|part| part.check_accounts())
}

/// Bytes on the wire, flow by flow: sent = delivered + dropped + on their way.
fn check_flows(parts: &Held<'_>, paths: &Paths) -> Result<(), SimError> {
    let mut on_the_way = BTreeMap::new();
    for packet in parts.iter().flat_map(|part| part.fabric.all_held()) {
        *on_the_way.entry(packet.flow()).or_insert(0) += i64::from(packet.wire());
    }
    for (flow, slot, balance) in parts.iter().flat_map(|part| part.transport.balances()) {
        let receiving = &parts[usize::from(paths.hosts[flow.dst as usize].0)].transport;
        let held = on_the_way.get(&slot).copied().unwrap_or(0);
        if balance + receiving.receiver_balance(slot) != held {
            return err(format!(
                "flow {}: bytes sent are not bytes delivered, dropped and on their way",
                flow.id
            ));
        }
    }
    Ok(())
}

impl Part {
    fn check_accounts(&self) -> Result<(), SimError> {
        for id in 0..self.fabric.ports.len() {
            self.check_port(id)?;
        }
        for pool in 1..self.fabric.pools.len() {
            self.fabric.check_pool(pool)?;
        }
        match self.transport.inconsistent_flow() {
            Some(flow) => err(format!("the scoreboard of flow {flow} miscounts")),
            None => Ok(()),
        }
    }

    /// A port's accounts against the packets that it holds.
    fn check_port(&self, id: usize) -> Result<(), SimError> {
        let (port, detail) = (&self.fabric.ports[id], &self.fabric.details[id]);
        let name = &self.names[id];
        let entry = |p: &Packet| (self.fabric.frame(*p), p.flags().has(Flags::SHARED));
        let Some(transmitter) = &detail.scheduled else {
            let held = port.wire.len() - detail.unsettled as usize..port.wire.len();
            return check_queue(&detail.queue, held.map(|i| entry(port.wire.get(i))), name);
        };
        for (i, queue) in transmitter.order.queues().iter().enumerate() {
            let waiting = queue.waiting().map(|w| entry(&w.packet));
            let sending = transmitter.sending.filter(|s| s.queue == i).map(|s| (s.frame, s.shared));
            check_queue(&queue.buffer, waiting.chain(sending), &format!("{name} queue {i}"))?;
        }
        Ok(())
    }
}

impl Fabric {
    /// The sum over queues is the pool's occupancy.
    pub(super) fn check_pool(&self, index: usize) -> Result<(), SimError> {
        let pool = &self.pools[index];
        let details = pool.ports.iter().map(|&p| &self.details[p as usize]);
        let held: u64 = details
            .flat_map(Detail::buffers)
            .map(|buffer| match buffer.pool as usize {
                mine if mine == index => buffer.shared_used,
                _ => 0,
            })
            .sum();
        if held != pool.used || pool.used > pool.capacity {
            return err(format!(
                "pool {index} counts {} of {} bytes, but its queues hold {held}",
                pool.used, pool.capacity,
            ));
        }
        Ok(())
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
