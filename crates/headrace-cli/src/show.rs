//! How numbers and tables look.

use std::io::{self, IsTerminal, Write};

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use serde_json::Value;

/// Nanoseconds in the unit that suits them, three digits.
pub fn nanoseconds(ns: f64) -> String {
    scaled(ns, &[(1e9, "s"), (1e6, "ms"), (1e3, "us")], "ns")
}

/// Bits a second in the unit that suits them.
pub fn bits_per_second(bps: f64) -> String {
    scaled(bps, &[(1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "Kb/s")], "b/s")
}

/// A count in the unit that suits it.
pub fn count(n: f64) -> String {
    scaled(n, &[(1e9, "G"), (1e6, "M"), (1e3, "k")], "")
}

/// Bytes in the unit that suits them; KB = 1000 bytes.
pub fn bytes(n: f64) -> String {
    scaled(n, &[(1e9, "GB"), (1e6, "MB"), (1e3, "KB")], "B")
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    format!("{} %", digits(100.0 * share))
}

fn scaled(value: f64, units: &[(f64, &str)], least: &str) -> String {
    let fits = |(size, _): &&(f64, &str)| value.abs() >= *size;
    let (size, unit) = units.iter().find(fits).copied().unwrap_or((1.0, least));
    format!("{} {unit}", digits(value / size)).trim_end().to_owned()
}

/// About three significant digits.
pub fn digits(value: f64) -> String {
    let magnitude = value.abs();
    let places = match magnitude {
        m if m >= 100.0 => 0,
        m if m >= 10.0 => 1,
        m if m >= 1.0 || m == 0.0 => 2,
        m if m >= 0.01 => 3,
        _ => return format!("{value:.2e}"),
    };
    let text = format!("{value:.places$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

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

/// Writes JSON to stdout.
///
/// # Errors
/// As [`line`].
pub fn json(value: &Value) -> io::Result<()> {
    line(&format!("{value:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(nanoseconds(80_123.0), "80.1 us");
        assert_eq!(bits_per_second(1e11), "100 Gb/s");
        assert_eq!(count(16_300_000.0), "16.3 M");
        assert_eq!(count(12.0), "12");
        assert_eq!(bytes(325_000.0), "325 KB");
        assert_eq!(percent(0.0008), "0.08 %");
        assert_eq!(digits(0.000_012), "1.20e-5");
        assert_eq!(digits(0.0), "0");
    }
}
