//! Flow sizes: all alike, or drawn from a workload or a file.

use std::sync::Arc;

use rand_core::RngCore;
use serde_json::json;

use super::Setup;
use super::cdf::{Cdf, packet_overhead};
use super::workloads::{WORKLOADS, Workload};
use crate::scenario::files;
use crate::scenario::problems::{Problem, nearest};
use crate::scenario::reader::{Key, Section, Takes};
use crate::words::grouped;

/// How large flows are.
#[derive(Clone, Debug)]
pub(crate) enum Sizes {
    /// All alike.
    Fixed(u64),
    /// Drawn; with the distribution's name.
    Drawn(Arc<Cdf>, String),
}

const WORKLOAD_KEYS: &[Key] = &[
    Key::optional("name", Takes::Text, "by `file`", "a published workload"),
    Key::optional("file", Takes::Text, "by `name`", "a CDF: lines of `bytes percent`"),
    Key::optional("packet", Takes::Bytes, "1B, or 1460B for three columns", "bytes of a unit"),
];

impl Sizes {
    /// Reads `size` or `workload`, one of which must be given.
    pub fn read(section: &mut Section<'_>, setup: &Setup<'_>) -> Option<Sizes> {
        Sizes::read_keys(section, setup, "size", "workload")
    }

    /// The same under other names.
    pub fn read_keys(
        section: &mut Section<'_>,
        setup: &Setup<'_>,
        size: &str,
        workload: &str,
    ) -> Option<Sizes> {
        section.exclusive(size, workload);
        if section.has(workload) {
            let sizes = Sizes::drawn(section, workload)?;
            return few_segments(section, setup, workload, sizes.largest()).then_some(sizes);
        }
        if !section.has(size) {
            let names: Vec<&str> = WORKLOADS.iter().map(|w| w.name).collect();
            let remedy = format!("add {workload} = one of {}, or {size}", names.join(", "));
            section.missing("the flows' size is open", remedy);
            return None;
        }
        match section.get::<u64>(size)? {
            0 => {
                section.refuse(size, format!("{size}: a flow of 0 bytes"), "write 1B or more");
                None
            }
            bytes => {
                few_segments(section, setup, size, bytes as f64).then_some(Sizes::Fixed(bytes))
            }
        }
    }

    /// The largest flow that there may be, bytes.
    fn largest(&self) -> f64 {
        match self {
            Sizes::Fixed(size) => *size as f64,
            Sizes::Drawn(cdf, _) => cdf.points().last().map_or(0.0, |point| point.0),
        }
    }

    fn drawn(section: &mut Section<'_>, key: &str) -> Option<Sizes> {
        let node = section.node(key)?.clone().named("name");
        let title = format!("`{key}`");
        let mut inner = Section::open(section.context, &node, &title, WORKLOAD_KEYS);
        inner.exclusive("name", "file");
        let (name, file): (Option<String>, Option<String>) = (inner.get("name"), inner.get("file"));
        let packet: Option<u64> = inner.get("packet");
        let (cdf, label) = match (name, file) {
            (Some(name), None) => {
                let Some(workload) = Workload::by_name(&name) else {
                    let remedy = nearest(&name, WORKLOADS.iter().map(|w| w.name));
                    inner.refuse("name", format!("unknown workload `{name}`"), remedy);
                    return None;
                };
                (workload.cdf(), name)
            }
            (None, Some(file)) => {
                let text = read_text(&inner, "file", &file, files::CDF_BYTES)?;
                let source = inner.context.path_of(&file).display().to_string();
                let parsed = Cdf::parse(&source, &text, packet);
                (parsed.map_err(|p| section.context.report(p)).ok()?, shown_path(&file))
            }
            (None, None) => {
                let remedy = "write a workload's name, or { file = \"sizes.cdf\" }";
                inner.missing(format!("{title} names no distribution"), remedy);
                return None;
            }
            (Some(_), Some(_)) => return None,
        };
        section.resolve(key, json!({ "name": label, "points": cdf.points() }));
        Some(Sizes::Drawn(Arc::new(cdf), label))
    }

    /// A size in bytes, at least 1.
    pub fn draw(&self, rng: &mut impl RngCore) -> u64 {
        match self {
            Sizes::Fixed(size) => *size,
            Sizes::Drawn(cdf, _) => cdf.draw(rng),
        }
    }

    /// Mean payload bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Sizes::Fixed(size) => *size as f64,
            Sizes::Drawn(cdf, _) => cdf.mean(),
        }
    }

    /// Mean bytes on the wire of the data packets, headers and framing included.
    pub fn mean_wire(&self, setup: &Setup<'_>) -> f64 {
        let overhead = packet_overhead(setup.framing) as f64;
        match self {
            Sizes::Fixed(size) => *size as f64 + size.div_ceil(setup.mss()) as f64 * overhead,
            Sizes::Drawn(cdf, _) => cdf.mean_wire(setup.mss() as f64, overhead),
        }
    }

    /// `websearch, mean 1,711,250 B`.
    pub fn describe(&self) -> String {
        match self {
            Sizes::Fixed(size) => format!("flows of {} B", grouped(*size as f64)),
            Sizes::Drawn(cdf, name) => format!("{name}, mean {} B", grouped(cdf.mean())),
        }
    }
}

/// Whether a flow of `bytes` has no more segments than the simulator numbers; a problem at the key
/// where it has.
pub(crate) fn few_segments(
    section: &Section<'_>,
    setup: &Setup<'_>,
    key: &str,
    bytes: f64,
) -> bool {
    let most = setup.largest_flow();
    let fits = bytes <= most as f64;
    if !fits {
        let message = format!("{key}: flows of up to {bytes} bytes are too large");
        section.refuse(key, message, largest_remedy(most));
    }
    fits
}

/// What to write instead of a flow with more segments than the simulator numbers.
pub(crate) fn largest_remedy(most: u64) -> String {
    format!("at this `mtu` a flow has at most {most} bytes (2^32 - 1 segments)")
}

/// A file's text; that it cannot be read is a problem at the key that names it.
pub(crate) fn read_text(section: &Section<'_>, key: &str, file: &str, most: u64) -> Option<String> {
    let read = files::read_text(&section.context.path_of(file), most);
    read.map_err(|error| {
        let message = format!("cannot read `{file}`: {error}");
        let remedy = "name a readable text file, relative to the scenario's folder";
        section.context.report(Problem::new(section.place_of(key), message, remedy));
    })
    .ok()
}

/// A path as results show it: as written, or the file's name alone where it is absolute.
pub(crate) fn shown_path(file: &str) -> String {
    let path = std::path::Path::new(file);
    match path.file_name() {
        Some(name) if path.is_absolute() => name.to_string_lossy().into_owned(),
        _ => file.to_owned(),
    }
}
