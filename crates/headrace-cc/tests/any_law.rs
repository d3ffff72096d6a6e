//! Any law of the table, fed with any sequence of records, keeps its window within bounds.

use headrace_cc::params::Value;
use headrace_cc::sender::{
    Ack, Allowance, HopRecord, Loss, Scheme, Sender, Signal, Start, Timeout, schemes,
};
use headrace_cc::switch::{CongestionPoint, Marker, QueueView, congestion_points};
use headrace_cc::units::{Rate, Time};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Event {
    Ack { acked: u64, marked: u64, flags: u8, rtt_us: u64 },
    Loss { lost: u64 },
    Timeout { backoff: u32 },
    Signal(Signal),
    Send { bytes: u64 },
    Wait { us: u64 },
    Limit(Option<u64>),
    Scale(u64, u64),
}

fn event() -> impl Strategy<Value = Event> {
    let signal = prop_oneof![
        any::<u8>().prop_map(|byte| Signal::CongestionNotification { feedback: byte & 63 }),
        Just(Signal::Cnp),
        Just(Signal::Direct),
        (any::<u64>(), any::<u64>())
            .prop_map(|(bps, origin)| Signal::FairRate { rate: Rate::from_bps(bps), origin }),
    ];
    prop_oneof![
        8 => (0..200_000u64, 0..200_000u64, any::<u8>(), 0..10_000_000u64)
            .prop_map(|(acked, marked, flags, rtt_us)| Event::Ack { acked, marked, flags, rtt_us }),
        2 => (0..100_000u64).prop_map(|lost| Event::Loss { lost }),
        1 => (1..12u32).prop_map(|backoff| Event::Timeout { backoff }),
        1 => signal.prop_map(Event::Signal),
        4 => (0..500_000u64).prop_map(|bytes| Event::Send { bytes }),
        2 => (0..1_000_000_000u64).prop_map(|us| Event::Wait { us }),
        1 => proptest::option::of(any::<u64>()).prop_map(Event::Limit),
        1 => (any::<u64>(), any::<u64>()).prop_map(|(n, d)| Event::Scale(n, d)),
    ]
}

/// A transport's counters, moved on by the events.
struct Transport {
    now: Time,
    una: u64,
    next: u64,
    acked: u64,
}

impl Transport {
    fn feed(&mut self, law: &mut impl Sender, event: &Event) {
        let in_flight = self.next - self.una;
        match *event {
            Event::Ack { acked, marked, flags, rtt_us } => {
                let acked = acked.min(in_flight);
                self.una += acked;
                self.acked += acked;
                let rtt = Time::from_us(rtt_us);
                let hop = HopRecord { time: self.now, queue_bytes: marked, ..HopRecord::default() };
                law.on_ack(&Ack {
                    now: self.now,
                    rtt: (flags & 1 == 0).then_some(rtt),
                    srtt: rtt,
                    acked_bytes: acked,
                    marked_bytes: marked.min(acked),
                    ece: flags & 2 != 0,
                    una: self.una,
                    next: self.next,
                    in_flight: self.next - self.una,
                    delivered: self.acked,
                    sent_at: self.now,
                    app_limited: flags & 4 != 0,
                    in_recovery: flags & 8 != 0,
                    hops: &[hop],
                });
            }
            Event::Loss { lost } => law.on_loss(&Loss {
                now: self.now,
                lost_bytes: lost.min(in_flight),
                flight_size: in_flight,
                una: self.una,
                next: self.next,
            }),
            Event::Timeout { backoff } => law.on_timeout(&Timeout {
                now: self.now,
                flight_size: in_flight,
                next: self.next,
                backoff,
            }),
            Event::Signal(signal) => law.on_signal(self.now, &signal),
            Event::Send { bytes } => {
                self.next += bytes;
                law.on_sent(self.now, bytes);
            }
            Event::Wait { us } => self.wait(law, Time::from_us(us)),
            Event::Limit(bps) => law.limit_growth(bps.map(Rate::from_bps)),
            Event::Scale(numerator, denominator) => law.scale_down(numerator, denominator),
        }
    }

    /// Lets time pass, with a bound on the law's timers: each must move on.
    fn wait(&mut self, law: &mut impl Sender, time: Time) {
        let until = self.now + time;
        for _ in 0..100 {
            let timer = law.next_timer();
            if timer > until {
                break;
            }
            self.now = self.now.max(timer);
            law.on_timer(self.now);
            assert!(law.next_timer() > self.now, "a timer that stands still");
        }
        self.now = until;
    }
}

fn check(law: &impl Sender, mss: u64, bound: u64) {
    let Allowance { window, rate } = law.allowance();
    assert!(window >= mss, "window {window} below a segment");
    assert!(window == u64::MAX || window <= bound, "window {window} past {bound}");
    if let Some(rate) = rate {
        assert!(rate.bps() > 0, "a rate of zero never ends");
    }
    assert!(law.ssthresh() >= mss);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_law_stays_in_bounds(
        which in 0..schemes().len(),
        ecn in any::<bool>(),
        mss in 1..9_000u64,
        initial_segments in 1..1_000u64,
        events in prop::collection::vec(event(), 1..300),
    ) {
        let mut scheme = Scheme::by_name(schemes()[which].name).unwrap();
        if scheme.get("ecn").is_some() {
            scheme.set("ecn", &Value::Flag(ecn)).unwrap();
        }
        let start = Start {
            now: Time::ZERO,
            mss,
            initial_window: initial_segments * mss,
            line_rate: Rate::from_gbps(100),
            base_rtt: Time::from_us(80),
        };
        let mut law = scheme.start(&start);
        let mut twin = scheme.start(&start);
        let mut transport = Transport { now: Time::ZERO, una: 0, next: 0, acked: 0 };
        let mut mirror = Transport { now: Time::ZERO, una: 0, next: 0, acked: 0 };
        // No window law outgrows slow start without limit: a byte more for a byte acknowledged,
        // and a segment an acknowledgement for small ones.
        let segments = events.len() as u64 * mss;
        for event in &events {
            transport.feed(&mut law, event);
            mirror.feed(&mut twin, event);
            check(&law, mss, start.initial_window + transport.acked + segments);
            prop_assert_eq!(law.allowance(), twin.allowance());
        }
    }

    #[test]
    fn any_marker_is_silent_where_it_says_so(
        which in 0..congestion_points().len(),
        seed in any::<u64>(),
        at_ingress in any::<bool>(),
        packets in prop::collection::vec((0..4_000_000u64, 0..4_000_000u64, any::<bool>()), 1..300),
    ) {
        let mut marker = Marker::by_name(congestion_points()[which].name).unwrap();
        if marker.get("at").is_some() {
            let word = if at_ingress { "ingress" } else { "egress" };
            marker.set("at", &Value::Word(word.to_owned())).unwrap();
        }
        // One is asked about every packet, the other only outside its quiet range.
        let mut asked = marker.start(seed);
        let mut spared = marker.start(seed);
        for (queue_bytes, pool_bytes, ect) in packets {
            let view = QueueView {
                now: Time::ZERO,
                queue_bytes,
                pool_bytes,
                tx_bytes: 0,
                rate: Rate::from_gbps(100),
                size: 1538,
                flow: 1,
                ingress: 0,
                priority: 0,
                ect,
            };
            let quiet = spared.quiet();
            let silent = queue_bytes <= quiet.queue_bytes && pool_bytes <= quiet.pool_bytes;
            let arrival = asked.on_arrival(&view);
            let departure = asked.on_departure(&view);
            if silent {
                prop_assert_eq!(arrival.and(departure), Default::default());
                continue;
            }
            if spared.acts_at_arrival() {
                prop_assert_eq!(spared.on_arrival(&view), arrival);
            } else {
                prop_assert_eq!(arrival, Default::default());
            }
            prop_assert_eq!(spared.on_departure(&view), departure);
        }
    }
}
