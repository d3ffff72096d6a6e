//! Closed-loop RPC clients: a request, its response, a pause, the next request.
//!
//! What follows a delivery depends on the delivered flow's identity alone, so that the source needs
//! no state and its flows do not depend on the order in which hosts are stepped.

use std::sync::Arc;

use headrace_cc::units::Time;
use headrace_sim::rng::stream_seed;
use headrace_sim::workload::Delivered;
use rand_core::SeedableRng;
use rand_pcg::Pcg32;

use super::hosts::hosts;
use super::sizes::Sizes;
use super::{Plan, START, STOP, Setup, Start, Starts, TrafficKind, draw, window};
use crate::scenario::reader::{Key, Section, Takes};
use crate::words::things;

pub(super) const KIND: TrafficKind = TrafficKind {
    name: "rpc",
    summary: "closed-loop clients: each sends a request, waits for the response, and goes on",
    keys: &[
        Key::required("clients", Takes::Hosts, "hosts that ask"),
        Key::required("servers", Takes::Hosts, "hosts that answer; drawn uniformly per request"),
        Key::optional("request", Takes::Bytes, "by `request_workload`", "bytes of a request"),
        Key::optional("request_workload", Takes::Any, "by `request`", "requests' sizes"),
        Key::optional("response", Takes::Bytes, "by `response_workload`", "bytes of a response"),
        Key::optional("response_workload", Takes::Any, "by `response`", "responses' sizes"),
        Key::with("outstanding", Takes::Count, "1", "requests that a client has open at once"),
        Key::with("think", Takes::Time, "0s", "time from a response to the next request"),
        Key::with(
            "think_times",
            Takes::Word(&["fixed", "exponential"]),
            "fixed",
            "whether `think` \
            is the time or its mean",
        ),
        Key::optional("requests", Takes::Count, "no limit", "requests of each client"),
        START,
        STOP,
    ],
    read,
};

/// Bits of a flow's identity within the source: slot, number in the slot, response or request.
const SLOT_SHIFT: u32 = 28;
const MOST_SLOTS: u64 = 1 << 24;
const MOST_REQUESTS: u64 = 1 << 27;
const RESPONSE: u64 = 1;

#[derive(Clone, Debug)]
struct Rpc {
    clients: Vec<u32>,
    servers: Vec<u32>,
    request: Sizes,
    response: Sizes,
    outstanding: u64,
    think: Time,
    random: bool,
    requests: u64,
    start: Time,
    stop: Time,
}

fn read(section: &mut Section<'_>, setup: &Setup<'_>) -> Option<Arc<dyn Plan>> {
    let clients = hosts(section, "clients", setup.topology);
    let servers = hosts(section, "servers", setup.topology);
    let request = Sizes::read_keys(section, setup, "request", "request_workload");
    let response = Sizes::read_keys(section, setup, "response", "response_workload");
    let outstanding = section.count("outstanding", 1);
    let think: Option<Time> = section.get("think");
    let random = section.word("think_times")? == "exponential";
    let requests = if section.has("requests") { section.count("requests", 1)? } else { u64::MAX };
    let window = window(section, setup);
    let (clients, servers, outstanding) = (clients?, servers?, outstanding?);
    if servers.len() == 1 && clients.contains(&servers[0]) {
        let name = &setup.topology.nodes[servers[0] as usize].name;
        let message = format!("{name} would ask itself");
        section.refuse("servers", message, "add servers, or take it out of `clients`");
    }
    if outstanding > MOST_SLOTS / clients.len() as u64 {
        section.refuse(
            "outstanding",
            "outstanding: more than 16 million open requests in all",
            "choose fewer",
        );
    }
    let (start, stop) = window?;
    Some(Arc::new(Rpc {
        clients,
        servers,
        request: request?,
        response: response?,
        outstanding,
        think: think?,
        random,
        requests,
        start,
        stop,
    }))
}

impl Rpc {
    /// The random stream of one flow.
    fn rng(seed: u64, id: u64) -> Pcg32 {
        Pcg32::seed_from_u64(stream_seed(seed ^ id, "rpc"))
    }

    /// Request `number` of a slot, after a pause from `now`; `None` where no more are to come.
    fn request(&self, seed: u64, slot: u64, number: u64, now: Time) -> Option<Start> {
        let (client, lane) = (slot / self.outstanding, slot % self.outstanding);
        // A client's requests are dealt out over its lanes in turn.
        let mine = (self.requests - lane.min(self.requests)).div_ceil(self.outstanding);
        if number >= mine.min(MOST_REQUESTS) {
            return None;
        }
        let id = slot << SLOT_SHIFT | number << 1;
        let mut rng = Rpc::rng(seed, id);
        let pause = match self.random {
            true => draw::exponential(&mut rng, self.think.ps() as f64),
            false => self.think,
        };
        let at = now.saturating_add(pause);
        let src = self.clients[client as usize];
        let dst = draw::host_but(&mut rng, &self.servers, src);
        let size = self.request.draw(&mut rng);
        (at < self.stop).then_some(Start { id: Some(id), ..Start::sized(at, src, dst, size) })
    }
}

impl Plan for Rpc {
    fn starts(&self, seed: u64) -> Starts {
        let slots = self.clients.len() as u64 * self.outstanding;
        let first = |slot| self.request(seed, slot, 0, self.start);
        let mut starts: Vec<Start> = (0..slots).filter_map(first).collect();
        starts.sort_by_key(|s| (s.at, s.id));
        Box::new(starts.into_iter())
    }

    fn on_delivered(&self, seed: u64, delivered: &Delivered, within: u64) -> Option<Start> {
        if within & RESPONSE == 0 {
            let id = within | RESPONSE;
            let size = self.response.draw(&mut Rpc::rng(seed, id));
            let response = Start::sized(delivered.now, delivered.dst, delivered.src, size);
            return Some(Start { id: Some(id), ..response });
        }
        let (slot, number) = (within >> SLOT_SHIFT, (within & ((1 << SLOT_SHIFT) - 1)) >> 1);
        self.request(seed, slot, number + 1, delivered.now)
    }

    fn closed_loop(&self) -> bool {
        true
    }

    fn endless(&self) -> Option<&'static str> {
        (self.requests == u64::MAX && self.stop == Time::NEVER).then_some("`requests` or `stop`")
    }

    fn notes(&self) -> Vec<String> {
        let open = self.clients.len() as u64 * self.outstanding;
        let mut notes = vec![
            format!("requests: {}", self.request.describe()),
            format!("responses: {}", self.response.describe()),
            format!("{} open at once", things(open as f64, "request")),
        ];
        if self.requests != u64::MAX {
            let flows = 2.0 * self.requests as f64 * self.clients.len() as f64;
            notes.push(format!("{} expected", things(flows, "flow")));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::plan;

    const STAR: &str = "kind = \"star\"\nhosts = 6";

    fn deliver(plan: &dyn Plan, flow: &Start, now: Time) -> Option<Start> {
        let id = flow.id.unwrap();
        let delivered = Delivered { id, class: 0, src: flow.src, dst: flow.dst, now };
        plan.on_delivered(9, &delivered, id)
    }

    #[test]
    fn requests_and_responses_alternate_until_the_count() {
        let text = "kind=\"rpc\"\nclients=\"h0..h1\"\nservers=\"h2..h5\"\nrequest=\"1KB\"\n\
                    response=\"127KB\"\nthink=\"5us\"\noutstanding=2\nrequests=5";
        let plan = plan(STAR, text).unwrap();
        let first: Vec<Start> = plan.starts(9).collect();
        assert_eq!(first.len(), 4);
        assert!(first.iter().all(|s| s.at == Time::from_us(5) && s.src < 2 && s.dst >= 2));
        let mut requests = 0;
        let mut ids = Vec::new();
        for mut flow in first {
            let mut now = flow.at;
            loop {
                ids.push(flow.id);
                requests += 1;
                now += Time::from_us(10);
                let response = deliver(&*plan, &flow, now).unwrap();
                assert_eq!((response.src, response.dst, response.at), (flow.dst, flow.src, now));
                assert_eq!(response.size, 127_000);
                ids.push(response.id);
                match deliver(&*plan, &response, now) {
                    Some(next) => {
                        assert_eq!((next.src, next.at), (flow.src, now + Time::from_us(5)));
                        flow = next;
                    }
                    None => break,
                }
            }
        }
        assert_eq!(requests, 10);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 20);
    }

    #[test]
    fn nothing_starts_after_the_stop() {
        let text = "kind=\"rpc\"\nclients=\"h0\"\nservers=\"h1\"\nrequest=\"1KB\"\n\
                    response=\"1KB\"\nstop=\"100us\"";
        let plan = plan(STAR, text).unwrap();
        let flow = plan.starts(9).next().unwrap();
        let response = deliver(&*plan, &flow, Time::from_us(99)).unwrap();
        assert!(deliver(&*plan, &response, Time::from_us(100)).is_none());
    }
}
