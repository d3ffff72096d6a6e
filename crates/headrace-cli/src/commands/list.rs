//! `headrace list`: what there is, one line each.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use headrace_lab::scenario::{Scenario, catalog};
use headrace_sim::cc::sender::schemes;
use headrace_sim::cc::switch::congestion_points;
use serde_json::json;

use crate::failure::Failure;
use crate::{commands, show};

/// List what there is, one line each
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    headrace list schemes\n  \
    headrace list papers\n  \
    headrace list workloads --json")]
pub struct Args {
    /// What to list
    what: What,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Endpoint laws
    Schemes,
    /// Switch laws
    CongestionPoints,
    /// Networks
    Topologies,
    /// Sources of flows
    Traffic,
    /// Sections of a scenario file
    Sections,
    /// Distributions of flow sizes
    Workloads,
    /// Scenario files of the nearest `scenarios` folder
    Scenarios,
    /// Papers' figures that `headrace reproduce` knows
    Papers,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let entries = entries(args.what)?;
    if args.json {
        let list = entries.iter().map(|(name, summary)| json!({"name": name, "summary": summary}));
        return Ok(show::json(&list.collect())?);
    }
    let width = entries.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, summary) in entries {
        show::line(&format!("{name:width$}  {summary}"))?;
    }
    Ok(())
}

type Entry = (String, String);

fn entry(name: &str, summary: &str) -> Entry {
    (name.to_owned(), summary.to_owned())
}

fn named(entries: Vec<catalog::Entry>) -> Vec<Entry> {
    entries.iter().map(|e| entry(e.name, e.summary)).collect()
}

fn entries(what: What) -> Result<Vec<Entry>, Failure> {
    Ok(match what {
        What::Schemes => schemes().iter().map(|s| entry(s.name, s.summary)).collect(),
        What::CongestionPoints => {
            congestion_points().iter().map(|p| entry(p.name, p.summary)).collect()
        }
        What::Topologies => named(catalog::topologies()),
        What::Traffic => named(catalog::traffic()),
        What::Sections => named(catalog::sections()),
        What::Workloads => catalog::workloads().iter().map(|w| entry(w.name, w.summary)).collect(),
        What::Scenarios => scenarios(),
        What::Papers => {
            let source = commands::papers();
            let ids = source.figures().map_err(Failure::bad_input)?;
            let figure = |id: String| source.figure(&id).map(|figure| (id, figure.title));
            ids.into_iter().map(figure).collect::<Result<_, _>>().map_err(Failure::bad_input)?
        }
    })
}

/// Scenarios of the nearest `scenarios` folder upwards, by path from here, with what they say of
/// themselves.
fn scenarios() -> Vec<Entry> {
    let here = std::env::current_dir().unwrap_or_default();
    let folder = here.ancestors().map(|folder| folder.join("scenarios")).find(|f| f.is_dir());
    let mut files = Vec::new();
    if let Some(folder) = folder {
        collect(&folder, &mut files);
    }
    files.sort();
    let described = |path: PathBuf| {
        let summary = match Scenario::load(&path, &[]) {
            Ok(scenario) => scenario.description,
            Err(_) => "(has errors: see `headrace check`)".to_owned(),
        };
        let shown = path.strip_prefix(&here).unwrap_or(&path).display().to_string();
        (shown, summary)
    };
    files.into_iter().map(described).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
}
