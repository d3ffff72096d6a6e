//! Scenario files: TOML with a unit on every quantity, read into what the simulator runs.
//!
//! ```
//! use headrace_lab::scenario::Scenario;
//! use std::path::Path;
//!
//! let text = r#"
//!     scheme = "dctcp"
//!     [topology]
//!     kind = "dumbbell"
//!     rate = "10Gbps"
//!     [switch]
//!     k = "65packets"
//!     [[traffic]]
//!     kind = "long"
//!     src = "h0..h1"
//!     dst = "h2..h3"
//!     stop = "10ms"
//! "#;
//! let scenario = Scenario::parse("two-flows", text, Path::new("."), &[]).unwrap();
//! assert_eq!(scenario.spec.network.nodes.len(), 6);
//!
//! let sets = ["topology.rat=1Gbps".to_string()];
//! let problems = Scenario::parse("two-flows", text, Path::new("."), &sets).unwrap_err();
//! assert!(problems.to_string().contains("did you mean `rate`?"));
//! ```

pub mod catalog;
pub mod classes;
mod fields;
pub mod files;
pub mod flow_list;
mod overrides;
pub mod problems;
pub mod reader;
mod schemes;
pub mod switch;
pub mod trace;
pub mod tree;
pub mod units;

use std::path::{Path, PathBuf};

use headrace_cc::sender::Ecn;
use headrace_cc::units::{Rate, Time};
use headrace_sim::spec::{Framing, HostSpec, NetworkSpec, NodeKind, NodeSpec, RunSpec, SwitchSpec};
use headrace_sim::workload::Workload;
use serde_json::json;

use crate::topology::{Role, Topology};
use crate::traffic::Setup;
use crate::traffic::merge::{Merged, Traffic};
use classes::{Classes, Inherited};
pub use problems::{Problem, Problems};
use reader::{Context, Count, Key, Section, Takes};
use switch::SwitchPlan;
pub use trace::{ALL_SIZES, SizeClass};
use tree::{Data, Node};

/// Keys at the top of a scenario.
pub const SCENARIO_KEYS: &[Key] = &[
    Key::with("description", Takes::Text, "", "what the scenario shows"),
    Key::with("seed", Takes::Count, "1", "seed of every random stream"),
    Key::optional(
        "until",
        Takes::Time,
        "when every flow is done",
        "the run ends here at the latest",
    ),
    Key::with("mtu", Takes::Bytes, "1500B", "largest IP packet, headers included"),
    Key::with(
        "framing",
        Takes::Word(&["ethernet", "none"]),
        "ethernet",
        "what a packet costs \
        beyond itself: Ethernet's 38 bytes, or nothing",
    ),
    Key::optional(
        "scheme",
        Takes::Any,
        "each traffic's own",
        "a law by name, or { name, parameters }",
    ),
    Key::optional("tcp", Takes::Table, "the defaults", "TCP's settings"),
    Key::optional("host", Takes::Table, "the defaults", "what hosts are like"),
    Key::required("topology", Takes::Table, "nodes and links"),
    Key::optional("switch", Takes::Table, "the defaults", "buffers, queues and marking"),
    Key::required("traffic", Takes::List, "sources of flows, as [[traffic]]"),
    Key::optional("trace", Takes::Table, "no traces", "what is recorded beside the flows"),
    Key::optional("results", Takes::Table, "BCC's size classes", "how results are grouped"),
];

/// Keys of `[host]`.
pub const HOST_KEYS: &[Key] = &[Key::with(
    "nic_buffer",
    Takes::Any,
    "none",
    "bytes that a NIC \
    holds before it drops, or \"none\" for as many as the transport gives it",
)];

/// A scenario, read and checked: everything that a run needs.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name: the file's, without its ending.
    pub name: String,
    /// What it shows.
    pub description: String,
    /// What is run.
    pub spec: RunSpec,
    /// How results group flows by size.
    pub size_classes: Vec<SizeClass>,
    traffic: Vec<Traffic>,
    link_sets: Vec<(String, Vec<usize>)>,
    notes: Vec<String>,
    resolved: serde_json::Value,
    inputs: Vec<PathBuf>,
}

impl Scenario {
    /// Reads a file, with overrides `path=value` put over it. Files that it names are relative to
    /// its folder.
    ///
    /// # Errors
    /// Everything that is wrong, each with file, line, column and remedy.
    pub fn load(path: &Path, sets: &[String]) -> Result<Scenario, Problems> {
        let shown = path.display().to_string();
        let text = files::read_text(path, files::SCENARIO_BYTES).map_err(|error| {
            let message = format!("cannot read the scenario: {error}");
            Problem::with_file(&shown, message, "name a readable TOML file")
        })?;
        let stem = path.file_stem().map_or_else(|| shown.clone(), |s| s.to_string_lossy().into());
        let base = path.parent().unwrap_or(Path::new("."));
        let mut scenario = Scenario::read(&stem, &shown, &text, base, sets)?;
        scenario.inputs.push(path.to_owned());
        Ok(scenario)
    }

    /// Reads a text; problems call it `name`. Files that it names are relative to `base_dir`.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn parse(
        name: &str,
        text: &str,
        base_dir: &Path,
        sets: &[String],
    ) -> Result<Scenario, Problems> {
        Scenario::read(name, name, text, base_dir, sets)
    }

    fn read(
        name: &str,
        source: &str,
        text: &str,
        base: &Path,
        sets: &[String],
    ) -> Result<Scenario, Problems> {
        let mut root = Node::parse(source, text)?;
        let context = Context::new(base);
        for set in sets {
            if let Err(problem) = overrides::apply(&mut root, set) {
                context.report(problem);
            }
        }
        let scenario = build(&context, &root, name);
        match (scenario, Problems::of(context.take())) {
            (_, Some(problems)) => Err(problems),
            (Some(scenario), None) => Ok(scenario),
            (None, None) => unreachable!("a scenario is refused with a problem"),
        }
    }

    /// A fresh stream of the scenario's flows, seeded from `spec.seed`. The same each time.
    ///
    /// # Errors
    /// None at present: files were read when the scenario was.
    pub fn workload(&self) -> Result<Box<dyn Workload + Send>, Problems> {
        Ok(Box::new(Merged::new(&self.traffic, self.spec.seed)))
    }

    /// The same scenario under another seed.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.spec.seed = seed;
        self.resolved["seed"] = seed.into();
        self
    }

    /// Every value with defaults filled in, for the manifest. Holds no absolute path.
    pub fn resolved(&self) -> serde_json::Value {
        self.resolved.clone()
    }

    /// What to print before a run: each source's mean flow size, load and number of flows.
    pub fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Names of the hosts, by number.
    pub fn host_names(&self) -> Vec<String> {
        let is_host = |node: &&NodeSpec| matches!(node.kind, NodeKind::Host(_));
        self.spec.network.nodes.iter().filter(is_host).map(|node| node.name.clone()).collect()
    }

    /// The files that it was read from: its own, CDFs, flow lists.
    pub fn inputs(&self) -> &[PathBuf] {
        &self.inputs
    }

    /// Named sets of links, as indices into the network's links.
    pub fn link_sets(&self) -> &[(String, Vec<usize>)] {
        &self.link_sets
    }
}

fn build(context: &Context, root: &Node, name: &str) -> Option<Scenario> {
    let mut section = Section::open(context, root, "the scenario", SCENARIO_KEYS);
    let description: Option<String> = section.get("description");
    let seed: Option<Count> = section.get("seed");
    let until: Option<Time> = section.get("until");
    section.refuse_if(until == Some(Time::ZERO), "until", "until: 0", "write a time above 0");
    let (mtu, framing) = packets(context, &mut section);
    let empty = Node { place: root.place.clone(), data: Data::Table(Vec::new()) };
    let part = |key: &str| root.get(key).unwrap_or(&empty);
    let host = read_host(context, part("host"));
    let size_classes = trace::read_size_classes(context, part("results"));
    classes::read_tcp(context, part("tcp"));
    let (topology, topology_shown, sound) = read_topology(&section)?;
    let switches = read_switches(context, part("switch"), &topology);
    let trace = trace::read_trace(context, part("trace"), &topology);
    // What is wrong with packets has been said: the traffic is read all the same.
    let (usual_mtu, usual) = (mtu.unwrap_or(1500), framing.unwrap_or(Framing::Ethernet));
    let setup = Setup { topology: &topology, mtu: usual_mtu, framing: usual, until };
    let inherited =
        Inherited { scheme: root.get("scheme").cloned(), tcp: part("tcp").clone(), setup };
    let classes = match section.node("traffic") {
        Some(node) => classes::read(context, node, &inherited),
        None => missing(&section, "traffic", "[[traffic]] with kind = \"poisson\" or another"),
    };
    let (switches, (host, host_shown)) = (switches?, host?);
    let nodes = nodes(&topology, &host, &switches.specs);
    let links = topology.links.clone();
    let network = NetworkSpec { framing: framing?, mtu: mtu?, nodes, links };
    if sound {
        check_network(&section, &network);
    }
    let (classes, size_classes, (trace, trace_shown)) = (classes?, size_classes?, trace?);
    for (key, value) in [
        ("topology", topology_shown),
        ("host", host_shown),
        ("switch", switches.resolved.clone()),
        ("traffic", classes.resolved.clone().into()),
        ("trace", trace_shown),
        ("results", trace::show_size_classes(&size_classes)),
        ("name", json!(name)),
    ] {
        section.resolve(key, value);
    }
    let (resolved, notes) = (section.resolved(), notes(&classes, &switches));
    let Classes { classes, traffic, .. } = classes;
    let (seed, until) = (seed?.0, until.unwrap_or(Time::NEVER));
    Some(Scenario {
        name: name.to_owned(),
        description: description?,
        spec: RunSpec { network, classes, seed, until, trace },
        size_classes,
        traffic,
        link_sets: topology.sets,
        notes,
        resolved,
        inputs: context.files(),
    })
}

/// Reads `[topology]`; the last value says whether nothing was wrong with it.
fn read_topology(section: &Section<'_>) -> Option<(Topology, serde_json::Value, bool)> {
    let Some(node) = section.node("topology") else {
        return missing(section, "topology", "[topology] with kind = \"leaf-spine\" or another");
    };
    let before = section.context.found();
    let (topology, shown) = Topology::read(section.context, node)?;
    Some((topology, shown, section.context.found() == before))
}

/// Refuses what the simulator would.
fn check_network(section: &Section<'_>, network: &NetworkSpec) {
    let Err(error) = headrace_sim::net::check(network) else { return };
    let text = error.to_string();
    let (message, remedy) = text.split_once("; ").unwrap_or((&text, "change it"));
    let of_switch = ["switch", "queue"].iter().any(|word| message.starts_with(word));
    let key = if of_switch && section.has("switch") { "switch" } else { "topology" };
    section.refuse(key, message, remedy);
}

fn missing<T>(section: &Section<'_>, key: &str, what: &str) -> Option<T> {
    section.missing(format!("the scenario has no `{key}`"), format!("add {what}"));
    None
}

/// Reads `mtu` and `framing`, and sets the size of the unit `packets`.
fn packets(context: &Context, section: &mut Section<'_>) -> (Option<u32>, Option<Framing>) {
    context.packet_bytes.set(1500);
    let mtu: Option<u64> = section.get("mtu");
    let fits = mtu.is_none_or(|mtu| (128..=65_000).contains(&mtu));
    section.refuse_if(!fits, "mtu", "mtu: out of range", "choose 128B to 65000B");
    let framing = section.word("framing").map(|word| match word {
        "none" => Framing::None,
        _ => Framing::Ethernet,
    });
    let mtu = mtu.filter(|_| fits).map(|mtu| mtu as u32);
    // A buffer holds frames without preamble and gap: 18 bytes above the IP packet.
    let header = if framing == Some(Framing::None) { 0 } else { 18 };
    context.packet_bytes.set(u64::from(mtu.unwrap_or(1500)) + header);
    (mtu, framing)
}

fn read_host(context: &Context, node: &Node) -> Option<(HostSpec, serde_json::Value)> {
    let mut section = Section::open(context, node, "[host]", HOST_KEYS);
    let nic_buffer = section.get::<Option<u64>>("nic_buffer")?;
    section.holds_a_frame("nic_buffer", nic_buffer);
    Some((HostSpec { nic_buffer }, section.resolved()))
}

/// Switches of a scenario.
struct Switches {
    /// In the order of the switches among the nodes.
    specs: Vec<SwitchSpec>,
    marks: bool,
    resolved: serde_json::Value,
}

fn read_switches(context: &Context, node: &Node, topology: &Topology) -> Option<Switches> {
    let mut roles: Vec<&'static str> = Vec::new();
    for node in &topology.nodes {
        if let Role::Switch(role) = node.role
            && !roles.contains(&role)
        {
            roles.push(role);
        }
    }
    let meaning = "the same keys, for the switches of this name";
    let role_keys: Vec<Key> = (roles.iter())
        .map(|role| Key::optional(role, Takes::Table, "as the others", meaning))
        .collect();
    let neighbours = topology.neighbours();
    let fastest = |i: usize| {
        let rates = neighbours[i].iter().map(|n| topology.links[n.0].rate);
        rates.max().unwrap_or(Rate::from_bps(1))
    };
    let mut plans = Vec::new();
    let mut resolved = serde_json::Map::new();
    for role in roles.iter().copied() {
        let node = switch::for_role(node, role, &roles);
        let (plan, shown) = SwitchPlan::read(context, &node, &role_keys)?;
        resolved.insert(role.to_owned(), shown);
        plans.push((role, plan));
    }
    let mut specs = Vec::new();
    for (i, node) in topology.nodes.iter().enumerate() {
        if let Role::Switch(role) = node.role {
            let plan = &plans.iter().find(|p| p.0 == role)?.1;
            specs.push(plan.build(context, neighbours[i].len(), fastest(i))?);
        }
    }
    let marks = plans.iter().any(|p| p.1.marks());
    Some(Switches { specs, marks, resolved: resolved.into() })
}

fn nodes(topology: &Topology, host: &HostSpec, switches: &[SwitchSpec]) -> Vec<NodeSpec> {
    let mut switches = switches.iter().cloned();
    let spec = |node: &crate::topology::TopologyNode| {
        let kind = match node.role {
            Role::Host => NodeKind::Host(host.clone()),
            Role::Switch(_) => NodeKind::Switch(switches.next().expect("one for each")),
        };
        NodeSpec { name: node.name.clone(), kind }
    };
    topology.nodes.iter().map(spec).collect()
}

fn notes(classes: &Classes, switches: &Switches) -> Vec<String> {
    let mut notes = classes.notes.clone();
    let deaf = classes.classes.iter().find(|c| c.scheme.ecn() != Ecn::Off && !switches.marks);
    if let Some(class) = deaf {
        let scheme = class.scheme.name();
        notes.push(format!("{scheme} reacts to marks, but no switch marks: see `k` in [switch]"));
    }
    notes
}
