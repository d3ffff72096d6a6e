//! The command as a process: its streams and the signals that it gets.

use std::fs::File;
use std::process::{Child, Command};
use std::time::Duration;

use crate::support::{Place, Ran};

#[cfg(target_os = "linux")]
#[test]
fn notes_that_cannot_be_written_are_no_failure() {
    let place = Place::with_small();
    place.write("bad.toml", "nonsense = 1\n");
    place.run(&["run", "small.toml", "--out", "a"]).ok();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let status = |args: &[&str]| place.command(args).stderr(full()).status().unwrap().code();
    assert_eq!(status(&["check", "small.toml"]), Some(0));
    assert_eq!(status(&["check", "bad.toml"]), Some(2));
    assert_eq!(status(&["run", "small.toml", "--out", "b"]), Some(0));
    assert_eq!(status(&["run", "small.toml", "--out", "b"]), Some(2));
    assert_eq!(status(&["flows", "small.toml", "-o", "flows.csv"]), Some(0));
    assert_eq!(status(&["compare", "a", "b"]), Some(0));
    assert_eq!(status(&["compare", "a", "."]), Some(2));
    assert_eq!(place.json("b/summary.json"), place.json("a/summary.json"));
}

/// Starts a run into `out` and waits until it has begun: its hidden folder is there.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "waits for another process")]
fn begun(place: &Place, args: &[&str]) -> Child {
    let child = place.command(args).spawn().unwrap();
    let begun = || place.names(".").iter().any(|name| name.starts_with(".out.partial-"));
    for _ in 0..1000 {
        if begun() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(begun(), "the run has begun");
    child
}

/// Sends a signal, and leaves the process some time with it.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "waits for another process")]
fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(100));
}

#[cfg(unix)]
#[test]
fn an_interruption_leaves_nothing() {
    let place = Place::with_small();
    // Enough flows for minutes.
    let args = ["run", "small.toml", "--set", "traffic.0.flows=5000000", "--out", "out"];
    let child = begun(&place, &args);
    signal(&child, "-INT");
    let ran = Ran::of(child.wait_with_output().unwrap());
    ran.fails(1, &["interrupted at simulated time", "no results were written to out"]);
    assert_eq!(place.names("."), ["small.toml"]);
}

#[cfg(unix)]
#[test]
fn a_second_interruption_ends_the_process_at_once() {
    let place = Place::with_small();
    // Flows of all pairs are drawn before the run begins, where nothing looks for interruptions.
    let traffic = "traffic=[{ kind = \"all-to-all\", size = \"1KB\", spread = \"1s\" }]";
    let hosts = "topology={ kind = \"star\", hosts = 2000 }";
    let args = ["run", "small.toml", "--set", traffic, "--set", hosts, "--out", "out"];
    let sets = [&args[..], &["--set", "scheme=dctcp"]].concat();
    let child = begun(&place, &sets);
    signal(&child, "-INT");
    signal(&child, "-TERM");
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.status, Some(130), "{}", ran.err);
}
