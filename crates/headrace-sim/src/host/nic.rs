//! From a host's transport to its NIC: packets made, counted and handed over.

use std::sync::Mutex;

use headrace_cc::units::Time;

use super::flow::{Flow, Tally};
use super::sender::{Outgoing, SegmentOut};
use crate::net::fabric::Fabric;
use crate::net::framing::{IP_TCP_HEADERS, sack_option};
use crate::net::packet::{Flags, Header, Kind, Packet};
use crate::net::path::Paths;
use crate::spec::{Framing, NetworkSpec};
use crate::workload::{Delivered, FlowSpec, Workload};

/// Sizes of packets.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) framing: Framing,
    pub(super) mss: u32,
    /// On the wire: a full segment.
    pub(super) full: u16,
    /// An ACK with 0 to 4 SACK blocks; a SYN is an ACK with none.
    pub(super) ack: [u16; 5],
}

impl Sizes {
    pub(super) fn new(network: &NetworkSpec) -> Self {
        let framing = network.framing;
        let with_blocks = |n: usize| framing.wire_bytes(IP_TCP_HEADERS + sack_option(n as u32));
        Sizes {
            framing,
            mss: network.mtu - IP_TCP_HEADERS,
            full: framing.wire_bytes(network.mtu),
            ack: std::array::from_fn(with_blocks),
        }
    }
}

/// The network as transport sees it, and who answers deliveries.
pub(crate) struct Net<'a> {
    pub(crate) fabric: &'a mut Fabric,
    pub(crate) paths: &'a Paths,
    pub(crate) replies: &'a (dyn Replies + Sync),
}

/// A workload shared by all parts of the engine.
pub(crate) trait Replies {
    /// See [`Workload::on_delivered`].
    fn on_delivered(&self, delivered: &Delivered) -> Option<FlowSpec>;
}

impl<W: Workload> Replies for Mutex<W> {
    fn on_delivered(&self, delivered: &Delivered) -> Option<FlowSpec> {
        self.lock().expect("a workload does not panic").on_delivered(delivered)
    }
}

/// A host's NIC, as one flow's sender uses it.
pub(super) struct HostWire<'a> {
    pub(super) fabric: &'a mut Fabric,
    pub(super) tally: &'a mut Tally,
    pub(super) sizes: &'a Sizes,
    pub(super) flow: &'a mut Flow,
    pub(super) slot: u32,
    pub(super) data_flags: Flags,
    pub(super) now: Time,
}

impl HostWire<'_> {
    #[inline(always)]
    fn send(&mut self, seq: u32, wire: u16, flags: Flags) {
        let packet = Packet::new(Header {
            flow: self.slot,
            seq,
            ack: 0,
            hash: self.flow.hash,
            dst: self.flow.dst,
            wire,
            flags,
        });
        self.flow.balance += i64::from(wire);
        self.tally.sent_packets += 1;
        self.fabric.offer(self.flow.port as usize, packet, 0, self.now);
    }
}

impl Outgoing for HostWire<'_> {
    #[inline(never)]
    fn segment(&mut self, segment: SegmentOut) {
        let wire = if segment.payload == self.sizes.mss {
            self.sizes.full
        } else {
            self.sizes.framing.wire_bytes(segment.payload + IP_TCP_HEADERS)
        };
        let flags = self.data_flags.with(Flags::LAST, segment.last).with(Flags::CWR, segment.cwr);
        self.tally.sent_data_packets += 1;
        self.send(segment.seq, wire, flags);
    }

    #[inline(never)]
    fn syn(&mut self) {
        let flags = Flags::new(Kind::Syn, self.data_flags.priority());
        self.send(0, self.sizes.ack[0], flags);
    }
}
