//! Writes the flows that a scenario's traffic generates as a list, for other simulators and for
//! exact repetition.

use std::io::{self, Write};

use headrace_sim::workload::FlowSpec;

use super::Scenario;

impl Scenario {
    /// Writes the scenario's flows as CSV with the header `start_ns,src,dst,size_bytes`, which
    /// `kind = "list"` reads; starts are rounded down to whole nanoseconds, as other simulators
    /// read them. Returns how many there are.
    ///
    /// # Errors
    /// Those of `out`; [`io::ErrorKind::InvalidInput`] where a list cannot say what the traffic
    /// does: long-lived flows, closed-loop clients.
    pub fn write_flow_list(&self, out: &mut dyn Write) -> io::Result<u64> {
        let cannot = |what: &str| {
            let message = format!("a flow list cannot hold {what}");
            io::Error::new(io::ErrorKind::InvalidInput, message)
        };
        if self.spec.classes.iter().any(|class| class.reactive) {
            return Err(cannot("closed-loop clients: their flows depend on the run"));
        }
        let mut workload = self.workload().map_err(|p| cannot(&p.to_string()))?;
        writeln!(out, "start_ns,src,dst,size_bytes")?;
        let mut count = 0;
        while let Some(flow) = workload.next_flow().filter(|flow| flow.start < self.spec.until) {
            if flow.size == FlowSpec::UNBOUNDED {
                return Err(cannot("long-lived flows"));
            }
            let start = flow.start.ps() / 1000;
            writeln!(out, "{start},{},{},{}", flow.src, flow.dst, flow.size)?;
            count += 1;
        }
        Ok(count)
    }
}
