//! What a reproduction came to: claims with their verdicts, and the measured data of each panel.

use std::io::Write;

use serde::Serialize;

use super::expr::{Expr, ExprError, Measured};
use super::figure::{Claim, Figure, Panel, SizeName};
use super::grid::Grid;
use super::verdict::{Interval, Verdict, band, mean_and_interval, verdict};

/// A claim, measured: an entry of `claims.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimResult {
    /// `paper/figure/claim`.
    pub id: String,
    /// The paper.
    pub paper: String,
    /// The figure, without the paper.
    pub figure: String,
    /// What is claimed.
    pub what: String,
    /// The published number; 1 (true) for a shape.
    pub published: f64,
    /// The mean over seeds; null where a run lacks what is measured.
    pub measured: Option<f64>,
    /// 95 % confidence interval of the mean over seeds; null as `measured`.
    pub interval: Option<Interval>,
    /// Where the measured value must lie for the claim to hold; an open end is null.
    pub band: [Option<f64>; 2],
    /// Unit of the numbers; may be empty.
    pub unit: String,
    /// Seeds that were run.
    pub seeds: usize,
    /// `quick`, `full`; a table is always `full`.
    pub size: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// Why the claim does not hold; null where it does, or where it is not known.
    pub cause: Option<String>,
}

/// A panel's data.
#[derive(Clone, Debug)]
pub struct PanelData {
    /// Curves, in the order of the variants drawn.
    pub curves: Vec<Curve>,
}

/// A variant's values in a panel.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The variant's name.
    pub variant: String,
    /// Its label.
    pub label: String,
    /// Its values, under each seed: one a point, or a single one.
    pub by_seed: Vec<Measured>,
}

/// A value of a curve, over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// On the axis; 0 for a single value.
    pub x: f64,
    /// Mean over seeds.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Curve {
    /// The values that could be measured under every seed.
    pub fn points(&self) -> Vec<CurvePoint> {
        let count = self.by_seed.first().map_or(0, |m| m.values.len());
        let point = |i: usize| {
            let first = self.by_seed.first()?;
            let values = || self.by_seed.iter().map(|m| m.values[i]);
            let mean = values().sum::<f64>() / self.by_seed.len() as f64;
            mean.is_finite().then(|| CurvePoint {
                x: first.points.as_ref().map_or(0.0, |points| points[i]),
                mean,
                min: values().fold(f64::INFINITY, f64::min),
                max: values().fold(f64::NEG_INFINITY, f64::max),
            })
        };
        (0..count).filter_map(point).collect()
    }
}

/// The claims of a figure, measured on its grid.
///
/// # Errors
/// An expression does not fit the grid.
pub fn claims(
    id: &str,
    figure: &Figure,
    grid: &Grid,
    size: SizeName,
) -> Result<Vec<ClaimResult>, ExprError> {
    figure.claims.iter().map(|claim| measured(id, claim, grid, size)).collect()
}

fn measured(
    id: &str,
    claim: &Claim,
    grid: &Grid,
    size: SizeName,
) -> Result<ClaimResult, ExprError> {
    let numbers = |text: &str| -> Result<Vec<f64>, ExprError> {
        let values = grid.measure(&Expr::parse(text)?, None)?;
        Ok(values.iter().map(|value| value.as_number().unwrap_or(f64::NAN)).collect())
    };
    let values = numbers(&claim.measure)?;
    let direction = match &claim.direction {
        Some(test) => Some(numbers(test)?.iter().all(|truth| *truth != 0.0 && !truth.is_nan())),
        None => None,
    };
    let found = verdict(claim.kind, claim.published, claim.tolerance, &values, direction);
    let (mean, interval) = mean_and_interval(&values);
    let finite = |x: f64| x.is_finite().then_some(x);
    let (paper, name) = id.split_once('/').unwrap_or((id, ""));
    Ok(ClaimResult {
        id: format!("{id}/{}", claim.id),
        paper: paper.to_owned(),
        figure: name.to_owned(),
        what: claim.what.clone(),
        published: claim.published,
        measured: finite(mean),
        interval: finite(mean).map(|_| interval),
        band: band(claim.kind, claim.published, claim.tolerance).map(finite),
        unit: claim.unit.clone(),
        seeds: grid.seeds(),
        size: if grid.runs == 0 { SizeName::Full.name() } else { size.name() },
        verdict: found,
        cause: claim.cause.clone().filter(|_| found != Verdict::Holds),
    })
}

/// A panel's data.
///
/// # Errors
/// Its expression does not fit the grid.
pub fn panel(figure: &Figure, panel: &Panel, grid: &Grid) -> Result<PanelData, ExprError> {
    let expr = Expr::parse(&panel.measure)?;
    let curve = |variant: &super::figure::Variant| {
        Ok(Curve {
            variant: variant.name.clone(),
            label: variant.label.clone(),
            by_seed: grid.measure(&expr, Some(&variant.name))?,
        })
    };
    Ok(PanelData { curves: figure.drawn(panel).map(curve).collect::<Result<_, _>>()? })
}

/// Writes the panels' data as CSV: `panel,variant,point,seed,value`. The point of a table is
/// empty; a value that could not be measured too.
///
/// # Errors
/// Those of writing.
pub fn write_csv(out: impl Write, figure: &Figure, panels: &[PanelData]) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["panel", "variant", "point", "seed", "value"])?;
    for (panel, data) in figure.panels.iter().zip(panels) {
        for curve in &data.curves {
            for (seed, measured) in curve.by_seed.iter().enumerate() {
                for (i, value) in measured.values.iter().enumerate() {
                    let point = measured.points.as_ref().map(|points| points[i].to_string());
                    let value = if value.is_finite() { value.to_string() } else { String::new() };
                    writer.write_record([
                        panel.title.as_str(),
                        &curve.variant,
                        &point.unwrap_or_default(),
                        &(seed + 1).to_string(),
                        &value,
                    ])?;
                }
            }
        }
    }
    writer.flush()?;
    Ok(())
}
