//! The `headrace` command.

mod commands;
mod failure;
mod interrupt;
mod show;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A congestion-control laboratory: simulate datacenter networks packet by packet, compare
/// congestion-control laws, reproduce published figures.
#[derive(Parser)]
#[command(
    name = "headrace",
    version,
    propagate_version = true,
    after_help = "Human output goes to stderr, data to stdout. \
                  Exit status: 0 success, 1 a run or a claim failed, 2 bad input.\n\n\
                  Start with:\n  headrace run scenarios/quickstart.toml\n  \
                  headrace reproduce bcc"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(commands::run::Args),
    Check(commands::check::Args),
    List(commands::list::Args),
    Explain(commands::explain::Args),
    Reproduce(commands::reproduce::Args),
    Compare(commands::compare::Args),
    Flows(commands::flows::Args),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => commands::run::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::List(args) => commands::list::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Flows(args) => commands::flows::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.show();
            failure.exit_code()
        }
    }
}
