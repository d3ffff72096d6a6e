//! How a command fails: what it says and its exit status.

use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use headrace_lab::claims::grid::GridError;
use headrace_lab::claims::reproduce::ReproduceError;
use headrace_lab::results::RunError;
use headrace_lab::scenario::Problems;

use crate::show;

/// A command that failed.
pub enum Failure {
    /// A scenario is wrong: each problem is shown at its place. Exit status 2.
    Scenario(Problems),
    /// Something else that was asked for is wrong. Exit status 2.
    BadInput(String),
    /// A run or claim failed. Exit status 1.
    Failed(String),
    /// The reader of our output went away. Exit status 0, in silence.
    NobodyReads,
}

impl Failure {
    /// A failure of what was asked for.
    pub fn bad_input(error: impl Display) -> Failure {
        Failure::BadInput(error.to_string())
    }

    /// Shows the failure on stderr.
    pub fn show(&self) {
        match self {
            Failure::Scenario(problems) => show::note(render(problems).trim_end()),
            Failure::BadInput(text) | Failure::Failed(text) => {
                show::note(&format!("\x1b[1;31merror:\x1b[0m {text}"));
            }
            Failure::NobodyReads => {}
        }
    }

    /// Its exit status.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Scenario(_) | Failure::BadInput(_) => ExitCode::from(2),
            Failure::Failed(_) => ExitCode::from(1),
            Failure::NobodyReads => ExitCode::SUCCESS,
        }
    }
}

/// Problems with the source's lines on a terminal; else one line a problem.
fn render(problems: &Problems) -> String {
    let plain = || problems.to_string();
    if !io::stderr().is_terminal() {
        return plain();
    }
    let handler = miette::GraphicalReportHandler::new();
    let mut text = String::new();
    match problems.iter().try_for_each(|problem| handler.render_report(&mut text, problem)) {
        Ok(()) => text,
        Err(_) => plain(),
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Failure {
        Failure::Scenario(problems)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Scenario(problems) => Failure::Scenario(problems),
            error if error.is_bad_input() => Failure::bad_input(error),
            error => Failure::Failed(error.to_string()),
        }
    }
}

impl From<ReproduceError> for Failure {
    fn from(error: ReproduceError) -> Failure {
        match error {
            ReproduceError::Grid { error: GridError::Scenario { problems, .. }, .. } => {
                Failure::Scenario(problems)
            }
            error if error.is_bad_input() => Failure::bad_input(error),
            error => Failure::Failed(error.to_string()),
        }
    }
}

/// Failing to write to stdout: a closed pipe is no failure.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::NobodyReads,
            _ => Failure::Failed(format!("cannot write: {error}")),
        }
    }
}
