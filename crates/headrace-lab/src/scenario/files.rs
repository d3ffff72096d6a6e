//! Reads the files that a scenario consists of, none of them without a bound.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// Most bytes of a scenario file.
pub const SCENARIO_BYTES: u64 = 16 << 20;
/// Most bytes of a CDF.
pub const CDF_BYTES: u64 = 16 << 20;
/// Most bytes of a flow list in CSV: some hundred million flows.
pub const LIST_BYTES: u64 = 4 << 30;

/// Reads a text file of at most `most` bytes. A pipe will do; a folder and a device will not.
///
/// # Errors
/// Those of reading; what is no file or pipe, is too long, or is no UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    if !metadata.is_file() && !is_pipe(&metadata) {
        return Err(io::Error::other("it is a device, not a file"));
    }
    let mut text = String::new();
    let length = file.by_ref().take(most + 1).read_to_string(&mut text)?;
    if length as u64 > most {
        return Err(io::Error::other(format!("it is longer than {} MiB", most >> 20)));
    }
    Ok(text)
}

#[cfg(unix)]
fn is_pipe(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_fifo() || metadata.file_type().is_socket()
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_devices_and_long_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        std::fs::write(&file, "0123456789").unwrap();
        assert_eq!(read_text(&file, 10).unwrap(), "0123456789");
        let error = |path: &Path, most| read_text(path, most).unwrap_err().to_string();
        assert_eq!(error(&file, 9), "it is longer than 0 MiB");
        assert_eq!(error(folder.path(), 10), "it is a folder");
        if Path::new("/dev/zero").exists() {
            assert_eq!(error(Path::new("/dev/zero"), 10), "it is a device, not a file");
        }
    }
}
