//! A list of flows from a CSV or Parquet file.

use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int64Type, UInt64Type};
use headrace_cc::units::Time;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::hosts::host;
use super::sizes::{largest_remedy, read_text, shown_path};
use super::{Plan, Setup, Start, Starts, TrafficKind};
use crate::scenario::files;
use crate::scenario::problems::{Place, Problem};
use crate::scenario::reader::{Key, Section, Takes};
use crate::scenario::units::Decimal;
use crate::words;

/// Columns of a flow list.
pub const COLUMNS: [&str; 4] = ["start_ns", "src", "dst", "size_bytes"];

/// Problems of one file that are told; more than these tell nothing new.
const MOST_PROBLEMS: usize = 20;

pub(super) const KIND: TrafficKind = TrafficKind {
    name: "list",
    summary: "flows from a CSV (header `start_ns,src,dst,size_bytes`) or Parquet file",
    keys: &[Key::required(
        "file",
        Takes::Text,
        "the list, relative to the scenario's folder; \
        `.parquet` is read as Parquet, all else as CSV. Hosts are numbers or names",
    )],
    read,
};

/// A flow: 24 bytes.
#[derive(Clone, Copy, Debug)]
struct Row {
    start_ps: u64,
    size: u64,
    src: u32,
    dst: u32,
}

#[derive(Clone, Debug)]
struct List {
    rows: Arc<Vec<Row>>,
}

fn read(section: &mut Section<'_>, setup: &Setup<'_>) -> Option<Arc<dyn Plan>> {
    let file: String = section.get("file")?;
    section.resolve("file", shown_path(&file).into());
    let rows = if file.to_lowercase().ends_with(".parquet") {
        read_parquet(section, &file, setup)
    } else {
        let text = read_text(section, "file", &file, files::LIST_BYTES)?;
        read_csv(&section.context.path_of(&file).display().to_string(), &text, setup)
    };
    let mut rows = match rows {
        Ok(rows) => rows,
        Err(problems) => {
            problems.into_iter().for_each(|p| section.context.report(p));
            return None;
        }
    };
    if rows.is_empty() {
        section.refuse("file", format!("`{file}` lists no flow"), "add lines to it");
        return None;
    }
    if !rows.is_sorted_by_key(|r| r.start_ps) {
        rows.sort_by_key(|r| r.start_ps);
    }
    section.resolve("digest", format!("{:016x}", digest(&rows)).into());
    Some(Arc::new(List { rows: Arc::new(rows) }))
}

/// Identity of a list's content (FNV-1a), so that results name the flows that they come from.
fn digest(rows: &[Row]) -> u64 {
    let words = rows.iter().flat_map(|r| [r.start_ps, r.size, u64::from(r.src), u64::from(r.dst)]);
    words.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// What is wrong with a row: the column, what is wrong, the remedy.
type Wrong = (usize, String, String);

/// A row from its four fields.
fn row(fields: [&str; 4], setup: &Setup<'_>) -> Result<Row, Wrong> {
    let number = |i: usize, factor: u64, what: &str| {
        let text = fields[i].trim();
        let parsed = Decimal::parse(text).and_then(|d| d.times(factor));
        let wrong = || {
            let message = match text.starts_with('-') {
                true => format!("{}: `{text}` is negative", COLUMNS[i]),
                false => format!("{}: `{text}` is not {what}", COLUMNS[i]),
            };
            (i, message, format!("write {what}"))
        };
        parsed.ok_or_else(wrong)
    };
    let end = |i: usize| {
        host(fields[i].trim(), setup.topology).map_err(|remedy| {
            (i, format!("{}: no host `{}`", COLUMNS[i], fields[i].trim()), remedy)
        })
    };
    let start_ps = number(0, 1000, "nanoseconds from 0, at most three decimals")?;
    let (src, dst) = (end(1)?, end(2)?);
    let size = number(3, 1, "whole bytes, 1 or more")?;
    if size == 0 {
        return Err((3, "size_bytes: a flow of 0 bytes".into(), "write 1 or more".into()));
    }
    if size > setup.largest_flow() {
        let message = format!("size_bytes: a flow of {size} bytes is too large");
        return Err((3, message, largest_remedy(setup.largest_flow())));
    }
    if src == dst {
        return Err((
            2,
            format!("host {} sends to itself", fields[1].trim()),
            "name two hosts".into(),
        ));
    }
    Ok(Row { start_ps, size, src, dst })
}

fn read_csv(name: &str, text: &str, setup: &Setup<'_>) -> Result<Vec<Row>, Vec<Problem>> {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or("").trim_start_matches('\u{feff}').trim();
    if !header.split(',').map(str::trim).eq(COLUMNS) {
        let place = Place::new(name, text, 0..header.len());
        let message = format!("the header is `{header}`");
        let remedy = format!("the first line is `{}`", COLUMNS.join(","));
        return Err(vec![Problem::new(&place, message, remedy)]);
    }
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for line in lines.filter(|l| !l.trim().is_empty()) {
        let fields: Vec<&str> = line.split(',').collect();
        let (field, message, remedy) = match <[&str; 4]>::try_from(fields) {
            Ok(fields) => match row(fields, setup) {
                Ok(row) => {
                    rows.push(row);
                    continue;
                }
                Err((column, message, remedy)) => (fields[column], message, remedy),
            },
            Err(fields) => {
                let message = format!("{} fields instead of 4", fields.len());
                (line, message, format!("write `{}`", COLUMNS.join(",")))
            }
        };
        // Substrings of the text: their place is their distance from its beginning.
        let field = field.trim();
        let start = field.as_ptr() as usize - text.as_ptr() as usize;
        wrong.push((start..start + field.len(), message, remedy));
        if wrong.len() == MOST_PROBLEMS {
            break;
        }
    }
    if wrong.is_empty() {
        return Ok(rows);
    }
    let whole = Place::new(name, text, 0..0);
    let problem =
        |(span, message, remedy)| Problem::new(&Place { span, ..whole.clone() }, message, remedy);
    Err(wrong.into_iter().map(problem).collect())
}

fn read_parquet(
    section: &Section<'_>,
    name: &str,
    setup: &Setup<'_>,
) -> Result<Vec<Row>, Vec<Problem>> {
    let unreadable = |error: &dyn std::fmt::Display| {
        let message = format!("cannot read `{name}`: {error}");
        let remedy = format!("name a Parquet file with the columns {}", COLUMNS.join(", "));
        vec![Problem::new(section.place_of("file"), message, remedy)]
    };
    let path = section.context.path_of(name);
    let file = std::fs::File::open(path).map_err(|e| unreadable(&e))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .map_err(|e| unreadable(&e))?;
    let mut rows = Vec::new();
    for batch in reader {
        let batch = batch.map_err(|e| unreadable(&e))?;
        for i in 0..batch.num_rows() {
            let mut fields: [String; 4] = Default::default();
            for (field, column) in fields.iter_mut().zip(COLUMNS) {
                *field = cell(&batch, column, i).map_err(|e| unreadable(&e))?;
            }
            let parsed = row(fields.each_ref().map(String::as_str), setup);
            rows.push(parsed.map_err(|(_, message, remedy)| {
                let message = format!("`{name}`, row {}: {message}", rows.len() + 1);
                vec![Problem::new(section.place_of("file"), message, remedy)]
            })?);
        }
    }
    Ok(rows)
}

/// A Parquet value as the CSV would have it.
fn cell(batch: &RecordBatch, column: &str, row: usize) -> Result<String, String> {
    let array = batch.column_by_name(column).ok_or_else(|| format!("no column `{column}`"))?;
    if array.is_null(row) {
        return Err(format!("`{column}` is null in row {}", row + 1));
    }
    let cast = |to: &DataType| {
        arrow::compute::cast(&array.slice(row, 1), to).map_err(|e| format!("`{column}`: {e}"))
    };
    Ok(match array.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..) => {
            cast(&DataType::Utf8)?.as_string::<i32>().value(0).to_owned()
        }
        DataType::Float32 | DataType::Float64 => {
            let value = cast(&DataType::Float64)?.as_primitive::<Float64Type>().value(0);
            // A double below 2^53 ps holds the nanoseconds' three decimals.
            let text = format!("{value:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
        _ => cast(&DataType::Int64)?.as_primitive::<Int64Type>().value(0).to_string(),
    })
}

impl Plan for List {
    fn starts(&self, _: u64) -> Starts {
        let rows = self.rows.clone();
        Box::new((0..rows.len()).map(move |i| {
            let Row { start_ps, size, src, dst } = rows[i];
            Start::sized(Time::from_ps(start_ps), src, dst, size)
        }))
    }

    fn endless(&self) -> Option<&'static str> {
        None
    }

    fn notes(&self) -> Vec<String> {
        let count = self.rows.len();
        let bytes: f64 = self.rows.iter().map(|r| r.size as f64).sum();
        let last = self.rows.last().map_or(0, |r| r.start_ps);
        vec![format!(
            "{}, mean {} B, {} in all, last start {}",
            words::things(count as f64, "flow"),
            words::grouped(bytes / count.max(1) as f64),
            words::bytes(bytes),
            words::time(Time::from_ps(last))
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::build;
    use headrace_sim::spec::Framing;

    fn csv(text: &str) -> Result<Vec<Row>, String> {
        let topology = build("kind = \"star\"\nhosts = 4").unwrap();
        let setup = Setup { topology: &topology, mtu: 1500, framing: Framing::None, until: None };
        let lines = |problems: Vec<Problem>| {
            problems.iter().map(Problem::line).collect::<Vec<_>>().join("\n")
        };
        read_csv("f.csv", text, &setup).map_err(lines)
    }

    #[test]
    fn hosts_by_number_or_name_and_times_with_decimals() {
        let rows = csv("start_ns,src,dst,size_bytes\n5,0,h1,10\n\n7.25, h3 ,2,1e6\n").unwrap();
        assert_eq!((rows[0].start_ps, rows[0].dst), (5000, 1));
        assert_eq!((rows[1].start_ps, rows[1].src, rows[1].size), (7250, 3, 1_000_000));
    }

    #[test]
    fn what_is_wrong_has_its_line_and_column() {
        let wrong = |line: &str| {
            csv(&format!("start_ns,src,dst,size_bytes\n0,0,1,5\n{line}\n")).unwrap_err()
        };
        assert!(wrong("1,0,9,5").starts_with("f.csv:3:5: dst: no host `9`; "));
        assert!(wrong("1,0,0,5").starts_with("f.csv:3:5: host 0 sends to itself"));
        assert!(wrong("1,0,1,0").starts_with("f.csv:3:7: size_bytes: a flow of 0 bytes"));
        assert!(wrong("1,0,1,-5").starts_with("f.csv:3:7: size_bytes: `-5` is negative"));
        let large = wrong("1,0,1,18446744073709551615");
        assert!(large.starts_with("f.csv:3:7: size_bytes: a flow of 18446744073709551615 bytes"));
        assert!(large.ends_with("at most 6270652250700 bytes (2^32 - 1 segments)"), "{large}");
        assert!(wrong("x,0,1,5").starts_with("f.csv:3:1: start_ns: `x` is not"));
        assert!(wrong("1,0,1").starts_with("f.csv:3:1: 3 fields instead of 4"));
        assert!(csv("start,src,dst,size\n").unwrap_err().starts_with("f.csv:1:1: the header is"));
    }
}
