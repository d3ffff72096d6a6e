//! The shared-buffer switch: buffers, schedulers.

pub(crate) mod buffer;
mod fifo;
pub(crate) mod scheduled;
mod serve;
