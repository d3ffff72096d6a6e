//! What a run is made of: the network, its switches and hosts, the traffic classes, what to trace.
//!
//! These are plain values. `headrace-lab` makes them from scenario files; tests make them by hand.

use headrace_cc::sender::Scheme;
use headrace_cc::switch::Marker;
use headrace_cc::units::{Rate, Time};

/// A whole run, but for its traffic (see [`crate::workload::Workload`]).
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// Nodes and links.
    pub network: NetworkSpec,
    /// Traffic classes; a flow names one by its index.
    pub classes: Vec<ClassSpec>,
    /// Seed of every random stream, together with each entity's name.
    pub seed: u64,
    /// The run ends here at the latest; [`Time::NEVER`]: when every flow is done.
    pub until: Time,
    /// What is recorded beside the flows.
    pub trace: TraceSpec,
}

/// The graph.
#[derive(Clone, Debug)]
pub struct NetworkSpec {
    /// Bytes that a packet costs on a link beyond itself.
    pub framing: Framing,
    /// Largest IP packet, headers included, bytes (128 to 65,000).
    pub mtu: u32,
    /// Hosts and switches. Host numbers count the hosts in this order.
    pub nodes: Vec<NodeSpec>,
    /// Full-duplex links. A node's port numbers count its links in this order.
    pub links: Vec<LinkSpec>,
}

/// Bytes on a link beyond the IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Ethernet: 18 bytes of header and FCS, frames of at least 64 bytes, 20 bytes of preamble and
    /// gap. Buffers hold frames without preamble and gap.
    Ethernet,
    /// None: a packet costs its own bytes, to compare with simulators that count no more.
    None,
}

/// A node.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// Unique name; seeds the node's random streams.
    pub name: String,
    /// Host or switch.
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// An end host. It never forwards.
    Host(HostSpec),
    /// A switch.
    Switch(SwitchSpec),
}

/// An end host.
#[derive(Clone, Debug, Default)]
pub struct HostSpec {
    /// Bytes that the NIC holds before it drops; `None`: as many as the transport gives it.
    pub nic_buffer: Option<u64>,
}

/// A shared-buffer switch (BCC 2.1).
#[derive(Clone, Debug)]
pub struct SwitchSpec {
    /// Ports an MMU serves, taken in port order; `None`: one MMU serves all.
    pub ports_per_mmu: Option<usize>,
    /// Shared pools that each MMU has.
    pub pools: Vec<PoolSpec>,
    /// Queues of each port, by index.
    pub queues: Vec<QueueSpec>,
    /// How a port serves its queues.
    pub scheduler: Scheduler,
    /// Queue of each priority 0 to 7.
    pub queue_of_priority: [u8; 8],
}

/// Size of a shared pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolSpec {
    /// Bytes an MMU.
    PerMmu(u64),
    /// Bytes for each port that the MMU serves.
    PerPort(u64),
}

/// A queue of a port.
#[derive(Clone, Debug)]
pub struct QueueSpec {
    /// Private buffer, bytes, used before the shared pool (BCC 2.1).
    pub private_bytes: u64,
    /// The shared pool it may use, an index into [`SwitchSpec::pools`]; `None`: private buffer alone.
    pub pool: Option<usize>,
    /// Dynamic threshold (Choudhury-Hahne): a packet is refused when the queue's part of the pool is
    /// at least `alpha` times what is left of the pool. In 1/65536; `None`: no threshold.
    pub alpha_q16: Option<u64>,
    /// The queue never holds more than this, bytes; `None`: no such limit.
    pub limit_bytes: Option<u64>,
    /// Weight under WRR (packets a turn) and DWRR (quanta a turn); at least 1.
    pub weight: u32,
    /// Congestion points on this queue. A packet is marked if any says so.
    pub markers: Vec<Marker>,
}

/// Service order of a port's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The lowest-numbered queue that holds a packet goes first. With one queue: FIFO.
    Strict,
    /// Weighted round robin: each queue in turn sends up to `weight` packets.
    Wrr,
    /// Deficit weighted round robin (Shreedhar and Varghese 1995): quantum = `weight` x MTU.
    Dwrr,
}

/// A full-duplex link.
#[derive(Clone, Copy, Debug)]
pub struct LinkSpec {
    /// One end, an index into [`NetworkSpec::nodes`].
    pub a: usize,
    /// The other end.
    pub b: usize,
    /// Rate of each direction.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
    /// Probability that a packet is lost on the way, 0 to below 1, drawn for each packet.
    pub loss: f64,
}

/// A traffic class: how its flows are carried.
#[derive(Clone, Debug)]
pub struct ClassSpec {
    /// Name, for results.
    pub name: String,
    /// Priority of its data and ACKs, 0 to 7.
    pub priority: u8,
    /// The law with its parameters.
    pub scheme: Scheme,
    /// The transport's settings.
    pub tcp: TcpSpec,
    /// Flows of this class may call for others when they are delivered.
    pub reactive: bool,
}

/// TCP's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSpec {
    /// Initial window, segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Smallest retransmission timeout.
    pub rto_min: Time,
    /// Largest retransmission timeout after back-off (RFC 6298: at least 60 s).
    pub rto_max: Time,
    /// Timeout before the first RTT sample; `None`: the larger of `rto_min` and twice the path's
    /// base RTT, as if cached from an earlier connection.
    pub rto_initial: Option<Time>,
    /// Tail loss probe (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Exchange SYN and SYN-ACK before the data.
    pub handshake: bool,
    /// In-order segments an ACK may cover (1: an ACK a segment; RFC 5681: 2).
    pub ack_every: u32,
    /// An ACK is held no longer than this when `ack_every` > 1.
    pub ack_delay: Time,
    /// Segment-burst model (TSO): bytes that the sender hands to the NIC at once when its window
    /// allows; 0: each segment alone. GRO is `ack_every` with `ack_delay`.
    pub burst_bytes: u32,
    /// Duplicate threshold of RFC 6675 (3).
    pub dup_threshold: u32,
}

impl Default for TcpSpec {
    fn default() -> Self {
        TcpSpec {
            initial_window: 10,
            rto_min: Time::from_ms(5),
            rto_max: Time::from_ms(60_000),
            rto_initial: None,
            tail_loss_probe: false,
            handshake: false,
            ack_every: 1,
            ack_delay: Time::from_us(500),
            burst_bytes: 0,
            dup_threshold: 3,
        }
    }
}

/// What is recorded beside the flows.
#[derive(Clone, Debug, Default)]
pub struct TraceSpec {
    /// Interval of the switch ports' samples; `None`: none.
    pub port_interval: Option<Time>,
    /// Ports to sample as (node, port); empty: every switch port.
    pub ports: Vec<(usize, usize)>,
    /// Sample the window and rate of flows with an id below this.
    pub rate_flows: u64,
    /// Shortest time between two samples of a flow (they are taken at its ACKs).
    pub rate_interval: Time,
}
