//! `[[traffic]]`: each source's class (scheme, priority, TCP's settings) and what it starts.

use std::sync::Arc;

use headrace_cc::sender::Scheme;
use headrace_cc::units::Time;
use headrace_sim::spec::{ClassSpec, TcpSpec};

use super::problems::Place;
use super::reader::{Context, Count, Key, Section, Takes};
use super::schemes::law;
use super::tree::{Data, Node};
use crate::traffic::load::{TimedLoad, check_sums};
use crate::traffic::merge::{MAX_SOURCES, Traffic};
use crate::traffic::{self, Plan, Setup};

/// Keys that every `[[traffic]]` has.
pub const TRAFFIC_KEYS: &[Key] = &[
    Key::required("kind", Takes::Text, "poisson, incast, long, rpc, list, ..."),
    Key::optional("name", Takes::Text, "its kind", "unique name; seeds the source's random stream"),
    Key::optional("scheme", Takes::Any, "the scenario's", "a law by name, or { name, parameters }"),
    Key::with("priority", Takes::Count, "0", "priority of data and ACKs, 0 to 7"),
    Key::optional("tcp", Takes::Table, "the scenario's", "TCP's settings, over the scenario's"),
];

/// Keys of `[tcp]`.
pub const TCP_KEYS: &[Key] = &[
    Key::with("initial_window", Takes::Count, "10", "initial window, segments").from("RFC 6928"),
    Key::with("rto_min", Takes::Time, "5ms", "smallest retransmission timeout")
        .from("BCC section 5"),
    Key::with("rto_max", Takes::Time, "60s", "largest retransmission timeout").from("RFC 6298"),
    Key::optional(
        "rto_initial",
        Takes::Time,
        "the larger of rto_min and twice the base RTT",
        "timeout before the first RTT sample",
    ),
    Key::with("tail_loss_probe", Takes::Flag, "false", "probe for a lost tail")
        .from("RFC 8985 section 7"),
    Key::with("handshake", Takes::Flag, "false", "SYN and SYN-ACK before the data"),
    Key::with("ack_every", Takes::Count, "1", "in-order segments that an ACK may cover")
        .from("RFC 5681 allows 2; 1 is an ACK a segment"),
    Key::with("ack_delay", Takes::Time, "500us", "an ACK waits no longer, with ack_every above 1"),
    Key::with("burst", Takes::Bytes, "0B", "bytes handed to the NIC at once (TSO); 0B: segments"),
    Key::with("dup_threshold", Takes::Count, "3", "duplicate threshold").from("RFC 6675"),
];

/// The traffic that a scenario has, and its classes in the same order.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    pub classes: Vec<ClassSpec>,
    pub traffic: Vec<Traffic>,
    pub notes: Vec<String>,
    pub resolved: Vec<serde_json::Value>,
}

/// What sources inherit from the scenario.
pub(crate) struct Inherited<'a> {
    pub scheme: Option<Node>,
    pub tcp: Node,
    pub setup: Setup<'a>,
}

/// Reads all of `[[traffic]]`; problems are noted in the context.
pub(crate) fn read(context: &Context, node: &Node, inherited: &Inherited<'_>) -> Option<Classes> {
    let Data::List(nodes) = &node.data else {
        context.refuse(&node.place, "traffic is not a list", "write [[traffic]] for each source");
        return None;
    };
    if nodes.is_empty() || nodes.len() > MAX_SOURCES {
        let remedy = format!("write 1 to {MAX_SOURCES} sources");
        context.refuse(&node.place, format!("{} sources of traffic", nodes.len()), remedy);
        return None;
    }
    let mut classes = Classes::default();
    let mut loads = Vec::new();
    for node in nodes {
        if let Some(one) = read_one(context, node, inherited) {
            loads.extend(one.load.clone());
            add(context, node, one, &mut classes);
        }
    }
    check_sums(context, &loads);
    Some(classes)
}

/// A source that was read.
struct One {
    name: Option<(String, Place)>,
    kind: &'static str,
    class: ClassSpec,
    plan: Arc<dyn Plan>,
    /// The load that it was asked for, with its place.
    load: Option<(TimedLoad, Place)>,
    resolved: serde_json::Value,
}

fn read_one(context: &Context, node: &Node, inherited: &Inherited<'_>) -> Option<One> {
    let Some(Node { data: Data::Text(kind), place }) = node.get("kind") else {
        let only_kind = node.only(|key| key == "kind");
        let mut section = Section::open(context, &only_kind, "[[traffic]]", TRAFFIC_KEYS);
        section.get::<String>("kind");
        return None;
    };
    let Some(kind) = traffic::kind_named(kind) else {
        let message = format!("unknown kind of traffic `{kind}`");
        context.refuse(place, message, traffic::nearest_kind(kind));
        return None;
    };
    let keys = [TRAFFIC_KEYS, kind.keys].concat();
    let title = format!("[[traffic]] of kind {}", kind.name);
    let mut section = Section::open(context, node, &title, &keys);
    section.get::<String>("kind");
    let name: Option<String> = section.get("name");
    let scheme = match (section.node("scheme"), &inherited.scheme) {
        (Some(own), _) => read_scheme(&mut section, own),
        (None, Some(common)) => read_scheme(&mut section, common),
        (None, None) => {
            let remedy = "add scheme = \"dctcp\" here or above all sections";
            section.missing("no scheme", remedy);
            None
        }
    };
    let priority = priority(&mut section);
    let tcp = match section.node("tcp") {
        Some(own) => read_tcp(context, &inherited.tcp.overlaid(own, &[])),
        None => read_tcp(context, &inherited.tcp),
    };
    let plan = (kind.read)(&mut section, &inherited.setup)?;
    check_end(&section, &*plan, inherited.setup.until);
    let (tcp, shown) = tcp?;
    section.resolve("tcp", shown);
    let class = ClassSpec {
        name: String::new(),
        priority: priority?,
        scheme: scheme?,
        tcp,
        reactive: plan.closed_loop(),
    };
    let name = name.map(|name| (name, section.place_of("name").clone()));
    let place_of_load = |load| (load, section.place_of("load").clone());
    let load = plan.load().map(place_of_load);
    Some(One { name, kind: kind.name, class, plan, load, resolved: section.resolved() })
}

fn read_scheme(section: &mut Section<'_>, node: &Node) -> Option<Scheme> {
    let (scheme, shown) = law::<Scheme>(section.context, node)?;
    section.resolve("scheme", shown);
    Some(scheme)
}

/// `priority`: 0 to 7.
fn priority(section: &mut Section<'_>) -> Option<u8> {
    let Count(priority) = section.get("priority")?;
    section.refuse_if(priority > 7, "priority", "priority: above 7", "choose 0 to 7");
    Some(priority.min(7) as u8)
}

fn check_end(section: &Section<'_>, plan: &dyn Plan, until: Option<Time>) {
    if let (Some(remedy), None) = (plan.endless(), until) {
        let message = "this traffic never ends";
        let remedy = format!("give it {remedy}, or the scenario `until = \"10ms\"`");
        section.refuse("kind", message, remedy);
    }
}

/// Gives a source its name and its class, and keeps it.
fn add(context: &Context, node: &Node, one: One, classes: &mut Classes) {
    let taken = |name: &str| classes.classes.iter().any(|c| c.name == name);
    let name = match one.name {
        Some((name, place)) => {
            if taken(&name) {
                context.refuse(&place, format!("two sources named `{name}`"), "rename one");
            }
            name
        }
        None => {
            let numbered = |i: usize| match i {
                0 => one.kind.to_owned(),
                _ => format!("{}{}", one.kind, i + 1),
            };
            let free = (0..=classes.classes.len()).map(numbered).find(|name| !taken(name));
            free.unwrap_or_else(|| format!("{}@{}", one.kind, node.place.span.start))
        }
    };
    let mut resolved = one.resolved;
    resolved["name"] = name.clone().into();
    classes.resolved.push(resolved);
    for note in one.plan.notes() {
        classes.notes.push(format!("{name}: {note}"));
    }
    let class = classes.classes.len() as u16;
    classes.traffic.push(Traffic { name: name.clone(), class, plan: one.plan });
    classes.classes.push(ClassSpec { name, ..one.class });
}

/// Reads TCP's settings.
pub(crate) fn read_tcp(context: &Context, node: &Node) -> Option<(TcpSpec, serde_json::Value)> {
    let mut section = Section::open(context, node, "[tcp]", TCP_KEYS);
    let mut small = |name: &str, least: u64| {
        let value = section.count(name, least)?;
        let fits = u32::try_from(value).ok();
        section.refuse_if(fits.is_none(), name, &format!("{name}: too large"), "choose less");
        fits
    };
    let (initial_window, ack_every, dup_threshold) =
        (small("initial_window", 1), small("ack_every", 1), small("dup_threshold", 1));
    let far = dup_threshold.is_some_and(|t| t > 8);
    section.refuse_if(far, "dup_threshold", "dup_threshold: above 8", "3 is the standard's");
    let (rto_min, rto_max) = (section.get::<Time>("rto_min"), section.get::<Time>("rto_max"));
    let rto_initial: Option<Time> = section.get("rto_initial");
    let flags = (section.get("tail_loss_probe"), section.get("handshake"));
    let ack_delay: Option<Time> = section.get("ack_delay");
    let burst = section.get::<u64>("burst")?;
    section.refuse_if(burst > 1 << 24, "burst", "burst: above 16 MiB", "TSO sends 64KB");
    let (rto_min, rto_max) = (rto_min?, rto_max?);
    section.refuse_if(rto_min == Time::ZERO, "rto_min", "rto_min: 0", "write a time above 0");
    if rto_max < rto_min {
        // Where `rto_max` is not given, what was written is `rto_min`.
        let key = if section.has("rto_max") { "rto_max" } else { "rto_min" };
        let message = format!("{key}: rto_max ({rto_max}) is below rto_min ({rto_min})");
        section.refuse(key, message, "lower `rto_min` or raise `rto_max`");
    }
    let tcp = TcpSpec {
        initial_window: initial_window?,
        rto_min,
        rto_max,
        rto_initial,
        tail_loss_probe: flags.0?,
        handshake: flags.1?,
        ack_every: ack_every?,
        ack_delay: ack_delay?,
        burst_bytes: burst as u32,
        dup_threshold: dup_threshold?,
    };
    Some((tcp, section.resolved()))
}
