//! The receiving end of a flow: what has arrived, and which acknowledgements that calls for.

use headrace_cc::sender::Ecn;
use headrace_cc::units::Time;

use crate::net::packet::{Extra, Flags, Packet};
use crate::spec::TcpSpec;

/// A flow's receiver.
#[derive(Default)]
pub(crate) struct Receiver {
    pub(crate) peer: Peer,
    /// Bytes on the wire: what the receiver sent, less what reached it (see `Flow::balance`).
    pub(crate) balance: i64,
    /// First segment not received.
    next: u32,
    /// Segments received beyond `next`: disjoint `start..end`, the most recent first (RFC 2018).
    beyond: Vec<(u32, u32)>,
    /// One past the flow's last segment, once that has arrived.
    end: Option<u32>,
    /// When the last byte arrived.
    delivered_at: Option<Time>,
    /// In-order segments not yet acknowledged.
    held: u32,
    /// The ECE state: RFC 8257's DCTCP.CE, or RFC 3168's latch.
    echo: bool,
    /// The segment that caused the held acknowledgement.
    held_seq: u32,
    /// Held acknowledgements are sent at this time; [`Time::NEVER`]: none is held.
    pub(crate) ack_deadline: Time,
    /// Time of its entry among the host's timers.
    pub(crate) timer_at: Time,
}

/// What a receiver knows of its flow from the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peer {
    /// The flow's id.
    pub(crate) id: u64,
    /// Hash of the reverse flow.
    pub(crate) hash: u32,
    /// The directed link that acknowledgements leave by.
    pub(crate) port: u32,
    /// Payload of the last segment.
    pub(crate) tail: u32,
    /// The sending host.
    pub(crate) src: u16,
    /// The receiving host.
    pub(crate) dst: u16,
    pub(crate) class: u16,
}

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AckOut {
    /// First segment not received.
    pub(crate) ack: u32,
    /// The segment that caused it.
    pub(crate) seq: u32,
    pub(crate) ece: bool,
}

/// What a segment leads to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrival {
    /// It brought data that was not there.
    pub(crate) fresh: bool,
    /// It completed the flow.
    pub(crate) completed: bool,
    /// An acknowledgement of earlier segments with the earlier ECE state (RFC 8257 section 3.2).
    /// While one was held back there was nothing to SACK.
    pub(crate) first: Option<AckOut>,
    /// The acknowledgement.
    pub(crate) ack: Option<AckOut>,
}

impl Receiver {
    /// For a new flow in the same memory.
    pub(crate) fn restart(&mut self, peer: Peer) {
        self.beyond.clear();
        *self = Receiver {
            peer,
            beyond: std::mem::take(&mut self.beyond),
            ack_deadline: Time::NEVER,
            timer_at: Time::NEVER,
            ..Receiver::default()
        };
    }

    /// A segment has arrived.
    #[inline(always)]
    pub(crate) fn on_data(
        &mut self,
        packet: Packet,
        now: Time,
        tcp: &TcpSpec,
        ecn: Ecn,
    ) -> Arrival {
        let mut out = Arrival::default();
        let marked = packet.flags().has(Flags::CE);
        if ecn == Ecn::Exact && marked != self.echo {
            if self.held > 0 {
                out.first = Some(self.flush());
            }
            self.echo = marked;
        } else if ecn == Ecn::Classic {
            self.echo = marked || self.echo && !packet.flags().has(Flags::CWR);
        }
        if packet.flags().has(Flags::LAST) {
            self.end = Some(packet.seq() + 1);
        }
        // Also the segment that fills a gap is acknowledged at once (RFC 5681 section 4.2).
        let in_order = packet.seq() == self.next && self.beyond.is_empty();
        out.fresh = self.receive(packet.seq());
        if self.end == Some(self.next) && self.delivered_at.is_none() {
            self.delivered_at = Some(now);
            out.completed = true;
        }
        self.held += 1;
        self.held_seq = packet.seq();
        let at_once = !in_order || !self.beyond.is_empty() || self.delivered_at.is_some();
        if at_once || self.held >= tcp.ack_every {
            out.ack = Some(self.flush());
        } else if self.ack_deadline == Time::NEVER {
            self.ack_deadline = now.saturating_add(tcp.ack_delay);
        }
        out
    }

    /// Whether an acknowledgement is held back.
    pub(crate) fn holds(&self) -> bool {
        self.held > 0
    }

    /// The held acknowledgement, which is now due.
    pub(crate) fn flush(&mut self) -> AckOut {
        self.held = 0;
        self.ack_deadline = Time::NEVER;
        AckOut { ack: self.next, seq: self.held_seq, ece: self.echo }
    }

    /// An acknowledgement sent now has more to say than fits in it.
    #[inline(always)]
    pub(crate) fn has_extra(&self) -> bool {
        !self.beyond.is_empty() || self.delivered_at.is_some()
    }

    /// SACK blocks, and when the flow was complete.
    pub(crate) fn extra(&self) -> Extra {
        let mut extra = Extra { delivered_at: self.delivered_at, ..Extra::default() };
        for (block, range) in extra.sack.iter_mut().zip(&self.beyond) {
            *block = *range;
        }
        extra
    }

    /// Counts segment `seq` in; false if it was there.
    #[inline(always)]
    fn receive(&mut self, seq: u32) -> bool {
        if seq < self.next {
            return false;
        }
        if seq == self.next && self.beyond.is_empty() {
            self.next += 1;
            return true;
        }
        self.receive_beyond(seq)
    }

    #[inline(never)]
    fn receive_beyond(&mut self, seq: u32) -> bool {
        if let Some(at) = self.beyond.iter().position(|&(s, e)| s <= seq && seq < e) {
            // A duplicate: its block is reported first all the same (RFC 2018 section 4).
            self.beyond[..=at].rotate_right(1);
            return false;
        }
        let (mut start, mut end) = (seq, seq + 1);
        self.beyond.retain(|&(s, e)| {
            let touches = e == start || s == end;
            if touches {
                start = start.min(s);
                end = end.max(e);
            }
            !touches
        });
        if start == self.next {
            self.next = end;
        } else {
            self.beyond.insert(0, (start, end));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::packet::Header;
    use crate::net::packet::Kind;

    fn data(seq: u32, ce: bool, last: bool) -> Packet {
        let flags = Flags::new(Kind::Data, 0).with(Flags::CE, ce).with(Flags::LAST, last);
        Packet::new(Header { seq, flags, ..Header::default() })
    }

    fn receiver() -> Receiver {
        let mut receiver = Receiver::default();
        receiver.restart(Peer::default());
        receiver
    }

    const NOW: Time = Time::from_us(7);

    #[test]
    fn blocks_merge_and_the_latest_comes_first() {
        let mut r = receiver();
        let tcp = TcpSpec::default();
        let mut ack = |seq, last| {
            let out = r.on_data(data(seq, false, last), NOW, &tcp, Ecn::Off);
            (out.ack.unwrap().ack, r.has_extra().then(|| r.extra().sack), out.completed)
        };
        assert_eq!(ack(0, false), (1, None, false));
        assert_eq!(ack(2, false), (1, Some([(2, 3), (0, 0), (0, 0), (0, 0)]), false));
        assert_eq!(ack(5, true), (1, Some([(5, 6), (2, 3), (0, 0), (0, 0)]), false));
        assert_eq!(ack(3, false), (1, Some([(2, 4), (5, 6), (0, 0), (0, 0)]), false));
        assert_eq!(ack(5, true).1, Some([(5, 6), (2, 4), (0, 0), (0, 0)]));
        assert_eq!(ack(1, false), (4, Some([(5, 6), (0, 0), (0, 0), (0, 0)]), false));
        let (next, _, completed) = ack(4, false);
        assert_eq!((next, completed), (6, true));
        assert_eq!(r.extra().delivered_at, Some(NOW));
    }

    #[test]
    fn dctcp_echo_is_exact_with_delayed_acks() {
        let mut r = receiver();
        let tcp = TcpSpec { ack_every: 2, ..TcpSpec::default() };
        // RFC 8257 Figure 1: a change of CE flushes the held ACK with the old state.
        let marks = [false, true, true, true, false, false];
        let mut echoed = Vec::new();
        for (seq, &ce) in marks.iter().enumerate() {
            let out = r.on_data(data(seq as u32, ce, false), NOW, &tcp, Ecn::Exact);
            echoed.extend([out.first, out.ack].into_iter().flatten().map(|a| (a.ack, a.ece)));
        }
        assert_eq!(echoed, [(1, false), (3, true), (4, true), (6, false)]);
    }

    #[test]
    fn classic_echo_latches_until_cwr() {
        let mut r = receiver();
        let tcp = TcpSpec::default();
        let mut echo = |packet: Packet| r.on_data(packet, NOW, &tcp, Ecn::Classic).ack.unwrap().ece;
        assert!(!echo(data(0, false, false)));
        assert!(echo(data(1, true, false)));
        assert!(echo(data(2, false, false)));
        let mut cwr = data(3, false, false);
        cwr = cwr.assign(Flags::CWR, true);
        assert!(!echo(cwr));
    }
}
