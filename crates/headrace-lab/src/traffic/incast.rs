//! Incast: many senders answer one receiver at once, again and again.

use std::sync::Arc;

use headrace_cc::units::Time;
use headrace_sim::rng;

use super::pairs::sides;
use super::sizes::few_segments;
use super::{DST, Plan, SRC, START, STOP, Setup, Start, Starts, TrafficKind, draw, window};
use crate::scenario::reader::{Key, Section, Takes};
use crate::words::{self, bytes, things};

pub(super) const KIND: TrafficKind = TrafficKind {
    name: "incast",
    summary: "each period a receiver gets parts of a request from many senders at once",
    keys: &[
        Key::required("fan_in", Takes::Count, "senders of a request"),
        Key::required(
            "request",
            Takes::Bytes,
            "payload bytes of a request, in all; each sender \
            sends its part, rounded up",
        ),
        Key::with("period", Takes::Time, "1ms", "time from one request to the next"),
        Key::with(
            "arrivals",
            Takes::Word(&["periodic", "poisson"]),
            "periodic",
            "whether requests \
            keep the period, or come at random with it as their mean",
        ),
        Key::optional("requests", Takes::Count, "no limit", "number of requests"),
        Key::with("jitter", Takes::Time, "0s", "each part starts at random within this time"),
        START,
        STOP,
        SRC,
        DST,
    ],
    read,
};

#[derive(Clone, Debug)]
struct Incast {
    fan_in: usize,
    part: u64,
    period: Time,
    random: bool,
    requests: u64,
    jitter: Time,
    start: Time,
    stop: Time,
    sources: Vec<u32>,
    targets: Vec<u32>,
}

fn read(section: &mut Section<'_>, setup: &Setup<'_>) -> Option<Arc<dyn Plan>> {
    let fan_in = section.count("fan_in", 1);
    let request: Option<u64> = section.get("request");
    let period: Option<Time> = section.get("period");
    let random = section.word("arrivals")? == "poisson";
    let requests = if section.has("requests") { section.count("requests", 1)? } else { u64::MAX };
    let jitter: Option<Time> = section.get("jitter");
    let window = window(section, setup);
    let (sources, targets) = sides(section, setup)?;
    let (fan_in, request, period, jitter) = (fan_in?, request?, period?, jitter?);
    section.refuse_if(request == 0, "request", "request: 0 bytes", "write 1B or more");
    section.refuse_if(period == Time::ZERO, "period", "period: 0", "write a time above 0");
    if jitter > period {
        section.refuse("jitter", "jitter: longer than the period", "choose at most the period");
    }
    let most = sources.len() - usize::from(targets.iter().any(|t| sources.contains(t)));
    if fan_in > most as u64 {
        let message = format!("fan_in: {fan_in} senders, but a receiver has {most} others");
        section.refuse("fan_in", message, format!("choose at most {most}, or widen `src`"));
        return None;
    }
    let (start, stop) = window?;
    let part = request.div_ceil(fan_in);
    if !few_segments(section, setup, "request", part as f64) {
        return None;
    }
    let fan_in = fan_in as usize;
    Some(Arc::new(Incast {
        fan_in,
        part,
        period,
        random,
        requests,
        jitter,
        start,
        stop,
        sources,
        targets,
    }))
}

impl Incast {
    /// The parts of a request made at `at`, in order of start.
    fn parts(&self, rng: &mut rand_pcg::Pcg32, at: Time) -> Vec<Start> {
        let dst = self.targets[draw::below(rng, self.targets.len() as u64) as usize];
        let mut senders: Vec<u32> = self.sources.iter().copied().filter(|&s| s != dst).collect();
        draw::shuffle(rng, &mut senders);
        senders.truncate(self.fan_in);
        senders.sort_unstable();
        let mut late = || match self.jitter.ps() {
            0 => Time::ZERO,
            jitter => Time::from_ps(draw::below(rng, jitter)),
        };
        let part = |src| Start::sized(at.saturating_add(late()), src, dst, self.part);
        let mut parts: Vec<Start> = senders.into_iter().map(part).collect();
        parts.sort_by_key(|s| (s.at, s.src));
        parts
    }
}

impl Plan for Incast {
    fn starts(&self, seed: u64) -> Starts {
        let plan = self.clone();
        let mut rng = rng::stream(seed, "incast");
        let mut next = plan.start;
        let mut left = plan.requests;
        // A late part of one request may start after an early one of the next.
        let mut pending: Vec<Start> = Vec::new();
        Box::new(std::iter::from_fn(move || {
            while left > 0 && next < plan.stop && pending.last().is_none_or(|s| s.at >= next) {
                left -= 1;
                pending.extend(plan.parts(&mut rng, next));
                pending.sort_by_key(|s| std::cmp::Reverse((s.at, s.src, s.dst)));
                let gap = match plan.random {
                    true => draw::exponential(&mut rng, plan.period.ps() as f64),
                    false => plan.period,
                };
                next = next.saturating_add(gap);
            }
            pending.pop()
        }))
    }

    fn endless(&self) -> Option<&'static str> {
        (self.requests == u64::MAX && self.stop == Time::NEVER).then_some("`requests` or `stop`")
    }

    fn notes(&self) -> Vec<String> {
        let by_time = self.stop.since(self.start).ps().div_ceil(self.period.ps().max(1));
        let flows = self.requests.min(by_time) as f64 * self.fan_in as f64;
        let (period, flows) = (words::time(self.period), things(flows, "flow"));
        vec![
            format!("{} to 1, {} a sender", self.fan_in, bytes(self.part as f64)),
            format!("a request each {period}; {flows} expected"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::traffic::tests::{plan, starts};
    use headrace_cc::units::Time;

    const STAR: &str = "kind = \"star\"\nhosts = 20";

    #[test]
    fn senders_differ_and_answer_at_once() {
        let text = "kind=\"incast\"\nfan_in=8\nrequest=\"1MB\"\nrequests=3\nperiod=\"100us\"";
        let flows = starts(STAR, text, 100);
        assert_eq!(flows.len(), 24);
        for (i, request) in flows.chunks(8).enumerate() {
            assert!(request.iter().all(|s| s.at == Time::from_us(100 * i as u64)));
            assert!(request.iter().all(|s| s.dst == request[0].dst && s.size == 125_000));
            assert!(request.windows(2).all(|w| w[0].src < w[1].src));
        }
    }

    #[test]
    fn jitter_keeps_the_order_of_starts() {
        let text = "kind=\"incast\"\nfan_in=8\nrequest=\"1MB\"\nrequests=200\nperiod=\"10us\"\n\
                    jitter=\"9us\"\narrivals=\"poisson\"";
        assert_eq!(starts(STAR, text, 10_000).len(), 1600);
    }

    #[test]
    fn too_many_senders_are_refused() {
        let text = "kind=\"incast\"\nfan_in=20\nrequest=\"1MB\"\nrequests=3";
        assert!(plan(STAR, text).unwrap_err().contains("choose at most 19"));
    }
}
