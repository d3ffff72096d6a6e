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
    assert!(found[0].starts_with("--set 'until=5':1:7: until: `5` has no unit"));
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

#[test]
fn flows_with_too_many_segments() {
    let found = changed("workload = \"websearch\"", "size = \"9999999TB\"");
    assert!(found[0].starts_with("x.toml:9:8: size: flows of up to 9999999"), "{found:?}");
    assert!(found[0].ends_with("at most 6270652250700 bytes (2^32 - 1 segments)"), "{found:?}");
    assert!(changed("workload = \"websearch\"", "size = \"6270652250700B\"").is_empty());
    let name = file("endless.cdf", "0 0\n1e30 1\n");
    let found = changed("\"websearch\"", &format!("{{ file = \"{name}\" }}"));
    assert!(found[0].starts_with("x.toml:9:12: workload: flows of up to 1000000"), "{found:?}");
    let incast = "kind = \"incast\"\nfan_in = 2\nrequest = \"9999999TB\"\nrequests = 1\n";
    let (head, _) = GOOD.split_once("kind = \"poisson\"").unwrap();
    assert!(errors(&format!("{head}{incast}"), &[])[0].contains("request: flows of up to"));
}

#[test]
fn what_the_simulator_refuses() {
    let topology = |key: &str| changed("hosts = 4", &format!("hosts = 4\n{key}"));
    for key in ["delay = \"0s\"", "delay = \"1000000s\"", "rate = \"1bps\""] {
        let found = topology(key);
        assert!(found[0].starts_with("x.toml:2:1: link h0 - s0 has "), "{found:?}");
        assert!(found[0].contains("; give "), "{found:?}");
        assert_eq!(found.len(), 1);
    }
    assert!(topology("rate = \"18446744073709551615bps\"")[0].contains("give 1Kbps to 100Tbps"));
    assert!(errors(GOOD, &["switch.alpha=2000"])[0].contains("at most 1024"));
}

#[test]
fn buffers_below_a_frame() {
    assert_eq!(
        errors(GOOD, &["host.nic_buffer=1517B"]),
        ["--set 'host.nic_buffer=1517B':1:17: nic_buffer: 1517 bytes hold no full frame of 1518; \
          give it 1518B or more"]
    );
    assert_eq!(errors(GOOD, &["host.nic_buffer=1518B", "switch.limit=1518B"]), [""; 0]);
    assert!(errors(GOOD, &["switch.limit=100B"])[0].contains("limit: 100 bytes hold no full"));
    // A frame lies in the one or in the other.
    let found = errors(GOOD, &["switch.private=1000B", "switch.pool=1000B"]);
    assert!(found[0].contains("no full frame of 1518 bytes enters this queue"), "{found:?}");
    assert_eq!(errors(GOOD, &["switch.private=0B", "switch.pool_per_port=400B"]), [""; 0]);
    // Four ports in MMUs of three and one.
    let sets = ["switch.private=0B", "switch.pool_per_port=600B", "switch.ports_per_mmu=3"];
    assert!(errors(GOOD, &sets)[0].contains("the pool has 600"));
    assert!(errors(GOOD, &["switch.bcc={ rtt = \"0s\" }"])[0].contains("rtt: 0"));
}

#[test]
fn hosts_are_named_once_and_by_a_name() {
    let found = errors(GOOD, &["traffic.0.src=[\"h0..h2\", \"h1\"]"]);
    assert!(found[0].contains("src: h1 is named twice; name each host once"), "{found:?}");
    let edges = "topology={ kind = \"edges\", hosts = [\"a\", \"\"], switches = [\"s\"], \
                 edges = [{ a = \"a\", b = \"s\" }, { a = \"\", b = \"s\", links = 100000 }] }";
    let found = errors(GOOD, &[edges]);
    let told = |part: &str| found.iter().any(|line| line.contains(part));
    assert!(told("hosts: an empty name; give each node a name"), "{found:?}");
    assert!(told("links: too many parallel links; choose at most"), "{found:?}");
    let found = errors(GOOD, &["traffic.0.src=h0..s0"]);
    assert!(found[0].contains("src: no host `h0..s0`; it is a switch; hosts are"), "{found:?}");
}

#[test]
fn loads_that_add_up_to_more_than_the_links_carry() {
    let two = |changes: &str| {
        let second = "[[traffic]]\nname = \"b\"\nkind = \"poisson\"\nsize = \"1MB\"\nflows = 10\n";
        let text = GOOD.replace("load = 0.3", "load = 0.7\nstop = \"1ms\"");
        errors(&format!("{text}{second}{changes}"), &[])
    };
    assert_eq!(two("load = 0.3\n"), [""; 0]);
    let found = two("load = 0.4\n");
    assert_eq!(found.len(), 1, "{found:?}");
    let expected = "x.toml:18:8: load: 1.1 of `host` with the other sources; lower the loads to 1";
    assert!(found[0].starts_with(expected), "{found:?}");
    // One after the other, or on other links.
    assert_eq!(two("load = 0.4\nstart = \"1ms\"\n"), [""; 0]);
    assert_eq!(two("load = 0.4\nsrc = \"h0\"\nof = \"src\"\n"), [""; 0]);
}

#[test]
fn remedies_name_what_was_written() {
    assert!(errors(GOOD, &["mtu=1500"])[0].contains("write \"1500B\""));
    let found = errors(GOOD, &["tcp.rto_min=100s"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(":1:13: rto_min: rto_max (60s) is below rto_min (100s)"));
    let found = errors(GOOD, &["tcp.rto_min=2s", "tcp.rto_max=1s"]);
    assert!(found[0].contains(":1:13: rto_max: rto_max (1s) is below"), "{found:?}");
    let found = errors(GOOD, &["seed=18446744073709551615"]);
    assert!(found[0].contains("is too large; write a whole number from 0 to 92233"), "{found:?}");
}

#[test]
fn every_mistake_is_told_at_once() {
    let sets = ["foo=2", "mtu=100B", "host.nic_buffer=1B", "traffic.0.load=2", "topology.delay=0s"];
    let found = errors(GOOD, &sets);
    for part in ["unknown key `foo`", "mtu: out of range", "nic_buffer: 1 bytes", "load: 2"] {
        assert!(found.iter().any(|line| line.contains(part)), "{part}: {found:?}");
    }
}
