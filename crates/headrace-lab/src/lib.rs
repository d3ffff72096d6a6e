//! What goes into Headrace and what comes out of it: scenario files, topologies, workloads,
//! results, summaries, published claims.

pub mod claims;
pub mod results;
pub mod scenario;
pub mod topology;
pub mod traffic;
pub mod words;
