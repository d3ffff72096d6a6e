//! Runs a figure, judges its claims and draws its picture.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::expr::ExprError;
use super::figure::{Figure, SizeName};
use super::grid::{Grid, GridError, GridProgress};
use super::picture;
use super::report::{self, ClaimResult, PanelData};
use super::source::{Source, SourceError};

/// How to reproduce.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Which of the figure's sizes.
    pub size: SizeName,
    /// Seeds a point instead of the figure's own number; at least 1.
    pub seeds: Option<u64>,
    /// Threads; a simulation runs on one.
    pub threads: usize,
}

/// A figure, reproduced.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// `paper/figure`.
    pub id: String,
    /// The figure.
    pub figure: Figure,
    /// Its claims.
    pub claims: Vec<ClaimResult>,
    /// The data of its panels.
    pub panels: Vec<PanelData>,
    /// The size that was run.
    pub size: SizeName,
    /// Simulations made.
    pub runs: usize,
    /// Their packet-hops.
    pub packet_hops: u64,
}

/// Why a figure could not be reproduced.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// The figure cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A run went wrong.
    #[error("{id}: {error}")]
    Grid {
        /// The figure.
        id: String,
        /// Which run, and why.
        error: GridError,
    },
    /// An expression does not fit what was run.
    #[error("{id}: {error}")]
    Expr {
        /// The figure.
        id: String,
        /// Which, and why.
        error: ExprError,
    },
    /// The picture cannot be drawn.
    #[error("{id}: the picture cannot be drawn: {reason}")]
    Picture {
        /// The figure.
        id: String,
        /// Why.
        reason: String,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {error}", .path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl ReproduceError {
    /// Whether what was asked for is at fault, not a run.
    pub fn is_bad_input(&self) -> bool {
        match self {
            ReproduceError::Source(_) | ReproduceError::Expr { .. } => true,
            ReproduceError::Grid { error: GridError::Scenario { .. }, .. } => true,
            ReproduceError::Grid { error: GridError::Run { error, .. }, .. } => {
                error.is_bad_input()
            }
            _ => false,
        }
    }

    /// Whether it was asked to stop.
    pub fn is_interruption(&self) -> bool {
        matches!(self, ReproduceError::Grid { error: GridError::Interrupted, .. })
    }
}

/// Runs one figure and judges its claims.
///
/// # Errors
/// See [`ReproduceError`].
pub fn reproduce(
    source: &Source,
    id: &str,
    options: &Options,
    stop: &AtomicBool,
    progress: &(dyn Fn(GridProgress) + Sync),
) -> Result<Reproduction, ReproduceError> {
    let figure = source.figure(id)?;
    let grid = match (&figure.scenario, figure.size(options.size)) {
        (Some(file), Some(size)) => {
            let base = source.scenario(id, file)?;
            let mut size = size.clone();
            size.seeds = options.seeds.unwrap_or(size.seeds);
            Grid::run(&figure, &size, &base, options.threads, stop, progress)
                .map_err(|error| ReproduceError::Grid { id: id.to_owned(), error })?
        }
        _ => Grid::of_table(&figure),
    };
    let unfit = |error| ReproduceError::Expr { id: id.to_owned(), error };
    let claims = report::claims(id, &figure, &grid, options.size).map_err(unfit)?;
    let panels = figure.panels.iter().map(|panel| report::panel(&figure, panel, &grid));
    let panels = panels.collect::<Result<_, _>>().map_err(unfit)?;
    let (runs, packet_hops, size) = (grid.runs, grid.packet_hops, options.size);
    Ok(Reproduction { id: id.to_owned(), figure, claims, panels, size, runs, packet_hops })
}

impl Reproduction {
    /// Writes `<paper>/<figure>.svg` and `.csv` below `out`, each whole or not at all.
    ///
    /// # Errors
    /// The picture cannot be drawn, or a file not written.
    pub fn write(&self, out: &Path) -> Result<(), ReproduceError> {
        let reason = |reason: String| ReproduceError::Picture { id: self.id.clone(), reason };
        let svg = picture::draw(&self.figure, &self.panels).map_err(reason)?;
        write_whole(&out.join(format!("{}.svg", self.id)), svg.as_bytes())?;
        let mut csv = Vec::new();
        report::write_csv(&mut csv, &self.figure, &self.panels)
            .map_err(|error| reason(error.to_string()))?;
        write_whole(&out.join(format!("{}.csv", self.id)), &csv)
    }
}

/// Writes `claims.json` below `out`, whole or not at all.
///
/// # Errors
/// It cannot be written.
pub fn write_claims(out: &Path, claims: &[ClaimResult]) -> Result<(), ReproduceError> {
    let json = serde_json::to_value(claims).unwrap_or_default();
    write_whole(&out.join("claims.json"), format!("{json:#}\n").as_bytes())
}

/// Writes a file beside its place and moves it there.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), ReproduceError> {
    let write = || -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.prefix(".partial-").tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| ReproduceError::Output { path: path.to_owned(), error })
}
