//! A permutation: every host sends one flow and receives one.

use std::sync::Arc;

use headrace_cc::units::Time;
use headrace_sim::rng;

use super::hosts::hosts;
use super::sizes::Sizes;
use super::{Plan, SIZE, START, Setup, Start, Starts, TrafficKind, WORKLOAD, draw};
use crate::scenario::reader::{Key, Section, Takes};
use crate::words::things;

pub(super) const KIND: TrafficKind = TrafficKind {
    name: "permutation",
    summary: "every host sends one flow and receives one, by a shift or at random",
    keys: &[
        SIZE,
        WORKLOAD,
        Key::optional("shift", Takes::Count, "at random", "host i sends to host (i + shift) mod n"),
        Key::with("hosts", Takes::Hosts, "all", "hosts that take part"),
        START,
    ],
    read,
};

#[derive(Clone, Debug)]
struct Permutation {
    sizes: Sizes,
    shift: Option<u64>,
    hosts: Vec<u32>,
    start: Time,
}

fn read(section: &mut Section<'_>, setup: &Setup<'_>) -> Option<Arc<dyn Plan>> {
    let sizes = Sizes::read(section, setup);
    let hosts = hosts(section, "hosts", setup.topology)?;
    let shift = if section.has("shift") { Some(section.count("shift", 1)?) } else { None };
    let start: Option<Time> = section.get("start");
    section.refuse_if(hosts.len() < 2, "hosts", "hosts: fewer than two", "name more");
    if shift.is_some_and(|shift| shift % hosts.len() as u64 == 0) {
        let message = "shift: every host would send to itself";
        section.refuse("shift", message, format!("it is no multiple of {}", hosts.len()));
        return None;
    }
    Some(Arc::new(Permutation { sizes: sizes?, shift, hosts, start: start? }))
}

impl Plan for Permutation {
    fn starts(&self, seed: u64) -> Starts {
        let mut rng = rng::stream(seed, "permutation");
        let count = self.hosts.len();
        let mut to: Vec<usize> = (0..count).collect();
        match self.shift {
            Some(shift) => to.rotate_left((shift % count as u64) as usize),
            // One cycle through all hosts (Sattolo): nobody is sent to itself.
            None => {
                for last in (1..count).rev() {
                    to.swap(last, draw::below(&mut rng, last as u64) as usize);
                }
            }
        }
        let flow = |i: usize| {
            let (src, dst) = (self.hosts[i], self.hosts[to[i]]);
            Start::sized(self.start, src, dst, self.sizes.draw(&mut rng))
        };
        let flows: Vec<Start> = (0..count).map(flow).collect();
        Box::new(flows.into_iter())
    }

    fn endless(&self) -> Option<&'static str> {
        None
    }

    fn notes(&self) -> Vec<String> {
        vec![format!("{}; {}", self.sizes.describe(), things(self.hosts.len() as f64, "flow"))]
    }
}

#[cfg(test)]
mod tests {
    use crate::traffic::tests::{plan, starts};

    #[test]
    fn shifted_and_random_permutations() {
        let fabric = "kind = \"fat-tree\"";
        let text = "kind=\"permutation\"\nsize=\"40MB\"\nshift=64";
        let flows = starts(fabric, text, 1000);
        assert_eq!(flows.len(), 128);
        assert!(flows.iter().enumerate().all(|(i, s)| s.dst as usize == (i + 64) % 128));
        let mut to: Vec<u32> = starts(fabric, "kind=\"permutation\"\nsize=\"1B\"", 1000)
            .iter()
            .map(|s| s.dst)
            .collect();
        to.sort_unstable();
        assert_eq!(to, (0..128).collect::<Vec<u32>>());
        assert!(plan(fabric, "kind=\"permutation\"\nsize=\"1B\"\nshift=128").is_err());
    }
}
