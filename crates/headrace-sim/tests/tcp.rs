//! Loss recovery end to end.

mod support;

use headrace_sim::cc::units::{Rate, Time};
use headrace_sim::record::SimError;
use headrace_sim::spec::*;
use headrace_sim::workload::{Delivered, FlowSpec, Workload};
use support::*;

fn pair(tcp: TcpSpec, loss: f64) -> RunSpec {
    let mut spec = star(2, Rate::from_gbps(10), Time::from_us(10), &roomy(), class("newreno", tcp));
    spec.network.links[1].loss = loss;
    spec
}

#[test]
fn a_lossy_link_is_repaired_mostly_without_timeouts() {
    let tcp = TcpSpec { rto_min: Time::from_ms(5), ..TcpSpec::default() };
    for seed in 0..5 {
        let mut spec = pair(tcp, 0.005);
        spec.seed = seed;
        let (totals, kept) = run(&spec, vec![flow(0, Time::ZERO, 0, 1, 20_000_000)]);
        let record = kept.flows[0];
        assert_eq!(record.acked_bytes, 20_000_000);
        assert!(totals.drops[4] > 20);
        assert!(record.fast_recoveries > 20, "{record:?}");
        assert!(record.timeouts * 5 < record.fast_recoveries, "{record:?}");
        assert!(record.retransmitted_bytes >= 1460 * 20);
    }
}

#[test]
fn nothing_is_sent_again_without_loss() {
    for (ack_every, burst) in [(1, 0), (2, 0), (4, 16_000)] {
        let tcp =
            TcpSpec { ack_every, burst_bytes: burst, tail_loss_probe: true, ..TcpSpec::default() };
        let (_, kept) = run(&pair(tcp, 0.0), vec![flow(0, Time::ZERO, 0, 1, 3_000_000)]);
        let record = kept.flows[0];
        assert_eq!((record.retransmitted_bytes, record.timeouts), (0, 0), "{record:?}");
        let segments = 3_000_000u64.div_ceil(1460);
        assert!(record.acks <= segments / u64::from(ack_every) + 200, "{record:?}");
    }
}

/// Loses the last segments of the flow: the switch's queue to the receiver holds only so much.
fn tail_lost(tcp: TcpSpec) -> headrace_sim::record::FlowRecord {
    let mut sw = roomy();
    sw.queues[0].limit_bytes = Some(9 * 1518);
    let mut spec = star(2, Rate::from_gbps(100), Time::from_us(10), &sw, class("newreno", tcp));
    spec.network.links[1].rate = Rate::from_gbps(1);
    spec.classes[0].tcp.initial_window = 12;
    let (_, kept) = run(&spec, vec![flow(0, Time::ZERO, 0, 1, 12 * 1460)]);
    kept.flows[0]
}

#[test]
fn a_lost_tail_waits_for_the_timeout_unless_it_is_probed() {
    let plain = tail_lost(TcpSpec::default());
    assert!(plain.timeouts >= 1 && plain.fct.unwrap() >= Time::from_ms(5), "{plain:?}");
    let probed = tail_lost(TcpSpec { tail_loss_probe: true, ..TcpSpec::default() });
    assert_eq!(probed.timeouts, 0, "{probed:?}");
    assert!(probed.fct.unwrap() < Time::from_ms(2), "{probed:?}");
}

#[test]
fn timeouts_back_off() {
    // Nothing gets through: a link that loses all but one in a thousand.
    let tcp = TcpSpec { rto_min: Time::from_ms(1), ..TcpSpec::default() };
    let mut spec = pair(tcp, 0.999);
    spec.until = Time::from_ms(1_000);
    let (_, kept) = run(&spec, vec![flow(0, Time::ZERO, 0, 1, 1_000)]);
    // 1 + 2 + 4 + .. + 2^k ms < 1 s: nine timeouts.
    assert_eq!(kept.flows[0].timeouts, 9);
    assert_eq!(kept.flows[0].fct, None);
}

#[test]
fn a_stopped_flow_ends_without_a_completion_time() {
    let mut long = flow(0, Time::ZERO, 0, 1, FlowSpec::UNBOUNDED);
    long.stop = Time::from_ms(2);
    let mut spec = pair(TcpSpec::default(), 0.0);
    spec.classes[0].scheme = fixed_rate(Rate::from_gbps(5));
    let (totals, kept) = run(&spec, vec![long]);
    assert_eq!(totals.flows_finished, 1);
    let record = kept.flows[0];
    assert_eq!(record.fct, None);
    let expected = 2e-3 * 5e9 / 8.0;
    assert!((record.acked_bytes as f64 / expected - 1.0).abs() < 0.01, "{record:?}");
    assert!(totals.end < Time::from_ms(3), "{}", totals.end);
}

#[test]
fn a_stopped_flow_repairs_its_losses_and_ends() {
    for seed in 0..20 {
        let mut long = flow(0, Time::ZERO, 0, 1, FlowSpec::UNBOUNDED);
        long.stop = Time::from_ms(2);
        let mut spec = pair(TcpSpec { tail_loss_probe: seed % 2 == 0, ..TcpSpec::default() }, 0.05);
        spec.seed = seed;
        let (totals, kept) = run(&spec, vec![long]);
        let record = kept.flows[0];
        assert_eq!((totals.flows_finished, record.fct), (1, None));
        assert!(record.retransmitted_bytes > 0);
        assert_eq!(totals.goodput_bytes, record.acked_bytes);
    }
}

#[test]
fn pacing_starts_after_the_handshake() {
    let mut spec = pair(TcpSpec { handshake: true, ..TcpSpec::default() }, 0.0);
    spec.classes[0].scheme = fixed_rate(Rate::from_mbps(2_000));
    let (totals, kept) = run(&spec, vec![flow(0, Time::ZERO, 0, 1, 1_460_000)]);
    assert!(kept.flows[0].fct.unwrap() > kept.flows[0].ideal_fct);
    // A timer a paced segment, and not many more.
    assert!(totals.events < totals.packet_hops + 1_200, "{} events", totals.events);
}

#[test]
fn pacing_keeps_its_rate() {
    let mut spec = pair(TcpSpec::default(), 0.0);
    spec.classes[0].scheme = fixed_rate(Rate::from_mbps(2_000));
    let (_, kept) = run(&spec, vec![flow(0, Time::ZERO, 0, 1, 1_460_000)]);
    let rate = 1_460_000.0 * 8.0 / kept.flows[0].fct.unwrap().as_secs();
    assert!((rate / 2e9 - 1.0).abs() < 0.01, "{rate}");
}

#[test]
fn times_that_cannot_be_told_apart_are_an_error() {
    let spec = pair(TcpSpec::default(), 0.0);
    let late = flow(7, Time::from_ps(1 << 63), 0, 1, 1);
    let Err(SimError::Spec(message)) = try_run(&spec, vec![late]) else { panic!("no error") };
    assert!(message.contains("can be simulated up to"), "{message}");
}

#[test]
fn a_bad_flow_is_refused_by_name() {
    let spec = pair(TcpSpec::default(), 0.0);
    for (bad, text) in [
        (flow(7, Time::ZERO, 0, 0, 1), "flow 7 goes from host 0 to itself"),
        (flow(7, Time::ZERO, 0, 9, 1), "flow 7 names host 9"),
        (flow(7, Time::ZERO, 0, 1, 0), "flow 7 has size 0"),
    ] {
        let Err(SimError::Spec(message)) = try_run(&spec, vec![bad]) else { panic!("no error") };
        assert!(message.contains(text), "{message}");
    }
    let late = vec![flow(0, Time::from_us(2), 0, 1, 1), flow(1, Time::from_us(1), 0, 1, 1)];
    let Err(SimError::Spec(message)) = try_run(&spec, late) else { panic!("no error") };
    assert!(message.contains("flow 1 starts at"), "{message}");
}

/// A client that asks again when it is answered.
struct PingPong {
    first: Option<FlowSpec>,
    left: u32,
}

impl Workload for PingPong {
    fn next_flow(&mut self) -> Option<FlowSpec> {
        self.first.take()
    }
    fn on_delivered(&mut self, d: &Delivered) -> Option<FlowSpec> {
        self.left = self.left.checked_sub(1)?;
        let think = if d.dst == 0 { Time::from_us(100) } else { Time::ZERO };
        Some(flow(d.id + 1, d.now + think, d.dst, d.src, 1_000))
    }
}

#[test]
fn reactive_flows_follow_each_other() {
    let mut spec = pair(TcpSpec::default(), 0.0);
    spec.classes[0].reactive = true;
    let load = PingPong { first: Some(flow(0, Time::ZERO, 0, 1, 1_000)), left: 9 };
    let (totals, kept) = run_workload(&spec, load).unwrap();
    assert_eq!(totals.flows_finished, 10);
    for two in kept.flows.windows(2) {
        let gap = two[1].start - (two[0].start + two[0].fct.unwrap());
        assert_eq!(gap, if two[0].dst == 0 { Time::from_us(100) } else { Time::ZERO });
    }
}
