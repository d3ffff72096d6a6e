//! `[switch]`: buffers, queues, marking and scheduling, for all switches or for those of a role.

use headrace_cc::params::Value;
use headrace_cc::switch::Marker;
use headrace_cc::switch::bcc_params::{BccInputs, thresholds};
use headrace_cc::units::{Rate, Time};
use headrace_sim::spec::{PoolSpec, QueueSpec, Scheduler, SwitchSpec};
use serde_json::{Map, json};

use super::problems::Place;
use super::reader::{Context, CountOrAll, Key, Section, Takes};
use super::schemes::{key, law, show, with_parameters};
use super::tree::{Data, Node};

/// Keys of `[switch]`, beside those of a queue.
pub const SWITCH_KEYS: &[Key] = &[
    Key::with(
        "ports_per_mmu",
        Takes::Any,
        "8",
        "ports that share an MMU, in port order, or \"all\"",
    )
    .from("BCC section 5 (Tomahawk: 4 MMUs of 8 ports)"),
    Key::optional(
        "pool",
        Takes::Bytes,
        "3MB unless `pool_per_port` is given",
        "shared pool of \
        each MMU; 0B for none",
    )
    .from("BCC section 5"),
    Key::optional(
        "pool_per_port",
        Takes::Bytes,
        "by `pool`",
        "shared pool of each MMU, as bytes \
        for each of its ports",
    ),
    Key::with(
        "scheduler",
        Takes::Word(&["strict", "wrr", "dwrr"]),
        "strict",
        "service order of a \
        port's queues: lowest number first, weighted round robin by packets, or by bytes",
    ),
    Key::optional(
        "queue",
        Takes::List,
        "one queue",
        "a port's queues, as [[switch.queue]]; what a \
        queue does not say, [switch] says for all",
    ),
];

/// Keys of a queue that `[switch]` may also say for all queues.
pub const QUEUE_KEYS: &[Key] = &[
    Key::with("private", Takes::Bytes, "128KB", "buffer reserved for each queue, used first")
        .from("BCC section 5"),
    Key::with(
        "alpha",
        Takes::Any,
        "4",
        "factor of the dynamic threshold on the pool's free part, \
        or \"none\"",
    )
    .from("Choudhury and Hahne 1998; 4 in BCC section 5"),
    Key::optional("limit", Takes::Bytes, "no limit", "most that a queue holds"),
    Key::optional("k", Takes::Bytes, "no marking", "marking threshold on the queue"),
    Key::optional(
        "ecn",
        Takes::Table,
        "no marking",
        "RED on the queue: { k } or { k_min, k_max, \
        p_max, at }",
    ),
    Key::optional(
        "bcc",
        Takes::Table,
        "none",
        "BCC's RED on the shared pool, derived: { rtt, \
        lambda, h, p_max, rate }",
    ),
    Key::optional(
        "markers",
        Takes::List,
        "by `k`, `ecn`, `bcc`",
        "congestion points in full: \
        [{ name = \"red\", ... }, ...]",
    ),
];

/// Keys of a queue alone.
pub const OWN_QUEUE_KEYS: &[Key] = &[
    Key::optional(
        "priorities",
        Takes::List,
        "its own number; the last queue takes all above",
        "priorities, 0 to 7, that this queue carries",
    ),
    Key::with("weight", Takes::Count, "1", "packets (wrr) or MTUs (dwrr) a turn"),
    Key::optional(
        "share",
        Takes::Number,
        "the common pool",
        "part of the pool that is carved out \
        for this queue, 0 to 1; 0: private buffer alone",
    ),
];

/// Keys of `bcc`.
pub const BCC_KEYS: &[Key] = &[
    Key::required("rtt", Takes::Time, "base round-trip time"),
    Key::with("lambda", Takes::Number, "0.72", "buffer need of the transport in units of C RTT")
        .from("BCC section 5: 0.72 for DCTCP"),
    Key::with("h", Takes::Time, "8us", "slope: K_max - K_min = C N h").from("BCC section 4.3"),
    Key::with("p_max", Takes::Number, "0.1", "marking probability at K_max")
        .from("BCC section 4.3"),
    Key::optional("rate", Takes::Rate, "the switch's fastest port's", "rate C of a port"),
];

/// Ways to say what marks a queue: any of them hides those inherited.
const MARKING: &[&str] = &["k", "ecn", "bcc", "markers"];
const POOLS: &[&str] = &["pool", "pool_per_port"];

/// A switch with everything but its ports.
#[derive(Clone, Debug)]
pub(crate) struct SwitchPlan {
    ports_per_mmu: Option<usize>,
    pool: PoolSpec,
    scheduler: Scheduler,
    queues: Vec<QueuePlan>,
    queue_of_priority: [u8; 8],
}

#[derive(Clone, Debug)]
struct QueuePlan {
    private: u64,
    alpha: Option<f64>,
    limit: Option<u64>,
    weight: u32,
    share: Option<f64>,
    priorities: Vec<(u8, Place)>,
    markers: Vec<Marker>,
    bcc: Option<Bcc>,
    /// Where its buffer is given, or the queue.
    place: Place,
}

#[derive(Clone, Debug)]
struct Bcc {
    rtt: Time,
    lambda: f64,
    h: Time,
    p_max: f64,
    rate: Option<Rate>,
    place: Place,
}

/// The `[switch]` section as the switches of `role` see it: the role's own table over the rest.
pub(crate) fn for_role(switch: &Node, role: &str, roles: &[&str]) -> Node {
    let rest = switch.only(|key| !roles.contains(&key));
    match switch.get(role) {
        Some(own) => rest.overlaid(own, &[MARKING, POOLS]),
        None => rest,
    }
}

impl SwitchPlan {
    /// Reads a switch section; `roles` are the further keys it may hold.
    pub fn read(
        context: &Context,
        node: &Node,
        roles: &[Key],
    ) -> Option<(SwitchPlan, serde_json::Value)> {
        let keys: Vec<Key> = [SWITCH_KEYS, QUEUE_KEYS, roles].concat();
        let mut section = Section::open(context, node, "[switch]", &keys);
        let ports_per_mmu: Option<CountOrAll> = section.get("ports_per_mmu");
        section.exclusive("pool", "pool_per_port");
        let pool = match section.get::<u64>("pool_per_port") {
            Some(bytes) => PoolSpec::PerPort(bytes),
            None if section.has("pool") => PoolSpec::PerMmu(section.get("pool")?),
            None => {
                section.resolve("pool", json!("3MB"));
                PoolSpec::PerMmu(3_000_000)
            }
        };
        let scheduler = match section.word("scheduler")? {
            "wrr" => Scheduler::Wrr,
            "dwrr" => Scheduler::Dwrr,
            _ => Scheduler::Strict,
        };
        let (queues, shown) = read_queues(context, node, &mut section)?;
        section.resolve("queue", shown.into());
        let shares: f64 = queues.iter().filter_map(|q| q.share).sum();
        section.refuse_if(shares > 1.0, "queue", "shares above 1 in all", "lower them");
        let queue_of_priority = queue_of_priority(context, &queues)?;
        let ports_per_mmu = ports_per_mmu?.0.map(|n| n as usize);
        let plan = SwitchPlan { ports_per_mmu, pool, scheduler, queues, queue_of_priority };
        Some((plan, section.resolved()))
    }

    /// Whether anything is marked.
    pub fn marks(&self) -> bool {
        self.queues.iter().any(|q| !q.markers.is_empty() || q.bcc.is_some())
    }

    /// The specification of a switch with `ports` ports, the fastest of rate `fastest`.
    pub fn build(&self, context: &Context, ports: usize, fastest: Rate) -> Option<SwitchSpec> {
        let carved: f64 = self.queues.iter().filter_map(|q| q.share).sum();
        let common = scaled(self.pool, 1.0 - carved);
        let mut pools = Vec::new();
        if self.queues.iter().any(|q| q.share.is_none()) && bytes(common, 1) > 0 {
            pools.push(common);
        }
        let shared = !pools.is_empty();
        let mut queues = Vec::new();
        for plan in &self.queues {
            let pool = match plan.share {
                None => shared.then_some(0),
                Some(share) => {
                    let carved = scaled(self.pool, share);
                    (bytes(carved, 1) > 0).then(|| {
                        pools.push(carved);
                        pools.len() - 1
                    })
                }
            };
            let mmu = pool.map_or(0, |p| bytes(pools[p], self.smallest_mmu(ports.max(1))));
            plan.check_frame(context, mmu)?;
            let mut markers = plan.markers.clone();
            if let Some(bcc) = &plan.bcc {
                let served = self.ports_per_mmu.unwrap_or(ports).min(ports);
                let size = pool.map_or(0, |p| bytes(pools[p], served));
                markers.push(bcc.marker(context, plan, size, served as u64, fastest)?);
            }
            queues.push(QueueSpec {
                private_bytes: plan.private,
                pool,
                alpha_q16: plan.alpha.map(|alpha| ((alpha * 65536.0).round() as u64).max(1)),
                limit_bytes: plan.limit,
                weight: plan.weight,
                markers,
            });
        }
        Some(SwitchSpec {
            ports_per_mmu: self.ports_per_mmu,
            pools,
            queues,
            scheduler: self.scheduler,
            queue_of_priority: self.queue_of_priority,
        })
    }

    /// Ports of the MMU that has the fewest.
    fn smallest_mmu(&self, ports: usize) -> usize {
        match self.ports_per_mmu {
            Some(each) if ports.is_multiple_of(each) => each.min(ports),
            Some(each) => ports % each,
            None => ports,
        }
    }
}

fn scaled(pool: PoolSpec, share: f64) -> PoolSpec {
    let part = |bytes: u64| (bytes as f64 * share).round() as u64;
    match pool {
        PoolSpec::PerMmu(bytes) => PoolSpec::PerMmu(part(bytes)),
        PoolSpec::PerPort(bytes) => PoolSpec::PerPort(part(bytes)),
    }
}

fn bytes(pool: PoolSpec, ports: usize) -> u64 {
    match pool {
        PoolSpec::PerMmu(bytes) => bytes,
        PoolSpec::PerPort(bytes) => bytes.saturating_mul(ports as u64),
    }
}

impl Bcc {
    fn marker(
        &self,
        context: &Context,
        queue: &QueuePlan,
        pool: u64,
        ports: u64,
        fastest: Rate,
    ) -> Option<Marker> {
        let Some(alpha) = queue.alpha else {
            let message = "BCC's thresholds need the dynamic threshold's alpha";
            context.refuse(&self.place, message, "give `alpha` a number");
            return None;
        };
        let inputs = BccInputs {
            rate: self.rate.unwrap_or(fastest),
            rtt: self.rtt,
            lambda: self.lambda,
            reserved: queue.private,
            pool,
            alpha,
            ports,
            h: self.h,
        };
        let found = match thresholds(&inputs) {
            Ok(found) => found,
            Err(small) => {
                let message = format!("{small}; this one has {pool}");
                context.refuse(&self.place, message, "enlarge the pool, or lower `rtt` or `h`");
                return None;
            }
        };
        let mut marker = Marker::by_name("shared_red").expect("shared_red is in the table");
        for (name, value) in [
            ("k_max", Value::Bytes(found.k_max)),
            ("k_min", Value::Bytes(found.k_min)),
            ("p_max", Value::Number(self.p_max)),
        ] {
            marker.set(name, &value).expect("checked when it was read");
        }
        Some(marker)
    }
}

fn read_queues(
    context: &Context,
    node: &Node,
    section: &mut Section<'_>,
) -> Option<(Vec<QueuePlan>, Vec<serde_json::Value>)> {
    node.entries()?;
    let base = node.only(|key| QUEUE_KEYS.iter().any(|k| k.name == key));
    let nodes: Vec<Node> = match section.node("queue").map(|n| &n.data) {
        None => vec![base],
        Some(Data::List(own)) if (1..=8).contains(&own.len()) => {
            own.iter().map(|q| base.overlaid(q, &[MARKING])).collect()
        }
        Some(_) => {
            section.refuse("queue", "queue: not 1 to 8 queues", "write [[switch.queue]] for each");
            return None;
        }
    };
    let read: Vec<_> = nodes.iter().map(|node| QueuePlan::read(context, node)).collect();
    Some(read.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip())
}

impl QueuePlan {
    fn read(context: &Context, node: &Node) -> Option<(QueuePlan, serde_json::Value)> {
        let keys = [QUEUE_KEYS, OWN_QUEUE_KEYS].concat();
        let mut section = Section::open(context, node, "a queue", &keys);
        let private: Option<u64> = section.get("private");
        let alpha: Option<Option<f64>> = section.get("alpha");
        if matches!(alpha, Some(Some(alpha)) if !(alpha > 0.0 && alpha <= 1024.0)) {
            section.refuse("alpha", "alpha: not above 0 and at most 1024", "write 4, or \"none\"");
        }
        let limit: Option<u64> = section.get("limit");
        section.holds_a_frame("limit", limit);
        let weight = section.count("weight", 1).and_then(|w| u32::try_from(w).ok());
        let share =
            if section.has("share") { Some(section.within("share", 0.0, 1.0)?) } else { None };
        let priorities = read_priorities(&section);
        let markers = read_markers(context, &mut section);
        let bcc = match section.node("bcc") {
            Some(node) => Some(Bcc::read(context, node, &mut section)?),
            None => None,
        };
        let plan = QueuePlan {
            private: private?,
            alpha: alpha?,
            limit,
            weight: weight?,
            share,
            priorities: priorities?,
            markers: markers?,
            bcc,
            place: section.place_of("private").clone(),
        };
        let numbers: Vec<u8> = plan.priorities.iter().map(|p| p.0).collect();
        if !numbers.is_empty() {
            section.resolve("priorities", json!(numbers));
        }
        Some((plan, section.resolved()))
    }

    /// Refuses a queue that no full frame enters: a frame lies in the private buffer or in the
    /// pool, not in both.
    fn check_frame(&self, context: &Context, pool: u64) -> Option<()> {
        let frame = context.packet_bytes.get();
        if self.private.max(pool) >= frame {
            return Some(());
        }
        let private = self.private;
        let message = format!(
            "no full frame of {frame} bytes enters this queue: {private} bytes are private, the \
             pool has {pool}"
        );
        let remedy = format!("give `private` or the pool {frame}B or more");
        context.refuse(&self.place, message, remedy);
        None
    }
}

fn read_priorities(section: &Section<'_>) -> Option<Vec<(u8, Place)>> {
    let Some(node) = section.node("priorities") else { return Some(Vec::new()) };
    let one = |node: &Node| match node.data {
        Data::Integer(n @ 0..=7) => Some((n as u8, node.place.clone())),
        _ => None,
    };
    let all = match &node.data {
        Data::List(nodes) => nodes.iter().map(one).collect(),
        _ => one(node).map(|p| vec![p]),
    };
    section.refuse_if(
        all.is_none(),
        "priorities",
        "priorities: not numbers 0 to 7",
        "write [0, 1]",
    );
    all
}

fn queue_of_priority(context: &Context, queues: &[QueuePlan]) -> Option<[u8; 8]> {
    let last = queues.len() - 1;
    let mut chosen = [None; 8];
    for (number, queue) in queues.iter().enumerate() {
        for (priority, place) in &queue.priorities {
            if chosen[usize::from(*priority)].replace(number).is_some_and(|other| other != number) {
                let message = format!("priority {priority} in two queues");
                context.refuse(place, message, "leave it in one");
                return None;
            }
        }
    }
    Some(std::array::from_fn(|p| chosen[p].unwrap_or(p.min(last)) as u8))
}

fn read_markers(context: &Context, section: &mut Section<'_>) -> Option<Vec<Marker>> {
    for other in ["k", "ecn", "bcc"] {
        section.exclusive("markers", other);
    }
    section.exclusive("k", "ecn");
    if let Some(node) = section.node("markers") {
        let Data::List(nodes) = &node.data else {
            let remedy = "write [{ name = \"red\", k_min = \"100KB\", k_max = \"400KB\" }]";
            section.refuse("markers", "markers is not a list", remedy);
            return None;
        };
        let read: Vec<Option<_>> = nodes.iter().map(|n| law::<Marker>(context, n)).collect();
        let read: Option<Vec<_>> = read.into_iter().collect();
        let (markers, shown): (Vec<_>, Vec<_>) = read?.into_iter().unzip();
        section.resolve("markers", shown.into());
        return Some(markers);
    }
    let red = match (section.has("k"), section.node("ecn")) {
        (true, _) => threshold(section.get("k")?),
        (false, Some(node)) => read_ecn(context, node)?,
        (false, None) => return Some(Vec::new()),
    };
    let mut shown = Map::new();
    show(&red, &mut shown);
    section.resolve("ecn", shown.into());
    Some(vec![red])
}

/// Marks all that leaves a queue longer than `k`.
fn threshold(k: u64) -> Marker {
    let mut red = Marker::by_name("red").expect("red is in the table");
    for (name, value) in
        [("k_max", Value::Bytes(k)), ("k_min", Value::Bytes(k)), ("p_max", Value::Number(1.0))]
    {
        red.set(name, &value).expect("a threshold is in range");
    }
    red
}

fn read_ecn(context: &Context, node: &Node) -> Option<Marker> {
    let red = Marker::by_name("red").expect("red is in the table");
    let k = Key::optional("k", Takes::Bytes, "`k_min` and `k_max`", "a threshold");
    let keys: Vec<Key> = std::iter::once(k).chain(red.specs().iter().map(key)).collect();
    let mut section = Section::open(context, node, "`ecn`", &keys);
    for other in ["k_min", "k_max", "p_max"] {
        section.exclusive("k", other);
    }
    let base = match section.get("k") {
        Some(k) => threshold(k),
        None => red,
    };
    with_parameters(&mut section, base)
}

impl Bcc {
    fn read(context: &Context, node: &Node, outer: &mut Section<'_>) -> Option<Bcc> {
        let mut section = Section::open(context, node, "`bcc`", BCC_KEYS);
        let rtt: Option<Time> = section.get("rtt");
        section.refuse_if(rtt == Some(Time::ZERO), "rtt", "rtt: 0", "write a time above 0");
        let lambda = section.within("lambda", 0.0, 1e6);
        let h: Option<Time> = section.get("h");
        let p_max = section.within("p_max", 0.0, 1.0);
        let rate: Option<Rate> = section.get("rate");
        let bcc = Bcc {
            rtt: rtt?,
            lambda: lambda?,
            h: h?,
            p_max: p_max?,
            rate,
            place: section.place().clone(),
        };
        outer.resolve("bcc", section.resolved());
        Some(bcc)
    }
}
