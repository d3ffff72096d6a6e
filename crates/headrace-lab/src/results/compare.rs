//! Runs side by side, each number with its ratio to the first run's.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::schema::SCHEMA_VERSION;

/// Result folders, read.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Comparison {
    /// The folders, as named.
    pub runs: Vec<String>,
    /// The numbers that at least one of them has.
    pub rows: Vec<Row>,
}

/// A number of several runs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Row {
    /// Path into `summary.json`, its parts joined by dots.
    pub metric: String,
    /// Its value in each run; null where a run lacks it.
    pub values: Vec<Option<f64>>,
    /// Each value over the first run's; null where either lacks or the first is zero.
    pub ratios: Vec<Option<f64>>,
}

/// A folder cannot be read as a result folder.
#[derive(Debug, thiserror::Error)]
#[error("{} is not a result folder: {reason}; name a folder that `headrace run` wrote",
    .folder.display())]
pub struct NotResults {
    /// The folder.
    pub folder: PathBuf,
    /// Why not.
    pub reason: String,
}

/// The value at a dotted path of keys and list positions: `fct_ns.small.p99`. A key that itself
/// holds a dot (`p99.9`) may end the path.
pub fn lookup<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let step = |value: &'a Value, key: &str| match value {
        Value::Object(map) => map.get(key),
        Value::Array(list) => list.get(key.parse::<usize>().ok()?),
        _ => None,
    };
    if let Some(found) = step(value, path) {
        return Some(found);
    }
    let (key, rest) = path.split_once('.')?;
    lookup(step(value, key)?, rest)
}

/// Reads the summaries of result folders and sets them side by side.
///
/// # Errors
/// A folder has no readable `summary.json`.
pub fn compare(folders: &[PathBuf]) -> Result<Comparison, NotResults> {
    let summaries = folders.iter().map(|f| read(f)).collect::<Result<Vec<Value>, _>>()?;
    let mut metrics: Vec<String> = Vec::new();
    for path in summaries.iter().flat_map(metrics_of) {
        if !metrics.contains(&path) {
            metrics.push(path);
        }
    }
    let rows = metrics.into_iter().map(|metric| row(metric, &summaries));
    let rows = rows.filter(|row| row.values.iter().any(Option::is_some)).collect();
    Ok(Comparison { runs: folders.iter().map(|f| f.display().to_string()).collect(), rows })
}

fn read(folder: &Path) -> Result<Value, NotResults> {
    let failed = |reason: String| NotResults { folder: folder.to_owned(), reason };
    let text = fs::read_to_string(folder.join("summary.json"))
        .map_err(|error| failed(format!("summary.json: {error}")))?;
    let summary: Value =
        serde_json::from_str(&text).map_err(|error| failed(format!("summary.json: {error}")))?;
    let reason = match summary.get("schema") {
        Some(schema) if schema.as_u64() == Some(u64::from(SCHEMA_VERSION)) => return Ok(summary),
        Some(schema) => format!("summary.json has schema {schema}, not {SCHEMA_VERSION}"),
        None => "summary.json has no `schema`".to_owned(),
    };
    Err(failed(reason))
}

/// The numbers worth setting side by side: per size class, then totals.
fn metrics_of(summary: &Value) -> Vec<String> {
    let keys = |path: &str| -> Vec<String> {
        let map = lookup(summary, path).and_then(Value::as_object);
        map.map(|map| map.keys().cloned().collect()).unwrap_or_default()
    };
    let mut metrics: Vec<String> = vec!["flows.finished".into(), "flows.unfinished".into()];
    for table in ["fct_ns", "slowdown"] {
        for class in keys(table) {
            let stats = ["avg", "p50", "p99", "p99.9"];
            metrics.extend(stats.map(|stat| format!("{table}.{class}.{stat}")));
        }
    }
    let totals = ["goodput_bps", "steady.goodput_bps", "steady.jain", "loss_rate"];
    metrics.extend(totals.map(String::from));
    metrics.extend(
        [
            "drops.packets",
            "marks",
            "queues.avg_bytes",
            "queues.max_bytes",
            "peak_queues.switch.bytes",
            "peak_queues.host.bytes",
        ]
        .map(String::from),
    );
    let sets = keys("links.sets");
    metrics.extend(sets.iter().map(|set| format!("links.sets.{set}.avg_utilisation")));
    metrics
}

fn row(metric: String, summaries: &[Value]) -> Row {
    let number = |summary| lookup(summary, &metric).and_then(Value::as_f64);
    let values: Vec<Option<f64>> = summaries.iter().map(number).collect();
    let first = values.first().copied().flatten().filter(|first| *first != 0.0);
    let ratios = values.iter().map(|value| Some((*value)? / first?)).collect();
    Row { metric, values, ratios }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn folder(root: &Path, name: &str, summary: &Value) -> PathBuf {
        let folder = root.join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("summary.json"), summary.to_string()).unwrap();
        folder
    }

    #[test]
    fn ratios_are_to_the_first_run() {
        let root = tempfile::tempdir().unwrap();
        let a =
            json!({"schema": 1, "fct_ns": {"small": {"p99": 200.0, "p99.9": null}}, "marks": 0});
        let b = json!({"schema": 1, "fct_ns": {"small": {"p99": 50.0, "p99.9": 60.0}}, "marks": 3});
        let folders = [folder(root.path(), "a", &a), folder(root.path(), "b", &b)];
        let found = compare(&folders).unwrap();
        let row = |metric: &str| found.rows.iter().find(|row| row.metric == metric).unwrap();
        assert_eq!(row("fct_ns.small.p99").ratios, [Some(1.0), Some(0.25)]);
        assert_eq!(row("fct_ns.small.p99.9").values, [None, Some(60.0)]);
        assert_eq!(row("marks").ratios, [None, None]);
        assert!(found.rows.iter().all(|row| row.metric != "goodput_bps"));
    }

    #[test]
    fn a_folder_without_a_summary_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let error = compare(&[root.path().to_owned()]).unwrap_err();
        assert!(error.to_string().contains("is not a result folder"));
        let refused = |name: &str, summary: Value| {
            let folder = folder(root.path(), name, &summary);
            compare(&[folder]).unwrap_err().to_string()
        };
        assert!(refused("a", json!({})).contains("summary.json has no `schema`"));
        assert!(refused("b", json!({"schema": 999})).contains("has schema 999, not 1"));
        assert!(refused("c", json!([1])).contains("has no `schema`"));
    }

    #[test]
    fn paths_reach_lists_and_keys_with_dots() {
        let value = json!({"a": [{"p99.9": 1}]});
        assert_eq!(lookup(&value, "a.0.p99.9"), Some(&json!(1)));
        assert_eq!(lookup(&value, "a.1"), None);
    }
}
