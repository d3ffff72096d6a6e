//! Long-lived flows: they send all that they may from a start to a stop.

use std::sync::Arc;

use headrace_cc::units::Time;
use headrace_sim::workload::FlowSpec;

use super::pairs::pairs;
use super::{Plan, START, Setup, Start, Starts, TrafficKind};
use crate::scenario::reader::{Key, Section, Takes};
use crate::words::things;

pub(super) const KIND: TrafficKind = TrafficKind {
    name: "long",
    summary: "long-lived flows without end, or up to a stop",
    keys: &[
        Key::required(
            "src",
            Takes::Hosts,
            "senders, paired in order with `dst`; the shorter list \
            is repeated",
        ),
        Key::required("dst", Takes::Hosts, "receivers"),
        Key::with("flows", Takes::Count, "1", "flows of each pair"),
        START,
        Key::optional("stop", Takes::Time, "the run's end", "the last flow stops sending here"),
        Key::with("every", Takes::Time, "0s", "time from one flow's start to the next one's"),
        Key::with(
            "stop_every",
            Takes::Time,
            "0s",
            "time from one flow's stop to the next one's: \
            the flow that started last stops first",
        ),
    ],
    read,
};

#[derive(Clone, Debug)]
struct Long {
    flows: Vec<Start>,
    stops: bool,
}

fn read(section: &mut Section<'_>, setup: &Setup<'_>) -> Option<Arc<dyn Plan>> {
    let pairs = pairs(section, setup);
    let copies = section.count("flows", 1);
    let (start, every) = (section.get::<Time>("start"), section.get::<Time>("every"));
    let (stop, back) = (section.get::<Time>("stop"), section.get::<Time>("stop_every"));
    let (pairs, copies, start, every, back) = (pairs?, copies?, start?, every?, back?);
    let count = pairs.len() as u64 * copies.min(1 << 32);
    section.refuse_if(count > 1 << 20, "flows", "flows: more than a million", "choose fewer");
    let without_stop = back > Time::ZERO && stop.is_none();
    section.refuse_if(without_stop, "stop_every", "`stop_every` without `stop`", "add `stop`");
    let flow = |i: u64| {
        let (src, dst) = pairs[(i % pairs.len() as u64) as usize];
        // The last to start is the first to stop.
        let stop = stop.map_or(Time::NEVER, |stop| stop.since(back.saturating_mul(i)));
        let at = start.saturating_add(every.saturating_mul(i));
        Start { at, stop, src, dst, size: FlowSpec::UNBOUNDED, id: None }
    };
    let flows: Vec<Start> = (0..count.min(1 << 20)).map(flow).collect();
    if flows.iter().any(|f| f.stop <= f.at) {
        section.refuse("stop", "a flow would stop before it starts", "choose a later `stop`");
    }
    Some(Arc::new(Long { flows, stops: stop.is_some() }))
}

impl Plan for Long {
    fn starts(&self, _: u64) -> Starts {
        Box::new(self.flows.clone().into_iter())
    }

    fn long_lived(&self) -> bool {
        true
    }

    fn endless(&self) -> Option<&'static str> {
        (!self.stops).then_some("`stop`")
    }

    fn notes(&self) -> Vec<String> {
        vec![things(self.flows.len() as f64, "long-lived flow")]
    }
}

#[cfg(test)]
mod tests {
    use crate::traffic::tests::{plan, starts};
    use headrace_cc::units::Time;

    const DUMBBELL: &str = "kind = \"dumbbell\"";

    #[test]
    fn starts_and_stops_are_staggered_and_mirrored() {
        let text = "kind=\"long\"\nsrc=\"h0..h1\"\ndst=\"h2\"\nflows=2\nevery=\"10ms\"\n\
                    stop=\"80ms\"\nstop_every=\"10ms\"";
        let flows = starts(DUMBBELL, text, 100);
        let times: Vec<(u64, u64)> = flows
            .iter()
            .map(|f| (f.at.ps() / 1_000_000_000, f.stop.ps() / 1_000_000_000))
            .collect();
        assert_eq!(times, [(0, 80), (10, 70), (20, 60), (30, 50)]);
    }

    #[test]
    fn unbounded_flows_need_an_end() {
        let text = "kind=\"long\"\nsrc=\"h0\"\ndst=\"h2\"";
        assert_eq!(plan(DUMBBELL, text).unwrap().endless(), Some("`stop`"));
        assert_eq!(starts(DUMBBELL, text, 9)[0].stop, Time::NEVER);
        assert!(plan(DUMBBELL, "kind=\"long\"\nsrc=\"h1\"\ndst=\"h1\"").is_err());
    }
}
