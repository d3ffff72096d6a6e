//! What is known of a flow, and what is told of it.

use headrace_cc::units::Time;

use super::sender::Sender;
use crate::record::FlowRecord;
use crate::workload::FlowSpec;

/// Of a flow, what every packet that its sender sends needs.
#[derive(Clone, Copy, Default)]
pub(super) struct Flow {
    pub(super) hash: u32,
    /// The directed link that it leaves by.
    pub(super) port: u32,
    pub(super) dst: u16,
    pub(super) class: u16,
    pub(super) traced: bool,
    /// Its receiver is in another part of the engine.
    pub(super) far: bool,
    /// Bytes on the wire: what the sender sent, less what reached it and what was dropped. With the
    /// receiver's own balance, what is on its way.
    pub(super) balance: i64,
}

/// The rest of what does not change during a flow.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub(super) spec: FlowSpec,
    pub(super) ideal: Time,
    /// Next time that the flow's rate may be recorded.
    pub(super) trace_at: Time,
}

/// What hosts sent and received, in all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) sent_packets: u64,
    pub(crate) sent_data_packets: u64,
    pub(crate) delivered_packets: u64,
    pub(crate) goodput_bytes: u64,
    pub(crate) flows_started: u64,
    pub(crate) flows_finished: u64,
}

/// What results say of a flow.
pub(super) fn record_of(flow: &Origin, sender: &Sender, fct: Option<Time>) -> FlowRecord {
    let counters = sender.counters;
    FlowRecord {
        id: flow.spec.id,
        class: flow.spec.class,
        src: flow.spec.src,
        dst: flow.spec.dst,
        size: flow.spec.size,
        start: flow.spec.start,
        fct,
        ideal_fct: flow.ideal,
        acked_bytes: sender.acked_bytes(),
        sent_bytes: counters.sent_bytes,
        retransmitted_bytes: counters.resent_bytes,
        timeouts: counters.timeouts,
        fast_recoveries: counters.recoveries,
        acks: counters.acks,
        marked_acks: counters.marked_acks,
    }
}
