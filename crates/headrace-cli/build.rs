//! Builds the papers' figures into the program, so that an installed one can reproduce them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The files below `folder`, sorted by path.
fn files_below(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files_below(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let home = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let papers = home.join("../../papers");
    println!("cargo::rerun-if-changed={}", papers.display());
    let mut files = Vec::new();
    files_below(&papers, &mut files)?;
    let mut table = String::from("&[\n");
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "toml")) {
        let name = file.strip_prefix(&papers).expect("it is below").to_string_lossy();
        let place = fs::canonicalize(file)?;
        writeln!(table, "({:?}, include_str!({:?})),", name.replace('\\', "/"), place)
            .expect("a string takes all");
    }
    table.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("papers.rs"), table)
}
