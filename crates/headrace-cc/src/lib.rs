//! Congestion-control laws as pure state machines: endpoint laws ([`sender`]) and switch laws
//! ([`switch`]). No I/O, no clock, no threads; the simulator and the Linux datapath drive the same
//! objects.
//!
//! A scenario names a law; [`sender::Scheme`] and [`switch::Marker`] look it up, take its
//! parameters ([`mod@params`]) and make its state.

pub mod params;
pub mod sender;
pub mod switch;
pub mod units;

/// The worked examples of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
