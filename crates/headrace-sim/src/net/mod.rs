//! Links, ports, routes.

pub(crate) mod border;
pub(crate) mod fabric;
pub(crate) mod framing;
pub(crate) mod graph;
pub(crate) mod packet;
pub(crate) mod path;
pub(crate) mod port;
pub(crate) mod ring;
pub(crate) mod routing;

pub use graph::check;
