//! Result folders that appear whole or not at all: written beside their place under another name,
//! renamed at the end, removed if anything goes wrong before.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::schema::TABLES;

/// Names of the files of a result folder beside the tables.
pub const JSON_FILES: [&str; 2] = ["manifest.json", "summary.json"];

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
    /// What is at its place is not a result folder, and would not be replaced if asked to.
    #[error("{} exists and {reason}, so --force does not replace it; choose another --out",
        .place.display())]
    NotResults {
        /// What is there.
        place: PathBuf,
        /// Why it is no result folder.
        reason: String,
    },
    /// What should hold it is not a folder.
    #[error("{} is not a folder, so nothing can be written below it; choose another --out",
        .0.display())]
    NotAFolder(PathBuf),
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

/// Why what is at a place is not a folder that a run wrote, and nothing else, or an empty one.
fn not_results(place: &Path) -> io::Result<Option<String>> {
    let kind = fs::symlink_metadata(place)?.file_type();
    if kind.is_symlink() {
        return Ok(Some("is a symbolic link".to_owned()));
    }
    if !kind.is_dir() {
        return Ok(Some("is not a folder".to_owned()));
    }
    let known =
        |name: &str| JSON_FILES.contains(&name) || TABLES.iter().any(|table| table.file == name);
    let mut names = Vec::new();
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        names.push((!known(&name) || !entry.file_type()?.is_file(), name));
    }
    names.sort();
    if let Some((true, name)) = names.last() {
        return Ok(Some(format!("holds `{name}`, which no run wrote")));
    }
    let whole = JSON_FILES.iter().all(|file| names.iter().any(|(_, name)| name == file));
    Ok((!whole && !names.is_empty()).then(|| "is not a result folder".to_owned()))
}

/// What of the folders above a place is there but is no folder.
fn not_a_folder(place: &Path) -> Option<PathBuf> {
    let above = place.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
    let nearest = above.into_iter().find(|path| fs::symlink_metadata(path).is_ok())?;
    (!nearest.is_dir()).then(|| nearest.to_owned())
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
        if let Some(above) = not_a_folder(place) {
            return Err(FolderError::NotAFolder(above));
        }
        let exists = fs::symlink_metadata(place).is_ok();
        if exists && let Some(reason) = not_results(place).map_err(failed)? {
            return Err(FolderError::NotResults { place: place.to_owned(), reason });
        }
        if exists && !force {
            return Err(FolderError::Exists(place.to_owned()));
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
        let refused = |place: &Path| match write(place, true, "") {
            Err(FolderError::NotResults { reason, .. }) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(&place), "holds `chapter1.tex`, which no run wrote");
        assert_eq!(names(&place), ["chapter1.tex"]);
        // Even beside what a run wrote.
        let run = root.path().join("run");
        write(&run, false, "").unwrap();
        fs::write(run.join("notes.txt"), "").unwrap();
        assert_eq!(refused(&run), "holds `notes.txt`, which no run wrote");
        assert_eq!(names(&run), ["manifest.json", "notes.txt", "summary.json"]);
        fs::remove_file(run.join("notes.txt")).unwrap();
        fs::remove_file(run.join("summary.json")).unwrap();
        fs::create_dir(run.join("summary.json")).unwrap();
        assert_eq!(refused(&run), "holds `summary.json`, which no run wrote");
    }

    #[test]
    fn files_and_links_are_not_replaced_by_folders() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "mine").unwrap();
        assert!(matches!(write(&file, true, ""), Err(FolderError::NotResults { .. })));
        assert!(matches!(write(&file, false, ""), Err(FolderError::NotResults { .. })));
        let below = write(&file.join("a/b"), false, "");
        assert!(matches!(below, Err(FolderError::NotAFolder(path)) if path == file));
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        #[cfg(unix)]
        {
            let (run, link) = (root.path().join("run"), root.path().join("link"));
            write(&run, false, "").unwrap();
            std::os::unix::fs::symlink(&run, &link).unwrap();
            assert!(matches!(write(&link, true, ""), Err(FolderError::NotResults { .. })));
            assert!(fs::symlink_metadata(&link).unwrap().file_type().is_symlink());
        }
    }
}
