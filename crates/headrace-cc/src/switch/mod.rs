//! Switch laws: what a queue tells the flows that pass it.
//!
//! A law sees a [`QueueView`] at a packet's arrival, at its departure and on the law's own timer,
//! and answers with a [`Verdict`]. The view is small and owned by no simulator: a live switch
//! fills it from a real frame.

pub mod bcc_params;
mod curve;
pub mod red;
mod registry;
pub mod shared_red;

pub use registry::{
    CustomMarker, Marker, MarkerInfo, Point, StartFn, SwitchLaw, congestion_points,
};

use crate::sender::Signal;
use crate::units::{Rate, Time};

/// What a law may know of a queue and of the packet at hand.
#[derive(Clone, Copy, Debug)]
pub struct QueueView {
    /// Now.
    pub now: Time,
    /// Bytes in the queue, the packet at hand included (at arrival: as if admitted).
    pub queue_bytes: u64,
    /// Bytes of the shared pool in use, the packet at hand included where it lies there.
    pub pool_bytes: u64,
    /// Bytes that the port had sent before this packet.
    pub tx_bytes: u64,
    /// The port's rate.
    pub rate: Rate,
    /// The packet's frame, bytes.
    pub size: u32,
    /// Identity of the packet's flow (a hash of its addresses and ports).
    pub flow: u64,
    /// Port by which the packet came in.
    pub ingress: u16,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// The packet may be marked (ECT, RFC 3168).
    pub ect: bool,
}

/// What a law answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Mark the packet (CE), if it is ECN-capable.
    pub mark: bool,
    /// Send this to the packet's source.
    pub notify: Option<Signal>,
    /// Append an in-band telemetry record to the packet.
    pub telemetry: bool,
}

impl Verdict {
    /// Nothing to do.
    pub const NOTHING: Verdict = Verdict { mark: false, notify: None, telemetry: false };
    /// Mark the packet.
    pub const MARK: Verdict = Verdict { mark: true, notify: None, telemetry: false };

    /// Both verdicts at once: marked if either says so; the first notification wins.
    pub fn and(self, other: Verdict) -> Verdict {
        Verdict {
            mark: self.mark || other.mark,
            notify: self.notify.or(other.notify),
            telemetry: self.telemetry || other.telemetry,
        }
    }
}

/// Occupancy up to which a law neither answers nor changes its state, so that it need not be asked:
/// it is silent while the queue *and* the pool hold no more than this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// Queue occupancy, bytes, the packet at hand included.
    pub queue_bytes: u64,
    /// Pool occupancy, bytes.
    pub pool_bytes: u64,
}

impl Quiet {
    /// The law must see every packet (a packet at hand makes any queue longer than 0).
    pub const NEVER: Quiet = Quiet { queue_bytes: 0, pool_bytes: 0 };
}

/// A switch law on one queue. A queue may carry several.
pub trait CongestionPoint {
    /// A packet was admitted to the queue.
    fn on_arrival(&mut self, view: &QueueView) -> Verdict {
        let _ = view;
        Verdict::NOTHING
    }

    /// A packet's transmission starts.
    fn on_departure(&mut self, view: &QueueView) -> Verdict {
        let _ = view;
        Verdict::NOTHING
    }

    /// The time that [`CongestionPoint::next_timer`] named has come. `view` has no packet: its
    /// `size` is 0.
    fn on_timer(&mut self, view: &QueueView) -> Verdict {
        let _ = view;
        Verdict::NOTHING
    }

    /// When the law's earliest timer runs out; [`Time::NEVER`] for none.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }

    /// Where the law is silent whatever the packet.
    fn quiet(&self) -> Quiet {
        Quiet::NEVER
    }

    /// Whether the law acts at arrival; a switch may skip [`CongestionPoint::on_arrival`] if not.
    fn acts_at_arrival(&self) -> bool {
        true
    }
}
