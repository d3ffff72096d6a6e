//! A packet as the simulator carries it: 32 bytes, two to a cache line.

use headrace_cc::units::Time;

use crate::switch::view::PacketView;

/// A packet on a link or in a queue.
///
/// Four words, which a switch copies as such: its arrival; flow and seq; ack and hash; destination,
/// size and flags.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct Packet([u64; 4]);

/// What a new packet says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Header {
    /// Slot of its flow.
    pub(crate) flow: u32,
    /// Data: its segment. ACK: the segment that caused it.
    pub(crate) seq: u32,
    /// ACK: the first segment not received.
    pub(crate) ack: u32,
    /// Hash of its flow's identity (of the reverse flow's for an ACK), for ECMP.
    pub(crate) hash: u32,
    /// Destination host.
    pub(crate) dst: u16,
    /// Bytes on the wire, framing included.
    pub(crate) wire: u16,
    /// Kind, ECN bits and priority.
    pub(crate) flags: Flags,
}

impl Packet {
    #[inline(always)]
    pub(crate) fn new(header: Header) -> Self {
        Packet([
            0,
            u64::from(header.flow) | u64::from(header.seq) << 32,
            u64::from(header.ack) | u64::from(header.hash) << 32,
            u64::from(header.dst) | u64::from(header.wire) << 16 | u64::from(header.flags.0) << 32,
        ])
    }

    /// When its last bit arrives at the far end of the link it is on.
    #[inline(always)]
    pub(crate) fn arrival(self) -> Time {
        Time::from_ps(self.0[0])
    }

    /// The packet on another link.
    #[inline(always)]
    #[must_use]
    pub(crate) fn arriving(self, arrival: Time) -> Self {
        Packet([arrival.ps(), self.0[1], self.0[2], self.0[3]])
    }

    /// See [`Header`], as for all that follow.
    #[inline(always)]
    pub(crate) fn flow(self) -> u32 {
        self.0[1] as u32
    }

    #[inline(always)]
    pub(crate) fn seq(self) -> u32 {
        (self.0[1] >> 32) as u32
    }

    #[inline(always)]
    pub(crate) fn ack(self) -> u32 {
        self.0[2] as u32
    }

    #[inline(always)]
    pub(crate) fn hash(self) -> u32 {
        (self.0[2] >> 32) as u32
    }

    #[inline(always)]
    pub(crate) fn dst(self) -> u16 {
        self.0[3] as u16
    }

    #[inline(always)]
    pub(crate) fn wire(self) -> u16 {
        (self.0[3] >> 16) as u16
    }

    #[inline(always)]
    pub(crate) fn flags(self) -> Flags {
        Flags((self.0[3] >> 32) as u16)
    }

    /// As a switch sees it that it came into by port `ingress`; `unbuffered` bytes of it on the wire
    /// are in no buffer.
    #[inline(always)]
    pub(crate) fn view(self, unbuffered: u16, ingress: u16) -> PacketView {
        let flags = self.flags();
        PacketView {
            size: u32::from(self.wire() - unbuffered),
            flow: u64::from(self.hash()),
            ect: flags.has(Flags::ECT),
            ce: flags.has(Flags::CE),
            priority: flags.priority(),
            ingress,
        }
    }

    /// The packet with CE set if `on`.
    #[inline(always)]
    #[must_use]
    pub(crate) fn marked(self, on: bool) -> Self {
        self.assign(Flags::CE, on || self.flags().has(Flags::CE))
    }

    /// The packet with `bit` set or cleared.
    #[inline(always)]
    #[must_use]
    pub(crate) fn assign(self, bit: Flags, on: bool) -> Self {
        let mask = u64::from(bit.0) << 32;
        let [arrival, flow, ack, rest] = self.0;
        Packet([arrival, flow, ack, rest & !mask | if on { mask } else { 0 }])
    }
}

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A segment of data.
    Data = 0,
    /// An acknowledgement.
    Ack = 1,
    /// Opens a connection.
    Syn = 2,
    /// Answers a SYN.
    SynAck = 3,
}

/// Kind (bits 0-3), priority (bits 4-6) and single-bit marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u16);

impl Flags {
    /// ECN-capable transport (RFC 3168).
    pub(crate) const ECT: Flags = Flags(1 << 7);
    /// Congestion experienced.
    pub(crate) const CE: Flags = Flags(1 << 8);
    /// ECN echo, on ACKs.
    pub(crate) const ECE: Flags = Flags(1 << 9);
    /// Congestion window reduced, on data.
    pub(crate) const CWR: Flags = Flags(1 << 10);
    /// The flow's last segment.
    pub(crate) const LAST: Flags = Flags(1 << 11);
    /// An [`Extra`] goes with the packet.
    pub(crate) const EXTRA: Flags = Flags(1 << 12);
    /// It lies in a shared pool, not in the queue's private buffer.
    pub(crate) const SHARED: Flags = Flags(1 << 13);

    pub(crate) const fn new(kind: Kind, priority: u8) -> Self {
        Flags(kind as u16 | (priority as u16 & 7) << 4)
    }

    #[inline(always)]
    pub(crate) const fn kind(self) -> Kind {
        match self.0 & 15 {
            0 => Kind::Data,
            1 => Kind::Ack,
            2 => Kind::Syn,
            _ => Kind::SynAck,
        }
    }

    #[inline(always)]
    pub(crate) const fn priority(self) -> u8 {
        (self.0 >> 4 & 7) as u8
    }

    #[inline(always)]
    pub(crate) const fn has(self, bit: Flags) -> bool {
        self.0 & bit.0 != 0
    }

    /// `bit` set if `on`, otherwise as before.
    #[inline(always)]
    #[must_use]
    pub(crate) const fn with(self, bit: Flags, on: bool) -> Self {
        Flags(self.0 | if on { bit.0 } else { 0 })
    }
}

/// What few packets carry and so none has room for: it travels beside them, in the same order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extra {
    /// SACK blocks (RFC 2018), `start..end` in segments, the most recent first; empty ones unused.
    pub(crate) sack: [(u32, u32); 4],
    /// On the ACK of a whole flow: when its last byte arrived.
    pub(crate) delivered_at: Option<Time>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_packets_fill_a_cache_line() {
        assert_eq!(size_of::<Packet>(), 32);
    }

    #[test]
    fn flags_keep_kind_and_priority_apart() {
        let flags = Flags::new(Kind::Ack, 5).with(Flags::ECE, true).with(Flags::CE, false);
        assert_eq!(flags.kind(), Kind::Ack);
        assert_eq!(flags.priority(), 5);
        assert!(flags.has(Flags::ECE) && !flags.has(Flags::CE));
        let packet = Packet::new(Header { flow: 7, seq: 8, flags, ..Header::default() });
        assert_eq!((packet.flow(), packet.seq(), packet.flags()), (7, 8, flags));
        let cleared = packet.assign(Flags::ECE, false);
        assert!(!cleared.flags().has(Flags::ECE) && cleared.flags().kind() == Kind::Ack);
        assert_eq!(cleared.assign(Flags::ECE, true).flags(), flags);
    }
}
