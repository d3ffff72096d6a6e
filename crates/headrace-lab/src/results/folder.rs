//! Result folders that appear whole or not at all: written beside their place under another name,
//! renamed at the end, removed if anything goes wrong before.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A result folder being written.
#[derive(Debug)]
pub struct PendingFolder {
    place: PathBuf,
    replace: bool,
    pending: TempDir,
}

/// Why a folder cannot be begun.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// There is something at its place.
    #[error("{} exists; choose another --out, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// What is at its place is not a result folder: it is not replaced even when asked to.
    #[error("{} is not a result folder, so --force does not replace it; choose another --out",
        .0.display())]
    NotResults(PathBuf),
    /// It cannot be made.
    #[error("cannot write to {}: {error}", .place.display())]
    Io {
        /// Where.
        place: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// The folder that holds `place`.
fn parent_of(place: &Path) -> &Path {
    match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether something that a run wrote, or nothing, is in the folder.
fn is_result_folder(folder: &Path) -> io::Result<bool> {
    let whole = ["manifest.json", "summary.json"].iter().all(|name| folder.join(name).is_file());
    Ok(folder.is_dir() && (whole || fs::read_dir(folder)?.next().is_none()))
}

impl PendingFolder {
    /// Begins the folder that will be at `place`, in a hidden folder beside it. Folders above it
    /// are made as needed.
    ///
    /// # Errors
    /// Something is at `place` and `force` is not set, or is not a result folder; or the disk
    /// refuses.
    pub fn begin(place: &Path, force: bool) -> Result<PendingFolder, FolderError> {
        let failed = |error| FolderError::Io { place: place.to_owned(), error };
        let exists = fs::symlink_metadata(place).is_ok();
        if exists && !force {
            return Err(FolderError::Exists(place.to_owned()));
        }
        if exists && !is_result_folder(place).map_err(failed)? {
            return Err(FolderError::NotResults(place.to_owned()));
        }
        let parent = parent_of(place);
        fs::create_dir_all(parent).map_err(failed)?;
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let pending = hidden_folder(parent, &name).map_err(failed)?;
        Ok(PendingFolder { place: place.to_owned(), replace: exists, pending })
    }

    /// Where to write.
    pub fn path(&self) -> &Path {
        self.pending.path()
    }

    /// Where it will be.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Moves the folder to its place.
    ///
    /// # Errors
    /// Those of renaming; nothing of the new folder is then left, and what was there before is.
    pub fn commit(self) -> io::Result<PathBuf> {
        let old = if self.replace { Some(self.set_old_aside()?) } else { None };
        if let Err(error) = fs::rename(self.pending.path(), &self.place) {
            if let Some(old) = old {
                fs::rename(old.path().join("old"), &self.place)?;
            }
            return Err(error);
        }
        // It is at its place: nothing is left under the hidden name to remove.
        let _ = self.pending.keep();
        Ok(self.place)
    }

    /// Moves what is at the place into a hidden folder, which removes it in the end.
    fn set_old_aside(&self) -> io::Result<TempDir> {
        let old = hidden_folder(parent_of(&self.place), "old")?;
        fs::rename(&self.place, old.path().join("old"))?;
        Ok(old)
    }
}

/// A new folder in `parent` that is removed when dropped, readable as the user's mask says.
fn hidden_folder(parent: &Path, name: &str) -> io::Result<TempDir> {
    let prefix = format!(".{name}.partial-");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    builder.tempdir_in(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn write(place: &Path, force: bool, content: &str) -> Result<PathBuf, FolderError> {
        let folder = PendingFolder::begin(place, force)?;
        fs::write(folder.path().join("manifest.json"), content).unwrap();
        fs::write(folder.path().join("summary.json"), content).unwrap();
        Ok(folder.commit().unwrap())
    }

    #[test]
    fn appears_whole_and_is_replaced_only_when_asked() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("deep/run");
        write(&place, false, "1").unwrap();
        assert!(matches!(write(&place, false, "2"), Err(FolderError::Exists(_))));
        assert_eq!(fs::read_to_string(place.join("summary.json")).unwrap(), "1");
        write(&place, true, "3").unwrap();
        assert_eq!(fs::read_to_string(place.join("summary.json")).unwrap(), "3");
        assert_eq!(names(&root.path().join("deep")), ["run"]);
    }

    #[test]
    fn leaves_nothing_when_dropped() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("run");
        let folder = PendingFolder::begin(&place, false).unwrap();
        fs::write(folder.path().join("flows.parquet"), "half").unwrap();
        assert_eq!(names(root.path()).len(), 1);
        drop(folder);
        assert_eq!(names(root.path()), Vec::<String>::new());
    }

    #[test]
    fn force_spares_what_is_not_a_result_folder() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("thesis");
        fs::create_dir(&place).unwrap();
        fs::write(place.join("chapter1.tex"), "").unwrap();
        assert!(matches!(write(&place, true, ""), Err(FolderError::NotResults(_))));
        assert_eq!(names(&place), ["chapter1.tex"]);
    }
}
