//! DCTCP's steady state against its analysis (Alizadeh, Javanmard and Prabhakar, SIGMETRICS 2011):
//! with N synchronised flows and W* = (C RTT + K) / N, the queue's sawtooth has its top at K + N, an
//! amplitude of sqrt(2 N (C RTT + K)) / 2 packets and a period of sqrt(2 (C RTT + K) / N) / 2 round
//! trips.

mod support;

use headrace_sim::cc::params::Value;
use headrace_sim::cc::units::{Rate, Time};
use headrace_sim::record::PortSample;
use headrace_sim::spec::*;
use headrace_sim::workload::FlowSpec;
use support::*;

const PACKET: f64 = 1500.0;

/// Two flows over a 10 Gb/s link; a base round trip of `base_rtt_us`.
fn dumbbell(k: u64, base_rtt_us: u64) -> RunSpec {
    let mut red = red(k * 1500, k * 1500, 1.0);
    // The analysis marks what arrives at a queue above K.
    red.set("at", &Value::Word("ingress".into())).unwrap();
    let sw = switch_spec(1 << 30, 0, None, vec![red]);
    let nodes = vec![
        host("a".into()),
        host("b".into()),
        host("c".into()),
        host("d".into()),
        switch("left".into(), &sw),
        switch("right".into(), &sw),
    ];
    let (fast, slow) = (Rate::from_gbps(40), Rate::from_gbps(10));
    // Six propagation delays, and 1.85 us of serialization.
    let delay = Time::from_ns((base_rtt_us * 1_000 - 1_850) / 6);
    let links = vec![
        link(0, 4, fast, delay),
        link(1, 4, fast, delay),
        link(4, 5, slow, delay),
        link(2, 5, fast, delay),
        link(3, 5, fast, delay),
    ];
    let mut spec = spec(nodes, links, class("dctcp", TcpSpec::default()));
    spec.network.framing = Framing::None;
    spec.until = Time::from_ms(60);
    spec.trace.port_interval = Some(Time::from_us(1));
    spec.trace.ports = vec![(4, 2)];
    spec
}

/// Times and heights in packets.
type Turns = Vec<(Time, f64)>;

/// Tops and bottoms of the sawtooth, from samples smoothed over a packet's jitter.
fn sawtooth(samples: &[PortSample]) -> [Turns; 2] {
    let queue: Vec<(Time, f64)> =
        samples.iter().map(|s| (s.time, s.queue_bytes as f64 / PACKET)).collect();
    // A turn is an extreme over about a third of a period on both sides.
    let reach = 300;
    let (mut tops, mut bottoms) = (Vec::new(), Vec::new());
    for i in reach..queue.len() - reach {
        let around = &queue[i - reach..=i + reach];
        let before = &queue[i - reach..i];
        if around.iter().all(|x| x.1 <= queue[i].1) && before.iter().all(|x| x.1 < queue[i].1) {
            tops.push(queue[i]);
        }
        if around.iter().all(|x| x.1 >= queue[i].1) && before.iter().all(|x| x.1 > queue[i].1) {
            bottoms.push(queue[i]);
        }
    }
    [tops, bottoms]
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

#[test]
fn two_flows_keep_the_analysed_sawtooth() {
    two_flows(40, 100);
    two_flows(65, 100);
}

fn two_flows(k: u64, base_rtt_us: u64) {
    let flows = (0..2).map(|i| flow(i, Time::ZERO, i as u32, i as u32 + 2, FlowSpec::UNBOUNDED));
    let (_, kept) = run(&dumbbell(k, base_rtt_us), flows.collect());
    let steady: Vec<PortSample> =
        kept.ports.iter().filter(|s| s.time > Time::from_ms(20)).copied().collect();
    let [tops, bottoms] = sawtooth(&steady);
    let bdp = 10e9 * base_rtt_us as f64 * 1e-6 / 8.0 / PACKET;
    let n = 2.0;
    let q_max = k as f64 + n;
    let amplitude = (2.0 * n * (bdp + k as f64)).sqrt() / 2.0;
    let round_trip = base_rtt_us as f64 * 1e-6 + k as f64 * PACKET * 8.0 / 10e9;
    let period = (2.0 * (bdp + k as f64) / n).sqrt() / 2.0 * round_trip;

    let top = mean(tops.iter().map(|t| t.1));
    let bottom = mean(bottoms.iter().map(|b| b.1));
    let measured_period = (tops[tops.len() - 1].0 - tops[0].0).as_secs() / (tops.len() - 1) as f64;
    let within = |what: &str, measured: f64, expected: f64| {
        assert!((measured / expected - 1.0).abs() < 0.1, "{what}: {measured} against {expected}");
    };
    within("top", top, q_max);
    within("amplitude", top - bottom, amplitude);
    within("period", measured_period, period);
}
