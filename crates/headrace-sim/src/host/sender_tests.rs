//! A sender by itself, ACK by ACK.

use headrace_cc::sender::{Scheme, Start};
use headrace_cc::units::{Rate, Time};

use super::scoreboard::Scoreboard;
use super::sender::{AckIn, NewFlow, Outgoing, SegmentOut, Sender};
use crate::net::packet::Extra;
use crate::spec::TcpSpec;

const MSS: u64 = 1_000;

/// Keeps the segments that were sent.
#[derive(Default)]
struct Wire(Vec<u32>);

impl Outgoing for Wire {
    fn segment(&mut self, segment: SegmentOut) {
        self.0.push(segment.seq);
    }
    fn syn(&mut self) {}
}

struct Rig {
    sender: Sender,
    wire: Wire,
    tcp: TcpSpec,
    now: Time,
}

impl Rig {
    /// A NewReno flow of a thousand segments with a hundred in flight.
    fn new() -> Rig {
        let now = Time::ZERO;
        let scheme = Scheme::by_name("newreno").unwrap();
        let start = Start {
            now,
            mss: MSS,
            initial_window: 100 * MSS,
            line_rate: Rate::from_gbps(1),
            base_rtt: Time::from_us(100),
        };
        let flow = NewFlow {
            law: scheme.start(&start),
            ecn: scheme.ecn(),
            size: 1_000 * MSS,
            mss: MSS as u32,
            initial_rto: Time::from_ms(5),
            stop: Time::NEVER,
        };
        let tcp = TcpSpec::default();
        let mut rig = Rig {
            sender: Sender::new(flow, Scoreboard::new(), &tcp),
            wire: Wire::default(),
            tcp,
            now,
        };
        rig.sender.open(now, &tcp, &mut rig.wire);
        assert_eq!(rig.wire.0.len(), 100);
        rig.wire.0.clear();
        rig
    }

    /// An ACK of everything below `ack`, caused by `seq`, with SACK blocks; what it lets out.
    fn ack(&mut self, ack: u32, seq: u32, blocks: &[(u32, u32)]) -> Vec<u32> {
        self.now += Time::from_us(100);
        let mut extra = Extra::default();
        extra.sack[..blocks.len()].copy_from_slice(blocks);
        let extra = (!blocks.is_empty()).then_some(&extra);
        let ack = AckIn { now: self.now, ack, seq, ece: false, extra };
        self.sender.on_ack(ack, &self.tcp, &mut self.wire);
        std::mem::take(&mut self.wire.0)
    }

    fn window(&self) -> u64 {
        self.sender.allowance().window / MSS
    }
}

#[test]
fn the_first_repair_leaves_whatever_is_in_flight() {
    let mut rig = Rig::new();
    // Limited transmit (RFC 6675 section 5, step 3), in slow start: new segments.
    assert!(rig.ack(0, 1, &[(1, 2)]).iter().all(|&seq| seq >= 100));
    assert!(rig.ack(0, 2, &[(1, 3)]).iter().all(|&seq| seq >= 100));
    // Step 4.3: with about a hundred in the pipe and half of that for a window.
    assert_eq!(rig.ack(0, 3, &[(1, 4)]), [0]);
    assert!((50..54).contains(&rig.window()), "{}", rig.window());
    assert!(rig.ack(0, 4, &[(1, 5)]).is_empty());
}

#[test]
fn losses_among_what_was_sent_during_a_repair_cut_the_window_again() {
    let mut rig = Rig::new();
    let mut sent = Vec::new();
    for seq in 1..100 {
        sent.extend(rig.ack(0, seq, &[(1, seq + 1)]));
    }
    let window = rig.window();
    // Of what was sent since, one is lost and the three after it arrive.
    let repair = sent.iter().position(|&seq| seq == 0).unwrap();
    let lost = sent[repair + 1];
    assert!(sent[repair + 1..].len() > 4);
    for seq in lost + 1..lost + 4 {
        rig.ack(0, seq, &[(lost + 1, seq + 1), (1, lost)]);
    }
    assert_eq!(rig.window(), window);
    // The repair arrives: a recovery ends and the next begins.
    rig.ack(lost, 0, &[(lost + 1, lost + 4)]);
    assert!(rig.window() < window, "{}", rig.window());
}
