//! From a load on a set of links to a rate of flows.

use headrace_cc::units::Time;

use super::Setup;
use super::sizes::Sizes;
use crate::scenario::problems::{Place, nearest};
use crate::scenario::reader::{Context, Section};
use crate::topology::HOST_SET;
use crate::topology::crossing::Crossings;
use crate::words::{self, digits};

/// Flows arriving at a rate.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    /// Mean time between two flows, picoseconds.
    pub mean_gap_ps: f64,
    /// The load that they are, where one was asked for.
    pub offered: Option<Offered>,
    /// What to print.
    pub note: String,
}

/// A load on a set of links.
#[derive(Clone, Debug)]
pub struct Offered {
    /// The set's name.
    of: String,
    /// Its links.
    links: Vec<usize>,
    /// Part of the capacity from the links' ends `a` to their ends `b`, and back.
    directions: [f64; 2],
}

/// A load for a time.
#[derive(Clone, Debug)]
pub struct TimedLoad {
    /// The load.
    pub offered: Offered,
    /// From then on.
    pub from: Time,
    /// Up to then, on average.
    pub until: Time,
}

/// Refuses loads on one set of links that come to more than it carries when they meet, at the place
/// of the last source that takes part.
pub(crate) fn check_sums(context: &Context, loads: &[(TimedLoad, Place)]) {
    for (last, place) in loads.iter().rev() {
        let at_once = loads.iter().map(|(load, _)| load).filter(|load| {
            let same = load.offered.links == last.offered.links;
            same && load.from <= last.from && last.from < load.until
        });
        let sum = at_once.fold([0.0, 0.0], |sum, load| {
            [sum[0] + load.offered.directions[0], sum[1] + load.offered.directions[1]]
        });
        let most = sum[0].max(sum[1]);
        // One source alone has been looked at.
        if most > 1.0 + 1e-9 && last.offered.directions.iter().all(|&load| load <= 1.0) {
            let message =
                format!("load: {} of `{}` with the other sources", digits(most), last.offered.of);
            context.refuse(place, message, "lower the loads to 1 in all: that fills the links");
            return;
        }
    }
}

/// Reads `load`, `of` and `counts`, or `rate`-free `gap`: the mean time between two arrivals.
///
/// Load L on a set whose links have capacity C in one direction, with flows of mean size S that
/// cross the set's links X times on average in the busier direction: L C / (8 S X) flows a second.
pub(crate) fn arrivals(
    section: &mut Section<'_>,
    setup: &Setup<'_>,
    sizes: &Sizes,
    ends: (&[u32], &[u32]),
) -> Option<Arrivals> {
    section.exclusive("load", "gap");
    if let Some(gap) = section.get::<Time>("gap") {
        section.refuse_if(gap == Time::ZERO, "gap", "gap: 0", "write a time above 0");
        let note = format!("a flow each {} on average", words::time(gap));
        return Some(Arrivals { mean_gap_ps: gap.ps() as f64, offered: None, note });
    }
    if !section.has("load") {
        let remedy = "add load = 0.3 (with `of`), or gap = \"10us\"";
        section.missing("the rate of arrivals is open", remedy);
        return None;
    }
    let load: f64 = section.get("load")?;
    if !(load > 0.0 && load <= 1.0) {
        let message = format!("load: {load} is not above 0 and at most 1");
        section.refuse("load", message, "1 fills the links; write 0.3 for 30 %");
        return None;
    }
    let counts = section.word("counts")?;
    let of: String = section.get("of")?;
    let (links, crossings) = crossed(section, setup, &of, ends)?;
    let rate = |link: &usize| setup.topology.links[*link].rate.bps() as f64;
    let capacity: f64 = links.iter().map(rate).sum();
    let mean = if counts == "wire" { sizes.mean_wire(setup) } else { sizes.mean() };
    let flows_per_second = load * capacity / (8.0 * mean * crossings.most());
    let mean_gap_ps = 1e12 / flows_per_second;
    let note = format!(
        "load {load} of `{of}` ({counts}): {} in one direction, a flow crosses it {}; {} a second",
        words::bits_per_second(capacity),
        times(crossings.most()),
        words::things(flows_per_second, "flow"),
    );
    let directions = [crossings.forward, crossings.backward].map(|x| load * x / crossings.most());
    Some(Arrivals { mean_gap_ps, offered: Some(Offered { of, links, directions }), note })
}

fn times(crossings: f64) -> String {
    match digits(crossings).as_str() {
        "1" => "once".to_owned(),
        number => format!("{number} times"),
    }
}

/// A set's links, and how often a flow crosses it.
fn crossed(
    section: &Section<'_>,
    setup: &Setup<'_>,
    of: &str,
    (sources, targets): (&[u32], &[u32]),
) -> Option<(Vec<usize>, Crossings)> {
    let topology = setup.topology;
    let set = match of {
        "src" | "dst" => {
            let hosts = if of == "src" { sources } else { targets };
            let theirs = |&link: &usize| {
                let link = &topology.links[link];
                hosts.iter().any(|&h| h as usize == link.a || h as usize == link.b)
            };
            let all = topology.set(HOST_SET).unwrap_or_default();
            all.iter().copied().filter(theirs).collect()
        }
        _ => match topology.set(of) {
            Some(set) => set.to_vec(),
            None => {
                let names = topology.sets.iter().map(|s| s.0.as_str()).chain(["src", "dst"]);
                let remedy = nearest(of, names);
                section.refuse("of", format!("of: no set of links `{of}`"), remedy);
                return None;
            }
        },
    };
    let crossings = topology.crossings(&set, sources, targets);
    if crossings.most() <= 0.0 {
        let message = format!("of: no flow from `src` to `dst` crosses `{of}`");
        section.refuse("of", message, "name a set of links on their way");
        return None;
    }
    Some((set, crossings))
}
