//! End hosts: flows from start to end, and TCP between them.

pub(crate) mod flow;
pub(crate) mod nic;
pub(crate) mod outbox;
pub(crate) mod receiver;
mod reception;
pub(crate) mod rtt;
pub(crate) mod scoreboard;
pub(crate) mod sender;
#[cfg(test)]
mod sender_tests;
pub(crate) mod timers;
pub(crate) mod transport;
