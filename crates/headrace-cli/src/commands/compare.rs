//! `headrace compare`: result folders side by side.

use std::path::PathBuf;

use headrace_lab::results::compare::{Comparison, Row, compare};

use crate::failure::Failure;
use crate::show;

/// Set result folders side by side
///
/// Each number stands with its ratio to the first folder's.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    headrace run s.toml --out results/dctcp\n  \
    headrace run s.toml --set traffic.0.scheme=newreno --out results/newreno\n  \
    headrace compare results/dctcp results/newreno\n  \
    headrace compare results/* --json")]
pub struct Args {
    /// Result folders; ratios are to the first
    #[arg(required = true, num_args = 2.., value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let comparison = compare(&args.folders).map_err(Failure::bad_input)?;
    if args.json {
        let json = serde_json::to_value(&comparison).unwrap_or_default();
        return Ok(show::json(&json)?);
    }
    Ok(show::line(&table(&comparison))?)
}

fn table(comparison: &Comparison) -> String {
    let mut header = vec!["metric"];
    header.extend(comparison.runs.iter().map(String::as_str));
    let rows = comparison.rows.iter().map(row).collect();
    show::table(&header, rows, show::on_terminal())
}

fn row(row: &Row) -> Vec<String> {
    let number = |value: f64| match row.metric.as_str() {
        metric if metric.starts_with("fct_ns") => show::nanoseconds(value),
        metric if metric.ends_with("_bps") => show::bits_per_second(value),
        metric if metric.ends_with("bytes") => show::bytes(value),
        metric if metric.ends_with("rate") || metric.ends_with("utilisation") => {
            show::percent(value)
        }
        metric if metric.starts_with("flows") => format!("{value}"),
        "drops.packets" | "marks" => format!("{value}"),
        _ => show::digits(value),
    };
    let cells = row.values.iter().zip(&row.ratios).enumerate().map(|(i, (value, ratio))| {
        let shown = show::maybe(*value, number);
        match ratio {
            Some(ratio) if i > 0 => format!("{shown} ({}x)", show::digits(*ratio)),
            _ => shown,
        }
    });
    std::iter::once(row.metric.clone()).chain(cells).collect()
}
