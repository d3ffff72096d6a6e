//! On every topology, at every MTU and size, a lone flow takes exactly its ideal time. The ideal
//! itself is held against its definition in the simulator's own tests.

use std::ops::ControlFlow;
use std::path::Path;

use headrace_lab::scenario::Scenario;
use headrace_sim::Simulation;
use headrace_sim::cc::units::Time;
use headrace_sim::record::{FlowRecord, PortSample, RateSample, Recorder};
use headrace_sim::workload::FlowSpec;

const TOPOLOGIES: [(&str, &str); 8] = [
    ("star", "kind = \"star\"\nhosts = 5\nrate = \"25Gbps\"\ndelay = \"1.3us\""),
    (
        "dumbbell",
        "kind = \"dumbbell\"\nleft = 2\nright = 3\nlinks = 2\nrate = \"40Gbps\"\n\
         bottleneck_rate = \"10Gbps\"\ndelay = \"2us\"",
    ),
    (
        "parking lot",
        "kind = \"parking-lot\"\nswitches = 4\nhosts_per_switch = 2\nrate = \"100Gbps\"\n\
         chain_rate = \"40Gbps\"\ndelay = \"1us\"",
    ),
    (
        "leaf-spine",
        "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\nrate = \"100Gbps\"\n\
         delay = \"500ns\"",
    ),
    ("fat-tree", "kind = \"fat-tree\"\nk = 4\nrate = \"100Gbps\"\ndelay = \"1us\""),
    (
        "fat-tree by pods",
        "kind = \"fat-tree\"\npods = 2\ntors = 2\naggs = 2\ncores = 4\nhosts_per_tor = 3\n\
         rate = \"10Gbps\"\ndelay = \"1us\"",
    ),
    ("odd rates", "kind = \"star\"\nhosts = 3\nrate = \"7777777777bps\"\ndelay = \"333ns\""),
    ("long links", "kind = \"star\"\nhosts = 3\nrate = \"100Gbps\"\ndelay = \"10ms\""),
];

#[derive(Default)]
struct Flows(Vec<FlowRecord>);

impl Recorder for Flows {
    fn flow(&mut self, record: &FlowRecord) {
        self.0.push(*record);
    }
    fn port(&mut self, _: &PortSample) {}
    fn rate(&mut self, _: &RateSample) {}
}

#[test]
fn a_lone_flow_takes_its_ideal_time_on_every_topology() {
    for (name, topology) in TOPOLOGIES {
        for (mtu, framing) in
            [(1500, "ethernet"), (9000, "ethernet"), (1500, "none"), (576, "none")]
        {
            let text = format!(
                "mtu = \"{mtu}B\"\nframing = \"{framing}\"\nscheme = \"newreno\"\n\
                 [tcp]\ninitial_window = 1000000\n[topology]\n{topology}\n\
                 [trace]\nport_interval = \"none\"\n\
                 [switch]\npool_per_port = \"100MB\"\nalpha = \"none\"\n\
                 [[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n"
            );
            let scenario = Scenario::parse(name, &text, Path::new("."), &[])
                .unwrap_or_else(|problems| panic!("{name}: {problems}"));
            let hosts = scenario.host_names().len() as u32;
            // One at a time, far enough apart, between all kinds of ends.
            let sizes = [1u64, 1460, 1461, 65_536, 1_000_003];
            let flows: Vec<FlowSpec> = (1..hosts)
                .flat_map(|dst| sizes.map(|size| (dst, size)))
                .enumerate()
                .map(|(i, (dst, size))| FlowSpec {
                    id: i as u64,
                    start: Time::from_ms(60).saturating_mul(i as u64),
                    stop: Time::NEVER,
                    src: 0,
                    dst,
                    size,
                    class: 0,
                })
                .collect();
            let count = flows.len();
            let mut kept = Flows::default();
            let simulation = Simulation::new(&scenario.spec, flows.into_iter()).unwrap();
            simulation.run(&mut kept, &mut |_| ControlFlow::Continue(())).unwrap();
            assert_eq!(kept.0.len(), count);
            for flow in kept.0 {
                assert_eq!(
                    flow.fct,
                    Some(flow.ideal_fct),
                    "{name}, MTU {mtu}, {framing}: {flow:?}"
                );
            }
        }
    }
}
