//! Every bad input is one clear error with its place and remedy, and exit status 2.

use crate::support::{Place, SMALL};

/// Checks the small scenario with `from` replaced by `to`.
#[track_caller]
fn refused(from: &str, to: &str, says: &[&str]) {
    assert!(SMALL.contains(from), "`{from}` is in the scenario");
    let place = Place::new();
    place.write("bad.toml", &SMALL.replace(from, to));
    let ran = place.run(&["check", "bad.toml"]).fails(2, says);
    assert!(ran.err.contains("bad.toml:"), "names file and line:\n{}", ran.err);
    // `run` refuses it alike, and makes no folder.
    place.run(&["run", "bad.toml", "--out", "out"]).fails(2, says);
    assert_eq!(place.names("."), ["bad.toml"]);
}

#[test]
fn an_unknown_key_names_the_nearest() {
    refused("leaves = 2", "leafs = 2", &["bad.toml:6:", "leafs", "leaves"]);
}

#[test]
fn an_unknown_scheme_names_the_nearest() {
    refused("\"dctcp\"", "\"dctpc\"", &["dctpc", "dctcp"]);
}

#[test]
fn a_quantity_needs_its_unit() {
    refused("rate = \"100Gbps\"", "rate = 100", &["bad.toml:9:", "100", "Gbps"]);
    refused("\"200KB\"", "200", &["200", "KB"]);
}

#[test]
fn a_size_is_not_negative() {
    refused("pool = \"3MB\"", "pool = \"-3MB\"", &["-3MB"]);
}

#[test]
fn a_load_is_at_most_one() {
    refused("load = 0.3", "load = 1.2", &["1.2", "1"]);
}

#[test]
fn a_network_is_connected() {
    let place = Place::new();
    let text = r#"
[topology]
kind = "edges"
hosts = ["a", "b", "c", "d"]
switches = ["s", "t"]
rate = "100Gbps"
edges = [
    { a = "a", b = "s" },
    { a = "b", b = "s" },
    { a = "c", b = "t" },
    { a = "d", b = "t" },
]

[[traffic]]
kind = "permutation"
size = "1MB"
scheme = "dctcp"
"#;
    place.write("bad.toml", text);
    place.run(&["check", "bad.toml"]).fails(2, &["bad.toml:", "connect"]);
}

#[test]
fn a_cdf_is_not_empty_and_rises() {
    let place = Place::new();
    let text = SMALL.replace("workload = \"websearch\"", "workload = { file = \"sizes.cdf\" }");
    place.write("cdf.toml", &text);
    place.write("sizes.cdf", "# nothing\n");
    place.run(&["check", "cdf.toml"]).fails(2, &["sizes.cdf", "empty"]);
    place.write("sizes.cdf", "1000 50\n2000 40\n3000 100\n");
    place.run(&["check", "cdf.toml"]).fails(2, &["sizes.cdf:2", "40"]);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let place = Place::new();
    place.run(&["run", "nowhere.toml"]).fails(2, &["nowhere.toml"]);
    let text = SMALL.replace("workload = \"websearch\"", "workload = { file = \"no.cdf\" }");
    place.write("cdf.toml", &text);
    place.run(&["check", "cdf.toml"]).fails(2, &["no.cdf"]);
}

#[test]
fn an_override_is_checked_like_the_file() {
    let place = Place::with_small();
    place.run(&["check", "small.toml", "--set", "traffic.0.load=0.5"]).ok();
    place.run(&["check", "small.toml", "--set", "traffic.0.laod=0.5"]).fails(2, &["laod", "load"]);
    place.run(&["check", "small.toml", "--set", "switch.pool=3"]).fails(2, &["3"]);
}

#[test]
fn names_and_folders_that_there_are_not() {
    let place = Place::with_small();
    place.run(&["explain", "dctpc"]).fails(2, &["dctpc", "did you mean `dctcp`?"]);
    place.run(&["reproduce", "bbc"]).fails(2, &["bbc", "bcc/fig2"]);
    place.run(&["compare", ".", "."]).fails(2, &["not a result folder"]);
    place.write("summary.json", "{}");
    place.run(&["compare", ".", "."]).fails(2, &["not a result folder", "no `schema`"]);
    place.run(&["list", "nonsense"]).fails(2, &["nonsense", "schemes"]);
    place.run(&["run", "small.toml", "--threads", "0"]).fails(2, &["threads"]);
}

#[test]
fn what_is_read_has_a_bound() {
    let place = Place::with_small();
    place.run(&["check", "."]).fails(2, &["cannot read the scenario", "it is a folder"]);
    let deep = format!("{}x=1", "a.".repeat(50_000));
    let ran = place.run(&["check", "small.toml", "--set", &deep]);
    ran.fails(2, &["a path of 50001 parts", "at most 32"]);
    place.write("large.toml", &"#".repeat(16 << 20 | 1));
    place.run(&["check", "large.toml"]).fails(2, &["longer than 16 MiB"]);
    if cfg!(target_os = "linux") {
        place.run(&["check", "/dev/zero"]).fails(2, &["it is a device"]);
        let text = SMALL.replace("workload = \"websearch\"", "workload = { file = \"/dev/zero\" }");
        place.write("cdf.toml", &text);
        place.run(&["check", "cdf.toml"]).fails(2, &["cdf.toml:", "it is a device"]);
    }
}

#[test]
fn no_list_of_what_depends_on_the_run() {
    let place = Place::new();
    let traffic = SMALL.find("[[traffic]]").unwrap();
    let rpc = "[[traffic]]\nkind = \"rpc\"\nclients = \"h0\"\nservers = \"h1\"\n\
               request = \"1KB\"\nresponse = \"1KB\"\nrequests = 2\nscheme = \"dctcp\"\n";
    place.write("rpc.toml", &format!("{}{rpc}", &SMALL[..traffic]));
    let says = ["cannot hold closed-loop clients"];
    place.run(&["flows", "rpc.toml", "-o", "flows.csv"]).fails(2, &says);
    place.run(&["flows", "rpc.toml"]).fails(2, &says);
    assert_eq!(place.names("."), ["rpc.toml"]);
}
