//! Records for the tests of the laws.

use super::{Ack, Loss, Start, Timeout};
use crate::units::{Rate, Time};

pub(crate) const MSS: u64 = 1460;

/// A flow on an empty path of 80 us.
pub(crate) fn start() -> Start {
    Start {
        now: Time::ZERO,
        mss: MSS,
        initial_window: 10 * MSS,
        line_rate: Rate::from_gbps(100),
        base_rtt: Time::from_us(80),
    }
}

/// An acknowledgement of one segment, unmarked.
pub(crate) fn ack() -> Ack<'static> {
    Ack {
        now: Time::from_us(80),
        rtt: Some(Time::from_us(80)),
        srtt: Time::from_us(80),
        acked_bytes: MSS,
        marked_bytes: 0,
        ece: false,
        una: MSS,
        next: 10 * MSS,
        in_flight: 9 * MSS,
        delivered: MSS,
        sent_at: Time::ZERO,
        app_limited: false,
        in_recovery: false,
        hops: &[],
    }
}

/// A loss at the flow's first byte, with `flight_size` bytes in flight.
pub(crate) fn loss(flight_size: u64) -> Loss {
    Loss { now: Time::from_us(80), lost_bytes: MSS, flight_size, una: 0, next: flight_size }
}

/// A timeout with `flight_size` bytes in flight.
pub(crate) fn timeout(flight_size: u64, backoff: u32) -> Timeout {
    Timeout { now: Time::from_ms(5), flight_size, next: flight_size, backoff }
}
