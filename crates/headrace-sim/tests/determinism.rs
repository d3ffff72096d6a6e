//! The same bytes again, however the nodes are numbered inside the engine.

mod support;

use std::ops::ControlFlow;

use headrace_sim::Simulation;
use headrace_sim::cc::units::{Rate, Time};
use headrace_sim::spec::*;
use headrace_sim::workload::FlowSpec;
use proptest::prelude::*;
use support::*;

fn incast(seed: u64, lossy: bool) -> (RunSpec, Vec<FlowSpec>) {
    let sw = switch_spec(
        400_000,
        8_000,
        Some(2.0),
        vec![red(30_000, 60_000, 0.4), marker("shared_red", 90_000, 200_000, 0.2)],
    );
    let tcp = TcpSpec {
        rto_min: Time::from_us(300),
        handshake: seed.is_multiple_of(2),
        ack_every: 1 + (seed % 3) as u32,
        ack_delay: Time::from_us(20),
        ..TcpSpec::default()
    };
    let mut spec =
        leaf_spine((3, 4, 3), Rate::from_gbps(100), Time::from_us(1), &sw, class("dctcp", tcp));
    spec.seed = seed;
    spec.trace.port_interval = Some(Time::from_us(5));
    spec.trace.rate_flows = 8;
    if lossy {
        spec.network.links.iter_mut().for_each(|l| l.loss = 0.002);
    }
    let mut draw = Draw(seed);
    let flows = (0..80)
        .map(|id| {
            let src = draw.below(12);
            let dst = (src + 1 + draw.below(11)) % 12;
            // Many start at the same instant, to make ties.
            flow(id, Time::from_us(id / 20), src as u32, dst as u32, 1 + draw.below(120_000))
        })
        .collect();
    (spec, flows)
}

fn stepped(
    spec: &RunSpec,
    flows: Vec<FlowSpec>,
    order: &[usize],
) -> (headrace_sim::record::Totals, Kept) {
    let mut kept = Kept::default();
    let simulation = Simulation::stepped(spec, flows.into_iter(), order).unwrap();
    let totals = simulation.run(&mut kept, &mut |_| ControlFlow::Continue(())).unwrap();
    (totals, kept)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn results_do_not_depend_on_the_stepping_order(seed in 0u64..100_000, lossy in any::<bool>(), shuffle in any::<u64>()) {
        let (spec, flows) = incast(seed, lossy);
        let mut order: Vec<usize> = (0..spec.network.nodes.len()).collect();
        let straight = stepped(&spec, flows.clone(), &order);
        prop_assert_eq!(&straight, &stepped(&spec, flows.clone(), &order));
        let mut draw = Draw(shuffle);
        for i in (1..order.len()).rev() {
            order.swap(i, draw.below(i as u64 + 1) as usize);
        }
        prop_assert_eq!(straight, stepped(&spec, flows, &order));
    }
}

#[test]
fn seeds_matter() {
    let (mut spec, flows) = incast(4, true);
    let first = run(&spec, flows.clone());
    spec.seed = 5;
    assert_ne!(first.1, run(&spec, flows).1);
}
