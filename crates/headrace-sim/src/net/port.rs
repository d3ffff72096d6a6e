//! One direction of a link: a transmitter with its queues at one end, the wire, a receiver.

use std::collections::VecDeque;

use headrace_cc::units::{Rate, Time};
use rand_core::RngCore;
use rand_pcg::Pcg32;

use super::packet::{Extra, Packet};
use super::ring::Ring;
use crate::switch::buffer::QueueBuffer;
use crate::switch::scheduled::Scheduled;

/// Who is at the receiving end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// A host, by its number.
    Host(u32),
    /// A switch, by its number, with the number of the port there.
    Switch { switch: u32, ingress: u16 },
}

/// A directed link with the port that feeds it.
///
/// A port with one FIFO queue needs no event of its own: the departure of a packet is known when it
/// joins, so it goes straight into `wire` with its time of arrival at the far end, and the buffer is
/// brought up to date (`Fabric::settle`) before anyone looks at it.
///
/// A packet that joins touches the first two cache lines, one that arrives the third as well.
#[repr(C, align(64))]
pub(crate) struct Port {
    /// Packets on the wire, and behind them (FIFO) those whose transmission is not over.
    pub(crate) wire: Ring<Packet>,
    /// FIFO: when the first of those leaves; [`Time::NEVER`] for none.
    pub(crate) next_done: Time,
    /// When the transmitter is free.
    pub(crate) busy_until: Time,
    /// Propagation delay.
    pub(crate) delay: Time,
    /// Picoseconds a byte, where whole; 0 where the rate does not divide.
    ps_per_byte: u64,
    /// FIFO: how many at the back of `wire` still hold buffer.
    pub(crate) unsettled: u32,
    /// Bytes of a packet on the wire that no buffer holds.
    pub(crate) unbuffered: u16,
    /// `scheduled` is there.
    pub(crate) has_scheduler: bool,
    /// `loss` is there.
    pub(crate) has_loss: bool,
    /// FIFO: the queue. Unused where `scheduled` is there.
    pub(crate) queue: QueueBuffer,
    /// Packets sent to their last bit (FIFO: and settled), and the bytes of their frames.
    pub(crate) sent_packets: u64,
    pub(crate) sent_bytes: u64,
    /// Packets that crossed the wire.
    pub(crate) crossed_packets: u64,
    pub(crate) rate: Rate,
    pub(crate) receiver: Receiver,
    pub(crate) drops: u64,
    /// Several queues behind the transmitter, served by a scheduler.
    pub(crate) scheduled: Option<Box<Scheduled>>,
    /// Extras of the packets in `wire`, in their order.
    pub(crate) extras: VecDeque<Extra>,
    pub(crate) loss: Option<Box<LinkLoss>>,
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

impl Port {
    pub(crate) fn new(rate: Rate, delay: Time, receiver: Receiver, queue: QueueBuffer) -> Self {
        const PS_BITS_PER_BYTE: u64 = 8_000_000_000_000;
        let whole = PS_BITS_PER_BYTE.is_multiple_of(rate.bps());
        Port {
            wire: Ring::new(),
            unsettled: 0,
            unbuffered: 0,
            has_scheduler: false,
            has_loss: false,
            next_done: Time::NEVER,
            busy_until: Time::ZERO,
            delay,
            ps_per_byte: if whole { PS_BITS_PER_BYTE / rate.bps() } else { 0 },
            rate,
            receiver,
            queue,
            sent_packets: 0,
            sent_bytes: 0,
            crossed_packets: 0,
            drops: 0,
            scheduled: None,
            extras: VecDeque::new(),
            loss: None,
        }
    }

    /// Time to send `wire` bytes, rounded up to a whole picosecond where the rate does not divide.
    #[inline(always)]
    pub(crate) fn serialization(&self, wire: u16) -> Time {
        self.serializer()(wire)
    }

    /// [`Port::serialization`] apart from the port.
    #[inline(always)]
    pub(crate) fn serializer(&self) -> impl Fn(u16) -> Time + use<> {
        let (ps_per_byte, rate) = (self.ps_per_byte, self.rate);
        move |wire| {
            if ps_per_byte != 0 {
                Time::from_ps(u64::from(wire) * ps_per_byte)
            } else {
                rate.time_for(u64::from(wire))
            }
        }
    }

    /// When the packet at the front of the wire arrives; [`Time::NEVER`] for none.
    #[inline(always)]
    pub(crate) fn next_arrival(&self) -> Time {
        if self.wire.is_empty() { Time::NEVER } else { self.wire.get(0).arrival }
    }

    /// The accounts of its queues.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = &QueueBuffer> {
        let several = self.scheduled.iter().flat_map(|s| s.queues.iter().map(|q| &q.buffer));
        self.scheduled.is_none().then_some(&self.queue).into_iter().chain(several)
    }

    /// Bytes in all its queues.
    pub(crate) fn queued_bytes(&self) -> u64 {
        self.scheduled.as_ref().map_or(self.queue.bytes, |s| s.bytes())
    }

    /// Frames marked in all its queues.
    pub(crate) fn marks(&self) -> u64 {
        match &self.scheduled {
            Some(s) => s.queues.iter().map(|q| q.buffer.marks).sum(),
            None => self.queue.marks,
        }
    }

    /// Packets that have joined and neither crossed nor been lost.
    pub(crate) fn held_packets(&self) -> u64 {
        let waiting = self.scheduled.iter().flat_map(|s| &s.queues).map(|q| q.waiting.len());
        (self.wire.len() + waiting.sum::<usize>()) as u64
    }

    /// Packets on the wire that have been sent to their last bit.
    pub(crate) fn sent_on_wire(&self) -> u64 {
        let sending = self.scheduled.as_ref().map(|s| u32::from(s.sending.is_some()));
        self.wire.len() as u64 - u64::from(sending.unwrap_or(self.unsettled))
    }

    /// Every packet that it holds.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let waiting = self.scheduled.iter().flat_map(|s| &s.queues);
        self.wire.iter().chain(waiting.flat_map(|q| q.waiting.iter().map(|w| &w.packet)))
    }
}
