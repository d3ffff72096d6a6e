//! Runs a scenario into a result folder, or in memory.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use ::parquet::errors::ParquetError;
use headrace_cc::units::Time;
use headrace_sim::record::{SimError, Totals};
use headrace_sim::{Layout, Progress, Simulation};

use super::context::Context;
use super::folder::{FolderError, PendingFolder};
use super::manifest::{Manifest, Stopwatch};
use super::recorder::RunRecorder;
use super::summary::Summary;
use crate::scenario::{Problems, Scenario};

/// Called while a run goes on; [`ControlFlow::Break`] stops it.
pub type OnProgress<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

/// How a scenario is run; its results do not depend on it.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Replaces a result folder that exists.
    pub force: bool,
    /// Threads to take, at least 1; fewer are taken where the network is too small.
    pub threads: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions { force: false, threads: 1 }
    }
}

/// What a run came to.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// Totals of the simulator.
    pub totals: Totals,
    /// What goes to `summary.json`.
    pub summary: Summary,
    /// What goes to `manifest.json`.
    pub manifest: Manifest,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario's traffic cannot be made.
    #[error("{0}")]
    Scenario(Problems),
    /// The simulator refused or failed.
    #[error(transparent)]
    Sim(SimError),
    /// The run was stopped.
    #[error("interrupted at simulated time {0}")]
    Interrupted(Time),
    /// The result folder cannot be begun.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The result cannot be written; nothing of it is left behind.
    #[error("cannot write the results to {}: {reason}; nothing was left behind", .place.display())]
    Output {
        /// Where they were to go.
        place: PathBuf,
        /// Why not.
        reason: String,
    },
}

impl RunError {
    /// Whether what was asked for is at fault, not the run.
    pub fn is_bad_input(&self) -> bool {
        match self {
            RunError::Scenario(_) | RunError::Sim(SimError::Spec(_)) => true,
            RunError::Folder(FolderError::Io { .. }) => false,
            RunError::Folder(_) => true,
            RunError::Sim(_) | RunError::Interrupted(_) | RunError::Output { .. } => false,
        }
    }
}

impl From<SimError> for RunError {
    fn from(error: SimError) -> RunError {
        match error {
            SimError::Interrupted(at) => RunError::Interrupted(at),
            other => RunError::Sim(other),
        }
    }
}

/// The folder of a run where none is given: `results/<scenario>-<hash>`, the hash over the
/// resolved scenario with its seed.
pub fn default_folder(scenario: &Scenario) -> PathBuf {
    let resolved = scenario.resolved().to_string();
    let hash = headrace_sim::rng::stream_seed(scenario.spec.seed, &resolved);
    Path::new("results").join(format!("{}-{:08x}", scenario.name, hash >> 32))
}

/// Runs a scenario and writes its result folder at `place`: whole or not at all.
///
/// # Errors
/// See [`RunError`]; nothing is then left at `place` that was not there before.
pub fn run_into(
    scenario: &Scenario,
    place: &Path,
    options: RunOptions,
    progress: &mut OnProgress<'_>,
) -> Result<RunOutcome, RunError> {
    let folder = PendingFolder::begin(place, options.force)?;
    let output = |reason: String| RunError::Output { place: place.to_owned(), reason };
    let context = Context::of(scenario);
    let recorder = RunRecorder::into_folder(&context, folder.path())
        .map_err(|error| output(describe(&error)))?;
    let outcome = run(scenario, &context, recorder, options.threads, progress, place)?;
    let json = [
        ("summary.json", outcome.summary.to_json()),
        ("manifest.json", serde_json::to_value(&outcome.manifest).unwrap_or_default()),
    ];
    for (name, value) in json {
        fs::write(folder.path().join(name), format!("{value:#}\n"))
            .map_err(|error| output(describe_io(&error)))?;
    }
    folder.commit().map_err(|error| output(describe_io(&error)))?;
    Ok(outcome)
}

/// Runs a scenario and writes nothing.
///
/// # Errors
/// Those of the scenario's traffic and of the simulator.
pub fn run_in_memory(
    scenario: &Scenario,
    progress: &mut OnProgress<'_>,
) -> Result<RunOutcome, RunError> {
    let context = Context::of(scenario);
    let recorder = RunRecorder::in_memory(&context);
    run(scenario, &context, recorder, 1, progress, Path::new(""))
}

fn run(
    scenario: &Scenario,
    context: &Context,
    mut recorder: RunRecorder,
    threads: usize,
    progress: &mut OnProgress<'_>,
    place: &Path,
) -> Result<RunOutcome, RunError> {
    let workload = scenario.workload().map_err(RunError::Scenario)?;
    let stopwatch = Stopwatch::start();
    let failed = recorder.failed();
    let mut asked_to_stop = false;
    let mut watch = |state: &Progress| {
        asked_to_stop |= progress(state).is_break();
        if asked_to_stop || failed.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let layout = Layout::automatic(&scenario.spec.network, threads);
    let threads = layout.parts();
    let ran = Simulation::laid_out(&scenario.spec, workload, &layout)
        .and_then(|simulation| simulation.run(&mut recorder, &mut watch));
    let collector = recorder
        .finish()
        .map_err(|error| RunError::Output { place: place.to_owned(), reason: describe(&error) })?;
    if let Some(flow) = collector.impossible {
        return Err(impossible(&flow));
    }
    let totals = ran?;
    // The end of the run may come between two calls of `progress`.
    let end = Progress {
        now: totals.end,
        packet_hops: totals.packet_hops,
        flows_started: totals.flows_started,
        flows_finished: totals.flows_finished,
    };
    if progress(&end).is_break() {
        return Err(RunError::Interrupted(totals.end));
    }
    let summary = Summary::of(context, &collector, &totals);
    let (seed, hosts) = (scenario.spec.seed, context.hosts.clone());
    let manifest = Manifest::of(scenario.resolved(), seed, hosts, threads, &totals, &stopwatch);
    if !manifest.conservation.holds {
        let text = format!("packets are not conserved: {:?}", manifest.conservation);
        return Err(RunError::Sim(SimError::Invariant(text)));
    }
    Ok(RunOutcome { totals, summary, manifest })
}

fn impossible(flow: &headrace_sim::record::FlowRecord) -> RunError {
    let fct = flow.fct.unwrap_or_default();
    RunError::Sim(SimError::Invariant(format!(
        "flow {} of {} bytes from host {} to host {} took {fct}, less than the {} that an empty \
         network needs",
        flow.id, flow.size, flow.src, flow.dst, flow.ideal_fct
    )))
}

/// An error of writing, in the words of the system.
fn describe(error: &ParquetError) -> String {
    match error {
        ParquetError::External(inner) => match inner.downcast_ref::<io::Error>() {
            Some(error) => describe_io(error),
            None => inner.to_string(),
        },
        other => other.to_string(),
    }
}

fn describe_io(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => "no space left on the disk".to_owned(),
        _ => error.to_string(),
    }
}
