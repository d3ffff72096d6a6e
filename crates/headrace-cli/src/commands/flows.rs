//! `headrace flows`: writes the flow list that a scenario's traffic generates.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use headrace_lab::scenario::Scenario;
use headrace_lab::scenario::flow_list::Starts;

use crate::failure::Failure;
use crate::show;

/// Write the flows that a scenario's traffic generates, as CSV
///
/// The list (start_ns,src,dst,size_bytes) can be read back by a traffic of kind `list`, so that
/// other simulators and other schemes carry the same flows. Starts are exact, with up to three
/// decimals.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    headrace flows scenarios/quickstart.toml -o flows.csv\n  \
    headrace flows scenarios/quickstart.toml --seed 7 | head")]
pub struct Args {
    /// Scenario file
    scenario: PathBuf,
    /// File to write; stdout if absent
    #[arg(short, long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    /// Set a value of the scenario, as PATH=VALUE; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
    /// Seed instead of the scenario's
    #[arg(long)]
    seed: Option<u64>,
    /// Replace FILE.csv if it exists
    #[arg(long)]
    force: bool,
    /// Round starts down to whole nanoseconds, for simulators that read no decimals
    #[arg(long)]
    whole_ns: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut scenario = Scenario::load(&args.scenario, &args.sets)?;
    if let Some(seed) = args.seed {
        scenario = scenario.with_seed(seed);
    }
    scenario.check_listable().map_err(Failure::bad_input)?;
    let starts = if args.whole_ns { Starts::WholeNanoseconds } else { Starts::Exact };
    let Some(path) = &args.out else {
        let mut out = BufWriter::new(io::stdout().lock());
        scenario.write_flow_list(&mut out, starts)?;
        return Ok(out.flush()?);
    };
    if scenario.inputs().iter().any(|input| same_file(input, path)) {
        let text = format!("{} is an input of the scenario; choose another -o", path.display());
        return Err(Failure::BadInput(text));
    }
    if path.is_dir() {
        let text = format!("{} is a folder; name a file in it", path.display());
        return Err(Failure::BadInput(text));
    }
    if path.exists() && !args.force {
        let text = format!("{} exists; choose another, or replace it with --force", path.display());
        return Err(Failure::BadInput(text));
    }
    let flows = write(&scenario, starts, path)
        .map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))?;
    show::note(&format!("{flows} flows written to {}", path.display()));
    Ok(())
}

/// Whether two paths lead to one file.
fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Writes the list; a file that could not be written whole is removed.
fn write(scenario: &Scenario, starts: Starts, path: &Path) -> io::Result<u64> {
    let written = File::create(path).map(BufWriter::new).and_then(|mut out| {
        let flows = scenario.write_flow_list(&mut out, starts)?;
        out.flush()?;
        Ok(flows)
    });
    if written.is_err() && path.is_file() {
        let _ = std::fs::remove_file(path);
    }
    written
}
