//! `figure.toml`: a figure of a paper, its runs, its picture and its claims.
//!
//! ```toml
//! title = "FCT of web search against the load"
//! shows = "one or two sentences: what the figure is for"
//! sources = ["BCC section 5, figure 2"]
//! choices = ["what the paper leaves open, and what was chosen"]
//! scenario = "scenario.toml"           # beside this file; absent for a table
//!
//! [axis]                               # absent for a table
//! title = "Load of the core"
//! unit = ""
//! set = ["traffic.0.load={}"]          # {} is the point
//!
//! [quick]                              # and [full], the paper's own size
//! points = [0.3, 0.6, 0.9]
//! seeds = 3
//! set = ["traffic.0.flows=20000"]
//!
//! [[variant]]                          # a curve
//! name = "bcc"                         # letters, digits, _
//! label = "BCC"
//! set = ["switch.ecn.k=720KB"]         # for a table: values = { ports = 48 }
//!
//! [[panel]]
//! title = "Small flows, 99th percentile"
//! y = "FCT over DCTCP K = 720 KB's"    # title of the axis, with its unit
//! measure = "self[*].fct_ns.small.p99 / k720[*].fct_ns.small.p99"
//! published = [{ variant = "bcc", x = 0.9, y = 0.056 }]   # x or y alone: a line
//!
//! [[claim]]
//! id = "small-p99-high-load"
//! what = "one sentence"
//! kind = "points"      # ratio points value at_least at_most exact shape: see verdict::Kind
//! published = 94.4
//! unit = "%"
//! tolerance = 0.5      # for kind = "exact" alone
//! measure = "100 * (1 - bcc[0.9].fct_ns.small.p99 / k720[0.9].fct_ns.small.p99)"
//! direction = "bcc[0.9].loss_rate < k720[0.9].loss_rate"  # optional test of the direction
//! cause = "shown only where the claim does not hold"
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;

use super::expr::{Data, Expr, ExprError};
use super::verdict::Kind;

/// A figure as its file states it, checked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Title.
    pub title: String,
    /// What it is for.
    pub shows: String,
    /// Where it is published.
    pub sources: Vec<String>,
    /// What the paper leaves open, and what was chosen.
    #[serde(default)]
    pub choices: Vec<String>,
    /// The base scenario, a file beside this one; `None` for a table that needs no run.
    pub scenario: Option<String>,
    /// The axis of the points.
    pub axis: Option<Axis>,
    /// The size for a first look.
    pub quick: Option<Size>,
    /// The paper's own size.
    pub full: Option<Size>,
    /// Curves or rows.
    #[serde(rename = "variant")]
    pub variants: Vec<Variant>,
    /// Panels of the picture.
    #[serde(rename = "panel", default)]
    pub panels: Vec<Panel>,
    /// Claims.
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
}

/// The axis along which the scenario varies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Title.
    pub title: String,
    /// Unit of the points; may be empty.
    #[serde(default)]
    pub unit: String,
    /// Overrides (`path=value`) of the scenario, `{}` standing for the point.
    pub set: Vec<String>,
}

/// How much is run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Points of the axis, ascending.
    pub points: Vec<f64>,
    /// Seeds 1, 2, .. a point.
    pub seeds: u64,
    /// Overrides of the scenario.
    #[serde(default)]
    pub set: Vec<String>,
}

/// A curve, or a row of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Name in expressions: letters, digits and `_`.
    pub name: String,
    /// Name in legends.
    pub label: String,
    /// Overrides of the scenario.
    #[serde(default)]
    pub set: Vec<String>,
    /// Numbers of a row of a table.
    #[serde(default)]
    pub values: BTreeMap<String, f64>,
}

/// A panel of the picture.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Title.
    pub title: String,
    /// Title of the vertical axis, with the unit.
    pub y: String,
    /// What is drawn for each variant, which is `self`.
    pub measure: String,
    /// Variants that are drawn; empty: all.
    #[serde(default)]
    pub variants: Vec<String>,
    /// Published values, drawn beside the measured.
    #[serde(default)]
    pub published: Vec<Published>,
}

/// A published value of a panel: a point, or a line where only one coordinate is given.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The variant it belongs to.
    pub variant: String,
    /// On the axis of the points.
    pub x: Option<f64>,
    /// On the vertical axis.
    pub y: Option<f64>,
}

/// A claim.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Name within the figure.
    pub id: String,
    /// What is claimed.
    pub what: String,
    /// What kind of number it publishes.
    pub kind: Kind,
    /// The published number; 1 for [`Kind::Shape`].
    pub published: f64,
    /// Its unit; may be empty.
    #[serde(default)]
    pub unit: String,
    /// For [`Kind::Exact`]: how far off the printed number's rounding may be.
    #[serde(default)]
    pub tolerance: f64,
    /// What is measured.
    pub measure: String,
    /// A test of the direction, where the kind's own does not fit.
    pub direction: Option<String>,
    /// Why it does not hold, where that was found.
    pub cause: Option<String>,
}

/// A figure file is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FigureError {
    /// It is not TOML, or has other keys than a figure's.
    #[error("{0}")]
    Toml(String),
    /// An expression is wrong.
    #[error("{place}: {error}")]
    Expr {
        /// The claim or panel.
        place: String,
        /// What is wrong.
        error: ExprError,
    },
    /// Parts of it do not go together.
    #[error("{0}")]
    Inconsistent(String),
}

/// Which of a figure's sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeName {
    /// For a first look.
    Quick,
    /// The paper's own.
    Full,
}

impl SizeName {
    /// As `claims.json` writes it.
    pub fn name(self) -> &'static str {
        match self {
            SizeName::Quick => "quick",
            SizeName::Full => "full",
        }
    }
}

/// A figure without measurements: every number is missing, names and points are there.
struct Unmeasured<'a> {
    figure: &'a Figure,
    points: &'a [f64],
}

impl Data for Unmeasured<'_> {
    fn points(&self) -> &[f64] {
        self.points
    }
    fn has_variant(&self, variant: &str) -> bool {
        self.figure.variants.iter().any(|v| v.name == variant)
    }
    fn number(&self, _: &str, _: usize, _: &str) -> Option<f64> {
        None
    }
}

impl Figure {
    /// Parses and checks a figure file.
    ///
    /// # Errors
    /// It is no figure file, or its parts do not go together.
    pub fn parse(text: &str) -> Result<Figure, FigureError> {
        let parsed = toml_edit::de::from_str(text);
        let figure: Figure = parsed.map_err(|error| FigureError::Toml(error.to_string()))?;
        figure.check()?;
        Ok(figure)
    }

    /// The size of that name; `None` for a table.
    pub fn size(&self, name: SizeName) -> Option<&Size> {
        match name {
            SizeName::Quick => self.quick.as_ref(),
            SizeName::Full => self.full.as_ref(),
        }
    }

    /// The variants that a panel draws.
    pub fn drawn<'a>(&'a self, panel: &'a Panel) -> impl Iterator<Item = &'a Variant> {
        let wanted = |v: &&Variant| panel.variants.is_empty() || panel.variants.contains(&v.name);
        self.variants.iter().filter(wanted)
    }

    fn check(&self) -> Result<(), FigureError> {
        let wrong = |text: String| Err(FigureError::Inconsistent(text));
        for variant in &self.variants {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if variant.name.is_empty() || variant.name == "self" || !variant.name.chars().all(plain)
            {
                return wrong(format!("variant `{}`: letters, digits and _ alone", variant.name));
            }
        }
        let runs = (self.scenario.is_some(), self.axis.is_some(), self.quick.is_some());
        let runs = (runs, self.full.is_some());
        if runs != ((true, true, true), true) && runs != ((false, false, false), false) {
            return wrong("scenario, [axis], [quick] and [full] go together".to_owned());
        }
        for size in [&self.quick, &self.full].into_iter().flatten() {
            if size.points.is_empty() || !size.points.is_sorted() || size.seeds == 0 {
                return wrong("a size needs ascending points and at least one seed".to_owned());
            }
            self.check_expressions(&size.points)?;
        }
        if self.quick.is_none() {
            self.check_expressions(&[])?;
        }
        for (i, claim) in self.claims.iter().enumerate() {
            if self.claims[..i].iter().any(|other| other.id == claim.id) {
                return wrong(format!("two claims are called `{}`", claim.id));
            }
        }
        Ok(())
    }

    /// Every expression parses, and every variant and point it names is there.
    fn check_expressions(&self, points: &[f64]) -> Result<(), FigureError> {
        let data = Unmeasured { figure: self, points };
        let check = |place: &str, text: &str, this: Option<&str>| {
            let checked = Expr::parse(text).and_then(|expr| expr.eval(&data, this));
            checked.map_err(|error| FigureError::Expr { place: place.to_owned(), error })
        };
        for claim in &self.claims {
            let place = format!("claim `{}`", claim.id);
            for text in std::iter::once(&claim.measure).chain(&claim.direction) {
                if check(&place, text, None)?.as_number().is_none() {
                    let text =
                        format!("{place}: `{text}` is a list; reduce it with max, least, ..");
                    return Err(FigureError::Inconsistent(text));
                }
            }
        }
        for panel in &self.panels {
            let place = format!("panel `{}`", panel.title);
            for variant in self.drawn(panel) {
                check(&place, &panel.measure, Some(&variant.name))?;
            }
            for name in panel.published.iter().map(|p| &p.variant).chain(&panel.variants) {
                if !data.has_variant(name) {
                    let text = format!("{place}: there is no variant `{name}`");
                    return Err(FigureError::Inconsistent(text));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"
        title = "t"
        shows = "s"
        sources = ["p"]
        [[variant]]
        name = "chip"
        label = "Chip"
        values = { ports = 48 }
        [[panel]]
        title = "p"
        y = "ports"
        measure = "self.ports"
        [[claim]]
        id = "c"
        what = "w"
        kind = "exact"
        published = 48
        measure = "chip.ports"
    "#;

    #[test]
    fn a_table_needs_no_runs() {
        let figure = Figure::parse(TABLE).unwrap();
        assert_eq!(figure.claims[0].kind, Kind::Exact);
        assert!(figure.size(SizeName::Quick).is_none());
    }

    #[test]
    fn mistakes_are_named() {
        let error =
            |from: &str, to: &str| Figure::parse(&TABLE.replace(from, to)).unwrap_err().to_string();
        assert!(error("chip.ports", "chips.ports").contains("no variant `chips`"));
        assert!(error("what =", "wat =").contains("wat"));
        assert!(error("\"chip\"", "\"my chip\"").contains("letters, digits"));
        assert!(error("title = \"t\"", "title = \"t\"\nscenario = \"s\"").contains("go together"));
    }
}
