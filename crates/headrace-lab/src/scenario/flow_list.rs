//! Writes the flows that a scenario's traffic generates as a list, for other simulators and for
//! exact repetition.

use std::fmt;
use std::io::{self, Write};

use headrace_cc::units::Time;

use super::Scenario;

/// How a flow list says when flows start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// To the picosecond, with up to three decimals: `kind = "list"` carries the same flows again.
    Exact,
    /// Rounded down to whole nanoseconds, as other simulators read them.
    WholeNanoseconds,
}

/// The traffic does something that a flow list cannot say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAList {
    /// Flows depend on the run.
    #[error(
        "a flow list cannot hold closed-loop clients: their flows depend on the run; write the \
         list of a scenario without them"
    )]
    ClosedLoop,
    /// Flows have no size.
    #[error(
        "a flow list cannot hold long-lived flows, which have no size; write the list of a \
         scenario without them"
    )]
    LongLived,
}

impl Scenario {
    /// Whether a flow list can say what the traffic does.
    ///
    /// # Errors
    /// Why not.
    pub fn check_listable(&self) -> Result<(), NotAList> {
        if self.traffic.iter().any(|traffic| traffic.plan.closed_loop()) {
            return Err(NotAList::ClosedLoop);
        }
        if self.traffic.iter().any(|traffic| traffic.plan.long_lived()) {
            return Err(NotAList::LongLived);
        }
        Ok(())
    }

    /// Writes the scenario's flows as CSV with the header `start_ns,src,dst,size_bytes`, which
    /// `kind = "list"` reads. Returns how many there are.
    ///
    /// # Errors
    /// Those of `out`; [`io::ErrorKind::InvalidInput`] where [`Scenario::check_listable`] refuses.
    pub fn write_flow_list(&self, out: &mut dyn Write, starts: Starts) -> io::Result<u64> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        self.check_listable().map_err(|error| invalid(error.to_string()))?;
        let mut workload = self.workload().map_err(|problems| invalid(problems.to_string()))?;
        writeln!(out, "start_ns,src,dst,size_bytes")?;
        let mut count = 0;
        while let Some(flow) = workload.next_flow().filter(|flow| flow.start < self.spec.until) {
            let start = Nanoseconds(flow.start, starts);
            writeln!(out, "{start},{},{},{}", flow.src, flow.dst, flow.size)?;
            count += 1;
        }
        Ok(count)
    }
}

/// A time in nanoseconds, with the decimals that it needs where it is to be exact.
struct Nanoseconds(Time, Starts);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0.ps() / 1000, self.0.ps() % 1000);
        match (self.1, rest) {
            (Starts::WholeNanoseconds, _) | (Starts::Exact, 0) => write!(f, "{whole}"),
            (Starts::Exact, rest) => {
                let decimals = format!("{rest:03}");
                write!(f, "{whole}.{}", decimals.trim_end_matches('0'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_have_the_decimals_that_they_need() {
        let shown = |ps, starts| Nanoseconds(Time::from_ps(ps), starts).to_string();
        let exact = [7_000, 7_250, 7_005, 900].map(|ps| shown(ps, Starts::Exact));
        assert_eq!(exact, ["7", "7.25", "7.005", "0.9"]);
        assert_eq!(shown(7_999, Starts::WholeNanoseconds), "7");
    }
}
