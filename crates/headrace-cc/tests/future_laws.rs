//! Laws of other kinds against the same trait: rate-based on round-trip times, driven by signals
//! with timers and byte counters of its own, by in-band telemetry, and composed of two. Each is its
//! paper's core, small enough to read at once.

use headrace_cc::sender::{
    Ack, Allowance, HopRecord, Loss, Scheme, Sender, Signal, Start, Timeout,
};
use headrace_cc::units::{Rate, Time};

const MSS: u64 = 1000;

fn start() -> Start {
    Start {
        now: Time::ZERO,
        mss: MSS,
        initial_window: 10 * MSS,
        line_rate: Rate::from_gbps(10),
        base_rtt: Time::from_us(20),
    }
}

fn ack(now: Time, rtt: Time) -> Ack<'static> {
    Ack {
        now,
        rtt: Some(rtt),
        srtt: rtt,
        acked_bytes: MSS,
        marked_bytes: 0,
        ece: false,
        una: MSS,
        next: 10 * MSS,
        in_flight: 9 * MSS,
        delivered: MSS,
        sent_at: now,
        app_limited: false,
        in_recovery: false,
        hops: &[],
    }
}

fn paced(rate: f64) -> Allowance {
    Allowance { window: u64::MAX, rate: Some(Rate::from_bps(rate as u64)) }
}

/// What a law over a lossless fabric does about losses: nothing of its own.
macro_rules! lossless {
    () => {
        fn on_loss(&mut self, _: &Loss) {}
        fn on_timeout(&mut self, _: &Timeout) {}
    };
}

/// TIMELY (SIGCOMM 2015, Algorithm 1).
struct Timely {
    rate: f64,
    last: f64,
    gradient: f64,
    good: u32,
}

impl Sender for Timely {
    fn allowance(&self) -> Allowance {
        paced(self.rate)
    }
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(rtt) = ack.rtt.map(Time::as_us) else { return };
        let (delta, beta, low, high, least) = (10e6, 0.8, 50.0, 500.0, 20.0);
        self.gradient = 0.125 * self.gradient + 0.875 * (rtt - self.last) / least;
        self.last = rtt;
        if rtt < low {
            self.rate += delta;
        } else if rtt > high {
            self.rate *= 1.0 - beta * (1.0 - high / rtt);
        } else if self.gradient <= 0.0 {
            self.good += 1;
            self.rate += delta * if self.good >= 5 { 5.0 } else { 1.0 };
        } else {
            self.good = 0;
            self.rate *= 1.0 - beta * self.gradient.min(1.0);
        }
    }
    lossless!();
}

#[test]
fn timely_reads_round_trip_times_and_paces() {
    let mut law = Timely { rate: 5e9, last: 20.0, gradient: 0.0, good: 0 };
    law.on_ack(&ack(Time::from_us(20), Time::from_us(30)));
    assert_eq!(law.allowance().rate, Some(Rate::from_mbps(5010)));
    law.on_ack(&ack(Time::from_us(900), Time::from_us(1000)));
    // Above T_high: 1 - 0.8 (1 - 500 / 1000).
    assert_eq!(law.allowance().rate, Some(Rate::from_mbps(3006)));
    law.on_ack(&Ack { rtt: None, ..ack(Time::from_us(950), Time::from_us(30)) });
    assert_eq!(law.allowance().rate, Some(Rate::from_mbps(3006)));
}

/// QCN's reaction point (Pan's pseudo code 2.2), with its own timer and byte counter.
struct QcnRp {
    rate: f64,
    target: f64,
    line: f64,
    timer: Time,
    bytes: u64,
    timer_cycles: u32,
    byte_cycles: u32,
    limit: f64,
}

impl QcnRp {
    fn new(start: &Start) -> Self {
        let line = start.line_rate.bps() as f64;
        QcnRp {
            rate: line,
            target: line,
            line,
            timer: Time::NEVER,
            bytes: 0,
            timer_cycles: 0,
            byte_cycles: 0,
            limit: f64::INFINITY,
        }
    }

    fn increase(&mut self) {
        let (fewest, most) =
            (self.timer_cycles.min(self.byte_cycles), self.timer_cycles.max(self.byte_cycles));
        if fewest >= 5 {
            self.target += 50e6 * f64::from(fewest - 4);
        } else if most >= 5 {
            self.target += 5e6;
        }
        self.target = self.target.min(self.line);
        self.rate = self.rate.max(((self.rate + self.target) / 2.0).min(self.limit));
    }
}

impl Sender for QcnRp {
    fn allowance(&self) -> Allowance {
        paced(self.rate)
    }
    fn on_ack(&mut self, _: &Ack<'_>) {}
    lossless!();

    fn on_signal(&mut self, now: Time, signal: &Signal) {
        let Signal::CongestionNotification { feedback } = signal else { return };
        self.target = self.rate;
        self.rate = (self.rate * (1.0 - f64::from(*feedback) / 128.0)).max(10e6);
        (self.timer_cycles, self.byte_cycles, self.bytes) = (0, 0, 0);
        self.timer = now + Time::from_ms(15);
    }
    fn next_timer(&self) -> Time {
        self.timer
    }
    fn on_timer(&mut self, now: Time) {
        self.timer_cycles += 1;
        let period = if self.timer_cycles < 5 { 15_000 } else { 7_500 };
        self.timer = now + Time::from_us(period);
        self.increase();
    }
    fn on_sent(&mut self, _: Time, bytes: u64) {
        self.bytes += bytes;
        let cycle = if self.byte_cycles < 5 { 150_000 } else { 75_000 };
        if self.bytes >= cycle {
            self.bytes -= cycle;
            self.byte_cycles += 1;
            self.increase();
        }
    }
    fn limit_growth(&mut self, limit: Option<Rate>) {
        self.limit = limit.map_or(f64::INFINITY, |rate| rate.bps() as f64);
    }
    fn scale_down(&mut self, numerator: u64, denominator: u64) {
        let factor = (numerator as f64 / denominator as f64).min(1.0);
        self.rate *= factor;
        self.target *= factor;
    }
}

#[test]
fn qcn_cuts_on_a_notification_and_recovers_by_timer_and_bytes() {
    let mut law = QcnRp::new(&start());
    assert_eq!(law.next_timer(), Time::NEVER);
    law.on_signal(Time::ZERO, &Signal::CongestionNotification { feedback: 63 });
    let cut = 10e9 * (1.0 - 63.0 / 128.0);
    assert_eq!(law.allowance(), paced(cut));
    assert_eq!(law.next_timer(), Time::from_ms(15));
    law.on_timer(Time::from_ms(15));
    assert_eq!(law.allowance(), paced((cut + 10e9) / 2.0));
    for _ in 0..150 {
        law.on_sent(Time::from_ms(16), 1000);
    }
    assert_eq!(law.allowance(), paced((cut + 3.0 * 10e9) / 4.0));
    assert_eq!(law.next_timer(), Time::from_ms(30));
}

/// RoCC's reaction point (Algorithm 2): the least fair rate rules, until it stays silent.
struct RoccRp {
    rate: Rate,
    origin: Option<u64>,
    line: Rate,
    timer: Time,
}

impl Sender for RoccRp {
    fn allowance(&self) -> Allowance {
        Allowance { window: u64::MAX, rate: Some(self.rate) }
    }
    fn on_ack(&mut self, _: &Ack<'_>) {}
    lossless!();

    fn on_signal(&mut self, now: Time, signal: &Signal) {
        let &Signal::FairRate { rate, origin } = signal else { return };
        if rate <= self.rate || self.origin == Some(origin) {
            (self.rate, self.origin) = (rate, Some(origin));
            self.timer = now + Time::from_us(100);
        }
    }
    fn next_timer(&self) -> Time {
        self.timer
    }
    fn on_timer(&mut self, now: Time) {
        self.rate = Rate::from_bps(self.rate.bps() * 2).min(self.line);
        self.timer = if self.rate == self.line { Time::NEVER } else { now + Time::from_us(100) };
    }
}

#[test]
fn rocc_takes_the_least_fair_rate_and_recovers_in_silence() {
    let line = Rate::from_gbps(10);
    let mut law = RoccRp { rate: line, origin: None, line, timer: Time::NEVER };
    let fair = |gbps, origin| Signal::FairRate { rate: Rate::from_gbps(gbps), origin };
    law.on_signal(Time::ZERO, &fair(4, 1));
    law.on_signal(Time::ZERO, &fair(6, 2));
    assert_eq!(law.allowance().rate, Some(Rate::from_gbps(4)));
    law.on_signal(Time::from_us(40), &fair(5, 1));
    assert_eq!(law.allowance().rate, Some(Rate::from_gbps(5)));
    assert_eq!(law.next_timer(), Time::from_us(140));
    law.on_timer(law.next_timer());
    assert_eq!((law.allowance().rate, law.next_timer()), (Some(line), Time::NEVER));
}

/// HPCC (SIGCOMM 2019, Algorithm 1), on the last hop's record alone.
struct Hpcc {
    window: f64,
    reference: f64,
    update_at: u64,
    base_rtt: Time,
    last: Option<HopRecord>,
}

impl Sender for Hpcc {
    fn allowance(&self) -> Allowance {
        let rate = Rate::from_bps((self.window * 8.0 / self.base_rtt.as_secs()) as u64);
        Allowance { window: self.window as u64, rate: Some(rate) }
    }
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(&hop) = ack.hops.last() else { return };
        if let Some(last) = self.last {
            let (time, rtt) = (hop.time.since(last.time).as_secs(), self.base_rtt.as_secs());
            let tx_rate = (hop.tx_bytes - last.tx_bytes) as f64 * 8.0 / time;
            let rate = hop.rate.bps() as f64;
            let queue = hop.queue_bytes.min(last.queue_bytes) as f64 * 8.0;
            let used = queue / (rate * rtt) + tx_rate / rate;
            self.window = self.reference / (used / 0.95) + 80.0;
            if ack.una > self.update_at {
                (self.reference, self.update_at) = (self.window, ack.next);
            }
        }
        self.last = Some(hop);
    }
    lossless!();
}

#[test]
fn hpcc_sizes_the_window_by_telemetry() {
    let base_rtt = Time::from_us(20);
    let mut law = Hpcc { window: 25e3, reference: 25e3, update_at: 0, base_rtt, last: None };
    let hop = |us: u64, tx_bytes, queue_bytes| HopRecord {
        time: Time::from_us(us),
        tx_bytes,
        queue_bytes,
        rate: Rate::from_gbps(10),
    };
    // 10 us at line rate with a bandwidth-delay product queued: used twice over.
    for hop in [hop(10, 0, 25_000), hop(20, 12_500, 25_000)] {
        law.on_ack(&Ack { hops: &[hop], ..ack(hop.time, base_rtt) });
    }
    assert_eq!(law.allowance().window, (25e3 * 0.95 / 2.0 + 80.0) as u64);
    assert!(law.allowance().rate.is_some());
}

/// Annulus (Algorithm 1): the lesser of two laws' rates; each grows only up to twice that, and a
/// fall of the lesser pulls the other down in proportion.
struct Annulus<E, N> {
    end_to_end: E,
    near_source: N,
    srtt: Time,
}

impl<E: Sender, N: Sender> Annulus<E, N> {
    fn rate(allowance: Allowance, srtt: Time) -> u64 {
        let by_window =
            (u128::from(allowance.window) * 8_000_000_000_000 / u128::from(srtt.ps())) as u64;
        allowance.rate.map_or(by_window, |rate| rate.bps().min(by_window))
    }
    fn rates(&self) -> (u64, u64) {
        let rate = |allowance| Self::rate(allowance, self.srtt);
        (rate(self.end_to_end.allowance()), rate(self.near_source.allowance()))
    }
    fn coordinated(&mut self, step: impl FnOnce(&mut Self)) {
        let (e2e, near) = self.rates();
        let limit = Some(Rate::from_bps(e2e.min(near).saturating_mul(2)));
        self.end_to_end.limit_growth(limit);
        self.near_source.limit_growth(limit);
        step(self);
        let (e2e_now, near_now) = self.rates();
        if e2e <= near && e2e_now < e2e {
            self.near_source.scale_down(e2e_now, e2e);
        } else if near < e2e && near_now < near {
            self.end_to_end.scale_down(near_now, near);
        }
    }
}

impl<E: Sender, N: Sender> Sender for Annulus<E, N> {
    fn allowance(&self) -> Allowance {
        let (e2e, near) = self.rates();
        let window = self.end_to_end.allowance().window;
        Allowance { window, rate: Some(Rate::from_bps(e2e.min(near))) }
    }
    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.srtt = ack.srtt;
        self.coordinated(|both| {
            both.end_to_end.on_ack(ack);
            both.near_source.on_ack(ack);
        });
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.coordinated(|both| both.end_to_end.on_loss(loss));
    }
    fn on_timeout(&mut self, timeout: &Timeout) {
        self.coordinated(|both| both.end_to_end.on_timeout(timeout));
    }
    fn on_signal(&mut self, now: Time, signal: &Signal) {
        self.coordinated(|both| both.near_source.on_signal(now, signal));
    }
    fn next_timer(&self) -> Time {
        self.end_to_end.next_timer().min(self.near_source.next_timer())
    }
    fn on_timer(&mut self, now: Time) {
        self.coordinated(|both| {
            if both.near_source.next_timer() <= now {
                both.near_source.on_timer(now);
            }
            if both.end_to_end.next_timer() <= now {
                both.end_to_end.on_timer(now);
            }
        });
    }
    fn on_sent(&mut self, now: Time, bytes: u64) {
        self.coordinated(|both| both.near_source.on_sent(now, bytes));
    }
}

#[test]
fn annulus_coordinates_growth_and_falls_together() {
    let srtt = Time::from_us(80);
    let end_to_end = Scheme::by_name("dctcp").unwrap().start(&start());
    let mut law = Annulus { end_to_end, near_source: QcnRp::new(&start()), srtt };
    // The window rules: 10 segments in 80 us are 1 Gb/s, against 10 at the near source.
    assert_eq!(law.allowance().rate, Some(Rate::from_gbps(1)));
    // The near source falls, and would hold the rate down at 10 Gb/s x (1 - 63/128), twice over.
    for _ in 0..6 {
        law.on_signal(Time::ZERO, &Signal::CongestionNotification { feedback: 63 });
    }
    let (e2e, near) = law.rates();
    assert!(near < Rate::from_mbps(300).bps());
    // The falls below the window's rate pulled the window down; those above it did not.
    assert!(e2e < Rate::from_gbps(1).bps() && e2e >= near);
    for round in 1..200 {
        law.on_ack(&Ack { una: round * MSS, ..ack(Time::from_us(80 * round), srtt) });
        let (e2e, near) = law.rates();
        assert!(e2e <= near * 2, "the end-to-end loop ran away: {e2e} against {near}");
    }
    // A loss pulls the near source down with the window once the window rules.
    law.near_source.rate = 2e9;
    law.on_loss(&Loss {
        now: Time::from_ms(20),
        lost_bytes: MSS,
        flight_size: 4 * MSS,
        una: 900 * MSS,
        next: 904 * MSS,
    });
    assert!(law.rates().1 < Rate::from_gbps(2).bps());
}
