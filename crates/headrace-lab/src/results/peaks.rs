//! The longest queues of a run, at switches and in hosts.

use headrace_sim::record::Totals;

use super::context::Context;

/// The longest queues of a run. They count what the trace does not sample, too.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PeakQueues {
    /// Of the ports of switches; null where nothing ever waited.
    pub switch: Option<PeakQueue>,
    /// Of the hosts' NICs; null where nothing ever waited. Hosts whose links are no faster than
    /// the bottleneck queue there what a switch would otherwise.
    pub host: Option<PeakQueue>,
}

/// A queue at its longest.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PeakQueue {
    /// Its direction of a link, `from->to`.
    pub link: String,
    /// Bytes still to be sent, framing included.
    pub bytes: u64,
}

impl PeakQueues {
    /// Of a run's totals.
    pub fn of(context: &Context, totals: &Totals) -> PeakQueues {
        let longest = |from_host: bool| {
            let both = context.links.iter().zip(&totals.links);
            let queues = both
                .filter(|(link, used)| link.from_host == from_host && used.peak_queue_bytes > 0);
            // The first of equals.
            let (link, used) = queues.rev().max_by_key(|(_, used)| used.peak_queue_bytes)?;
            Some(PeakQueue { link: link.name.clone(), bytes: used.peak_queue_bytes })
        };
        PeakQueues { switch: longest(false), host: longest(true) }
    }
}
