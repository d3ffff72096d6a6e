//! All to all: every host sends a flow to every other, as in a shuffle.

use std::sync::Arc;

use headrace_cc::units::Time;
use headrace_sim::rng;

use super::hosts::hosts;
use super::sizes::Sizes;
use super::{Plan, SIZE, START, Setup, Start, Starts, TrafficKind, WORKLOAD, draw};
use crate::scenario::reader::{Key, Section, Takes};
use crate::words::things;

/// Most flows that are drawn at once.
const MOST: u64 = 50_000_000;

pub(super) const KIND: TrafficKind = TrafficKind {
    name: "all-to-all",
    summary: "every host sends a flow to every other",
    keys: &[
        SIZE,
        WORKLOAD,
        Key::with("spread", Takes::Time, "0s", "each flow starts at random within this time"),
        Key::with("hosts", Takes::Hosts, "all", "hosts that take part"),
        START,
    ],
    read,
};

#[derive(Clone, Debug)]
struct AllToAll {
    sizes: Sizes,
    spread: Time,
    hosts: Vec<u32>,
    start: Time,
}

fn read(section: &mut Section<'_>, setup: &Setup<'_>) -> Option<Arc<dyn Plan>> {
    let sizes = Sizes::read(section, setup);
    let hosts = hosts(section, "hosts", setup.topology)?;
    let (spread, start) = (section.get::<Time>("spread"), section.get::<Time>("start"));
    section.refuse_if(hosts.len() < 2, "hosts", "hosts: fewer than two", "name more");
    let flows = hosts.len() as u64 * (hosts.len() as u64 - 1);
    section.refuse_if(flows > MOST, "hosts", "hosts: more than 50 million flows", "name fewer");
    Some(Arc::new(AllToAll { sizes: sizes?, spread: spread?, hosts, start: start? }))
}

impl Plan for AllToAll {
    fn starts(&self, seed: u64) -> Starts {
        let mut rng = rng::stream(seed, "all-to-all");
        let mut flows = Vec::with_capacity(self.hosts.len() * (self.hosts.len() - 1));
        let count = self.hosts.len();
        // Round by round, so that each host's first flow goes elsewhere than the others'.
        for round in 1..count {
            for (i, &src) in self.hosts.iter().enumerate() {
                let dst = self.hosts[(i + round) % count];
                let late = match self.spread.ps() {
                    0 => 0,
                    spread => draw::below(&mut rng, spread),
                };
                let at = self.start.saturating_add(Time::from_ps(late));
                flows.push(Start::sized(at, src, dst, self.sizes.draw(&mut rng)));
            }
        }
        flows.sort_by_key(|s| s.at);
        Box::new(flows.into_iter())
    }

    fn endless(&self) -> Option<&'static str> {
        None
    }

    fn notes(&self) -> Vec<String> {
        let flows = self.hosts.len() as f64 * (self.hosts.len() as f64 - 1.0);
        vec![format!("{}; {}", self.sizes.describe(), things(flows, "flow"))]
    }
}

#[cfg(test)]
mod tests {
    use crate::traffic::tests::starts;

    #[test]
    fn every_ordered_pair_once() {
        let text = "kind=\"all-to-all\"\nsize=\"1KB\"\nspread=\"1us\"";
        let flows = starts("kind = \"star\"\nhosts = 6", text, 1000);
        let mut pairs: Vec<(u32, u32)> = flows.iter().map(|s| (s.src, s.dst)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!((flows.len(), pairs.len()), (30, 30));
    }
}
