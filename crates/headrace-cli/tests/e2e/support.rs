//! Runs the built `headrace` and looks at what it leaves behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A scenario that runs in well under a second.
pub const SMALL: &str = r#"
description = "two leaves, a few flows"

[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "100Gbps"
delay = "1us"

[switch]
pool = "3MB"
alpha = 4
ecn = { k = "200KB" }

[trace]
port_interval = "20us"
rate_flows = 4

[[traffic]]
name = "websearch"
kind = "poisson"
workload = "websearch"
load = 0.3
of = "host"
flows = 60
scheme = "dctcp"
"#;

/// A folder to work in.
pub struct Place(TempDir);

impl Place {
    /// An empty one.
    pub fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    /// One with `small.toml` in it.
    pub fn with_small() -> Place {
        let place = Place::new();
        place.write("small.toml", SMALL);
        place
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The JSON in a file.
    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    /// The command, in this folder, its output caught.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headrace"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).env_remove("HEADRACE_PAPERS");
        command
    }

    /// Runs the command to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// Names in a folder below, sorted; hidden ones too.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path().join(folder)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// A finished command.
#[derive(Debug)]
pub struct Ran {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// From what it left.
    pub fn of(output: Output) -> Ran {
        Ran {
            status: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// It succeeded.
    #[track_caller]
    pub fn ok(self) -> Ran {
        assert_eq!(self.status, Some(0), "{self:?}");
        self
    }

    /// It failed with this status, and says each of these on stderr.
    #[track_caller]
    pub fn fails(self, status: i32, says: &[&str]) -> Ran {
        assert_eq!(self.status, Some(status), "{self:?}");
        for words in says {
            assert!(self.err.contains(words), "`{words}` is not in:\n{}", self.err);
        }
        self
    }
}
