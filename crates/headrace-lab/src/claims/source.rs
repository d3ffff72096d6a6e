//! Where papers' figures come from: a folder of the file system, or files built into the program.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::figure::{Figure, FigureError};
use crate::scenario::{Problems, Scenario};

/// A file built into the program: its path below `papers/`, and its text.
pub type EmbeddedFile = (&'static str, &'static str);

/// Where figures are.
#[derive(Clone, Debug)]
pub enum Source {
    /// A `papers` folder.
    Folder(PathBuf),
    /// Files built in, sorted by path.
    Embedded(&'static [EmbeddedFile]),
}

/// A figure cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A file cannot be read.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A figure file is wrong.
    #[error("{path}: {error}")]
    Figure {
        /// The file.
        path: String,
        /// What is wrong.
        error: FigureError,
    },
    /// There is no such paper or figure.
    #[error("there is no paper or figure `{name}`; there are: {}", .known.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The figures there are.
        known: Vec<String>,
    },
}

impl Source {
    /// The `papers` folder of `HEADRACE_PAPERS`, else the nearest one upwards of the working
    /// directory that holds a figure, else the files built in.
    pub fn find(embedded: &'static [EmbeddedFile]) -> Source {
        if let Some(folder) = std::env::var_os("HEADRACE_PAPERS") {
            return Source::Folder(folder.into());
        }
        let here = std::env::current_dir().unwrap_or_default();
        let folders = here.ancestors().map(|folder| folder.join("papers"));
        let holds_figures =
            |folder: &PathBuf| !figures_below(folder).unwrap_or_default().is_empty();
        match folders.into_iter().find(holds_figures) {
            Some(folder) => Source::Folder(folder),
            None => Source::Embedded(embedded),
        }
    }

    /// The ids (`paper/figure`) of all figures, sorted.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn figures(&self) -> Result<Vec<String>, SourceError> {
        match self {
            Source::Folder(folder) => figures_below(folder)
                .map_err(|error| SourceError::Io { path: folder.clone(), error }),
            Source::Embedded(files) => Ok(files
                .iter()
                .filter_map(|(path, _)| path.strip_suffix("/figure.toml"))
                .map(str::to_owned)
                .collect()),
        }
    }

    /// The ids of the figures that `names` (papers or figures) ask for; none asks for all.
    ///
    /// # Errors
    /// A name is neither, or the folder cannot be read.
    pub fn select(&self, names: &[String]) -> Result<Vec<String>, SourceError> {
        let known = self.figures()?;
        let asks = |name: &str, id: &str| {
            id.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        for name in names {
            if !known.iter().any(|id| asks(name, id)) {
                return Err(SourceError::Unknown { name: name.clone(), known });
            }
        }
        let wanted = |id: &String| names.is_empty() || names.iter().any(|name| asks(name, id));
        Ok(known.into_iter().filter(wanted).collect())
    }

    fn read(&self, path: &str) -> Result<String, SourceError> {
        match self {
            Source::Folder(folder) => {
                let path = folder.join(path);
                fs::read_to_string(&path).map_err(|error| SourceError::Io { path, error })
            }
            Source::Embedded(files) => {
                let found = files.iter().find(|(name, _)| *name == path);
                found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| SourceError::Io {
                    path: path.into(),
                    error: io::ErrorKind::NotFound.into(),
                })
            }
        }
    }

    /// A figure by its id.
    ///
    /// # Errors
    /// It cannot be read, or its file is wrong.
    pub fn figure(&self, id: &str) -> Result<Figure, SourceError> {
        let path = format!("{id}/figure.toml");
        let text = self.read(&path)?;
        Figure::parse(&text).map_err(|error| SourceError::Figure { path, error })
    }

    /// The text of a figure's scenario, with what it takes to parse it under overrides.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn scenario(&self, id: &str, file: &str) -> Result<ScenarioText, SourceError> {
        let text = self.read(&format!("{id}/{file}"))?;
        let base = match self {
            Source::Folder(folder) => folder.join(id),
            Source::Embedded(_) => PathBuf::from("."),
        };
        Ok(ScenarioText { name: id.replace('/', "-"), text, base })
    }
}

/// A scenario file, read and not yet parsed.
#[derive(Clone, Debug)]
pub struct ScenarioText {
    name: String,
    text: String,
    base: PathBuf,
}

impl ScenarioText {
    /// The scenario under overrides.
    ///
    /// # Errors
    /// The file or an override is wrong.
    pub fn parse(&self, sets: &[String]) -> Result<Scenario, Problems> {
        Scenario::parse(&self.name, &self.text, &self.base, sets)
    }
}

/// Folders `paper/figure` that hold a `figure.toml`, sorted.
fn figures_below(papers: &Path) -> io::Result<Vec<String>> {
    let folders = |parent: &Path| -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(parent)?.collect::<io::Result<Vec<_>>>()?;
        Ok(entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_dir()).collect())
    };
    let mut ids = Vec::new();
    for paper in folders(papers)? {
        for figure in folders(&paper)? {
            if figure.join("figure.toml").is_file() {
                let name = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
                let parts = [name(&paper), name(&figure)].map(Option::unwrap_or_default);
                ids.push(parts.join("/"));
            }
        }
    }
    ids.sort();
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &[EmbeddedFile] =
        &[("a/fig1/figure.toml", ""), ("a/fig1/s.toml", "x"), ("b/fig1/figure.toml", "")];

    #[test]
    fn every_figure_of_the_papers_is_sound() {
        let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
        let source = Source::Folder(papers);
        let ids = source.figures().unwrap();
        assert!(ids.contains(&"bcc/fig2".to_owned()));
        for id in ids {
            let figure = source.figure(&id).unwrap();
            assert!(!figure.sources.is_empty() && !figure.claims.is_empty(), "{id}");
        }
    }

    #[test]
    fn names_select_papers_and_figures() {
        let source = Source::Embedded(FILES);
        let select = |names: &[&str]| {
            source.select(&names.iter().map(|n| n.to_string()).collect::<Vec<_>>())
        };
        assert_eq!(select(&[]).unwrap(), ["a/fig1", "b/fig1"]);
        assert_eq!(select(&["b"]).unwrap(), ["b/fig1"]);
        assert_eq!(select(&["a/fig1"]).unwrap(), ["a/fig1"]);
        let error = select(&["a/fig"]).unwrap_err().to_string();
        assert!(error.contains("a/fig1, b/fig1"));
    }
}
