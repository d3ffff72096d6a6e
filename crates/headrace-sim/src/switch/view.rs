//! What a switch's buffers, schedulers and congestion points see of a packet and its port: enough to
//! decide, and the same for a simulated packet and for a real frame.

use headrace_cc::switch::QueueView;
use headrace_cc::units::{Rate, Time};

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketView {
    /// Bytes of its frame, as buffers count them.
    pub size: u32,
    /// Identity of its flow: a hash of its addresses and ports.
    pub flow: u64,
    /// It may be marked (ECT, RFC 3168).
    pub ect: bool,
    /// It has been marked (CE).
    pub ce: bool,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// The port by which it came in.
    pub ingress: u16,
}

/// The port whose queue it is in, at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortView {
    /// Now.
    pub now: Time,
    /// Bytes sent before this packet.
    pub tx_bytes: u64,
    /// The port's rate.
    pub rate: Rate,
}

impl PacketView {
    /// With the occupancy of its queue and pool: what a congestion point is asked.
    pub(super) fn in_queue(&self, port: &PortView, queue_bytes: u64, pool_bytes: u64) -> QueueView {
        QueueView {
            now: port.now,
            queue_bytes,
            pool_bytes,
            tx_bytes: port.tx_bytes,
            rate: port.rate,
            size: self.size,
            flow: self.flow,
            ingress: self.ingress,
            priority: self.priority,
            ect: self.ect,
        }
    }
}
