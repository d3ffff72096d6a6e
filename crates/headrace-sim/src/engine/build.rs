//! From a specification to the engine's tables.

use headrace_cc::units::Time;

use super::schedule::{Agenda, Schedule};
use super::{Sampler, Simulation};
use crate::host::transport::{HOST_SOURCES, Transport};
use crate::net::fabric::{Drops, Fabric};
use crate::net::framing::IP_TCP_HEADERS;
use crate::net::graph::Graph;
use crate::net::packet::Extra;
use crate::net::path::{Paths, Role, Uplink};
use crate::net::port::{Detail, LinkKind, LinkLoss, Port};
use crate::net::routing::Routes;
use crate::rng;
use crate::spec::{NodeKind, PoolSpec, RunSpec, SwitchSpec};
use crate::switch::buffer::{Pool, QueueBuffer};
use crate::switch::scheduled::Scheduled;

/// A directed link as the specification has it: out of `port` of `node`.
#[derive(Clone, Copy)]
struct Direction {
    node: usize,
    port: usize,
}

/// Numbers of the engine: nodes in stepping order; directed links by receiving node, then by its
/// port.
struct Numbering {
    /// The engine's number of each node.
    place: Vec<u32>,
    /// `[node][port]`: the directed link out of that port.
    out: Vec<Vec<u32>>,
    /// The way back.
    direction: Vec<Direction>,
}

impl Numbering {
    fn new(graph: &Graph, order: &[usize]) -> Self {
        let mut out: Vec<Vec<u32>> =
            graph.neighbours.iter().map(|ports| vec![0; ports.len()]).collect();
        let mut direction = Vec::new();
        let mut place = vec![0; order.len()];
        for (number, &receiver) in order.iter().enumerate() {
            place[receiver] = number as u32;
            for sender in &graph.neighbours[receiver] {
                out[sender.node][sender.far_port] = direction.len() as u32;
                direction.push(Direction { node: sender.node, port: sender.far_port });
            }
        }
        Numbering { place, out, direction }
    }
}

/// Everything but the first events.
pub(super) fn assemble<W: crate::workload::Workload>(
    spec: &RunSpec,
    workload: W,
    graph: &Graph,
    order: &[usize],
) -> Simulation<W> {
    let network = &spec.network;
    let numbering = Numbering::new(graph, order);
    let mut pools = vec![Pool::none()];
    // pools[first_pool[node] + mmu * pools a switch + i]
    let first_pool: Vec<usize> = (0..network.nodes.len())
        .map(|node| {
            let first = pools.len();
            if let NodeKind::Switch(switch) = &network.nodes[node].kind {
                pools.extend(pools_of(switch, graph.neighbours[node].len()));
            }
            first
        })
        .collect();
    let (routers, router_of) = routers(spec, graph);
    let mut details: Vec<Detail> = (numbering.direction.iter())
        .map(|d| detail_of(spec, graph, d.node, d.port, first_pool[d.node]))
        .collect();
    enroll(&mut pools, &mut details, &numbering);
    let wiring = wire(spec, graph, &numbering, &details, &pools);
    let done_ports: Vec<Box<[u32]>> = (order.iter())
        .map(|&node| {
            let out = numbering.out[node].iter().copied();
            out.filter(|&id| details[id as usize].scheduled.is_some()).collect()
        })
        .collect();
    let mut done_source = vec![(u32::MAX, u32::MAX); details.len()];
    for (node, ports) in done_ports.iter().enumerate() {
        for (source, &port) in ports.iter().enumerate() {
            done_source[port as usize] = (node as u32, source as u32);
        }
    }
    let schedule = Schedule::new(agendas(spec, graph, order, &done_ports));
    let host_agendas = (graph.hosts.iter())
        .map(|&node| {
            let place = numbering.place[node];
            (place, done_ports[place as usize].len() as u32)
        })
        .collect();
    let pool_count = pools.len();
    let fabric = Fabric {
        ports: wiring.ports,
        kinds: wiring.kinds,
        details,
        pools,
        schedule,
        unbuffered: network.framing.unbuffered_bytes(),
        done_source,
        drops: Drops::default(),
        carried: Extra::default(),
    };
    let egress = |node: usize, port: usize| numbering.out[node][port];
    let paths = Paths {
        routes: Routes::new(network, graph, &routers, spec.seed, egress),
        roles: (order.iter())
            .map(|&node| match graph.host_of[node] {
                Some(host) => Role::Host(host),
                None => Role::Router(router_of[node].expect("a switch is a router")),
            })
            .collect(),
        uplinks: (graph.hosts.iter())
            .map(|&node| match router_of[node] {
                Some(router) => Uplink::Router(router),
                None => Uplink::Only(numbering.out[node][0]),
            })
            .collect(),
    };
    Simulation {
        transport: Transport::new(spec, host_agendas, workload),
        fabric,
        paths,
        coming: None,
        sampler: sampler(spec, &numbering, &first_pool),
        done_ports,
        until: spec.until,
        bound: Time::ZERO,
        now: Time::ZERO,
        own_events: 0,
        packet_hops: 0,
        canonical: canonical(spec, graph, &numbering),
        router_pools: (routers.iter())
            .map(|&node| first_pool[node]..*first_pool.get(node + 1).unwrap_or(&pool_count))
            .collect(),
        names: (numbering.direction.iter())
            .map(|d| {
                let to = graph.neighbours[d.node][d.port].node;
                format!("{} -> {}", network.nodes[d.node].name, network.nodes[to].name)
            })
            .collect(),
    }
}

/// The directed links' hot halves.
struct Wiring {
    ports: Vec<Port>,
    kinds: Vec<LinkKind>,
}

fn wire(
    spec: &RunSpec,
    graph: &Graph,
    numbering: &Numbering,
    details: &[Detail],
    pools: &[Pool],
) -> Wiring {
    let largest = spec.network.framing.wire_bytes(spec.network.mtu);
    let mut wiring = Wiring { ports: Vec::new(), kinds: Vec::new() };
    for (d, detail) in numbering.direction.iter().zip(details) {
        let to = graph.neighbours[d.node][d.port];
        let link = spec.network.links[to.link];
        let pool = &pools[detail.queue.pool as usize];
        let calm = detail.queue.calm_wire_bytes(largest).filter(|_| pool.lets_go_dark());
        let kind = LinkKind::new(link.delay, link.rate, calm.unwrap_or(0));
        let known = wiring.kinds.iter().position(|k| *k == kind).unwrap_or(wiring.kinds.len());
        if known == wiring.kinds.len() {
            wiring.kinds.push(kind);
        }
        let known = u16::try_from(known).expect("net::check bounds the kinds of links");
        let lit = detail.scheduled.is_some() || calm.is_none();
        let plain = detail.loss.is_none() && (!lit || detail.scheduled.is_some());
        wiring.ports.push(Port::new(numbering.place[to.node], known, lit, plain));
    }
    wiring
}

/// Nodes that choose among ports: switches, and hosts with several.
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

fn detail_of(spec: &RunSpec, graph: &Graph, node: usize, port: usize, first_pool: usize) -> Detail {
    let network = &spec.network;
    let link = network.links[graph.neighbours[node][port].link];
    let name = format!("{}/port{port}", network.nodes[node].name);
    let mut detail = match &network.nodes[node].kind {
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
                let scheduled = Scheduled::new(buffers, order, switch.scheduler, quantum);
                let mut detail = Detail::new(QueueBuffer::nic(Some(0)));
                detail.scheduled = Some(Box::new(scheduled));
                detail
            }
        }
    };
    if link.loss > 0.0 {
        let rng = rng::stream(spec.seed, &format!("{name}/loss"));
        detail.loss = Some(LinkLoss::new(link.loss, rng));
    }
    detail
}

/// Tells each pool its ports, in port order, and what they need of it.
fn enroll(pools: &mut [Pool], details: &mut [Detail], numbering: &Numbering) {
    for &id in numbering.out.iter().flatten() {
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
fn agendas(
    spec: &RunSpec,
    graph: &Graph,
    order: &[usize],
    done_ports: &[Box<[u32]>],
) -> Vec<Agenda> {
    let mut first_link = 0;
    let mut agenda = |node: usize, done: usize| {
        let links = &graph.neighbours[node];
        let host = if graph.host_of[node].is_some() { HOST_SOURCES } else { 0 };
        let delays = links.iter().map(|n| spec.network.links[n.link].delay);
        let lookahead = delays.min().unwrap_or(Time::ZERO);
        let agenda = Agenda::new(first_link, links.len(), done + host, lookahead);
        first_link += links.len();
        agenda
    };
    order.iter().zip(done_ports).map(|(&node, done)| agenda(node, done.len())).collect()
}

fn sampler(spec: &RunSpec, numbering: &Numbering, first_pool: &[usize]) -> Option<Sampler> {
    let interval = spec.trace.port_interval?;
    let nodes = &spec.network.nodes;
    let mut ports = Vec::new();
    for (node, links) in numbering.out.iter().enumerate() {
        let NodeKind::Switch(switch) = &nodes[node].kind else { continue };
        for (port, &link) in links.iter().enumerate() {
            if spec.trace.ports.is_empty() || spec.trace.ports.contains(&(node, port)) {
                let count = switch.pools.len();
                let mmu = port / switch.ports_per_mmu.unwrap_or(usize::MAX);
                let first = first_pool[node] + mmu * count;
                let pools = (first..first + count).map(|p| p as u32).collect();
                ports.push((node as u32, port as u32, link, pools));
            }
        }
    }
    let interval = interval.max(Time::from_ps(1));
    Some(Sampler { interval, next: interval, ports })
}

/// Directed links in the order of the links, a to b first.
fn canonical(spec: &RunSpec, graph: &Graph, numbering: &Numbering) -> Vec<u32> {
    let mut canonical = vec![0; 2 * spec.network.links.len()];
    for (node, ports) in graph.neighbours.iter().enumerate() {
        for (port, neighbour) in ports.iter().enumerate() {
            let backwards = spec.network.links[neighbour.link].a != node;
            canonical[2 * neighbour.link + usize::from(backwards)] = numbering.out[node][port];
        }
    }
    debug_assert!(spec.network.mtu > IP_TCP_HEADERS);
    canonical
}
