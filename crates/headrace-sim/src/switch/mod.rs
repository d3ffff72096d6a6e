//! The shared-buffer switch: buffers, schedulers.
//!
//! [`buffer`] and [`scheduled`] know packets by [`view`] alone.

pub mod buffer;
mod fifo;
pub mod scheduled;
pub(crate) mod serve;
pub mod view;
