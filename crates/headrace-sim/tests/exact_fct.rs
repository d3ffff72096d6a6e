//! A lone flow's completion time is a formula, to the picosecond.

mod support;

use headrace_sim::cc::units::{Rate, Time};
use headrace_sim::spec::*;
use proptest::prelude::*;
use support::*;

/// The definition, packet by packet: a link sends a packet once it has arrived whole and the one
/// before it has left.
fn by_definition(packets: &[u64], links: &[LinkSpec]) -> Time {
    let mut free = vec![Time::ZERO; links.len()];
    let mut last = Time::ZERO;
    for &wire in packets {
        last = Time::ZERO;
        for (link, free) in links.iter().zip(&mut free) {
            *free = (*free).max(last) + link.rate.time_for(wire);
            last = *free + link.delay;
        }
    }
    last
}

fn wire_packets(framing: Framing, mtu: u64, size: u64) -> Vec<u64> {
    let mss = mtu - 40;
    let count = size.div_ceil(mss);
    (0..count)
        .map(|i| {
            let ip = 40 + if i + 1 == count { size - i * mss } else { mss };
            match framing {
                Framing::None => ip,
                Framing::Ethernet => (ip + 18).max(64) + 20,
            }
        })
        .collect()
}

fn lone(mut spec: RunSpec, path: &[usize], size: u64, start: Time, ends: (u32, u32)) {
    spec.classes[0].scheme = unlimited();
    let packets = wire_packets(spec.network.framing, spec.network.mtu.into(), size);
    let links: Vec<LinkSpec> = path.iter().map(|&l| spec.network.links[l]).collect();
    let expected = by_definition(&packets, &links);
    let (_, kept) = run(&spec, vec![flow(0, start, ends.0, ends.1, size)]);
    assert_eq!(kept.flows[0].fct, Some(expected));
    assert_eq!(kept.flows[0].ideal_fct, expected);
    assert_eq!(kept.flows[0].retransmitted_bytes, 0);
}

fn chain(rates: &[u64], delay: Time) -> RunSpec {
    let switches = rates.len() - 1;
    let mut nodes = vec![host("a".into())];
    nodes.extend((0..switches).map(|i| switch(format!("s{i}"), &roomy())));
    nodes.push(host("b".into()));
    let links = (rates.iter().enumerate())
        .map(|(i, &r)| link(i, i + 1, Rate::from_bps(r), delay))
        .collect();
    spec(nodes, links, class("newreno", TcpSpec::default()))
}

fn framing() -> impl Strategy<Value = Framing> {
    prop_oneof![Just(Framing::Ethernet), Just(Framing::None)]
}

const RATES: [u64; 6] = [
    10_000_000_000,
    25_000_000_000,
    30_000_000_000,
    40_000_000_000,
    100_000_000_000,
    7_777_777_777,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn over_a_chain_of_any_rates(
        rates in prop::collection::vec(prop::sample::select(RATES.to_vec()), 1..6),
        framing in framing(),
        mtu in prop::sample::select(vec![576u32, 1500, 4096, 9000]),
        size in prop_oneof![1u64..4_000, 1u64..400_000],
        delay in 1u64..5_000_000,
        start in 0u64..1_000_000_000,
    ) {
        let mut spec = chain(&rates, Time::from_ps(delay));
        spec.network.framing = framing;
        spec.network.mtu = mtu;
        let path: Vec<usize> = (0..rates.len()).collect();
        lone(spec, &path, size, Time::from_ps(start), (0, 1));
    }
}

#[test]
fn over_a_star_and_a_leaf_spine() {
    let tcp = TcpSpec::default();
    for size in [1, 1460, 1461, 100_000, 1_000_003] {
        let star = star(4, Rate::from_gbps(40), Time::from_us(1), &roomy(), class("newreno", tcp));
        lone(star, &[1, 3], size, Time::ZERO, (1, 3));
        let fabric = leaf_spine(
            (2, 2, 1),
            Rate::from_gbps(100),
            Time::from_ns(500),
            &roomy(),
            class("newreno", tcp),
        );
        // Links: four to hosts, then leaf 0 - spine, leaf 1 - spine.
        lone(fabric.clone(), &[0, 4, 5, 3], size, Time::from_us(3), (0, 3));
        lone(fabric, &[0, 1], size, Time::from_us(3), (0, 1));
    }
}

#[test]
fn with_a_handshake_the_round_trip_of_a_syn_comes_first() {
    let tcp = TcpSpec { handshake: true, ..TcpSpec::default() };
    let mut spec = star(2, Rate::from_gbps(10), Time::from_us(5), &roomy(), class("newreno", tcp));
    spec.classes[0].scheme = unlimited();
    let (_, kept) = run(&spec, vec![flow(0, Time::ZERO, 0, 1, 5_000)]);
    let links = [spec.network.links[0], spec.network.links[1]];
    let syn = by_definition(&[84], &links);
    let data = by_definition(&wire_packets(Framing::Ethernet, 1500, 5_000), &links);
    assert_eq!(kept.flows[0].fct, Some(syn + syn + data));
}

/// Slow start from two segments with an ACK a segment: rounds of 2, 4, 8 and 2 segments. Each round
/// trip is the same, since a round's first ACK clocks out the next round's first segment.
#[test]
fn a_window_limited_flow_takes_its_round_trips() {
    let tcp = TcpSpec { initial_window: 2, ..TcpSpec::default() };
    let spec = star(2, Rate::from_gbps(100), Time::from_us(50), &roomy(), class("newreno", tcp));
    let (_, kept) = run(&spec, vec![flow(0, Time::ZERO, 0, 1, 16 * 1460)]);
    let links = [spec.network.links[0], spec.network.links[1]];
    let round_trip = by_definition(&[1538], &links) + by_definition(&[84], &links);
    // The last round is segments 14 and 15, sent back to back on the ACK of segment 6: the seventh
    // of the third round's pairs, which left one serialization a segment after its first.
    let per_segment = Rate::from_gbps(100).time_for(1538);
    let third_round_starts = round_trip + round_trip + round_trip;
    let last = by_definition(&[1538, 1538], &links);
    let fct = kept.flows[0].fct.unwrap();
    assert!(fct >= third_round_starts + last, "{fct}");
    assert!(fct <= third_round_starts + last + per_segment.saturating_mul(16), "{fct}");
}
