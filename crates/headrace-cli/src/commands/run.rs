//! `headrace run`: one scenario into a result folder.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use headrace_lab::results::peaks::PeakQueues;
use headrace_lab::results::run::default_folder;
use headrace_lab::results::summary::{Summary, Throughput};
use headrace_lab::results::{RunError, RunOptions, RunOutcome, run_into};
use headrace_lab::scenario::Scenario;
use headrace_sim::Progress;
use headrace_sim::cc::units::Time;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::failure::Failure;
use crate::{interrupt, show};

/// Run a scenario
///
/// Writes a result folder (manifest.json, summary.json, flows.parquet, ports.parquet,
/// rates.parquet), whole or not at all, and prints its path.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    headrace run scenarios/quickstart.toml\n  \
    headrace run scenarios/quickstart.toml --set traffic.0.load=0.6 --seed 2\n  \
    headrace run scenarios/incast.toml --out results/incast --force\n  \
    headrace run scenarios/quickstart.toml --json | jq .summary.fct_ns.small.p99")]
pub struct Args {
    /// Scenario file
    scenario: PathBuf,
    /// Set a value of the scenario, as PATH=VALUE; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
    /// Seed instead of the scenario's
    #[arg(long)]
    seed: Option<u64>,
    /// Threads of the simulation, 1 to 64; the results do not depend on it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: u16,
    /// Result folder [default: results/<scenario>-<hash>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the result folder if it exists
    #[arg(long)]
    force: bool,
    /// Print folder, summary and manifest as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut scenario = Scenario::load(&args.scenario, &args.sets)?;
    if let Some(seed) = args.seed {
        scenario = scenario.with_seed(seed);
    }
    for note in scenario.notes() {
        show::note(&format!("  {note}"));
    }
    let place = args.out.clone().unwrap_or_else(|| default_folder(&scenario));
    interrupt::watch();
    let mut meter = Meter::new(scenario.spec.until);
    let options = RunOptions { force: args.force, threads: usize::from(args.threads) };
    let ran = run_into(&scenario, &place, options, &mut |state| {
        if interrupt::requested() {
            return ControlFlow::Break(());
        }
        meter.show(state);
        ControlFlow::Continue(())
    });
    meter.clear();
    let outcome = ran.map_err(|error| explained(error, &place))?;
    report(&outcome);
    if args.json {
        return Ok(show::json(&json!({
            "folder": place,
            "summary": outcome.summary.to_json(),
            "manifest": serde_json::to_value(&outcome.manifest).unwrap_or_default(),
        }))?);
    }
    Ok(show::line(&place.display().to_string())?)
}

/// An interruption says what was not written.
fn explained(error: RunError, place: &Path) -> Failure {
    match error {
        RunError::Interrupted(at) => Failure::Failed(format!(
            "interrupted at simulated time {}; no results were written to {}",
            show::time(at),
            place.display()
        )),
        error => error.into(),
    }
}

/// The progress bar: simulated time where the end is known, flows, packet-hops a second.
struct Meter {
    bar: ProgressBar,
    started: Instant,
}

#[expect(clippy::disallowed_methods, reason = "shows how fast a run goes; decides nothing")]
impl Meter {
    fn new(until: Time) -> Meter {
        let (bar, template) = if until == Time::NEVER {
            (ProgressBar::new_spinner(), "{spinner} {msg}")
        } else {
            (ProgressBar::new(until.ps()), "{wide_bar:.cyan/dim} {percent:>3} % {msg}")
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Meter { bar, started: Instant::now() }
    }

    fn show(&self, state: &Progress) {
        if self.bar.is_hidden() {
            return;
        }
        let seconds = self.started.elapsed().as_secs_f64().max(1e-9);
        self.bar.set_position(state.now.ps());
        self.bar.set_message(format!(
            "simulated {}  flows {} of {} done  {} packet-hops/s",
            show::nanoseconds(state.now.as_ns()),
            state.flows_finished,
            state.flows_started,
            show::count(state.packet_hops as f64 / seconds),
        ));
    }

    fn clear(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The summary, for people.
fn report(outcome: &RunOutcome) {
    let terminal = show::stderr_on_terminal();
    let (summary, manifest) = (&outcome.summary, &outcome.manifest);
    if summary.fct_ns.get("all").is_some_and(|all| all.count > 0) {
        let header =
            ["size class", "flows", "FCT avg", "p50", "p99", "p99.9", "slowdown avg", "p99"];
        show::note(&show::table(&header, fct_rows(summary), terminal));
    }
    show::note(&show::text_table(&[], totals(summary), terminal));
    let speed = show::maybe(manifest.packet_hops_per_cpu_second, show::count);
    show::note(&format!(
        "{} packet-hops, {} events in {} s: {speed} packet-hops per CPU second",
        show::count(manifest.packet_hops as f64),
        show::count(manifest.events as f64),
        show::digits(manifest.wall_seconds),
    ));
}

fn fct_rows(summary: &Summary) -> Vec<Vec<String>> {
    let classes = summary.fct_ns.0.iter().zip(&summary.slowdown.0);
    let row = classes.map(|((name, fct), (_, slowdown))| {
        let time = |value| show::maybe(value, show::nanoseconds);
        let ratio = |value| show::maybe(value, show::digits);
        vec![
            name.clone(),
            fct.count.to_string(),
            time(fct.avg),
            time(fct.p50),
            time(fct.p99),
            time(fct.p999),
            ratio(slowdown.avg),
            ratio(slowdown.p99),
        ]
    });
    row.collect()
}

fn totals(summary: &Summary) -> Vec<Vec<String>> {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        row("simulated time", show::nanoseconds(summary.end_ns)),
        row("flows", {
            let flows = &summary.flows;
            format!("{} finished of {} started", flows.finished, flows.started)
        }),
        row("goodput", show::bits_per_second(summary.goodput_bps)),
        row("loss rate", {
            let drops = &summary.drops;
            let rate = show::percent(summary.loss_rate);
            format!("{rate} of data ({} packets of any kind dropped)", drops.packets)
        }),
        row("marks", show::count(summary.marks as f64)),
    ];
    for (name, set) in &summary.links.sets.0 {
        let average = show::percent(set.avg_utilisation);
        let text = format!("{average} on average, {} at most", show::percent(set.max_utilisation));
        rows.push(row(&format!("utilisation, {name} links"), text));
    }
    for (name, flows) in
        [("long-lived flows", &summary.long_flows), ("traced flows, second half", &summary.steady)]
    {
        rows.extend(flows.as_ref().map(|flows| row(name, throughput(flows))));
    }
    if let Some(queues) = &summary.queues {
        let average = show::bytes(queues.avg_bytes);
        let most = show::bytes(queues.max_bytes as f64);
        rows.push(row("sampled queues", format!("{average} on average, {most} at most")));
    }
    let PeakQueues { switch, host } = &summary.peak_queues;
    for (name, queue) in [("longest switch queue", switch), ("longest host queue", host)] {
        rows.extend(
            queue
                .as_ref()
                .map(|q| row(name, format!("{} at {}", show::bytes(q.bytes as f64), q.link))),
        );
    }
    rows
}

fn throughput(flows: &Throughput) -> String {
    let goodput = show::bits_per_second(flows.goodput_bps);
    let jain = show::maybe(flows.jain, show::digits);
    let number = show::things(flows.flows as f64, "flow");
    format!("{goodput} in all, {number}, Jain's index {jain}")
}
