//! How numbers and tables look.

use std::io::{self, IsTerminal, Write};

pub use headrace_lab::words::{
    bits_per_second, bytes, count, digits, nanoseconds, percent, things, time,
};

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use serde_json::Value;

/// A number that may be missing.
pub fn maybe(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), show)
}

/// A table whose first column is text and whose others are numbers.
pub fn table(header: &[&str], rows: Vec<Vec<String>>, terminal: bool) -> String {
    let mut table = new_table(header, rows, terminal);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// A table of text; without a line on top where the header is empty.
pub fn text_table(header: &[&str], rows: Vec<Vec<String>>, terminal: bool) -> String {
    new_table(header, rows, terminal).trim_fmt()
}

/// On a terminal, with lines and wrapped to its width; elsewhere plain and as wide as its content.
fn new_table(header: &[&str], rows: Vec<Vec<String>>, terminal: bool) -> Table {
    let mut table = Table::new();
    table.load_style(if terminal { presets::UTF8_HORIZONTAL_ONLY } else { presets::NOTHING });
    let arrangement =
        if terminal { ContentArrangement::Dynamic } else { ContentArrangement::Disabled };
    table.set_content_arrangement(arrangement);
    if !header.is_empty() {
        table.set_header(header);
    }
    for row in rows {
        table.add_row(row.into_iter().map(Cell::new).collect::<Vec<_>>());
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

/// Whether stdout is a terminal.
pub fn on_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether stderr is a terminal.
pub fn stderr_on_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Writes a line to stdout.
///
/// # Errors
/// Those of writing, as when the reader went away.
pub fn line(text: &str) -> io::Result<()> {
    writeln!(anstream::stdout(), "{text}")
}

/// Writes a line for people to stderr. A note that cannot be written is lost: it is no reason to
/// fail.
pub fn note(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Writes JSON to stdout.
///
/// # Errors
/// As [`line`].
pub fn json(value: &Value) -> io::Result<()> {
    line(&format!("{value:#}"))
}
