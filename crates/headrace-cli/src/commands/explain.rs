//! `headrace explain`: the parameters of one algorithm, topology, traffic, workload or figure.

use headrace_lab::scenario::catalog;
use headrace_lab::scenario::problems::nearest;
use headrace_lab::scenario::reader::{Absent, Key};
use headrace_sim::cc::params::ParamSpec;
use headrace_sim::cc::sender::{Scheme, schemes};
use headrace_sim::cc::switch::{Marker, congestion_points};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::{commands, show};

/// Explain one algorithm, topology, traffic, workload, figure or section of a scenario
///
/// Prints each parameter's default, unit, meaning and source.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    headrace explain dctcp\n  \
    headrace explain leaf-spine\n  \
    headrace explain websearch\n  \
    headrace explain switch\n  \
    headrace explain bcc/fig2\n  \
    headrace explain shared_red --json")]
pub struct Args {
    /// A name out of `headrace list`
    name: String,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// What there is to say about a name.
struct Explanation {
    kind: &'static str,
    name: String,
    summary: String,
    source: String,
    /// Header and rows of its table.
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let found = explanations(&args.name)?;
    if found.is_empty() {
        let text = format!("there is nothing called `{}`; {}", args.name, remedy(&args.name));
        return Err(Failure::BadInput(text));
    }
    if args.json {
        return Ok(show::json(&found.iter().map(Explanation::to_json).collect())?);
    }
    for explanation in &found {
        show::line(&explanation.to_text())?;
    }
    Ok(())
}

/// Every meaning of the name: a law of an endpoint and one of a switch may share it.
fn explanations(name: &str) -> Result<Vec<Explanation>, Failure> {
    let laws = scheme(name).into_iter().chain(marker(name));
    Ok(laws.chain(inputs(name)).chain(workload(name)).chain(figure(name)?).collect())
}

fn remedy(name: &str) -> String {
    let figures = commands::papers().figures().unwrap_or_default();
    let names = schemes().iter().map(|s| s.name);
    let names = names.chain(congestion_points().iter().map(|p| p.name));
    let inputs = [catalog::topologies(), catalog::traffic(), catalog::sections()];
    let names = names.chain(inputs.iter().flatten().map(|e| e.name));
    let names = names.chain(catalog::workloads().iter().map(|w| w.name));
    nearest(name, names.chain(figures.iter().map(String::as_str)))
}

const PARAMETERS: [&str; 5] = ["parameter", "takes", "default", "meaning", "source"];

fn parameters(specs: &[ParamSpec]) -> Vec<Vec<String>> {
    let row = |spec: &ParamSpec| {
        vec![
            spec.name.to_owned(),
            spec.kind.to_string(),
            spec.default.to_string(),
            spec.meaning.to_owned(),
            spec.source.to_owned(),
        ]
    };
    specs.iter().map(row).collect()
}

fn keys(keys: &[Key]) -> Vec<Vec<String>> {
    let default = |key: &Key| match key.absent {
        Absent::Is(value) => value.to_owned(),
        Absent::Means(words) => format!("({words})"),
        Absent::Refused => "(required)".to_owned(),
    };
    let row = |key: &Key| {
        let takes = key.takes.to_string();
        vec![key.name.to_owned(), takes, default(key), key.meaning.into(), key.source.into()]
    };
    keys.iter().map(row).collect()
}

fn scheme(name: &str) -> Option<Explanation> {
    let scheme = Scheme::by_name(name)?;
    Some(Explanation {
        kind: "scheme (endpoint law)",
        name: name.to_owned(),
        summary: scheme.summary().to_owned(),
        source: scheme.source().to_owned(),
        header: PARAMETERS.to_vec(),
        rows: parameters(&scheme.specs()),
        notes: vec![format!("In a scenario: scheme = {{ name = \"{name}\", PARAMETER = VALUE }}")],
    })
}

fn marker(name: &str) -> Option<Explanation> {
    let marker = Marker::by_name(name)?;
    Some(Explanation {
        kind: "congestion point (switch law)",
        name: name.to_owned(),
        summary: marker.summary().to_owned(),
        source: marker.source().to_owned(),
        header: PARAMETERS.to_vec(),
        rows: parameters(&marker.specs()),
        notes: vec![format!(
            "In a scenario: [switch] markers = [{{ name = \"{name}\", PARAMETER = VALUE }}]"
        )],
    })
}

/// Topologies, kinds of traffic and sections of that name.
fn inputs(name: &str) -> impl Iterator<Item = Explanation> {
    let topologies = catalog::topologies().into_iter();
    let topologies = topologies
        .map(|e| ("topology", format!("In a scenario: [topology] kind = \"{}\"", e.name), e));
    let traffic = catalog::traffic().into_iter();
    let traffic = traffic
        .map(|e| ("traffic", format!("In a scenario: [[traffic]] kind = \"{}\"", e.name), e));
    let sections = catalog::sections().into_iter();
    let sections = sections.map(|e| ("section of a scenario", String::new(), e));
    let found = topologies.chain(traffic).chain(sections).filter(move |(_, _, e)| e.name == name);
    found.map(|(kind, note, e)| Explanation {
        kind,
        name: e.name.to_owned(),
        summary: e.summary.to_owned(),
        source: e.source.to_owned(),
        header: PARAMETERS.to_vec(),
        rows: keys(e.parameters),
        notes: if note.is_empty() { Vec::new() } else { vec![note] },
    })
}

fn workload(name: &str) -> Option<Explanation> {
    let found = catalog::workloads().iter().find(|w| w.name == name)?;
    let cdf = found.cdf();
    let row = |(bytes, share): &(f64, f64)| vec![format!("{bytes}"), show::percent(*share)];
    Some(Explanation {
        kind: "workload (flow sizes)",
        name: name.to_owned(),
        summary: found.summary.to_owned(),
        source: found.source.to_owned(),
        header: vec!["flow size, bytes", "flows up to it"],
        rows: cdf.points().iter().map(row).collect(),
        notes: vec![format!(
            "mean {:.0} bytes, interpolated linearly between the points",
            cdf.mean()
        )],
    })
}

fn figure(name: &str) -> Result<Option<Explanation>, Failure> {
    let source = commands::papers();
    if !source.figures().map_err(Failure::bad_input)?.iter().any(|id| id == name) {
        return Ok(None);
    }
    let figure = source.figure(name).map_err(Failure::bad_input)?;
    let row = |claim: &headrace_lab::claims::figure::Claim| {
        let published = format!("{} {}", claim.published, claim.unit).trim_end().to_owned();
        vec![claim.id.clone(), published, claim.what.clone(), claim.measure.clone()]
    };
    Ok(Some(Explanation {
        kind: "figure",
        name: name.to_owned(),
        summary: format!("{}\n{}", figure.title, figure.shows.trim()),
        source: figure.sources.join("; "),
        header: vec!["claim", "published", "what", "measured as"],
        rows: figure.claims.iter().map(row).collect(),
        notes: figure.choices.iter().map(|choice| format!("Choice: {choice}.")).collect(),
    }))
}

impl Explanation {
    fn to_text(&self) -> String {
        let mut text = format!("{}: {}\n{}\n", self.name, self.kind, self.summary);
        if !self.source.is_empty() {
            text.push_str(&format!("Source: {}\n", self.source));
        }
        if !self.rows.is_empty() {
            let terminal = show::on_terminal();
            text.push_str(&show::text_table(&self.header, self.rows.clone(), terminal));
            text.push('\n');
        }
        text + &self.notes.join("\n")
    }

    fn to_json(&self) -> Value {
        let row = |row: &Vec<String>| -> Value {
            self.header
                .iter()
                .zip(row)
                .map(|(key, cell)| ((*key).to_owned(), json!(cell)))
                .collect()
        };
        json!({
            "name": self.name,
            "kind": self.kind,
            "summary": self.summary,
            "source": self.source,
            "entries": self.rows.iter().map(row).collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }
}
