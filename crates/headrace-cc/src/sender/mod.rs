//! Endpoint laws: what a sender may have in flight, and how fast it may send.
//!
//! A law is fed with named records ([`Ack`], [`Loss`], [`Timeout`], [`Signal`]) and answers with an
//! [`Allowance`]. It never sees a packet, a socket or a clock: `now` comes with each record.

mod aimd;
pub mod cubic;
pub mod dctcp;
pub mod ecn_star;
pub mod newreno;
mod registry;
#[cfg(test)]
mod testing;

pub use registry::{CustomScheme, Ecn, Law, Scheme, SchemeInfo, SenderLaw, StartFn, schemes};

use crate::units::{Rate, Time};

/// What a law grants: a window, a pacing rate, or both. The transport obeys the tighter one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Payload bytes that may be in flight. `u64::MAX` for a law that only paces.
    pub window: u64,
    /// Rate at which payload may leave; `None` for a law that is clocked by ACKs alone.
    pub rate: Option<Rate>,
}

/// What a law is told once, when its flow starts.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// When the flow starts.
    pub now: Time,
    /// Largest payload of a segment, bytes.
    pub mss: u64,
    /// Initial window, bytes.
    pub initial_window: u64,
    /// Rate of the sender's own link, which a rate-based law starts from.
    pub line_rate: Rate,
    /// Round-trip time of a full segment and its acknowledgement on the empty path.
    pub base_rtt: Time,
}

/// One acknowledgement that told the sender something: data newly delivered, or a mark echoed.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// When the acknowledgement arrived.
    pub now: Time,
    /// Round-trip time measured by this acknowledgement, from the moment the segment was handed to
    /// the sender's NIC to the arrival of its ACK; `None` where Karn's rule forbids a sample.
    pub rtt: Option<Time>,
    /// Smoothed round-trip time (RFC 6298), after this sample.
    pub srtt: Time,
    /// Payload bytes that this acknowledgement newly reports as delivered, cumulative or selective.
    pub acked_bytes: u64,
    /// How many of `acked_bytes` were reported as marked (CE echoed).
    pub marked_bytes: u64,
    /// The acknowledgement echoes congestion (ECE).
    pub ece: bool,
    /// First byte not yet acknowledged, after this acknowledgement.
    pub una: u64,
    /// First byte never sent yet. A round of "once per window" ends when `una` reaches the value
    /// that `next` had when it began.
    pub next: u64,
    /// Payload bytes in flight, after this acknowledgement.
    pub in_flight: u64,
    /// Payload bytes delivered since the flow began.
    pub delivered: u64,
    /// When the segment that caused this acknowledgement was sent.
    pub sent_at: Time,
    /// The sender had no more to send than it was allowed (RFC 7661): the window need not grow.
    pub app_limited: bool,
    /// The transport is repairing a loss (RFC 6675 recovery, or after a timeout).
    pub in_recovery: bool,
    /// In-band telemetry, a record a hop in path order; empty where the network adds none.
    pub hops: &'a [HopRecord],
}

/// One hop's in-band telemetry (INT), as HPCC reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopRecord {
    /// When the packet left the hop.
    pub time: Time,
    /// Bytes the port had sent by then, a running count.
    pub tx_bytes: u64,
    /// Bytes left in the queue.
    pub queue_bytes: u64,
    /// The port's rate.
    pub rate: Rate,
}

/// A loss found by acknowledgements; told once per recovery episode (RFC 6675).
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was found.
    pub now: Time,
    /// Payload bytes found lost so far.
    pub lost_bytes: u64,
    /// Payload bytes in flight when it was found, the lost ones included (FlightSize, RFC 5681).
    pub flight_size: u64,
    /// First byte not yet acknowledged.
    pub una: u64,
    /// First byte never sent yet.
    pub next: u64,
}

/// The retransmission timer ran out.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// When it ran out.
    pub now: Time,
    /// Payload bytes in flight when it did (FlightSize, RFC 5681).
    pub flight_size: u64,
    /// First byte never sent yet.
    pub next: u64,
    /// Timeouts in a row without progress, this one included: 1, 2, ...
    pub backoff: u32,
}

/// A message from the network or the receiver that is not an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    /// QCN's congestion notification (802.1Qau): quantised feedback, 0 to 63, positive is
    /// congestion.
    CongestionNotification {
        /// Quantised feedback |Fb|, 6 bits.
        feedback: u8,
    },
    /// DCQCN's congestion notification packet, sent by the receiver.
    Cnp,
    /// RoCC's fair rate, computed by the congestion point that `origin` names.
    FairRate {
        /// The fair rate.
        rate: Rate,
        /// The congestion point, by its address.
        origin: u64,
    },
    /// Annulus's one-bit direct signal (2.4): a switch near the source is congested.
    Direct,
}

/// An endpoint law.
///
/// After any call the transport reads [`Sender::allowance`] and [`Sender::next_timer`] again.
pub trait Sender {
    /// What may be sent now. Must not depend on anything but the law's state.
    fn allowance(&self) -> Allowance;

    /// An acknowledgement arrived.
    fn on_ack(&mut self, ack: &Ack<'_>);

    /// A loss was found by acknowledgements.
    fn on_loss(&mut self, loss: &Loss);

    /// The retransmission timer ran out.
    fn on_timeout(&mut self, timeout: &Timeout);

    /// A direct signal arrived. Laws without direct signals ignore it.
    fn on_signal(&mut self, now: Time, signal: &Signal) {
        let _ = (now, signal);
    }

    /// When the law's own earliest timer runs out; [`Time::NEVER`] for none.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }

    /// The time that [`Sender::next_timer`] named has come.
    fn on_timer(&mut self, now: Time) {
        let _ = now;
    }

    /// `bytes` of payload left for the network: what a byte counter (QCN, DCQCN) runs on.
    fn on_sent(&mut self, now: Time, bytes: u64) {
        let _ = (now, bytes);
    }

    /// Slow-start threshold in bytes, for traces; `u64::MAX` while there is none.
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    /// Holds growth: from now on the law may not grow past `limit` of rate (windows count as
    /// window / `srtt`); `None` lifts it. This is Annulus's coordinated growth (3.3).
    fn limit_growth(&mut self, limit: Option<Rate>) {
        let _ = limit;
    }

    /// Scales the law's window and rate by `numerator / denominator` (at most one), as when the
    /// other loop of Annulus fell (Algorithm 1).
    fn scale_down(&mut self, numerator: u64, denominator: u64) {
        let _ = (numerator, denominator);
    }
}
