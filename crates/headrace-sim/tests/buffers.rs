//! The MMU against its closed forms, and the shortcuts of FIFO ports against plain events.

mod support;

use headrace_sim::cc::units::{Rate, Time};
use headrace_sim::spec::*;
use proptest::prelude::*;
use support::*;

/// `m` receivers, each offered twice its line rate by two senders of its own.
fn saturated(m: usize, pool: u64, alpha: f64) -> (RunSpec, Vec<headrace_sim::workload::FlowSpec>) {
    let sw = switch_spec(pool, 0, Some(alpha), vec![]);
    let mut spec = star(
        3 * m,
        Rate::from_gbps(100),
        Time::from_us(1),
        &sw,
        class("newreno", TcpSpec::default()),
    );
    spec.classes[0].scheme = unlimited();
    spec.until = Time::from_us(400);
    spec.trace.port_interval = Some(Time::from_us(10));
    let flows = (0..2 * m)
        .map(|i| flow(i as u64, Time::ZERO, (m + i) as u32, (i % m) as u32, 50_000_000))
        .collect();
    (spec, flows)
}

#[test]
fn saturated_queues_share_the_pool_as_choudhury_and_hahne_say() {
    for (m, pool, alpha) in
        [(1, 1_000_000, 1.0), (2, 1_000_000, 0.5), (4, 2_000_000, 4.0), (8, 3_000_000, 2.0)]
    {
        let (spec, flows) = saturated(m, pool, alpha);
        let (totals, kept) = run(&spec, flows);
        let expected = alpha * pool as f64 / (1.0 + m as f64 * alpha);
        let end = Time::from_us(400);
        let last: Vec<_> = kept.ports.iter().filter(|p| p.time == end).collect();
        assert_eq!(last.len(), 3 * m);
        for sample in last.iter().filter(|p| (p.port as usize) < m) {
            let off = (sample.queue_bytes as f64 - expected).abs();
            // A frame each way for every queue that moves the threshold.
            assert!(off <= 1518.0 * (2.0 + alpha * m as f64), "{m} {alpha}: {sample:?} {expected}");
        }
        assert!(totals.drops[0] > 0, "the dynamic threshold drops");
    }
}

#[test]
fn a_faster_source_builds_the_exact_queue() {
    // 100G in, 40G out; frames of 1518 bytes, 1538 on the wire.
    let mut spec = star(
        2,
        Rate::from_gbps(100),
        Time::from_us(1),
        &roomy(),
        class("newreno", TcpSpec::default()),
    );
    spec.network.links[1].rate = Rate::from_gbps(40);
    spec.classes[0].scheme = unlimited();
    spec.trace.port_interval = Some(Time::from_us(1));
    spec.trace.ports = vec![(2, 1)];
    spec.until = Time::from_us(90);
    let (_, kept) = run(&spec, vec![flow(0, Time::ZERO, 0, 1, 2_000_000)]);
    let count = 2_000_000u64.div_ceil(1460);
    let (fast, slow) = (Rate::from_gbps(100).time_for(1538), Rate::from_gbps(40).time_for(1538));
    assert_eq!(kept.ports.len(), 90);
    for sample in &kept.ports {
        let since = sample.time.since(Time::from_us(1)).ps();
        let arrived = (since / fast.ps()).min(count);
        let left = sample.time.since(Time::from_us(1) + fast).ps() / slow.ps();
        assert!(arrived < count, "the test ends while the source still sends");
        assert_eq!(sample.queue_bytes, (arrived - left.min(arrived)) * 1518, "at {}", sample.time);
        assert_eq!(sample.tx_bytes, left.min(arrived) * 1518);
    }
}

#[test]
fn private_buffers_fill_first_and_the_rest_is_dropped_with_its_reason() {
    let mut sw = switch_spec(100_000, 50_000, Some(1.0), vec![]);
    let base = |sw: &SwitchSpec| {
        let mut spec = star(
            3,
            Rate::from_gbps(100),
            Time::from_us(1),
            sw,
            class("newreno", TcpSpec::default()),
        );
        spec.classes[0].scheme = unlimited();
        spec.until = Time::from_us(300);
        spec.trace.port_interval = Some(Time::from_us(10));
        spec
    };
    let flows = || vec![flow(0, Time::ZERO, 1, 0, 9_000_000), flow(1, Time::ZERO, 2, 0, 9_000_000)];
    let (totals, kept) = run(&base(&sw), flows());
    let peak = kept.ports.iter().map(|p| p.queue_bytes).max().unwrap();
    let pool = kept.ports.iter().map(|p| p.pool_bytes).max().unwrap();
    // 32 whole frames are private; T = alpha (B - Q) lets half the pool fill.
    assert!((96_000..=101_000).contains(&peak), "{peak}");
    assert!((48_000..=52_000).contains(&pool), "{pool}");
    assert!(totals.drops[0] > 0 && totals.drops[1..] == [0; 4], "{:?}", totals.drops);

    sw.queues[0].limit_bytes = Some(60_000);
    let (totals, kept) = run(&base(&sw), flows());
    let peak = kept.ports.iter().map(|p| p.queue_bytes).max().unwrap();
    assert!((57_000..=60_000).contains(&peak), "{peak}");
    assert!(totals.drops[2] > 0 && totals.drops[0] == 0, "{:?}", totals.drops);

    sw.queues[0].limit_bytes = None;
    sw.queues[0].alpha_q16 = None;
    let (totals, _) = run(&base(&sw), flows());
    assert!(totals.drops[1] > 0 && totals.drops[0] == 0, "{:?}", totals.drops);
}

#[test]
fn mmus_do_not_share() {
    let mut sw = switch_spec(400_000, 0, Some(8.0), vec![]);
    sw.ports_per_mmu = Some(3);
    let mut spec =
        star(6, Rate::from_gbps(100), Time::from_us(1), &sw, class("newreno", TcpSpec::default()));
    spec.classes[0].scheme = unlimited();
    spec.until = Time::from_us(200);
    spec.trace.port_interval = Some(Time::from_us(10));
    // Ports 0 to 2 are on the first MMU: host 0 is swamped, host 3 on the second gets one flow.
    let flows = vec![
        flow(0, Time::ZERO, 1, 0, 9_000_000),
        flow(1, Time::ZERO, 2, 0, 9_000_000),
        flow(2, Time::ZERO, 4, 3, 900_000),
    ];
    let (_, kept) = run(&spec, flows);
    let most = |port| kept.ports.iter().filter(|p| p.port == port).map(|p| p.pool_bytes).max();
    assert!(most(1) > Some(300_000));
    assert!(most(4) < Some(10_000));
}

/// Random traffic through small buffers with marks by queue and by pool.
fn busy(seed: u64, sw: &SwitchSpec) -> (RunSpec, Vec<headrace_sim::workload::FlowSpec>) {
    let mut draw = Draw(seed);
    let tcp = TcpSpec {
        rto_min: Time::from_us(200),
        tail_loss_probe: seed.is_multiple_of(2),
        ..TcpSpec::default()
    };
    let mut spec =
        leaf_spine((2, 4, 2), Rate::from_gbps(100), Time::from_us(2), sw, class("dctcp", tcp));
    spec.seed = seed;
    spec.trace.port_interval = Some(Time::from_us(7));
    spec.trace.rate_flows = 5;
    let flows = (0..60)
        .map(|id| {
            let src = draw.below(8) as u32;
            let dst = (u64::from(src) + 1 + draw.below(7)) % 8;
            flow(id, Time::from_ns(id * 300), src, dst as u32, 1 + draw.below(300_000))
        })
        .collect();
    (spec, flows)
}

fn arb_switch() -> impl Strategy<Value = SwitchSpec> {
    let markers = prop_oneof![
        Just(vec![]),
        (5_000u64..80_000).prop_map(|k| vec![red(k, k, 1.0)]),
        (5_000u64..80_000, 20_000u64..200_000)
            .prop_map(|(k, s)| vec![red(k, 2 * k, 0.5), marker("shared_red", s, 2 * s, 0.3)]),
    ];
    let private = prop_oneof![Just(0u64), 2_000u64..60_000];
    let alpha = prop::sample::select(vec![Some(0.25), Some(1.0), Some(8.0), None]);
    (60_000u64..800_000, private, alpha, markers, prop::option::of(1usize..4)).prop_map(
        |(pool, private, alpha, markers, per_mmu)| {
            let mut sw = switch_spec(pool, private, alpha, markers);
            sw.ports_per_mmu = per_mmu;
            sw
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A FIFO port keeps its account lazily; a port with a scheduler has an event at the end of each
    /// transmission. With all traffic in one queue they are the same, to the byte.
    #[test]
    fn lazy_accounts_change_nothing(seed in 0u64..1_000_000, sw in arb_switch()) {
        let (fifo, flows) = busy(seed, &sw);
        let mut two = sw.clone();
        two.queues.push(two.queues[0].clone());
        let (strict, _) = busy(seed, &two);
        let (a, kept_a) = try_run(&fifo, flows.clone()).unwrap();
        let (b, kept_b) = try_run(&strict, flows).unwrap();
        prop_assert_eq!(kept_a, kept_b);
        prop_assert_eq!((a.drops, a.marks, a.end, a.packet_hops), (b.drops, b.marks, b.end, b.packet_hops));
        prop_assert_eq!(a.flows_finished, 60);
    }
}

/// Three classes of equal flows into one port, each in a queue of its own.
fn shares(scheduler: Scheduler, weights: [u32; 3]) -> [u64; 3] {
    let mut sw = roomy();
    sw.scheduler = scheduler;
    sw.queues =
        weights.iter().map(|&weight| QueueSpec { weight, ..sw.queues[0].clone() }).collect();
    sw.queue_of_priority = [0, 1, 2, 2, 2, 2, 2, 2];
    let mut spec =
        star(4, Rate::from_gbps(100), Time::from_us(1), &sw, class("newreno", TcpSpec::default()));
    spec.until = Time::from_us(300);
    spec.classes = (0..3)
        .map(|priority| ClassSpec {
            priority,
            scheme: unlimited(),
            ..class("newreno", TcpSpec::default())
        })
        .collect();
    let flows = (0..3)
        .map(|c| {
            let mut f = flow(c, Time::ZERO, c as u32 + 1, 0, 60_000_000);
            f.class = c as u16;
            f
        })
        .collect();
    let (_, kept) = run(&spec, flows);
    [0, 1, 2].map(|c| kept.flows[c].acked_bytes)
}

#[test]
fn schedulers_share_by_their_weights() {
    let close = |a: u64, b: u64, ratio: f64| {
        let measured = a as f64 / b as f64;
        assert!((measured / ratio - 1.0).abs() < 0.05, "{a} to {b} is {measured}, not {ratio}");
    };
    let [a, b, c] = shares(Scheduler::Dwrr, [1, 2, 4]);
    close(b, a, 2.0);
    close(c, b, 2.0);
    let [a, b, c] = shares(Scheduler::Wrr, [3, 1, 1]);
    close(a, b, 3.0);
    close(b, c, 1.0);
    let [a, b, c] = shares(Scheduler::Strict, [1, 1, 1]);
    assert!(a > 3_000_000 && b == 0 && c == 0, "{a} {b} {c}");
}
