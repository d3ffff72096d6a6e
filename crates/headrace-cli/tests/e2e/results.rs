//! Result folders: what is in them, whole or not at all, the same for the same scenario and seed.

use crate::support::{Place, SMALL};
use arrow::array::{Array, AsArray};
use arrow::datatypes::{Float64Type, UInt64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

const FILES: [&str; 5] =
    ["flows.parquet", "manifest.json", "ports.parquet", "rates.parquet", "summary.json"];

#[test]
fn a_run_leaves_the_five_files_and_prints_the_folder() {
    let place = Place::with_small();
    let ran = place.run(&["run", "small.toml"]).ok();
    let folder = ran.out.trim();
    assert!(folder.starts_with("results/small-"), "{folder}");
    assert_eq!(place.names(folder), FILES);
    assert!(ran.err.contains("packet-hops per CPU second"), "{}", ran.err);

    let manifest = place.json(&format!("{folder}/manifest.json"));
    for key in ["scenario", "seed", "version", "threads", "wall_seconds", "cpu_seconds", "events"] {
        assert!(!manifest[key].is_null(), "{key}");
    }
    assert!(manifest["packet_hops"].as_u64().unwrap() > 1000);
    assert_eq!(manifest["conservation"]["holds"], true);

    let summary = place.json(&format!("{folder}/summary.json"));
    assert_eq!(summary["flows"]["finished"], 60);
    assert_eq!(summary["fct_ns"]["all"]["count"], 60);
    assert!(summary["slowdown"]["all"]["p50"].as_f64().unwrap() >= 1.0);
    assert!(summary["goodput_bps"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_flow_table_agrees_with_the_summary() {
    let place = Place::with_small();
    place.run(&["run", "small.toml", "--out", "out"]).ok();
    let file = std::fs::File::open(place.path().join("out/flows.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let mut fcts = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let fct = batch.column_by_name("fct_ns").unwrap().as_primitive::<Float64Type>().clone();
        let ideal = batch.column_by_name("ideal_fct_ns").unwrap();
        let ideal = ideal.as_primitive::<Float64Type>();
        let size = batch.column_by_name("size_bytes").unwrap().as_primitive::<UInt64Type>();
        let acked = batch.column_by_name("acked_bytes").unwrap().as_primitive::<UInt64Type>();
        for row in 0..batch.num_rows() {
            assert!(fct.is_valid(row) && fct.value(row) >= ideal.value(row));
            assert_eq!(size.value(row), acked.value(row));
            fcts.push(fct.value(row));
        }
    }
    fcts.sort_by(f64::total_cmp);
    assert_eq!(fcts.len(), 60);
    let summary = place.json("out/summary.json");
    // Nearest rank of 60: the 30th and the 60th.
    assert_eq!(summary["fct_ns"]["all"]["p50"].as_f64(), Some(fcts[29]));
    assert_eq!(summary["fct_ns"]["all"]["p99"].as_f64(), Some(fcts[59]));
}

#[test]
fn equal_runs_differ_in_the_manifest_alone() {
    let place = Place::with_small();
    for out in ["a", "b"] {
        place.run(&["run", "small.toml", "--out", out]).ok();
    }
    place.run(&["run", "small.toml", "--seed", "2", "--out", "c"]).ok();
    for file in FILES.into_iter().filter(|file| *file != "manifest.json") {
        assert!(place.read(&format!("a/{file}")) == place.read(&format!("b/{file}")), "{file}");
    }
    assert!(place.read("a/flows.parquet") != place.read("c/flows.parquet"));
    assert_eq!(place.json("c/manifest.json")["seed"], 2);
}

#[test]
fn threads_change_the_manifest_alone() {
    let place = Place::with_small();
    place.run(&["run", "small.toml", "--out", "one"]).ok();
    for threads in ["2", "3", "4", "8"] {
        place.run(&["run", "small.toml", "--out", "many", "--force", "--threads", threads]).ok();
        for file in FILES.into_iter().filter(|file| *file != "manifest.json") {
            let (one, many) =
                (place.read(&format!("one/{file}")), place.read(&format!("many/{file}")));
            assert!(one == many, "{file} on {threads} threads");
        }
        let manifest = place.json("many/manifest.json");
        let taken = manifest["threads"].as_u64().unwrap();
        assert!((2..=threads.parse().unwrap()).contains(&taken), "{taken} threads taken");
    }
}

#[test]
fn an_existing_folder_is_refused_without_force() {
    let place = Place::with_small();
    place.run(&["run", "small.toml", "--out", "out"]).ok();
    let before = place.read("out/manifest.json");
    place.run(&["run", "small.toml", "--out", "out"]).fails(2, &["out exists", "--force"]);
    assert!(place.read("out/manifest.json") == before);
    place.run(&["run", "small.toml", "--out", "out", "--seed", "3", "--force"]).ok();
    assert_eq!(place.json("out/manifest.json")["seed"], 3);
    assert_eq!(place.names("."), ["out", "small.toml"]);
}

#[test]
fn force_does_not_replace_what_is_no_result_folder() {
    let place = Place::with_small();
    std::fs::create_dir(place.path().join("thesis")).unwrap();
    place.write("thesis/chapter.tex", "");
    place
        .run(&["run", "small.toml", "--out", "thesis", "--force"])
        .fails(2, &["thesis", "chapter.tex", "choose another --out"]);
    assert_eq!(place.names("thesis"), ["chapter.tex"]);
    // A file of one's own beside results.
    place.run(&["run", "small.toml", "--out", "out"]).ok();
    place.write("out/notes.txt", "mine");
    let ran = place.run(&["run", "small.toml", "--out", "out", "--force"]);
    ran.fails(2, &["holds `notes.txt`"]);
    assert_eq!(place.read("out/notes.txt"), b"mine");
    // A file is no folder, whether it is to be replaced or to hold one.
    let ran = place.run(&["run", "small.toml", "--out", "small.toml"]);
    assert!(!ran.err.contains("or replace it"), "{}", ran.err);
    ran.fails(2, &["is not a folder", "choose another --out"]);
    let ran = place.run(&["run", "small.toml", "--out", "small.toml/x"]);
    ran.fails(2, &["small.toml is not a folder"]);
}

#[test]
fn json_and_notes_for_scripts_and_people() {
    let place = Place::with_small();
    let ran = place.run(&["run", "small.toml", "--out", "out", "--json"]).ok();
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["folder"], "out");
    assert_eq!(json["summary"]["flows"]["finished"], 60);
    assert!(!ran.err.contains('\u{1b}'), "no colour without a terminal");
}

/// A tiny file system; `None` where mounting is not allowed.
struct TinyDisk(std::path::PathBuf);

impl TinyDisk {
    fn mount(place: &Place) -> Option<TinyDisk> {
        let at = place.path().join("disk");
        std::fs::create_dir(&at).unwrap();
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=16k", "tmpfs"]).arg(&at);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then_some(TinyDisk(at))
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_one_error_and_leaves_nothing() {
    let place = Place::with_small();
    let Some(disk) = TinyDisk::mount(&place) else {
        eprintln!("skipped: mounting a small file system needs privileges that are missing here");
        return;
    };
    place
        .run(&["run", "small.toml", "--set", "traffic.0.flows=3000", "--out", "disk/out"])
        .fails(1, &["no space left", "disk/out", "nothing was left behind"]);
    assert_eq!(place.names("disk"), Vec::<String>::new());
    drop(disk);
}

#[test]
fn runs_compare_side_by_side() {
    let place = Place::with_small();
    place.run(&["run", "small.toml", "--out", "a"]).ok();
    place.run(&["run", "small.toml", "--set", "switch.ecn.k=20KB", "--out", "b"]).ok();
    let ran = place.run(&["compare", "a", "b"]).ok();
    assert!(ran.out.contains("fct_ns.all.p99") && ran.out.contains("x)"), "{}", ran.out);
    let ran = place.run(&["compare", "a", "b", "--json"]).ok();
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["runs"], serde_json::json!(["a", "b"]));
}

#[test]
fn a_flow_list_can_be_written_and_carried_again() {
    let place = Place::with_small();
    place.run(&["flows", "small.toml", "-o", "flows.csv"]).ok();
    let text = String::from_utf8(place.read("flows.csv")).unwrap();
    assert!(text.starts_with("start_ns,src,dst,size_bytes\n"), "{text}");
    assert_eq!(text.lines().count(), 61);
    place.run(&["flows", "small.toml", "-o", "flows.csv"]).fails(2, &["exists", "--force"]);
    place
        .run(&["flows", "small.toml", "-o", "./small.toml", "--force"])
        .fails(2, &["is an input of the scenario"]);
    assert_eq!(place.read("small.toml"), SMALL.as_bytes());
    let traffic = SMALL.find("[[traffic]]").unwrap();
    let list = "[[traffic]]\nname = \"websearch\"\nkind = \"list\"\nfile = \"flows.csv\"\n";
    place.write("list.toml", &format!("{}{list}scheme = \"dctcp\"\n", &SMALL[..traffic]));
    place.run(&["run", "list.toml", "--out", "list"]).ok();
    place.run(&["run", "small.toml", "--out", "drawn"]).ok();
    for file in FILES.into_iter().filter(|file| *file != "manifest.json") {
        let same = place.read(&format!("list/{file}")) == place.read(&format!("drawn/{file}"));
        assert!(same, "{file}");
    }
    place.run(&["flows", "list.toml", "-o", "flows.csv", "--force"]).fails(2, &["is an input"]);
    let whole = place.run(&["flows", "small.toml", "--whole-ns"]).ok().out;
    assert!(text.contains('.') && !whole.contains('.'), "{whole}");
}

#[test]
fn long_lived_flows_have_rates_and_no_completion_times() {
    let place = Place::new();
    let text = r#"
scheme = "dctcp"
until = "4ms"
[topology]
kind = "star"
hosts = 3
[switch]
k = "200KB"
[[traffic]]
name = "stopped"
kind = "long"
src = "h0"
dst = "h2"
stop = "1ms"
[[traffic]]
name = "open"
kind = "long"
src = "h1"
dst = "h2"
start = "1ms"
"#;
    place.write("long.toml", text);
    let ran = place.run(&["run", "long.toml", "--out", "out"]).ok();
    assert!(!ran.err.contains("size class"), "{}", ran.err);
    assert!(ran.err.contains("1 long-lived flow\n"), "{}", ran.err);
    assert!(ran.err.contains("longest host queue"), "{}", ran.err);
    let summary = place.json("out/summary.json");
    let unfinished = |of: &serde_json::Value| of["unfinished"].as_u64();
    assert_eq!(unfinished(&summary["flows"]), Some(1));
    assert_eq!(unfinished(&summary["classes"]["stopped"]), Some(0));
    assert_eq!(unfinished(&summary["classes"]["open"]), Some(1));
    // One after the other they fill the receiver's link; together they have no more than it.
    let goodput = summary["long_flows"]["goodput_bps"].as_f64().unwrap();
    assert!((8e10..1e11).contains(&goodput), "{goodput}");
    assert!(summary["peak_queues"]["switch"]["bytes"].as_u64().unwrap() > 0);
    let file = std::fs::File::open(place.path().join("out/flows.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    for batch in reader.map(Result::unwrap) {
        for name in ["size_bytes", "fct_ns", "ideal_fct_ns", "slowdown"] {
            assert_eq!(batch.column_by_name(name).unwrap().null_count(), 2, "{name}");
        }
    }
    place.run(&["flows", "long.toml"]).fails(2, &["cannot hold long-lived flows"]);
}
