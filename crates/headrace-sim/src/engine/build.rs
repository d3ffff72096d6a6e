//! From a specification to the engine's tables.

use std::sync::Mutex;

use headrace_cc::units::Time;

use super::Simulation;
use super::course::{Course, EPOCH_HOPS};
use super::layout::Layout;
use super::numbering::{Direction, Half, Numbering, PartNumbers};
use super::parallel::Parts;
use super::part::Part;
use super::pending::horizon_of;
use super::sampler::{SampledPort, Sampler};
use super::schedule::{Agenda, Schedule};
use crate::host::outbox::Outbox;
use crate::host::transport::{HOST_SOURCES, Transport};
use crate::net::border::{Far, Mail};
use crate::net::fabric::{Drops, Fabric};
use crate::net::framing::IP_TCP_HEADERS;
use crate::net::graph::Graph;
use crate::net::packet::Extra;
use crate::net::path::{Link, Paths, Role, Uplink};
use crate::net::port::{Detail, ELSEWHERE, LinkKind, LinkLoss, Port};
use crate::net::routing::Routes;
use crate::rng;
use crate::spec::{NodeKind, PoolSpec, RunSpec, SwitchSpec};
use crate::switch::buffer::{Pool, QueueBuffer};
use crate::switch::scheduled::Scheduled;
use crate::switch::serve::Transmitter;
use crate::workload::Workload;

/// What every step of the building reads.
struct Plan<'a> {
    spec: &'a RunSpec,
    graph: &'a Graph,
    numbering: Numbering,
    /// Nodes that choose among ports: switches, and hosts with several.
    routers: Vec<usize>,
    router_of: Vec<Option<u32>>,
}

/// A part in the making, with what the network must know of it.
struct Made {
    part: Part,
    /// `pools[first_pool[node] + mmu * pools a switch + i]`, for its nodes.
    first_pool: Vec<usize>,
}

/// Everything but the first events.
pub(super) fn assemble<W: Workload>(
    spec: &RunSpec,
    workload: W,
    graph: &Graph,
    layout: &Layout,
) -> Simulation<W> {
    let numbering = Numbering::new(graph, layout);
    let (routers, router_of) = routers(spec, graph);
    let plan = Plan { spec, graph, numbering, routers, router_of };
    let mut kinds = Vec::new();
    let made: Vec<Made> =
        (0..plan.numbering.parts.len()).map(|part| make_part(&plan, part, &mut kinds)).collect();
    let paths = paths(&plan, &made, &kinds);
    let first_pools: Vec<&[usize]> = made.iter().map(|m| &m.first_pool[..]).collect();
    let sampler = sampler(&plan, &first_pools);
    let canonical = canonical(&plan);
    let neighbours = neighbours(&plan);
    let mut parts: Vec<Part> = made.into_iter().map(|m| m.part).collect();
    for part in &mut parts {
        part.fabric.kinds.clone_from(&kinds);
    }
    let parts = Parts::new(parts, neighbours);
    let longest_stride = longest_stride(spec, &parts);
    let ports = graph.neighbours.iter().map(Vec::len).max().unwrap_or(0);
    let course = Course {
        coming: None,
        sampler,
        until: spec.until,
        stride: Time::from_us(100).min(longest_stride),
        longest_stride,
        horizon: horizon_of(ports.max(graph.neighbours.len())),
        hops_before: 0,
        samples: 0,
        last_sample: Time::ZERO,
        outbox: Outbox::default(),
        error: None,
    };
    Simulation { parts, paths, workload: Mutex::new(workload), course, canonical }
}

/// An epoch should not be much too long even if a silent network comes to life in it: no longer than
/// its links together take for a few times the packet-hops that are wanted. And parts that have nothing
/// to do take a step of the least delay between them at a time, so that there should not be many.
fn longest_stride(spec: &RunSpec, parts: &Parts) -> Time {
    const STEPS: u64 = 256;
    const BITS_PER_HOP: u128 = 8 * 1_000;
    let both_ways = spec.network.links.iter().map(|l| 2 * u128::from(l.rate.bps())).sum::<u128>();
    let most = u128::from(16 * EPOCH_HOPS.end) * BITS_PER_HOP * 1_000_000_000_000 / both_ways;
    let most = Time::from_ps(most.clamp(1, u128::from(Time::from_ms(1_000).ps())) as u64);
    parts.least_delay().saturating_mul(STEPS).min(most)
}

fn make_part(plan: &Plan<'_>, number: usize, kinds: &mut Vec<LinkKind>) -> Made {
    let Plan { spec, graph, numbering, .. } = plan;
    let numbers = &numbering.parts[number];
    let mut pools = vec![Pool::none()];
    let mut first_pool = vec![0; spec.network.nodes.len()];
    let mut router_pools = vec![0..0; plan.routers.len()];
    for &node in &numbers.nodes {
        first_pool[node] = pools.len();
        if let NodeKind::Switch(switch) = &spec.network.nodes[node].kind {
            pools.extend(pools_of(switch, graph.neighbours[node].len()));
        }
        if let Some(router) = plan.router_of[node] {
            router_pools[router as usize] = first_pool[node]..pools.len();
        }
    }
    let mut details: Vec<Detail> = (numbers.links.iter())
        .map(|&(direction, half)| detail_of(plan, direction, half, first_pool[direction.node]))
        .collect();
    enroll(&mut pools, &mut details, plan, numbers);
    let ports = ports(plan, numbers, &details, &pools, kinds);
    let done_ports: Vec<Box<[u32]>> = (numbers.nodes.iter())
        .map(|&node| {
            let out = numbering.out[node].iter().map(|egress| egress.local);
            out.filter(|&id| details[id as usize].scheduled.is_some()).collect()
        })
        .collect();
    let mut done_source = vec![(u32::MAX, u32::MAX); details.len()];
    for (node, ports) in done_ports.iter().enumerate() {
        for (source, &port) in ports.iter().enumerate() {
            done_source[port as usize] = (node as u32, source as u32);
        }
    }
    let mut hosts = Vec::new();
    let roles = (numbers.nodes.iter().enumerate())
        .map(|(place, &node)| match graph.host_of[node] {
            Some(_) => {
                hosts.push((place as u32, done_ports[place].len() as u32));
                Role::Host(hosts.len() as u32 - 1)
            }
            None => Role::Router(plan.router_of[node].expect("a switch is a router")),
        })
        .collect();
    let count = numbering.parts.len();
    let fabric = Fabric {
        ports,
        kinds: Vec::new(),
        details,
        pools,
        schedule: Schedule::new(agendas(plan, numbers, &done_ports)),
        first_out: numbers.first_out,
        far: (numbers.links[numbers.first_out..].iter())
            .map(|(_, half)| match *half {
                Half::Sending { part, id } => Far { part, id },
                _ => unreachable!("links that lead out come last"),
            })
            .collect(),
        leaving: Vec::new(),
        outgoing: std::iter::repeat_with(Mail::default).take(count).collect(),
        unbuffered: spec.network.framing.unbuffered_bytes(),
        done_source,
        drops: Drops::default(),
        carried: Extra::default(),
    };
    let part = Part {
        transport: Transport::new(spec, hosts, (number, count)),
        fabric,
        roles,
        done_ports,
        router_pools,
        names: numbers.links.iter().map(|(d, _)| name_of(plan, *d)).collect(),
        now: Time::ZERO,
        own_events: 0,
        packet_hops: 0,
        error: None,
    };
    Made { part, first_pool }
}

fn name_of(plan: &Plan<'_>, direction: Direction) -> String {
    let nodes = &plan.spec.network.nodes;
    let to = plan.graph.neighbours[direction.node][direction.port].node;
    format!("{} -> {}", nodes[direction.node].name, nodes[to].name)
}

/// The whole network's links and routes.
fn paths(plan: &Plan<'_>, made: &[Made], kinds: &[LinkKind]) -> Paths {
    let Plan { spec, graph, numbering, .. } = plan;
    let role = |node: usize| match graph.host_of[node] {
        Some(host) => Role::Host(host),
        None => Role::Router(plan.router_of[node].expect("a switch is a router")),
    };
    let mut links = vec![Link { to: Role::Host(0), kind: 0 }; 2 * spec.network.links.len()];
    for (node, ports) in graph.neighbours.iter().enumerate() {
        let part = &made[usize::from(numbering.place[node].0)].part;
        for (neighbour, egress) in ports.iter().zip(&numbering.out[node]) {
            let kind = part.fabric.ports[egress.local as usize].kind;
            links[egress.link as usize] = Link { to: role(neighbour.node), kind };
        }
    }
    let egress = |node: usize, port: usize| numbering.out[node][port];
    let mut in_part = vec![0; numbering.parts.len()];
    let mut hosts = vec![(0, 0); graph.hosts.len()];
    for (part, numbers) in numbering.parts.iter().enumerate() {
        for host in numbers.nodes.iter().filter_map(|&node| graph.host_of[node]) {
            hosts[host as usize] = (part as u16, in_part[part]);
            in_part[part] += 1;
        }
    }
    Paths {
        routes: Routes::new(&spec.network, graph, &plan.routers, spec.seed, egress),
        links,
        kinds: kinds.to_vec(),
        uplinks: (graph.hosts.iter())
            .map(|&node| match plan.router_of[node] {
                Some(router) => Uplink::Router(router),
                None => Uplink::Only(egress(node, 0)),
            })
            .collect(),
        hosts,
    }
}

/// Of each part: the parts with links to it, with the least delay of those.
fn neighbours(plan: &Plan<'_>) -> Vec<Vec<(usize, Time)>> {
    let mut all: Vec<Vec<(usize, Time)>> = vec![Vec::new(); plan.numbering.parts.len()];
    for (from, numbers) in plan.numbering.parts.iter().enumerate() {
        for (direction, half) in &numbers.links[numbers.first_out..] {
            let Half::Sending { part, .. } = *half else { continue };
            let link = plan.graph.neighbours[direction.node][direction.port].link;
            let delay = plan.spec.network.links[link].delay;
            let known = &mut all[usize::from(part)];
            match known.iter_mut().find(|(neighbour, _)| *neighbour == from) {
                Some((_, least)) => *least = delay.min(*least),
                None => known.push((from, delay)),
            }
        }
    }
    all
}

fn ports(
    plan: &Plan<'_>,
    numbers: &PartNumbers,
    details: &[Detail],
    pools: &[Pool],
    kinds: &mut Vec<LinkKind>,
) -> Vec<Port> {
    let largest = plan.spec.network.framing.wire_bytes(plan.spec.network.mtu);
    let port = |(&(direction, half), detail): (&(Direction, Half), &Detail)| {
        let to = plan.graph.neighbours[direction.node][direction.port];
        let link = plan.spec.network.links[to.link];
        let pool = &pools[detail.queue.pool as usize];
        let calm = detail.queue.calm_wire_bytes(largest).filter(|_| pool.lets_go_dark());
        let kind = LinkKind::new(link.delay, link.rate, calm.unwrap_or(0));
        let known = kinds.iter().position(|k| *k == kind).unwrap_or(kinds.len());
        if known == kinds.len() {
            kinds.push(kind);
        }
        let known = u16::try_from(known).expect("net::check bounds the kinds of links");
        let lit = detail.scheduled.is_some() || calm.is_none();
        let plain = detail.loss.is_none() && (!lit || detail.scheduled.is_some());
        let receiver = match half {
            Half::Sending { .. } => ELSEWHERE,
            Half::Whole | Half::Receiving => plan.numbering.place[to.node].1,
        };
        Port::new(receiver, known, lit, plain)
    };
    numbers.links.iter().zip(details).map(port).collect()
}

/// See [`Plan`].
fn routers(spec: &RunSpec, graph: &Graph) -> (Vec<usize>, Vec<Option<u32>>) {
    let mut router_of = vec![None; spec.network.nodes.len()];
    let mut routers = Vec::new();
    for (node, number) in router_of.iter_mut().enumerate() {
        if graph.host_of[node].is_none() || graph.neighbours[node].len() > 1 {
            *number = Some(routers.len() as u32);
            routers.push(node);
        }
    }
    (routers, router_of)
}

fn pools_of(switch: &SwitchSpec, ports: usize) -> Vec<Pool> {
    let per_mmu = switch.ports_per_mmu.unwrap_or(ports).max(1);
    let mut pools = Vec::new();
    for mmu in 0..ports.div_ceil(per_mmu) {
        let served = per_mmu.min(ports - mmu * per_mmu) as u64;
        pools.extend(switch.pools.iter().map(|pool| match pool {
            PoolSpec::PerMmu(bytes) => Pool::new(*bytes),
            PoolSpec::PerPort(bytes) => Pool::new(bytes.saturating_mul(served)),
        }));
    }
    pools
}

fn detail_of(
    plan: &Plan<'_>,
    Direction { node, port }: Direction,
    half: Half,
    first_pool: usize,
) -> Detail {
    let Plan { spec, graph, .. } = plan;
    let network = &spec.network;
    let link = network.links[graph.neighbours[node][port].link];
    let name = format!("{}/port{port}", network.nodes[node].name);
    let mut detail = match &network.nodes[node].kind {
        _ if half == Half::Receiving => Detail::new(QueueBuffer::nic(None)),
        NodeKind::Host(host) => Detail::new(QueueBuffer::nic(host.nic_buffer)),
        NodeKind::Switch(switch) => {
            let per_mmu = switch.ports_per_mmu.unwrap_or(usize::MAX);
            let base = first_pool + port / per_mmu * switch.pools.len();
            let mut buffers: Vec<(QueueBuffer, u32)> = (switch.queues.iter().enumerate())
                .map(|(i, queue)| {
                    let pool = queue.pool.map_or(0, |pool| (base + pool) as u32);
                    let name = format!("{name}/queue{i}");
                    (QueueBuffer::new(queue, pool, spec.seed, &name), queue.weight)
                })
                .collect();
            // One queue whose points only mark needs no event when a transmission ends.
            if buffers.len() == 1 && buffers[0].0.only_marks() {
                Detail::new(buffers.remove(0).0)
            } else {
                let quantum = u64::from(network.framing.wire_bytes(network.mtu));
                let order = switch.queue_of_priority;
                let order = Scheduled::new(buffers, order, switch.scheduler, quantum);
                let mut detail = Detail::new(QueueBuffer::nic(Some(0)));
                detail.scheduled = Some(Box::new(Transmitter::new(order)));
                detail
            }
        }
    };
    if link.loss > 0.0 && !matches!(half, Half::Sending { .. }) {
        let rng = rng::stream(spec.seed, &format!("{name}/loss"));
        detail.loss = Some(LinkLoss::new(link.loss, rng));
    }
    detail
}

/// Tells each pool its ports, in port order, and what they need of it.
fn enroll(pools: &mut [Pool], details: &mut [Detail], plan: &Plan<'_>, numbers: &PartNumbers) {
    let out = numbers.nodes.iter().flat_map(|&node| &plan.numbering.out[node]);
    for id in out.map(|egress| egress.local) {
        for buffer in details[id as usize].buffers().filter(|b| b.pool != 0) {
            let pool = &mut pools[buffer.pool as usize];
            if pool.ports.last() != Some(&id) {
                pool.ports.push(id);
            }
        }
    }
    let mut queues: Vec<Vec<&mut QueueBuffer>> = pools.iter().map(|_| Vec::new()).collect();
    for buffer in details.iter_mut().flat_map(Detail::buffers_mut) {
        queues[buffer.pool as usize].push(buffer);
    }
    for (pool, queues) in pools.iter_mut().zip(&mut queues).skip(1) {
        pool.tune(queues);
    }
}

/// An agenda a node, in stepping order.
fn agendas(plan: &Plan<'_>, numbers: &PartNumbers, done_ports: &[Box<[u32]>]) -> Vec<Agenda> {
    let mut first_link = 0;
    let mut agenda = |node: usize, done: usize| {
        let links = &plan.graph.neighbours[node];
        let host = if plan.graph.host_of[node].is_some() { HOST_SOURCES } else { 0 };
        let delays = links.iter().map(|n| plan.spec.network.links[n.link].delay);
        let lookahead = delays.min().unwrap_or(Time::ZERO);
        let agenda = Agenda::new(first_link, links.len(), done + host, lookahead);
        first_link += links.len();
        agenda
    };
    numbers.nodes.iter().zip(done_ports).map(|(&node, done)| agenda(node, done.len())).collect()
}

fn sampler(plan: &Plan<'_>, first_pools: &[&[usize]]) -> Option<Sampler> {
    let trace = &plan.spec.trace;
    let interval = trace.port_interval?;
    let mut ports = Vec::new();
    for (node, links) in plan.numbering.out.iter().enumerate() {
        let NodeKind::Switch(switch) = &plan.spec.network.nodes[node].kind else { continue };
        let part = usize::from(plan.numbering.place[node].0);
        for (port, egress) in links.iter().enumerate() {
            if trace.ports.is_empty() || trace.ports.contains(&(node, port)) {
                let count = switch.pools.len();
                let mmu = port / switch.ports_per_mmu.unwrap_or(usize::MAX);
                let first = first_pools[part][node] + mmu * count;
                let (pools, link) = (first..first + count, egress.local);
                let (node, port) = (node as u32, port as u32);
                ports.push(SampledPort { node, port, part, link, pools });
            }
        }
    }
    let interval = interval.max(Time::from_ps(1));
    Some(Sampler { interval, next: interval, ports })
}

/// Directed links in the order of the links, a to b first: part, and number there.
fn canonical(plan: &Plan<'_>) -> Vec<(usize, u32)> {
    let links = &plan.spec.network.links;
    let mut canonical = vec![(0, 0); 2 * links.len()];
    for (node, ports) in plan.graph.neighbours.iter().enumerate() {
        let part = usize::from(plan.numbering.place[node].0);
        for (neighbour, egress) in ports.iter().zip(&plan.numbering.out[node]) {
            let backwards = links[neighbour.link].a != node;
            canonical[2 * neighbour.link + usize::from(backwards)] = (part, egress.local);
        }
    }
    debug_assert!(plan.spec.network.mtu > IP_TCP_HEADERS);
    canonical
}
