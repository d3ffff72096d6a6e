//! Average windows under periodic loss, one packet in 1/p: NewReno against 1.22 / sqrt(p), CUBIC
//! against the tables of RFC 9438 section 5.1.

use std::collections::VecDeque;

use headrace_cc::params::Value;
use headrace_cc::sender::{Ack, Loss, Scheme, Sender, Start};
use headrace_cc::units::{Rate, Time};

const MSS: u64 = 1000;

/// One flow on a path of fixed round-trip time that loses every n-th packet sent, with a sender
/// that keeps the pipe full (RFC 6675) and an acknowledgement a packet.
struct Path<S> {
    law: S,
    rtt: Time,
    every: u64,
    /// Packets in flight, oldest first: when sent, sequence number, lost.
    flight: VecDeque<(Time, u64, bool)>,
    now: Time,
    una: u64,
    next: u64,
    sent: u64,
    delivered: u64,
    /// The hole being repaired, and the value of `next` at which the repair is over.
    recovery: Option<(u64, u64)>,
}

impl<S: Sender> Path<S> {
    fn new(law: S, rtt: Time, every: u64) -> Self {
        Path {
            law,
            rtt,
            every,
            flight: VecDeque::new(),
            now: Time::ZERO,
            una: 0,
            next: 0,
            sent: 0,
            delivered: 0,
            recovery: None,
        }
    }

    fn send(&mut self, sequence: u64) {
        self.sent += 1;
        // What repairs a loss is not lost in its turn.
        let lost = self.sent.is_multiple_of(self.every) && sequence == self.next;
        self.flight.push_back((self.now, sequence, lost));
        if sequence == self.next {
            self.next += 1;
        }
    }

    fn fill(&mut self) {
        while self.flight.len() as u64 * MSS + MSS <= self.law.allowance().window {
            self.send(self.next);
        }
    }

    /// The oldest packet's acknowledgement, or its absence, arrives.
    fn step(&mut self) {
        let (sent_at, sequence, lost) = self.flight.pop_front().expect("something is in flight");
        self.now = sent_at + self.rtt;
        if lost {
            let flight = self.flight.len() as u64 + 1;
            let loss = Loss {
                now: self.now,
                lost_bytes: MSS,
                flight_size: flight * MSS,
                una: sequence * MSS,
                next: self.next * MSS,
            };
            if self.recovery.is_none() {
                self.law.on_loss(&loss);
                self.recovery = Some((sequence, self.next));
                self.send(sequence);
            }
            return self.fill();
        }
        self.delivered += 1;
        match self.recovery {
            // The repair of the hole acknowledges all that was sent before it.
            Some((hole, end)) if sequence == hole => {
                self.una = end;
                self.recovery = None;
            }
            Some(_) => {}
            None => self.una = sequence + 1,
        }
        let ack = self.ack(sent_at);
        self.law.on_ack(&ack);
        self.fill();
    }

    fn ack(&self, sent_at: Time) -> Ack<'static> {
        Ack {
            now: self.now,
            rtt: Some(self.rtt),
            srtt: self.rtt,
            acked_bytes: MSS,
            marked_bytes: 0,
            ece: false,
            una: self.una * MSS,
            next: self.next * MSS,
            in_flight: self.flight.len() as u64 * MSS,
            delivered: self.delivered * MSS,
            sent_at,
            app_limited: false,
            in_recovery: self.recovery.is_some(),
            hops: &[],
        }
    }

    fn run(&mut self, losses: u64) {
        let until = self.sent + losses * self.every;
        while self.sent < until {
            self.step();
        }
    }
}

/// Average window in packets: what is delivered in a round-trip time, over 100 losses once 400 have
/// passed (20 and 40 where losses are rare, to bound the time). `guess` is the window from which
/// the flow starts.
fn average_window(scheme: &Scheme, rtt: Time, every: u64, guess: f64) -> f64 {
    let start = Start {
        now: Time::ZERO,
        mss: MSS,
        initial_window: guess as u64 * MSS,
        line_rate: Rate::from_gbps(100),
        base_rtt: rtt,
    };
    let mut path = Path::new(scheme.start(&start), rtt, every);
    path.fill();
    let (passed, counted) = if every < 100_000 { (400, 100) } else { (40, 20) };
    path.run(passed);
    let (delivered, since) = (path.delivered, path.now);
    path.run(counted);
    (path.delivered - delivered) as f64 * rtt.as_secs() / path.now.since(since).as_secs()
}

#[test]
fn newreno_follows_the_square_root_law() {
    let scheme = Scheme::by_name("newreno").unwrap();
    for every in [100, 1_000, 10_000, 100_000] {
        // Mathis et al. 1997, with an acknowledgement a packet: sqrt(3/2) / sqrt(p).
        let law = libm::sqrt(1.5 * every as f64);
        let seen = average_window(&scheme, Time::from_ms(10), every, law);
        println!("newreno 1/p {every}: {seen:.1}, law {law:.1}, ratio {:.3}", seen / law);
        // The law leaves out the round trip of the repair and counts windows in fractions of a
        // packet: a share of about one in the window.
        let band = 1.5 / libm::sqrt(every as f64) + 0.02;
        assert!((seen / law - 1.0).abs() < band, "{seen} against {law} at 1/{every}");
    }
}

#[test]
fn cubic_follows_the_tables_of_its_rfc() {
    // RFC 9438 section 5.1, tables 1 and 2, C = 0.4: RTT in ms, 1/p, average window.
    let table = [
        (100, 100, 12.0),
        (100, 1_000, 38.0),
        (100, 10_000, 187.0),
        (100, 100_000, 1054.0),
        (100, 1_000_000, 5926.0),
        (10, 1_000, 38.0),
        (10, 10_000, 120.0),
        (10, 100_000, 379.0),
        (10, 1_000_000, 1200.0),
    ];
    let mut scheme = Scheme::by_name("cubic").unwrap();
    for fast_convergence in [true, false] {
        scheme.set("fast_convergence", &Value::Flag(fast_convergence)).unwrap();
        for (rtt, every, published) in table {
            // Without fast convergence the oscillation about the steady cycle dies out over
            // hundreds of losses: too long a run where losses are rare.
            if every > 10_000 && !fast_convergence {
                continue;
            }
            let seen = average_window(&scheme, Time::from_ms(rtt), every, published);
            let ratio = seen / published;
            println!("cubic {rtt} ms 1/p {every}: {seen:.1}, RFC {published}, ratio {ratio:.3}");
            assert!((ratio - 1.0).abs() < 0.15, "{seen} against {published} at {rtt} ms 1/{every}");
        }
    }
}
