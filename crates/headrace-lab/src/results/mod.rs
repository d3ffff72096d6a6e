//! What a run leaves behind: a folder with a manifest, a summary and three Parquet tables.
//!
//! [`run::run_into`] makes one from a scenario, whole or not at all. Nothing but the manifest
//! differs between two runs of the same scenario and seed.

pub mod collect;
pub mod compare;
pub mod context;
pub mod folder;
pub mod manifest;
pub mod parquet;
pub mod peaks;
pub mod quantile;
pub mod recorder;
pub mod run;
pub mod schema;
pub mod summary;

pub use run::{RunError, RunOptions, RunOutcome, run_in_memory, run_into};
