//! One file a subcommand.

pub mod check;
pub mod compare;
pub mod explain;
pub mod flows;
pub mod list;
pub mod reproduce;
pub mod run;

use headrace_lab::claims::source::{EmbeddedFile, Source};

/// The papers' figures as they were when the program was built.
static PAPERS: &[EmbeddedFile] = include!(concat!(env!("OUT_DIR"), "/papers.rs"));

/// Where papers' figures come from.
pub fn papers() -> Source {
    Source::find(PAPERS)
}
