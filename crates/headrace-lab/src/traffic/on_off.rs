//! On-off sources: each pair sends all it may while on, and nothing while off.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use headrace_cc::units::Time;
use headrace_sim::rng;
use headrace_sim::workload::FlowSpec;
use rand_pcg::Pcg32;

use super::pairs::pairs;
use super::{Plan, START, STOP, Setup, Start, Starts, TrafficKind, draw, window};
use crate::scenario::reader::{Key, Section, Takes};
use crate::words;

pub(super) const KIND: TrafficKind = TrafficKind {
    name: "on-off",
    summary: "pairs that send for a time, pause for a time, and so on",
    keys: &[
        Key::required(
            "src",
            Takes::Hosts,
            "senders, paired in order with `dst`; the shorter list \
            is repeated",
        ),
        Key::required("dst", Takes::Hosts, "receivers"),
        Key::required("on", Takes::Time, "time that a pair sends; each time a flow of its own"),
        Key::required("off", Takes::Time, "time that it pauses"),
        Key::with(
            "times",
            Takes::Word(&["fixed", "exponential"]),
            "fixed",
            "whether `on` and `off` \
            are the times or their means",
        ),
        Key::optional("bursts", Takes::Count, "no limit", "times that each pair is on"),
        START,
        STOP,
    ],
    read,
};

#[derive(Clone, Debug)]
struct OnOff {
    pairs: Vec<(u32, u32)>,
    on: Time,
    off: Time,
    random: bool,
    bursts: u64,
    start: Time,
    stop: Time,
}

fn read(section: &mut Section<'_>, setup: &Setup<'_>) -> Option<Arc<dyn Plan>> {
    let pairs = pairs(section, setup);
    let (on, off) = (section.get::<Time>("on"), section.get::<Time>("off"));
    let random = section.word("times")? == "exponential";
    let bursts = if section.has("bursts") { section.count("bursts", 1)? } else { u64::MAX };
    let (start, stop) = window(section, setup)?;
    let (pairs, on, off) = (pairs?, on?, off?);
    section.refuse_if(on == Time::ZERO, "on", "on: 0", "write a time above 0");
    section.refuse_if(off == Time::ZERO, "off", "off: 0", "use kind = \"long\" for no pause");
    Some(Arc::new(OnOff { pairs, on, off, random, bursts, start, stop }))
}

/// A pair's own stream of bursts, so that one pair's draws do not depend on the others'.
struct Pair {
    rng: Pcg32,
    left: u64,
}

impl Plan for OnOff {
    fn starts(&self, seed: u64) -> Starts {
        let plan = self.clone();
        let pair = |i| Pair { rng: rng::stream(seed, &format!("pair{i}")), left: plan.bursts };
        let mut pairs: Vec<Pair> = (0..plan.pairs.len()).map(pair).collect();
        let first = |i| Reverse((plan.start, i));
        let mut next: BinaryHeap<Reverse<(Time, usize)>> = (0..pairs.len()).map(first).collect();
        Box::new(std::iter::from_fn(move || {
            let Reverse((at, i)) = next.pop().filter(|n| n.0.0 < plan.stop)?;
            let (src, dst) = plan.pairs[i];
            let pair = &mut pairs[i];
            let mut last = |mean: Time| match plan.random {
                // At least a picosecond: a burst has a beginning and an end.
                true => draw::exponential(&mut pair.rng, mean.ps() as f64).max(Time::from_ps(1)),
                false => mean,
            };
            let stop = at.saturating_add(last(plan.on));
            let again = stop.saturating_add(last(plan.off));
            pair.left -= 1;
            if pair.left > 0 {
                next.push(Reverse((again, i)));
            }
            let stop = stop.min(plan.stop);
            Some(Start { at, stop, src, dst, size: FlowSpec::UNBOUNDED, id: None })
        }))
    }

    fn long_lived(&self) -> bool {
        true
    }

    fn endless(&self) -> Option<&'static str> {
        (self.bursts == u64::MAX && self.stop == Time::NEVER).then_some("`bursts` or `stop`")
    }

    fn notes(&self) -> Vec<String> {
        let pairs = words::things(self.pairs.len() as f64, "pair");
        let (on, off) = (words::time(self.on), words::time(self.off));
        vec![format!("{pairs}, on for {on}, off for {off}")]
    }
}

#[cfg(test)]
mod tests {
    use crate::traffic::tests::starts;
    use headrace_cc::units::Time;

    #[test]
    fn bursts_alternate_with_pauses() {
        let text =
            "kind=\"on-off\"\nsrc=\"h0..h1\"\ndst=\"h2\"\non=\"10us\"\noff=\"5us\"\nbursts=3";
        let flows = starts("kind = \"dumbbell\"", text, 100);
        assert_eq!(flows.len(), 6);
        assert_eq!((flows[2].at, flows[2].stop), (Time::from_us(15), Time::from_us(25)));
        let random = text.replace("bursts=3", "times=\"exponential\"\nstop=\"10ms\"");
        let flows = starts("kind = \"dumbbell\"", &random, 100_000);
        // About 10 ms / 15 us for each of two pairs.
        assert!((1150..1550).contains(&flows.len()), "{}", flows.len());
    }
}
