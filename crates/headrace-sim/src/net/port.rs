//! One direction of a link: a transmitter with its queues at one end, the wire, a receiver.

use std::collections::VecDeque;

use headrace_cc::units::{Rate, Time};
use rand_core::RngCore;
use rand_pcg::Pcg32;

use super::packet::{Extra, Packet};
use super::ring::Ring;
use crate::switch::buffer::QueueBuffer;
use crate::switch::serve::Transmitter;

/// A directed link with the port that feeds it: what every packet touches, one cache line.
///
/// A port with one FIFO queue needs no event of its own: the departure of a packet is known when it
/// joins, so it goes straight into `wire` with its time of arrival at the far end.
#[repr(C, align(64))]
pub(crate) struct Port {
    /// Packets on the wire, and behind them (FIFO) those whose transmission is not over.
    pub(crate) wire: Ring<Packet>,
    /// When the transmitter is free.
    pub(crate) busy_until: Time,
    /// Largest time that it took to send all that was there.
    pub(crate) peak_backlog: Time,
    /// Packets that crossed the wire, and their bytes on it.
    pub(crate) crossed_packets: u64,
    pub(crate) crossed_wire_bytes: u64,
    /// The node at the receiving end; [`ELSEWHERE`].
    pub(crate) receiver: u32,
    /// Index of its [`LinkKind`].
    pub(crate) kind: u16,
    /// Its queue is accounted for packet by packet (see `switch::fifo`), or it has a scheduler.
    pub(crate) lit: bool,
    /// An arrival is nothing but a packet off the wire: no account is kept and nothing is lost.
    pub(crate) plain: bool,
}

/// The receiver of a link that leads out of this part of the engine (see `border`).
pub(crate) const ELSEWHERE: u32 = u32::MAX;

/// What many links have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkKind {
    /// Propagation delay.
    pub(crate) delay: Time,
    pub(crate) rate: Rate,
    /// Picoseconds a byte, where whole; 0 where the rate does not divide.
    ps_per_byte: u64,
    /// A FIFO port may stay dark while it needs no longer than this to send all that is there.
    pub(crate) calm: Time,
}

/// What few packets touch.
pub(crate) struct Detail {
    /// FIFO: the queue. Its counts hold while the port is lit.
    pub(crate) queue: QueueBuffer,
    /// FIFO, lit: how many at the back of the wire still hold buffer.
    pub(crate) unsettled: u32,
    /// FIFO, lit: when the first of those leaves; [`Time::NEVER`] for none.
    pub(crate) next_done: Time,
    pub(crate) drops: u64,
    /// Several queues behind the transmitter, served by a scheduler.
    pub(crate) scheduled: Option<Box<Transmitter>>,
    /// Extras of the packets in `wire`, in their order.
    pub(crate) extras: VecDeque<Extra>,
    pub(crate) loss: Option<LinkLoss>,
}

/// Random loss on a link.
pub(crate) struct LinkLoss {
    rng: Pcg32,
    /// Lost if a 32-bit draw is below this.
    below: u32,
}

impl LinkLoss {
    pub(crate) fn new(probability: f64, rng: Pcg32) -> Self {
        LinkLoss { rng, below: (probability * 4_294_967_296.0) as u32 }
    }

    pub(crate) fn strikes(&mut self) -> bool {
        self.rng.next_u32() < self.below
    }
}

impl LinkKind {
    pub(crate) fn new(delay: Time, rate: Rate, calm_bytes: u64) -> Self {
        const PS_BITS_PER_BYTE: u64 = 8_000_000_000_000;
        let whole = PS_BITS_PER_BYTE.is_multiple_of(rate.bps());
        let ps_per_byte = if whole { PS_BITS_PER_BYTE / rate.bps() } else { 0 };
        LinkKind { delay, rate, ps_per_byte, calm: rate.time_for(calm_bytes) }
    }

    /// Time to send `wire` bytes, rounded up to a whole picosecond where the rate does not divide.
    #[inline(always)]
    pub(crate) fn serialization(&self, wire: u16) -> Time {
        if self.ps_per_byte != 0 {
            Time::from_ps(u64::from(wire) * self.ps_per_byte)
        } else {
            self.rate.time_for(u64::from(wire))
        }
    }
}

impl Port {
    pub(crate) fn new(receiver: u32, kind: u16, lit: bool, plain: bool) -> Self {
        Port {
            wire: Ring::new(),
            busy_until: Time::ZERO,
            peak_backlog: Time::ZERO,
            crossed_packets: 0,
            crossed_wire_bytes: 0,
            receiver,
            kind,
            lit,
            plain,
        }
    }

    /// When the packet at the front of the wire arrives; [`Time::NEVER`] for none.
    #[inline(always)]
    pub(crate) fn next_arrival(&self) -> Time {
        if self.wire.is_empty() { Time::NEVER } else { self.wire.get(0).arrival() }
    }
}

impl Detail {
    pub(crate) fn new(queue: QueueBuffer) -> Self {
        Detail {
            queue,
            unsettled: 0,
            next_done: Time::NEVER,
            drops: 0,
            scheduled: None,
            extras: VecDeque::new(),
            loss: None,
        }
    }

    /// The accounts of its queues.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = &QueueBuffer> {
        let several =
            self.scheduled.iter().flat_map(|t| t.order.queues().iter().map(|q| &q.buffer));
        self.scheduled.is_none().then_some(&self.queue).into_iter().chain(several)
    }

    /// The accounts of its queues, to be changed.
    pub(crate) fn buffers_mut(&mut self) -> Vec<&mut QueueBuffer> {
        match &mut self.scheduled {
            Some(transmitter) => transmitter.order.buffers_mut().collect(),
            None => vec![&mut self.queue],
        }
    }

    /// Frames marked in all its queues.
    pub(crate) fn marks(&self) -> u64 {
        self.buffers().map(|b| b.marks).sum()
    }

    /// Packets that wait in a scheduler's queues.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        let queues = self.scheduled.iter().flat_map(|t| t.order.queues());
        queues.flat_map(|q| q.waiting().map(|w| &w.packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_one_cache_line() {
        assert_eq!(size_of::<Port>(), 64);
    }
}
