//! `headrace reproduce`: published figures, run again.

use std::path::{Path, PathBuf};
use std::time::Instant;

use headrace_lab::claims::figure::SizeName;
use headrace_lab::claims::grid::GridProgress;
use headrace_lab::claims::report::ClaimResult;
use headrace_lab::claims::reproduce::{Options, Reproduction, reproduce, write_claims};
use headrace_lab::claims::source::Source;
use headrace_lab::claims::verdict::{Kind, Verdict};
use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::Failure;
use crate::{commands, interrupt, show};

/// Reproduce published figures and judge their claims
///
/// Runs each figure's scenarios and prints, for each claim, the published and the measured value,
/// the 95 % confidence interval over seeds, and the verdict: holds, direction holds, does not
/// hold, too few seeds. Writes DIR/claims.json, and DIR/<paper>/<figure>.svg and .csv. The exit
/// status is 1 if a claim does not hold.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    headrace reproduce bcc               # every figure of BCC, quick size\n  \
    headrace reproduce bcc/fig2 --full   # one figure at the paper's size\n  \
    headrace reproduce bcc --seeds 10 --out results/bcc\n  \
    headrace reproduce --json | jq '.[] | select(.verdict != \"holds\")'")]
pub struct Args {
    /// Papers or figures; all if absent (see `headrace list papers`)
    #[arg(value_name = "PAPER[/FIGURE]")]
    names: Vec<String>,
    /// The paper's own size instead of the quick one
    #[arg(long)]
    full: bool,
    /// Seeds a point instead of the figure's own number
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: Option<u64>,
    /// Where claims.json, pictures and data go; files of an earlier run are replaced
    #[arg(long, value_name = "DIR", default_value = "results/reproduce")]
    out: PathBuf,
    /// Simulations at a time [default: the processors there are]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print the claims as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let source = commands::papers();
    let ids = source.select(&args.names).map_err(Failure::bad_input)?;
    let threads = args.threads.map_or_else(processors, usize::from);
    let size = if args.full { SizeName::Full } else { SizeName::Quick };
    let options = Options { size, seeds: args.seeds, threads };
    interrupt::watch();
    let mut claims: Vec<ClaimResult> = Vec::new();
    for id in &ids {
        let done = one(&source, id, &options, &args.out, args.json)?;
        claims.extend(done.claims);
    }
    write_claims(&args.out, &claims)?;
    if args.json {
        show::json(&serde_json::to_value(&claims).unwrap_or_default())?;
    }
    show::note(&format!("claims, pictures and data are in {}", args.out.display()));
    let failed = claims.iter().filter(|claim| claim.verdict == Verdict::DoesNotHold).count();
    match failed {
        0 => Ok(()),
        n => Err(Failure::Failed(format!("{n} of {} claims do not hold", claims.len()))),
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Runs one figure, writes its picture and data, prints its claims.
#[expect(clippy::disallowed_methods, reason = "shows how long a figure took; decides nothing")]
fn one(
    source: &Source,
    id: &str,
    options: &Options,
    out: &Path,
    json: bool,
) -> Result<Reproduction, Failure> {
    let started = Instant::now();
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30.cyan/dim} {pos}/{len} {msg}")
    {
        bar.set_style(style);
    }
    bar.set_prefix(id.to_owned());
    let progress = |state: GridProgress| {
        let seconds = started.elapsed().as_secs_f64().max(1e-9);
        bar.set_length(state.runs as u64);
        bar.set_position(state.done as u64);
        let speed = show::count(state.packet_hops as f64 / seconds);
        bar.set_message(format!("runs, {speed} packet-hops/s"));
    };
    let done = reproduce(source, id, options, interrupt::flag(), &progress);
    bar.finish_and_clear();
    let done = done.map_err(|error| match error.is_interruption() {
        true => Failure::Failed(format!("interrupted during {id}; claims.json was not written")),
        false => error.into(),
    })?;
    done.write(out)?;
    show::note(&format!(
        "{id}: {} ({} runs, {} packet-hops, {} s)",
        done.figure.title,
        done.runs,
        show::count(done.packet_hops as f64),
        show::digits(started.elapsed().as_secs_f64()),
    ));
    if !json {
        print(&done)?;
    }
    Ok(done)
}

fn print(done: &Reproduction) -> Result<(), Failure> {
    let header = ["claim", "published", "measured", "95 % interval", "verdict"];
    let rows = done.figure.claims.iter().zip(&done.claims);
    let rows = rows.map(|(claim, result)| row(claim.kind, result)).collect();
    show::line(&show::text_table(&header, rows, show::on_terminal()))?;
    for claim in &done.claims {
        if let Some(cause) = &claim.cause {
            show::line(&format!("{}: {cause}", claim.id))?;
        }
    }
    Ok(())
}

fn row(kind: Kind, claim: &ClaimResult) -> Vec<String> {
    let truth = |x: f64| (if x == 1.0 { "true" } else { "not always" }).to_owned();
    let number = |x: f64| match (kind, claim.unit.as_str()) {
        (Kind::Shape, _) => truth(x),
        (_, "") => show::digits(x),
        (_, unit) => format!("{} {unit}", show::digits(x)),
    };
    let sign = match kind {
        Kind::AtLeast => ">= ",
        Kind::AtMost => "<= ",
        _ => "",
    };
    let interval = claim.interval.filter(|[low, high]| low < high);
    vec![
        claim.id.clone(),
        format!("{sign}{}", number(claim.published)),
        show::maybe(claim.measured, number),
        interval.map_or_else(String::new, |[low, high]| {
            format!("[{}, {}]", show::digits(low), show::digits(high))
        }),
        claim.verdict.name().to_owned(),
    ]
}
