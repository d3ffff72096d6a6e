//! Flows arriving as a Poisson process at a target load.

use std::sync::Arc;

use headrace_cc::units::Time;
use headrace_sim::rng;

use super::load::{Arrivals, TimedLoad, arrivals};
use super::pairs::sides;
use super::sizes::Sizes;
use super::{DST, Plan, SIZE, SRC, START, STOP, Setup, Start, Starts, TrafficKind, WORKLOAD};
use super::{draw, window};
use crate::scenario::reader::{Key, Section, Takes};
use crate::words;

pub(super) const KIND: TrafficKind = TrafficKind {
    name: "poisson",
    summary: "flows between uniform pairs of hosts, arriving as a Poisson process at a load",
    keys: &[
        WORKLOAD,
        SIZE,
        Key::optional(
            "load",
            Takes::Number,
            "by `gap`",
            "part of a set of links' capacity, above \
            0 and at most 1",
        ),
        Key::with(
            "of",
            Takes::Text,
            "host",
            "set of links that `load` counts: host, core, ...; \
            or src, dst: the links of those hosts",
        ),
        Key::with(
            "counts",
            Takes::Word(&["payload", "wire"]),
            "payload",
            "whether `load` counts \
            payload alone, or data packets with headers and framing",
        ),
        Key::optional("gap", Takes::Time, "by `load`", "mean time between two flows, in all"),
        Key::optional("flows", Takes::Count, "no limit", "number of flows"),
        START,
        STOP,
        SRC,
        DST,
    ],
    read,
};

#[derive(Clone, Debug)]
struct Poisson {
    sizes: Sizes,
    sources: Vec<u32>,
    targets: Vec<u32>,
    arrivals: Arrivals,
    flows: u64,
    start: Time,
    stop: Time,
}

fn read(section: &mut Section<'_>, setup: &Setup<'_>) -> Option<Arc<dyn Plan>> {
    let sizes = Sizes::read(section, setup);
    let sides = sides(section, setup);
    let flows = if section.has("flows") { section.count("flows", 1)? } else { u64::MAX };
    let window = window(section, setup);
    let (sizes, (sources, targets), (start, stop)) = (sizes?, sides?, window?);
    let arrivals = arrivals(section, setup, &sizes, (&sources, &targets))?;
    Some(Arc::new(Poisson { sizes, sources, targets, arrivals, flows, start, stop }))
}

impl Plan for Poisson {
    fn starts(&self, seed: u64) -> Starts {
        let plan = self.clone();
        let mut rng = rng::stream(seed, "poisson");
        let mut at = plan.start;
        let mut left = plan.flows;
        Box::new(std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            at = at.saturating_add(draw::exponential(&mut rng, plan.arrivals.mean_gap_ps));
            if at >= plan.stop {
                left = 0;
                return None;
            }
            // A source whose only target is itself has been refused.
            let src = plan.sources[draw::below(&mut rng, plan.sources.len() as u64) as usize];
            let dst = draw::host_but(&mut rng, &plan.targets, src);
            Some(Start::sized(at, src, dst, plan.sizes.draw(&mut rng)))
        }))
    }

    fn load(&self) -> Option<TimedLoad> {
        let offered = self.arrivals.offered.clone()?;
        let last = (self.flows as f64 * self.arrivals.mean_gap_ps).min(u64::MAX as f64);
        let until = self.stop.min(self.start.saturating_add(Time::from_ps(last as u64)));
        Some(TimedLoad { offered, from: self.start, until })
    }

    fn endless(&self) -> Option<&'static str> {
        (self.flows == u64::MAX && self.stop == Time::NEVER).then_some("`flows` or `stop`")
    }

    fn notes(&self) -> Vec<String> {
        let by_time = self.stop.since(self.start).ps() as f64 / self.arrivals.mean_gap_ps;
        let expected = by_time.min(self.flows as f64);
        vec![
            self.sizes.describe(),
            self.arrivals.note.clone(),
            format!(
                "{} expected, {}, over {}",
                words::things(expected, "flow"),
                words::bytes(expected * self.sizes.mean()),
                words::nanoseconds(expected * self.arrivals.mean_gap_ps / 1e3),
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::traffic::tests::{plan, starts};

    const FABRIC: &str = "kind = \"leaf-spine\"";

    #[test]
    fn a_load_becomes_a_rate_of_flows() {
        // 30 % of 128 x 100 Gb/s in flows of 1,711,250 bytes: 280,497 a second.
        let text = "kind=\"poisson\"\nworkload=\"websearch\"\nload=0.3\nflows=20000";
        let flows = starts(FABRIC, text, usize::MAX);
        assert_eq!(flows.len(), 20_000);
        let seconds = flows.last().unwrap().at.as_secs();
        let rate = 20_000.0 / seconds;
        assert!((rate / 280_497.0 - 1.0).abs() < 0.03, "{rate}");
        let notes = plan(FABRIC, text).unwrap().notes().join("\n");
        assert!(notes.contains("websearch, mean 1,711,250 B"), "{notes}");
        assert!(notes.contains("280,497 flows a second"), "{notes}");
    }

    #[test]
    fn a_core_load_counts_the_pairs_that_cross_it() {
        let text = "kind=\"poisson\"\nsize=\"1MB\"\nload=0.5\nof=\"core\"\nflows=1";
        let notes = plan(FABRIC, text).unwrap().notes().join("\n");
        // 0.5 x 6.4 Tb/s / (8 Mb x 112/127).
        assert!(notes.contains("453,571 flows a second"), "{notes}");
    }

    #[test]
    fn bad_loads_are_refused() {
        let refused = |keys: &str| {
            let text = format!("kind=\"poisson\"\nsize=\"1MB\"\nflows=1\n{keys}");
            plan(FABRIC, &text).unwrap_err()
        };
        assert!(refused("load=1.2").contains("load: 1.2 is not above 0 and at most 1"));
        assert!(refused("load=0").contains("load: 0"));
        assert!(refused("load=0.1\nof=\"cor\"").contains("did you mean `core`?"));
        assert!(refused("load=0.1\nof=\"core\"\nsrc=\"leaf0\"\ndst=\"leaf0\"").contains("crosses"));
        assert!(refused("").contains("rate of arrivals is open"));
        assert!(refused("load=0.1\nsrc=\"h0\"\ndst=\"h0\"").contains("send to itself"));
        assert!(refused("load=0.1\nstart=\"2us\"\nstop=\"1us\"").contains("not after"));
    }
}
