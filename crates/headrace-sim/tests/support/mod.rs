//! Networks and flows made by hand, for tests.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::ops::ControlFlow;

use headrace_sim::Simulation;
use headrace_sim::cc::sender::Scheme;
use headrace_sim::cc::switch::Marker;
use headrace_sim::cc::units::{Rate, Time};
use headrace_sim::record::{FlowRecord, PortSample, RateSample, Recorder, SimError, Totals};
use headrace_sim::spec::*;
use headrace_sim::workload::{FlowSpec, Workload};

/// Keeps everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    pub flows: Vec<FlowRecord>,
    pub ports: Vec<PortSample>,
    pub rates: Vec<RateSample>,
}

impl Recorder for Kept {
    fn flow(&mut self, record: &FlowRecord) {
        self.flows.push(*record);
    }
    fn port(&mut self, sample: &PortSample) {
        self.ports.push(*sample);
    }
    fn rate(&mut self, sample: &RateSample) {
        self.rates.push(*sample);
    }
}

pub fn try_run(spec: &RunSpec, flows: Vec<FlowSpec>) -> Result<(Totals, Kept), SimError> {
    run_workload(spec, flows.into_iter())
}

pub fn run(spec: &RunSpec, flows: Vec<FlowSpec>) -> (Totals, Kept) {
    try_run(spec, flows).expect("the run succeeds")
}

pub fn run_workload(
    spec: &RunSpec,
    load: impl Workload + Send,
) -> Result<(Totals, Kept), SimError> {
    let mut kept = Kept::default();
    let simulation = Simulation::new(spec, load)?;
    let totals = simulation.run(&mut kept, &mut |_| ControlFlow::Continue(()))?;
    Ok((totals, kept))
}

pub fn flow(id: u64, start: Time, src: u32, dst: u32, size: u64) -> FlowSpec {
    FlowSpec { id, start, stop: Time::NEVER, src, dst, size, class: 0 }
}

pub fn host(name: String) -> NodeSpec {
    NodeSpec { name, kind: NodeKind::Host(HostSpec::default()) }
}

pub fn red(k_min: u64, k_max: u64, p_max: f64) -> Marker {
    marker("red", k_min, k_max, p_max)
}

pub fn marker(name: &str, k_min: u64, k_max: u64, p_max: f64) -> Marker {
    use headrace_sim::cc::params::Value;
    let mut marker = Marker::by_name(name).expect("a marker of that name");
    marker.set("k_min", &Value::Bytes(k_min)).unwrap();
    marker.set("k_max", &Value::Bytes(k_max)).unwrap();
    marker.set("p_max", &Value::Number(p_max)).unwrap();
    marker
}

/// One queue a port on one pool, `markers` on it.
pub fn switch_spec(
    pool: u64,
    private: u64,
    alpha: Option<f64>,
    markers: Vec<Marker>,
) -> SwitchSpec {
    SwitchSpec {
        ports_per_mmu: None,
        pools: vec![PoolSpec::PerMmu(pool)],
        queues: vec![queue_spec(private, alpha, markers)],
        scheduler: Scheduler::Strict,
        queue_of_priority: [0; 8],
    }
}

pub fn queue_spec(private: u64, alpha: Option<f64>, markers: Vec<Marker>) -> QueueSpec {
    QueueSpec {
        private_bytes: private,
        pool: Some(0),
        alpha_q16: alpha.map(|a| (a * 65_536.0) as u64),
        limit_bytes: None,
        weight: 1,
        markers,
    }
}

pub fn class(scheme: &str, tcp: TcpSpec) -> ClassSpec {
    ClassSpec {
        name: scheme.to_owned(),
        priority: 0,
        scheme: Scheme::by_name(scheme).expect("a scheme of that name"),
        tcp,
        reactive: false,
    }
}

pub fn spec(nodes: Vec<NodeSpec>, links: Vec<LinkSpec>, class: ClassSpec) -> RunSpec {
    RunSpec {
        network: NetworkSpec { framing: Framing::Ethernet, mtu: 1500, nodes, links },
        classes: vec![class],
        seed: 1,
        until: Time::NEVER,
        trace: TraceSpec::default(),
    }
}

pub fn link(a: usize, b: usize, rate: Rate, delay: Time) -> LinkSpec {
    LinkSpec { a, b, rate, delay, loss: 0.0 }
}

pub fn switch(name: String, switch: &SwitchSpec) -> NodeSpec {
    NodeSpec { name, kind: NodeKind::Switch(switch.clone()) }
}

/// Hosts 0..n on one switch.
pub fn star(hosts: usize, rate: Rate, delay: Time, sw: &SwitchSpec, class: ClassSpec) -> RunSpec {
    let mut nodes: Vec<NodeSpec> = (0..hosts).map(|i| host(format!("h{i}"))).collect();
    nodes.push(switch("s0".into(), sw));
    let links = (0..hosts).map(|h| link(h, hosts, rate, delay)).collect();
    spec(nodes, links, class)
}

/// `leaves` x `per_leaf` hosts, then the leaves, then the spines.
pub fn leaf_spine(
    (leaves, per_leaf, spines): (usize, usize, usize),
    rate: Rate,
    delay: Time,
    sw: &SwitchSpec,
    class: ClassSpec,
) -> RunSpec {
    let hosts = leaves * per_leaf;
    let mut nodes: Vec<NodeSpec> = (0..hosts).map(|i| host(format!("h{i}"))).collect();
    nodes.extend((0..leaves).map(|i| switch(format!("leaf{i}"), sw)));
    nodes.extend((0..spines).map(|i| switch(format!("spine{i}"), sw)));
    let mut links: Vec<LinkSpec> =
        (0..hosts).map(|h| link(h, hosts + h / per_leaf, rate, delay)).collect();
    for leaf in 0..leaves {
        for spine in 0..spines {
            links.push(link(hosts + leaf, hosts + leaves + spine, rate, delay));
        }
    }
    spec(nodes, links, class)
}

/// A small deterministic generator for test inputs (SplitMix64).
pub struct Draw(pub u64);

impl Draw {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// A law with a fixed window and no rate, deaf to the network.
pub fn unlimited() -> Scheme {
    use headrace_sim::cc::sender::*;
    struct Unlimited;
    impl Sender for Unlimited {
        fn allowance(&self) -> Allowance {
            Allowance { window: u64::MAX, rate: None }
        }
        fn on_ack(&mut self, _: &Ack<'_>) {}
        fn on_loss(&mut self, _: &Loss) {}
        fn on_timeout(&mut self, _: &Timeout) {}
    }
    Scheme::custom("unlimited", Ecn::Off, std::sync::Arc::new(|_| Box::new(Unlimited)))
}

/// A law that paces at a fixed rate of payload.
pub fn fixed_rate(rate: Rate) -> Scheme {
    use headrace_sim::cc::sender::*;
    struct Fixed(Rate);
    impl Sender for Fixed {
        fn allowance(&self) -> Allowance {
            Allowance { window: u64::MAX, rate: Some(self.0) }
        }
        fn on_ack(&mut self, _: &Ack<'_>) {}
        fn on_loss(&mut self, _: &Loss) {}
        fn on_timeout(&mut self, _: &Timeout) {}
    }
    Scheme::custom("fixed", Ecn::Off, std::sync::Arc::new(move |_| Box::new(Fixed(rate))))
}

/// Buffers that no test fills.
pub fn roomy() -> SwitchSpec {
    switch_spec(1 << 34, 0, None, vec![])
}
