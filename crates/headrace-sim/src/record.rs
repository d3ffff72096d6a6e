//! What a run gives back: flow records, samples, totals.

use headrace_cc::units::{Rate, Time};

/// A flow, when its sender knows that all is delivered, or when the run ended before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// Its id.
    pub id: u64,
    /// Its class, an index.
    pub class: u16,
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Payload bytes asked for (`UNBOUNDED` for a long-lived flow that did not end).
    pub size: u64,
    /// When its first byte was ready.
    pub start: Time,
    /// From `start` to the last byte's arrival at the receiver; `None`: not done.
    pub fct: Option<Time>,
    /// The completion time on an empty network.
    pub ideal_fct: Time,
    /// Payload bytes acknowledged.
    pub acked_bytes: u64,
    /// Payload bytes sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload bytes sent again.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Fast-retransmit episodes.
    pub fast_recoveries: u32,
    /// ACKs received.
    pub acks: u64,
    /// ACKs that echoed a mark.
    pub marked_acks: u64,
}

/// A switch port's state at a sampling time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortSample {
    /// When.
    pub time: Time,
    /// The switch, an index into the network's nodes.
    pub node: u32,
    /// Its port.
    pub port: u32,
    /// Bytes in the port's queues, the frame on the wire included.
    pub queue_bytes: u64,
    /// Bytes in use of all shared pools of the port's MMU.
    pub pool_bytes: u64,
    /// Frame bytes sent so far.
    pub tx_bytes: u64,
    /// Frames sent so far.
    pub tx_packets: u64,
    /// Frames dropped so far, at admission.
    pub drops: u64,
    /// Frames marked so far.
    pub marks: u64,
    /// Time paused so far.
    pub paused: Time,
}

/// A traced flow's state at one of its ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// When.
    pub time: Time,
    /// The flow.
    pub flow: u64,
    /// Window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes; `u64::MAX`: none.
    pub ssthresh: u64,
    /// Pacing rate where the law sets one, else window / smoothed RTT.
    pub rate: Rate,
    /// The last RTT sample.
    pub rtt: Time,
    /// Payload bytes in flight.
    pub in_flight: u64,
    /// Payload bytes acknowledged so far.
    pub acked: u64,
}

/// Where records go. The calls of one kind come in an order that depends on the scenario and seed
/// alone.
pub trait Recorder {
    /// A flow ended, or the run did. Ordered by (time of the sender's last ACK, id), the
    /// unfinished ones last, by id.
    fn flow(&mut self, record: &FlowRecord);
    /// A sample of a switch port. Ordered by (time, node, port).
    fn port(&mut self, sample: &PortSample);
    /// A sample of a traced flow. Ordered by (time, flow).
    fn rate(&mut self, sample: &RateSample);
}

/// Why a packet was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The queue's part of the pool had reached the dynamic threshold.
    DynamicThreshold,
    /// The shared pool was full (or the queue has none, and its private buffer was full).
    BufferFull,
    /// The queue's own limit.
    QueueLimit,
    /// The host's NIC buffer was full.
    NicBuffer,
    /// Lost on the link.
    LinkLoss,
}

impl DropReason {
    /// Every reason, in the order of [`Totals::drops`].
    pub const ALL: [DropReason; 5] = [
        DropReason::DynamicThreshold,
        DropReason::BufferFull,
        DropReason::QueueLimit,
        DropReason::NicBuffer,
        DropReason::LinkLoss,
    ];

    /// Its name in result files.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::DynamicThreshold => "dynamic_threshold",
            DropReason::BufferFull => "buffer_full",
            DropReason::QueueLimit => "queue_limit",
            DropReason::NicBuffer => "nic_buffer",
            DropReason::LinkLoss => "link_loss",
        }
    }
}

/// Totals of a run. Every packet sent was delivered, dropped or is still on its way: checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Simulated time at the end.
    pub end: Time,
    /// Events handled.
    pub events: u64,
    /// Packets, data or control, that finished crossing a link.
    pub packet_hops: u64,
    /// Flows started.
    pub flows_started: u64,
    /// Flows finished.
    pub flows_finished: u64,
    /// Most flows active at once.
    pub peak_active_flows: u64,
    /// Packets that hosts handed to their NICs.
    pub sent_packets: u64,
    /// Packets that reached their host.
    pub delivered_packets: u64,
    /// Packets in queues and on links at the end.
    pub in_flight_packets: u64,
    /// Data packets that hosts handed to their NICs.
    pub sent_data_packets: u64,
    /// Packets dropped, by [`DropReason::ALL`].
    pub drops: [u64; 5],
    /// Data packets dropped.
    pub dropped_data_packets: u64,
    /// Bytes of dropped frames, by [`DropReason::ALL`].
    pub dropped_bytes: [u64; 5],
    /// Packets marked by switches.
    pub marks: u64,
    /// Payload bytes delivered in order or not, duplicates excluded.
    pub goodput_bytes: u64,
    /// Each link's directions: a to b then b to a, in link order.
    pub links: Vec<LinkTotals>,
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTotals {
    /// Packets that left the port.
    pub tx_packets: u64,
    /// Bytes on the wire, framing included.
    pub wire_bytes: u64,
    /// Packets that the port refused.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// Largest backlog when a packet had joined: bytes on the wire, framing included, that were
    /// still to be sent.
    pub peak_queue_bytes: u64,
}

/// Why a run could not be made or went wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// The specification cannot be run; the text says what to change.
    #[error("{0}")]
    Spec(String),
    /// An invariant does not hold: a defect of the simulator, with the place.
    #[error("invariant violated: {0}")]
    Invariant(String),
    /// The run was asked to stop.
    #[error("interrupted at simulated time {0}")]
    Interrupted(Time),
}
