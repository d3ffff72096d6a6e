//! Bad input: each is one clear error with its place and a remedy.

use std::path::Path;

use headrace_lab::scenario::Scenario;
use miette::Diagnostic;

const GOOD: &str = r#"scheme = "dctcp"
[topology]
kind = "star"
hosts = 4
[switch]
k = "200KB"
[[traffic]]
kind = "poisson"
workload = "websearch"
load = 0.3
flows = 10
"#;

fn errors(text: &str, sets: &[&str]) -> Vec<String> {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    match Scenario::parse("x.toml", text, folder, &sets) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(|p| p.line()).collect(),
    }
}

fn changed(from: &str, to: &str) -> Vec<String> {
    assert!(GOOD.contains(from), "{from}");
    errors(&GOOD.replace(from, to), &[])
}

fn file(name: &str, text: &str) -> String {
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), text).unwrap();
    name.to_owned()
}

#[test]
fn the_good_one_is_good() {
    assert_eq!(errors(GOOD, &[]), [""; 0]);
}

#[test]
fn an_unknown_key_is_named_with_the_nearest() {
    assert_eq!(
        changed("load = 0.3", "laod = 0.3")[0],
        "x.toml:10:1: unknown key `laod` in [[traffic]] of kind poisson; did you mean `load`?"
    );
    assert_eq!(changed("load = 0.3", "laod = 0.3").len(), 1);
    assert!(changed("[switch]", "[swich]")[0].contains("did you mean `switch`?"));
    let deep = changed("k = \"200KB\"", "ecn = { kmin = \"1KB\" }");
    assert_eq!(deep, ["x.toml:6:9: unknown key `kmin` in `ecn`; did you mean `k_min`?"]);
}

#[test]
fn a_missing_unit() {
    assert_eq!(
        changed("\"200KB\"", "200"),
        ["x.toml:6:5: k: `200` has no unit; write \"200KB\", or the unit that is meant"]
    );
    assert!(changed("\"200KB\"", "\"200\"")[0].contains("has no unit"));
    assert!(changed("\"200KB\"", "\"200us\"")[0].contains("`us` is not a unit of size"));
}

#[test]
fn a_negative_size() {
    let found = changed("workload = \"websearch\"", "size = \"-5KB\"");
    assert_eq!(found, ["x.toml:9:8: size: `-5KB`: a size cannot be negative; write `5KB`"]);
    assert!(changed("workload = \"websearch\"", "size = -5")[0].contains("cannot be negative"));
    assert!(changed("workload = \"websearch\"", "size = \"0B\"")[0].contains("0 bytes"));
}

#[test]
fn a_disconnected_topology() {
    let apart = "kind = \"edges\"\nhosts = [\"a\", \"b\"]\nswitches = [\"s\", \"t\"]\n\
                 edges = [{ a = \"a\", b = \"s\" }, { a = \"b\", b = \"t\" }]";
    let found = changed("kind = \"star\"\nhosts = 4", apart);
    assert!(found[0].starts_with("x.toml:3:8: no way from a to b"), "{found:?}");
}

#[test]
fn a_load_over_one() {
    let found = changed("load = 0.3", "load = 1.3");
    assert!(found[0].starts_with("x.toml:10:8: load: 1.3 is not above 0 and at most 1; "));
}

#[test]
fn bad_cdfs() {
    let with = |name: &str, text: &str| {
        let name = file(name, text);
        changed("\"websearch\"", &format!("{{ file = \"{name}\" }}")).join("\n")
    };
    assert_eq!(with("good.cdf", "0 0\n10 0.5\n20 1\n"), "");
    assert!(with("empty.cdf", "# nothing\n").contains("/empty.cdf:1:1: an empty CDF; "));
    let falling = with("falling.cdf", "0 0\n10 60\n20 50\n30 100\n");
    assert!(falling.contains("/falling.cdf:3:1: a CDF that is not monotonic"), "{falling}");
    let missing = changed("\"websearch\"", "{ file = \"none.cdf\" }").join("\n");
    assert!(missing.contains("x.toml:9:21: cannot read `none.cdf`"), "{missing}");
    assert!(changed("\"websearch\"", "\"websaerch\"")[0].contains("did you mean `websearch`?"));
}

#[test]
fn bad_flow_lists() {
    let with = |name: &str, text: &str| {
        let name = file(name, text);
        let list = format!("kind = \"list\"\nfile = \"{name}\"\n");
        let (head, _) = GOOD.split_once("kind = \"poisson\"").unwrap();
        errors(&format!("{head}{list}"), &[]).join("\n")
    };
    let header = "start_ns,src,dst,size_bytes\n";
    assert_eq!(with("good.csv", &format!("{header}9,h1,2,50\n5,0,1,10\n")), "");
    let found = with("bad.csv", &format!("{header}0,0,1,10\n5,0,7,10\n5,0,1,-3\n"));
    let lines: Vec<&str> = found.lines().collect();
    assert!(lines[0].contains("/bad.csv:3:5: dst: no host `7`; hosts are h0 to h3"), "{found}");
    assert!(lines[1].contains("/bad.csv:4:7: size_bytes: `-3` is negative"), "{found}");
    assert!(with("none.csv", header).contains("lists no flow"));
    assert!(with("bad.parquet", "no parquet").contains("x.toml:9:8: cannot read `bad.parquet`"));
}

#[test]
fn an_unreadable_scenario() {
    let problems = Scenario::load(Path::new("/nowhere/x.toml"), &[]).unwrap_err();
    assert!(problems.to_string().starts_with("/nowhere/x.toml:1:1: cannot read the scenario"));
}

#[test]
fn traffic_without_an_end() {
    let found = changed("flows = 10\n", "");
    assert_eq!(
        found,
        ["x.toml:8:8: this traffic never ends; give it `flows` or `stop`, or the scenario \
          `until = \"10ms\"`"]
    );
    assert_eq!(errors(&GOOD.replace("flows = 10\n", ""), &["until=1ms"]), [""; 0]);
}

#[test]
fn several_errors_at_once_in_order_and_each_once() {
    let text = GOOD
        .replace("hosts = 4", "hosts = 4\nrate = 5")
        .replace("load = 0.3", "load = 2")
        .replace("200KB", "200kB");
    let found = errors(&text, &["until=5"]);
    // The topology is broken: what depends on it is not looked at yet.
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("--set:1:7: until: `5` has no unit"));
    let found = errors(&text.replace("rate = 5\n", ""), &[]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("did you mean `KB`?") && found[1].contains("load: 2"));
}

#[test]
fn missing_parts() {
    let no_topology = GOOD.replace("[topology]\nkind = \"star\"\nhosts = 4\n", "");
    assert!(errors(&no_topology, &[])[0].contains("the scenario has no `topology`"));
    let no_scheme = GOOD.replace("scheme = \"dctcp\"\n", "");
    assert!(errors(&no_scheme, &[])[0].contains("no scheme"));
    assert!(errors(GOOD, &["traffic.0.kind=poison"])[0].contains("did you mean `poisson`?"));
    assert!(errors(GOOD, &["mtu=100B"])[0].contains("choose 128B to 65000B"));
    assert!(errors(GOOD, &["topology.loss=1"])[0].contains("not a probability"));
    assert!(errors(GOOD, &["traffic.0.src=h9"])[0].contains("hosts are h0 to h3"));
    let two = format!("{GOOD}name = \"a\"\n[[traffic]]\nkind=\"list\"\n");
    assert!(errors(&two, &[])[0].contains("needs `file`"));
}

#[test]
fn switch_contradictions() {
    assert!(errors(GOOD, &["switch.ecn={ k = \"1KB\" }"])[0].contains("exclude each other"));
    assert!(
        errors(GOOD, &["switch.bcc={ rtt = \"80us\" }", "switch.alpha=none"])[0].contains("alpha")
    );
    let small = errors(GOOD, &["switch.bcc={ rtt = \"80us\" }", "switch.pool=100KB"]);
    assert!(small[0].contains("need a pool of at least"), "{small:?}");
    assert!(errors(GOOD, &["switch.pool_per_port=1MB", "switch.pool=1MB"])[0].contains("exclude"));
    let share = errors(GOOD, &["switch.queue=[{ share = 0.7 }, { share = 0.6 }]"]);
    assert!(share[0].contains("shares above 1"), "{share:?}");
    let twice = errors(GOOD, &["switch.queue=[{ priorities = [1] }, { priorities = [1] }]"]);
    assert!(twice[0].contains("priority 1 in two queues"), "{twice:?}");
    assert!(errors(GOOD, &["switch.spine={ k = \"1KB\" }"])[0].contains("unknown key `spine`"));
}

#[test]
fn a_problem_is_a_diagnostic_with_source_and_help() {
    let text = GOOD.replace("hosts = 4", "host = 4");
    let problems = Scenario::parse("x.toml", &text, Path::new("."), &[]).unwrap_err();
    let problem = problems.iter().next().unwrap();
    assert_eq!(problem.help().unwrap().to_string(), "did you mean `hosts`?");
    assert!(problem.source_code().is_some());
    assert_eq!(problem.labels().unwrap().next().unwrap().len(), "host".len());
    assert_eq!(problems.related().unwrap().count(), problems.len());
}
