//! Pairs of sender and receiver for sources that name both sides.

use super::Setup;
use super::hosts::hosts;
use crate::scenario::reader::Section;

/// Reads `src` and `dst` and pairs them in order; the shorter list is repeated.
pub(crate) fn pairs(section: &mut Section<'_>, setup: &Setup<'_>) -> Option<Vec<(u32, u32)>> {
    let sources = hosts(section, "src", setup.topology);
    let targets = hosts(section, "dst", setup.topology);
    let (sources, targets) = (sources?, targets?);
    let count = sources.len().max(targets.len());
    let pair = |i: usize| (sources[i % sources.len()], targets[i % targets.len()]);
    let pairs: Vec<(u32, u32)> = (0..count).map(pair).collect();
    if let Some(&(host, _)) = pairs.iter().find(|(src, dst)| src == dst) {
        let name = &setup.topology.nodes[host as usize].name;
        let message = format!("{name} would send to itself");
        section.refuse("dst", message, "choose `src` and `dst` that pair different hosts in order");
        return None;
    }
    Some(pairs)
}

/// Reads `src` and `dst` as sets from which pairs are drawn: each source needs another target.
pub(crate) fn sides(section: &mut Section<'_>, setup: &Setup<'_>) -> Option<(Vec<u32>, Vec<u32>)> {
    let sources = hosts(section, "src", setup.topology);
    let targets = hosts(section, "dst", setup.topology);
    let (sources, targets) = (sources?, targets?);
    if targets.len() == 1 && sources.contains(&targets[0]) {
        let name = &setup.topology.nodes[targets[0] as usize].name;
        let message = format!("{name} would send to itself");
        section.refuse("dst", message, "add receivers, or take it out of `src`");
        return None;
    }
    Some((sources, targets))
}
