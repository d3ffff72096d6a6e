//! `headrace check`: validates a scenario without running it.

use std::path::PathBuf;

use headrace_lab::scenario::Scenario;

use crate::failure::Failure;
use crate::show;

/// Validate scenarios without running them
///
/// Every error is shown with file, line, column, the offending text and a remedy.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    headrace check scenarios/quickstart.toml\n  \
    headrace check my.toml --set traffic.0.load=0.9\n  \
    headrace check my.toml --json        # the scenario with every default filled in")]
pub struct Args {
    /// Scenario file
    scenario: PathBuf,
    /// Set a value of the scenario, as PATH=VALUE; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
    /// Print the resolved scenario as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let scenario = Scenario::load(&args.scenario, &args.sets)?;
    // Files that the traffic reads are opened here: a bad one is bad input too.
    scenario.workload()?;
    for note in scenario.notes() {
        show::note(&format!("  {note}"));
    }
    if args.json {
        show::json(&scenario.resolved())?;
    }
    show::note(&format!("{}: no errors", args.scenario.display()));
    Ok(())
}
