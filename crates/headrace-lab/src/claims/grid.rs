//! The runs of a figure: every variant at every point under every seed, spread over threads.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::Value;

use super::expr::{Data, Expr, ExprError, Measured};
use super::figure::{Figure, Size};
use super::source::ScenarioText;
use crate::results::compare::lookup;
use crate::results::{RunError, run_in_memory};
use crate::scenario::{Problems, Scenario};

/// A run's summary and packet-hops, once it is done.
type Cell = Option<Result<(Value, u64), GridError>>;

/// How far the runs of a figure are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridProgress {
    /// Runs done.
    pub done: usize,
    /// Runs in all.
    pub runs: usize,
    /// Packet-hops of the runs done.
    pub packet_hops: u64,
}

/// A run of a figure went wrong.
#[derive(Debug, thiserror::Error)]
pub enum GridError {
    /// The scenario or its overrides are wrong.
    #[error("{run}: {problems}")]
    Scenario {
        /// Variant and point.
        run: String,
        /// What is wrong.
        problems: Problems,
    },
    /// The run failed.
    #[error("{run}: {error}")]
    Run {
        /// Variant, point and seed.
        run: String,
        /// Why.
        error: RunError,
    },
    /// It was asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What the runs of a figure measured.
#[derive(Clone, Debug)]
pub struct Grid {
    variants: Vec<String>,
    points: Vec<f64>,
    seeds: usize,
    /// Summaries by variant, then point, then seed.
    cells: Vec<Value>,
    /// Packet-hops of all runs.
    pub packet_hops: u64,
    /// Runs.
    pub runs: usize,
}

/// A grid as one seed saw it.
struct OneSeed<'a> {
    grid: &'a Grid,
    seed: usize,
}

impl Data for OneSeed<'_> {
    fn points(&self) -> &[f64] {
        &self.grid.points
    }
    fn has_variant(&self, variant: &str) -> bool {
        self.grid.variants.iter().any(|v| v == variant)
    }
    fn number(&self, variant: &str, point: usize, path: &str) -> Option<f64> {
        let grid = self.grid;
        let variant = grid.variants.iter().position(|v| v == variant)?;
        let cell = (variant * grid.points.len().max(1) + point) * grid.seeds + self.seed;
        lookup(&grid.cells[cell], path)?.as_f64()
    }
}

/// A run to be made.
struct Job {
    cell: usize,
    name: String,
    scenario: usize,
    seed: u64,
}

impl Grid {
    /// Seeds a point.
    pub fn seeds(&self) -> usize {
        self.seeds
    }

    /// Points of the axis; empty for a table.
    pub fn points(&self) -> &[f64] {
        &self.points
    }

    /// An expression's value under each seed.
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn measure(&self, expr: &Expr, this: Option<&str>) -> Result<Vec<Measured>, ExprError> {
        (0..self.seeds).map(|seed| expr.eval(&OneSeed { grid: self, seed }, this)).collect()
    }

    /// A table's rows.
    pub fn of_table(figure: &Figure) -> Grid {
        let values = |values: &BTreeMap<String, f64>| {
            serde_json::to_value(values).expect("names and numbers are JSON")
        };
        Grid {
            variants: figure.variants.iter().map(|v| v.name.clone()).collect(),
            points: Vec::new(),
            seeds: 1,
            cells: figure.variants.iter().map(|v| values(&v.values)).collect(),
            packet_hops: 0,
            runs: 0,
        }
    }

    /// Makes the runs of a figure on `threads` threads, a simulation a thread. The result is the
    /// same on any number of them. `stop` set to true ends it soon.
    ///
    /// # Errors
    /// The first run, in the grid's order among those made, that went wrong.
    pub fn run(
        figure: &Figure,
        size: &Size,
        base: &ScenarioText,
        threads: usize,
        stop: &AtomicBool,
        progress: &(dyn Fn(GridProgress) + Sync),
    ) -> Result<Grid, GridError> {
        let scenarios = scenarios(figure, size, base)?;
        let mut jobs = jobs(figure, size);
        // The last points are the heaviest as a rule: begun first, they leave no thread idle.
        jobs.sort_by_key(|job| std::cmp::Reverse(job.scenario % size.points.len()));
        let cells: Mutex<Vec<Cell>> = Mutex::new(jobs.iter().map(|_| None).collect());
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let halted = || stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
        let work = || {
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                if halted() {
                    return;
                }
                let ran = run_one(job, base, &scenarios[job.scenario], &halted);
                failed.fetch_or(ran.is_err(), Ordering::Relaxed);
                let mut cells = cells.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                cells[job.cell] = Some(ran);
                let done = cells.iter().flatten().flatten();
                let (done, packet_hops) = done.fold((0, 0), |(n, sum), (_, h)| (n + 1, sum + h));
                progress(GridProgress { done, runs: jobs.len(), packet_hops });
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(jobs.len()) {
                scope.spawn(work);
            }
            work();
        });
        let cells = cells.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        Grid::gather(figure, size, cells, stop.load(Ordering::Relaxed))
    }

    fn gather(
        figure: &Figure,
        size: &Size,
        cells: Vec<Option<Result<(Value, u64), GridError>>>,
        stopped: bool,
    ) -> Result<Grid, GridError> {
        if stopped {
            return Err(GridError::Interrupted);
        }
        let runs = cells.len();
        // A failure stops the others, which then are absent or say that they were interrupted.
        let interrupted = |error: &GridError| {
            matches!(error, GridError::Run { error: RunError::Interrupted(_), .. })
        };
        let (mut values, mut packet_hops) = (Vec::with_capacity(runs), 0);
        for cell in cells {
            match cell {
                Some(Ok((value, hops))) => {
                    values.push(value);
                    packet_hops += hops;
                }
                Some(Err(error)) if !interrupted(&error) => return Err(error),
                Some(Err(_)) | None => {}
            }
        }
        if values.len() < runs {
            return Err(GridError::Interrupted);
        }
        Ok(Grid {
            variants: figure.variants.iter().map(|v| v.name.clone()).collect(),
            points: size.points.clone(),
            seeds: size.seeds as usize,
            cells: values,
            packet_hops,
            runs,
        })
    }
}

/// Overrides of a figure's scenario for a variant at a point.
pub fn overrides(figure: &Figure, size: &Size, variant: usize, point: f64) -> Vec<String> {
    let axis = figure.axis.iter().flat_map(|axis| &axis.set);
    let at_point = axis.map(|set| set.replace("{}", &point.to_string()));
    size.set.iter().chain(&figure.variants[variant].set).cloned().chain(at_point).collect()
}

fn run_name(figure: &Figure, variant: usize, point: f64) -> String {
    let axis = figure.axis.as_ref().map_or("", |axis| axis.title.as_str());
    format!("variant `{}`, {axis} {point}", figure.variants[variant].name)
}

/// The overrides of each variant at each point; all are checked before any run is made.
fn scenarios(
    figure: &Figure,
    size: &Size,
    base: &ScenarioText,
) -> Result<Vec<Vec<String>>, GridError> {
    let mut all = Vec::new();
    for variant in 0..figure.variants.len() {
        for point in &size.points {
            let sets = overrides(figure, size, variant, *point);
            if let Err(problems) = base.parse(&sets) {
                let run = run_name(figure, variant, *point);
                return Err(GridError::Scenario { run, problems });
            }
            all.push(sets);
        }
    }
    Ok(all)
}

fn jobs(figure: &Figure, size: &Size) -> Vec<Job> {
    let mut jobs = Vec::new();
    for variant in 0..figure.variants.len() {
        for (i, point) in size.points.iter().enumerate() {
            for seed in 1..=size.seeds {
                let name = format!("{}, seed {seed}", run_name(figure, variant, *point));
                let scenario = variant * size.points.len() + i;
                jobs.push(Job { cell: jobs.len(), name, scenario, seed });
            }
        }
    }
    jobs
}

fn run_one(
    job: &Job,
    base: &ScenarioText,
    sets: &[String],
    halted: &dyn Fn() -> bool,
) -> Result<(Value, u64), GridError> {
    let parsed = base.parse(sets);
    let scenario: Scenario = parsed
        .map_err(|problems| GridError::Scenario { run: job.name.clone(), problems })?
        .with_seed(job.seed);
    let mut watch = |_: &headrace_sim::Progress| match halted() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    match run_in_memory(&scenario, &mut watch) {
        Ok(outcome) => Ok((outcome.summary.to_json(), outcome.totals.packet_hops)),
        Err(error) => Err(GridError::Run { run: job.name.clone(), error }),
    }
}
