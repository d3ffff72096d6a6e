//! End hosts: flows from start to end, and TCP between them.

pub(crate) mod flow;
pub(crate) mod nic;
pub(crate) mod outbox;
mod receiver;
mod reception;
pub(crate) mod rtt;
pub(crate) mod scoreboard;
pub(crate) mod sender;
pub(crate) mod timers;
pub(crate) mod transport;
