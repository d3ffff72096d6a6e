//! A packet-level simulator of datacenter networks.
//!
//! [`spec::RunSpec`] says what the network is, a [`workload::Workload`] what it carries, a
//! [`record::Recorder`] takes what comes out; [`Simulation`] runs it.

mod engine;
mod host;
pub mod net;
pub mod record;
pub mod rng;
pub mod spec;
pub mod switch;
pub mod workload;

pub use engine::layout::Layout;
pub use engine::{Progress, Simulation};
pub use headrace_cc as cc;
