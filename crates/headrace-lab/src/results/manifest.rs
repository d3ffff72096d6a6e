//! `manifest.json`: how a result was obtained. The one file that may differ between equal runs.

use std::time::{Duration, Instant};

use headrace_sim::record::Totals;

use super::schema::SCHEMA_VERSION;

/// How a run was made and what it cost.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Manifest {
    /// Version of the result files.
    pub schema: u32,
    /// Version of the program.
    pub version: &'static str,
    /// The scenario, every default filled in.
    pub scenario: serde_json::Value,
    /// Its seed.
    pub seed: u64,
    /// Names of the hosts; `src` and `dst` of `flows.parquet` count them from 0.
    pub hosts: Vec<String>,
    /// Threads that the simulation ran on.
    pub threads: usize,
    /// Wall time of the simulation and of writing the tables, seconds.
    pub wall_seconds: f64,
    /// Processor time that the process spent meanwhile, user and system, seconds; null where the
    /// system does not tell.
    pub cpu_seconds: Option<f64>,
    /// Events handled.
    pub events: u64,
    /// Packets, data or control, that finished crossing a link.
    pub packet_hops: u64,
    /// The same a processor second.
    pub packet_hops_per_cpu_second: Option<f64>,
    /// The process's largest resident set, bytes; null where the system does not tell.
    pub peak_rss_bytes: Option<u64>,
    /// Every packet sent was delivered, dropped or is still on its way.
    pub conservation: Conservation,
}

/// Where the packets went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Conservation {
    /// Packets that hosts handed to their NICs.
    pub sent_packets: u64,
    /// Packets that reached their host.
    pub delivered_packets: u64,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Packets in queues and on links at the end.
    pub in_flight_packets: u64,
    /// Sent = delivered + dropped + in flight.
    pub holds: bool,
}

impl Conservation {
    /// Of a run's totals.
    pub fn of(totals: &Totals) -> Conservation {
        let dropped: u64 = totals.drops.iter().sum();
        let accounted = totals.delivered_packets + dropped + totals.in_flight_packets;
        Conservation {
            sent_packets: totals.sent_packets,
            delivered_packets: totals.delivered_packets,
            dropped_packets: dropped,
            in_flight_packets: totals.in_flight_packets,
            holds: totals.sent_packets == accounted,
        }
    }
}

/// Wall and processor time since it was started.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    wall: Instant,
    cpu: Option<Duration>,
}

#[expect(clippy::disallowed_methods, reason = "reports how long a run took; decides nothing")]
impl Stopwatch {
    /// Starts.
    pub fn start() -> Stopwatch {
        Stopwatch { wall: Instant::now(), cpu: cpu_time() }
    }

    /// Wall time, and processor time of the whole process, in seconds.
    pub fn seconds(&self) -> (f64, Option<f64>) {
        let cpu = cpu_time().zip(self.cpu).map(|(now, then)| (now - then).as_secs_f64());
        (self.wall.elapsed().as_secs_f64(), cpu)
    }
}

/// Processor time of the process so far, user and system.
#[cfg(unix)]
fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(unix))]
fn cpu_time() -> Option<Duration> {
    None
}

/// The process's largest resident set so far, from `VmHWM` of `/proc/self/status`.
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

impl Manifest {
    /// Of a run that `stopwatch` has timed.
    pub fn of(
        scenario: serde_json::Value,
        seed: u64,
        hosts: Vec<String>,
        threads: usize,
        totals: &Totals,
        stopwatch: &Stopwatch,
    ) -> Manifest {
        let (wall_seconds, cpu_seconds) = stopwatch.seconds();
        Manifest {
            schema: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION"),
            scenario,
            seed,
            hosts,
            threads,
            wall_seconds,
            cpu_seconds,
            events: totals.events,
            packet_hops: totals.packet_hops,
            packet_hops_per_cpu_second: cpu_seconds
                .filter(|seconds| *seconds > 0.0)
                .map(|seconds| totals.packet_hops as f64 / seconds),
            peak_rss_bytes: peak_rss_bytes(),
            conservation: Conservation::of(totals),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conservation_counts_every_packet() {
        let mut totals = Totals {
            sent_packets: 10,
            delivered_packets: 6,
            in_flight_packets: 1,
            drops: [1, 0, 2, 0, 0],
            ..Totals::default()
        };
        assert!(Conservation::of(&totals).holds);
        totals.delivered_packets = 7;
        assert!(!Conservation::of(&totals).holds);
    }

    #[test]
    fn the_process_has_used_time_and_memory() {
        let stopwatch = Stopwatch::start();
        let (wall, cpu) = stopwatch.seconds();
        assert!(wall >= 0.0 && cpu.is_none_or(|cpu| cpu >= 0.0));
        assert!(peak_rss_bytes().is_none_or(|bytes| bytes > 0));
    }
}
