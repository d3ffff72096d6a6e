//! Prints what an event costs in each structure, as Markdown tables.
//!
//! A plain program rather than a criterion or divan target: those finish one benchmark before they
//! start the next, so that a neighbour's minute of work falls on one structure and not on the
//! others. Here the structures take turns, round after round, and the median of the rounds is told
//! with its interquartile range. Time is this thread's CPU time, which a preemption does not add to.

use std::process::ExitCode;

use headrace_bench_queues::workload::{Entries, Hold, Increment, Replay};
use headrace_bench_queues::{
    BinaryHeap, BinaryHeapPopPush, CalendarQueue, CompactWinnerTree, FourAryHeap, LadderQueue,
    Pending, RadixHeap, WinnerTree,
};
use rustix::time::{ClockId, clock_gettime};

const USAGE: &str = "\
Compares pending-event structures: CPU nanoseconds an event, Markdown on stdout.

Usage: queues [--rounds N] [--events N]

  --rounds N   rounds in which the structures take turns (default 11)
  --events N   events a structure handles in one round (default 1000000)

For numbers worth keeping, pin it: taskset -c 1 target/release/queues";

/// How much to measure.
#[derive(Clone, Copy, Debug)]
struct Effort {
    rounds: usize,
    events: u64,
}

/// One structure under one load.
struct Contender {
    name: String,
    /// Handles so many events; a digest of their keys.
    run: Box<dyn FnMut(u64) -> u64>,
    /// CPU nanoseconds an event, a round each.
    samples: Vec<f64>,
}

/// Median and interquartile range.
#[derive(Clone, Copy, Debug)]
struct Cell {
    median: f64,
    iqr: f64,
}

/// This thread's CPU time, nanoseconds.
fn cpu_ns() -> i64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// A contender from one event's work.
fn contender(name: impl Into<String>, mut step: impl FnMut() -> u64 + 'static) -> Contender {
    let run = move |events| {
        (0..events).fold(0u64, |digest, _| digest.rotate_left(5).wrapping_add(step()))
    };
    Contender { name: name.into(), run: Box::new(run), samples: Vec::new() }
}

fn hold<Q: Pending + 'static>(pending: usize, increment: Increment) -> Contender {
    let mut hold = Hold::<Q>::new(pending, increment, 1);
    contender(Q::NAME, move || hold.step())
}

fn replay<Q: Pending + 'static>(links: usize, packets: usize, entries: Entries) -> Contender {
    let mut replay = Replay::<Q>::new(links, packets, entries, 1);
    let entry = match entries {
        Entries::PerLink => "",
        Entries::PerPacket => ", an entry a packet",
    };
    contender(format!("{}{entry}", Q::NAME), move || replay.step())
}

fn hold_contenders(pending: usize, increment: Increment) -> Vec<Contender> {
    vec![
        hold::<BinaryHeapPopPush>(pending, increment),
        hold::<BinaryHeap>(pending, increment),
        hold::<FourAryHeap>(pending, increment),
        hold::<RadixHeap>(pending, increment),
        hold::<CalendarQueue>(pending, increment),
        hold::<LadderQueue>(pending, increment),
        hold::<WinnerTree>(pending, increment),
        hold::<CompactWinnerTree>(pending, increment),
    ]
}

fn replay_contenders(links: usize, packets: usize) -> Vec<Contender> {
    use Entries::{PerLink, PerPacket};
    vec![
        replay::<BinaryHeapPopPush>(links, packets, PerPacket),
        replay::<FourAryHeap>(links, packets, PerPacket),
        replay::<CalendarQueue>(links, packets, PerPacket),
        replay::<BinaryHeap>(links, packets, PerLink),
        replay::<FourAryHeap>(links, packets, PerLink),
        replay::<RadixHeap>(links, packets, PerLink),
        replay::<CalendarQueue>(links, packets, PerLink),
        replay::<LadderQueue>(links, packets, PerLink),
        replay::<WinnerTree>(links, packets, PerLink),
        replay::<CompactWinnerTree>(links, packets, PerLink),
    ]
}

/// Rounds in turn, after one that is not counted.
///
/// # Errors
/// Names the structure whose events differ from the first one's.
fn measure(contenders: &mut [Contender], effort: Effort) -> Result<(), String> {
    for round in 0..=effort.rounds {
        let mut agreed = None;
        for contender in contenders.iter_mut() {
            let before = cpu_ns();
            let digest = (contender.run)(effort.events);
            let spent = (cpu_ns() - before) as f64 / effort.events as f64;
            if *agreed.get_or_insert(digest) != digest {
                return Err(format!("{}: took other events than the first", contender.name));
            }
            if round > 0 {
                contender.samples.push(spent);
            }
        }
    }
    Ok(())
}

fn summary(samples: &mut [f64]) -> Cell {
    samples.sort_unstable_by(f64::total_cmp);
    let at = |quarter: usize| samples[(samples.len() - 1) * quarter / 4];
    Cell { median: at(2), iqr: at(3) - at(1) }
}

/// One table: a column a size, a row a structure.
fn table(
    title: &str,
    columns: &[String],
    effort: Effort,
    make: impl Fn(usize) -> Vec<Contender>,
) -> Result<(), String> {
    let mut rows: Vec<(String, Vec<Cell>)> = Vec::new();
    for (column, heading) in columns.iter().enumerate() {
        let mut contenders = make(column);
        measure(&mut contenders, effort)?;
        for (index, contender) in contenders.iter_mut().enumerate() {
            if column == 0 {
                rows.push((contender.name.clone(), Vec::new()));
            }
            rows[index].1.push(summary(&mut contender.samples));
        }
        eprintln!("{title}: {heading} done");
    }
    println!("### {title}\n");
    println!("| structure | {} |", columns.join(" | "));
    println!("| --- |{}", " ---: |".repeat(columns.len()));
    for (name, cells) in rows {
        let cells: Vec<String> =
            cells.iter().map(|cell| format!("{:.1} ({:.1})", cell.median, cell.iqr)).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
    println!();
    Ok(())
}

fn tables(effort: Effort) -> Result<(), String> {
    println!(
        "CPU nanoseconds an event: median of {} rounds of {} events (interquartile range).\n",
        effort.rounds, effort.events
    );
    let replays = [(384, 1920), (768, 3840), (60_000, 300_000), (60_000, 6000)];
    let columns = replays.map(|(links, packets)| format!("{links} links, {packets} packets"));
    table("Link replay", &columns, effort, |column| {
        replay_contenders(replays[column].0, replays[column].1)
    })?;
    let pending = [64, 384, 1024, 4096, 16_384, 65_536];
    let columns = pending.map(|pending| format!("N = {pending}"));
    for increment in Increment::ALL {
        let title = format!("Hold model, {} increments", increment.name());
        table(&title, &columns, effort, |column| hold_contenders(pending[column], increment))?;
    }
    Ok(())
}

/// Reads the command line; `None` where help was asked for.
///
/// # Errors
/// Names the argument that is wrong.
fn effort(arguments: impl Iterator<Item = String>) -> Result<Option<Effort>, String> {
    let mut effort = Effort { rounds: 11, events: 1_000_000 };
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let value = arguments.next().unwrap_or_default();
            match value.parse::<u32>() {
                Ok(number) if number > 0 => Ok(number),
                _ => Err(format!("{argument} {value}: a positive number is due")),
            }
        };
        match argument.as_str() {
            "--rounds" => effort.rounds = number()? as usize,
            "--events" => effort.events = u64::from(number()?),
            "-h" | "--help" => return Ok(None),
            _ => return Err(format!("{argument}: no such argument")),
        }
    }
    Ok(Some(effort))
}

fn main() -> ExitCode {
    match effort(std::env::args().skip(1)) {
        Ok(None) => println!("{USAGE}"),
        Ok(Some(effort)) => {
            if let Err(error) = tables(effort) {
                eprintln!("queues: {error}");
                return ExitCode::FAILURE;
            }
        }
        Err(error) => {
            eprintln!("queues: {error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
