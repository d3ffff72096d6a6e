//! The same bytes again, however the nodes are numbered inside the engine.

mod support;

use std::ops::ControlFlow;

use headrace_sim::cc::units::{Rate, Time};
use headrace_sim::record::Totals;
use headrace_sim::spec::*;
use headrace_sim::workload::FlowSpec;
use headrace_sim::{Layout, Simulation};
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
    if seed % 3 == 1 {
        // Long links between some switches: parts have different lookaheads.
        let far = spec.network.links.iter_mut().filter(|l| l.a >= 12 && l.b >= 12).step_by(2);
        far.for_each(|l| l.delay = Time::from_us(7));
    }
    if seed % 4 == 1 {
        // Two queues behind a scheduler at every switch port.
        for node in &mut spec.network.nodes {
            let NodeKind::Switch(switch) = &mut node.kind else { continue };
            switch.queues.push(switch.queues[0].clone());
            switch.scheduler = Scheduler::Dwrr;
            switch.queue_of_priority = [0, 1, 1, 1, 1, 1, 1, 1];
        }
        let mut second = spec.classes[0].clone();
        second.priority = 3;
        spec.classes.push(second);
    }
    spec.trace.port_interval = Some(Time::from_us(5));
    spec.trace.rate_flows = 8;
    if lossy {
        spec.network.links.iter_mut().for_each(|l| l.loss = 0.002);
    }
    let classes = spec.classes.len() as u64;
    let mut draw = Draw(seed);
    let flows = (0..80)
        .map(|id| {
            let src = draw.below(12);
            let dst = (src + 1 + draw.below(11)) % 12;
            // Many start at the same instant, to make ties.
            let size = 1 + draw.below(120_000);
            let flow = flow(id, Time::from_us(id / 20), src as u32, dst as u32, size);
            FlowSpec { class: (id % classes) as u16, ..flow }
        })
        .collect();
    (spec, flows)
}

type Outcome = (Totals, Kept);

/// Where two outcomes part, in few words.
fn first_difference(a: &Outcome, b: &Outcome) -> Option<String> {
    fn among<T: PartialEq + std::fmt::Debug>(what: &str, a: &[T], b: &[T]) -> Option<String> {
        let at = a.iter().zip(b).position(|(a, b)| a != b);
        let at = at.or((a.len() != b.len()).then(|| a.len().min(b.len())))?;
        Some(format!("{what} {at}: {:?}\n{:?}", a.get(at), b.get(at)))
    }
    let rates = among("rate sample", &a.1.rates, &b.1.rates);
    let flows = || among("flow", &a.1.flows, &b.1.flows);
    let ports = || among("port sample", &a.1.ports, &b.1.ports);
    let totals = || (a.0 != b.0).then(|| format!("totals: {:?}\n{:?}", a.0, b.0));
    rates.or_else(ports).or_else(flows).or_else(totals)
}

fn laid_out(spec: &RunSpec, flows: Vec<FlowSpec>, layout: &Layout) -> Outcome {
    let mut kept = Kept::default();
    let simulation = Simulation::laid_out(spec, flows.into_iter(), layout).unwrap();
    let totals = simulation.run(&mut kept, &mut |_| ControlFlow::Continue(())).unwrap();
    (totals, kept)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn results_depend_on_neither_order_nor_parts(
        seed in 0u64..100_000,
        lossy in any::<bool>(),
        shuffle in any::<u64>(),
        parts in 1usize..5,
    ) {
        let (spec, flows) = incast(seed, lossy);
        let mut layout = Layout::whole(&spec.network);
        let straight = laid_out(&spec, flows.clone(), &layout);
        prop_assert_eq!(first_difference(&straight, &laid_out(&spec, flows.clone(), &layout)), None);
        let mut draw = Draw(shuffle);
        for i in (1..layout.order.len()).rev() {
            layout.order.swap(i, draw.below(i as u64 + 1) as usize);
        }
        // Any node anywhere; no part without a node.
        for (node, part) in layout.part_of.iter_mut().enumerate() {
            *part = if node < parts { node } else { draw.below(parts as u64) as usize };
        }
        prop_assert_eq!(first_difference(&straight, &laid_out(&spec, flows, &layout)), None);
    }
}

#[test]
fn seeds_matter() {
    let (mut spec, flows) = incast(4, true);
    let first = run(&spec, flows.clone());
    spec.seed = 5;
    assert_ne!(first.1, run(&spec, flows).1);
}
