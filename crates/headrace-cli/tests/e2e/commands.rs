//! `list`, `explain`, `reproduce` and `--help`.

use crate::support::Place;

#[test]
fn everything_listed_can_be_explained() {
    let place = Place::new();
    let kinds = ["topologies", "traffic", "sections", "workloads", "papers"];
    for what in ["schemes", "congestion-points"].into_iter().chain(kinds) {
        let ran = place.run(&["list", what]).ok();
        assert!(!ran.out.is_empty(), "{what}");
        for line in ran.out.lines() {
            let name = line.split_whitespace().next().unwrap();
            let explained = place.run(&["explain", name]).ok();
            assert!(explained.out.starts_with(&format!("{name}: ")), "{}", explained.out);
        }
        let ran = place.run(&["list", what, "--json"]).ok();
        let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert!(json.as_array().is_some_and(|list| !list.is_empty()));
    }
}

#[test]
fn every_command_has_help_with_examples() {
    let place = Place::new();
    for command in ["run", "check", "list", "explain", "reproduce", "compare", "flows"] {
        let ran = place.run(&[command, "--help"]).ok();
        assert!(ran.out.contains("Examples:"), "{command}");
    }
    assert!(place.run(&["--version"]).ok().out.starts_with("headrace "));
}

#[test]
fn a_table_reproduces_from_what_is_built_in() {
    let place = Place::new();
    let ran = place.run(&["reproduce", "bcc/tab1", "--out", "out"]).ok();
    assert!(ran.out.contains("bcc/tab1/tomahawk-per-port"), "{}", ran.out);
    let claims = place.json("out/claims.json");
    for claim in claims.as_array().unwrap() {
        assert_eq!(claim["verdict"], "holds", "{claim}");
        for key in ["id", "paper", "figure", "what", "published", "measured", "interval", "band"] {
            assert!(!claim[key].is_null(), "{key}");
        }
    }
    let svg = String::from_utf8(place.read("out/bcc/tab1.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("Tomahawk"));
    let csv = String::from_utf8(place.read("out/bcc/tab1.csv")).unwrap();
    assert!(csv.starts_with("panel,variant,point,seed,value\n"));
}

/// A paper of one's own: two loads of a small fabric under two thresholds.
fn own_paper(place: &Place) {
    std::fs::create_dir_all(place.path().join("papers/own/fig1")).unwrap();
    place.write("papers/own/fig1/scenario.toml", crate::support::SMALL);
    place.write(
        "papers/own/fig1/figure.toml",
        r#"
title = "Own figure"
shows = "The shape of a figure"
sources = ["none"]
scenario = "scenario.toml"
[axis]
title = "Load"
set = ["traffic.0.load={}"]
[quick]
points = [0.2, 0.5]
seeds = 2
[full]
points = [0.2, 0.5]
seeds = 3
[[variant]]
name = "high"
label = "K = 200 KB"
[[variant]]
name = "low"
label = "K = 20 KB"
set = ["switch.ecn.k=20KB"]
[[panel]]
title = "FCT"
y = "FCT (us)"
measure = "self[*].fct_ns.all.avg / 1000"
[[claim]]
id = "finishes"
what = "every flow finishes"
kind = "shape"
published = 1
measure = "all(high[*].flows.unfinished <= 0)"
[[claim]]
id = "absurd"
what = "nothing is faster than light"
kind = "at_most"
published = 1
unit = "ns"
measure = "high[last].fct_ns.all.avg"
cause = "light is slow"
"#,
    );
}

#[test]
fn a_figure_runs_the_same_on_any_number_of_threads() {
    let place = Place::new();
    own_paper(&place);
    let one = ["reproduce", "own", "--threads", "1", "--out", "one"];
    place.run(&one).fails(1, &["1 of 2 claims do not hold"]);
    let two = place.run(&["reproduce", "own/fig1", "--threads", "2", "--out", "two"]);
    assert!(two.out.contains("light is slow"), "{}", two.out);
    for file in ["claims.json", "own/fig1.svg", "own/fig1.csv"] {
        assert!(place.read(&format!("one/{file}")) == place.read(&format!("two/{file}")), "{file}");
    }
    let claims = place.json("one/claims.json");
    assert_eq!(claims[0]["verdict"], "holds");
    assert_eq!((&claims[0]["seeds"], &claims[0]["size"]), (&2.into(), &"quick".into()));
    assert_eq!(claims[1]["verdict"], "does not hold");
    assert_eq!(claims[1]["cause"], "light is slow");
    assert!(claims[0]["cause"].is_null());
}

#[test]
fn a_figure_that_is_wrong_is_bad_input() {
    let place = Place::new();
    own_paper(&place);
    let path = place.path().join("papers/own/fig1/figure.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    place
        .write("papers/own/fig1/figure.toml", &text.replace("switch.ecn.k=20KB", "switch.ecn.q=1"));
    place.run(&["reproduce", "own", "--out", "out"]).fails(2, &["ecn", "q"]);
    place.write("papers/own/fig1/figure.toml", &text.replace("all(high", "all(hihg"));
    place.run(&["reproduce", "own", "--out", "out"]).fails(2, &["claim `finishes`", "hihg"]);
}
