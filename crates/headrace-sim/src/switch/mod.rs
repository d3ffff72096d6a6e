//! The shared-buffer switch: buffers, schedulers.

pub(crate) mod buffer;
pub(crate) mod scheduled;
