//! All sources of a scenario as one workload.

use std::sync::Arc;

use headrace_sim::rng::stream_seed;
use headrace_sim::workload::{Delivered, FlowSpec, Workload};

use super::{Plan, Start, Starts};

/// Identities of closed-loop flows: this bit, the source's number, the identity within it.
const CLOSED_LOOP: u64 = 1 << 62;
const SOURCE_SHIFT: u32 = 52;
/// Most sources that a scenario may have.
pub const MAX_SOURCES: usize = 1 << (62 - SOURCE_SHIFT);

/// A source with its name and class.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Unique name; seeds the source's random stream.
    pub name: String,
    /// The class of its flows.
    pub class: u16,
    /// What it starts.
    pub plan: Arc<dyn Plan>,
}

struct Source {
    traffic: Traffic,
    seed: u64,
    starts: Starts,
    next: Option<Start>,
}

/// Flows of all sources in order of (start, source). Open-loop flows are numbered 0, 1, ... in that
/// order; a closed-loop flow's identity is made of its source, its client and its number there, so
/// that it does not depend on the order of execution.
pub struct Merged {
    sources: Vec<Source>,
    numbered: u64,
}

impl Merged {
    /// A fresh stream; source number = position in `traffic`.
    pub fn new(traffic: &[Traffic], seed: u64) -> Merged {
        let source = |traffic: &Traffic| {
            let seed = stream_seed(seed, &format!("traffic/{}", traffic.name));
            let mut starts = traffic.plan.starts(seed);
            let next = starts.next();
            Source { traffic: traffic.clone(), seed, starts, next }
        };
        Merged { sources: traffic.iter().map(source).collect(), numbered: 0 }
    }
}

fn closed_loop_id(source: usize, within: u64) -> u64 {
    CLOSED_LOOP | (source as u64) << SOURCE_SHIFT | within
}

fn flow(start: Start, id: u64, class: u16) -> FlowSpec {
    let Start { at, stop, src, dst, size, .. } = start;
    FlowSpec { id, start: at, stop, src, dst, size, class }
}

impl Workload for Merged {
    fn next_flow(&mut self) -> Option<FlowSpec> {
        // Few sources: a scan beats a heap. The first of equals wins.
        let waiting = |(i, s): (usize, &Source)| s.next.map(|start| (start.at, i));
        let (_, index) = self.sources.iter().enumerate().filter_map(waiting).min()?;
        let source = &mut self.sources[index];
        let start = source.next.take()?;
        source.next = source.starts.next();
        let id = match start.id {
            Some(within) => closed_loop_id(index, within),
            None => {
                self.numbered += 1;
                self.numbered - 1
            }
        };
        Some(flow(start, id, source.traffic.class))
    }

    fn on_delivered(&mut self, delivered: &Delivered) -> Option<FlowSpec> {
        if delivered.id & CLOSED_LOOP == 0 {
            return None;
        }
        let number = (delivered.id & !CLOSED_LOOP) >> SOURCE_SHIFT;
        let source = self.sources.get(number as usize)?;
        let within = delivered.id & ((1 << SOURCE_SHIFT) - 1);
        let start = source.traffic.plan.on_delivered(source.seed, delivered, within)?;
        let id = closed_loop_id(number as usize, start.id?);
        Some(flow(start, id, source.traffic.class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::plan;

    fn traffic(name: &str, class: u16, text: &str) -> Traffic {
        let plan = plan("kind = \"star\"", text).unwrap();
        Traffic { name: name.to_owned(), class, plan }
    }

    fn flows(traffic: &[Traffic], seed: u64) -> Vec<FlowSpec> {
        let mut merged = Merged::new(traffic, seed);
        std::iter::from_fn(|| merged.next_flow()).collect()
    }

    #[test]
    fn sources_merge_in_order_and_do_not_depend_on_each_other() {
        let web = "kind=\"poisson\"\nsize=\"10KB\"\nload=0.1\nflows=50";
        let all = [
            traffic("a", 0, web),
            traffic("b", 1, web),
            traffic(
                "rpc",
                2,
                "kind=\"rpc\"\nclients=\"h0\"\nservers=\"h1..h2\"\nrequest=\"1KB\"\n\
                response=\"2KB\"\nrequests=3",
            ),
        ];
        let merged = flows(&all, 1);
        assert_eq!(merged.len(), 101);
        assert!(merged.is_sorted_by_key(|f| f.start));
        let open: Vec<u64> = merged.iter().filter(|f| f.class < 2).map(|f| f.id).collect();
        assert_eq!(open, (0..100).collect::<Vec<u64>>());
        let key = |f: &FlowSpec| (f.start, f.src, f.dst, f.size);
        let of = |class| merged.iter().filter(|f| f.class == class).map(key).collect::<Vec<_>>();
        assert_eq!(of(0), flows(&all[..1], 1).iter().map(key).collect::<Vec<_>>());
        assert_ne!(of(0), of(1));
        assert_ne!(of(0), flows(&all[..1], 2).iter().map(key).collect::<Vec<_>>());
    }

    #[test]
    fn replies_carry_the_source_in_their_identity() {
        let rpc = "kind=\"rpc\"\nclients=\"h0\"\nservers=\"h1\"\nrequest=\"1KB\"\nresponse=\"2KB\"\n\
                   requests=1";
        let all = [
            traffic("x", 0, "kind=\"permutation\"\nsize=\"1B\"\nstart=\"1us\""),
            traffic("rpc", 1, rpc),
        ];
        let mut merged = Merged::new(&all, 1);
        let first = merged.next_flow().unwrap();
        assert_eq!((first.class, first.id), (1, CLOSED_LOOP | 1 << SOURCE_SHIFT));
        let now = first.start;
        let delivered =
            |f: &FlowSpec| Delivered { id: f.id, class: 1, src: f.src, dst: f.dst, now };
        let response = merged.on_delivered(&delivered(&first)).unwrap();
        assert_eq!((response.src, response.size, response.class), (1, 2000, 1));
        assert!(merged.on_delivered(&delivered(&response)).is_none());
        let open = merged.next_flow().unwrap();
        assert!(merged.on_delivered(&delivered(&open)).is_none());
    }
}
