//! Runs the built `headrace` from end to end.

mod bad_input;
mod commands;
mod process;
mod results;
mod support;
