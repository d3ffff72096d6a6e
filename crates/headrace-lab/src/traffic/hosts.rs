//! Which hosts a source means: `"h0..h15"`, `"leaf3"` (the hosts below it), `"all"`, or a list.

use crate::scenario::problems::nearest;
use crate::scenario::reader::Section;
use crate::topology::{Role, Topology};

/// Reads a key as host numbers, in the order written. A host named twice is refused.
pub(crate) fn hosts(section: &mut Section<'_>, key: &str, topology: &Topology) -> Option<Vec<u32>> {
    let texts: Vec<String> = section.get(key)?;
    let mut chosen = Vec::new();
    let mut seen = vec![false; topology.nodes.len()];
    for text in &texts {
        match select(text.trim(), topology) {
            Ok(hosts) => {
                for &host in &hosts {
                    if std::mem::replace(&mut seen[host as usize], true) {
                        let name = &topology.nodes[host as usize].name;
                        let message = format!("{key}: {name} is named twice");
                        section.refuse(key, message, "name each host once");
                        return None;
                    }
                }
                chosen.extend(hosts);
            }
            Err(remedy) => {
                section.refuse(key, format!("{key}: no host `{text}`"), remedy);
                return None;
            }
        }
    }
    if chosen.is_empty() {
        section.refuse(key, format!("{key}: no hosts"), "name at least one");
        return None;
    }
    Some(chosen)
}

/// Hosts of one text; the error is the remedy.
fn select(text: &str, topology: &Topology) -> Result<Vec<u32>, String> {
    if text == "all" {
        return Ok((0..topology.hosts() as u32).collect());
    }
    if let Some((first, last)) = text.split_once("..") {
        let (first, last) = (host(first.trim(), topology)?, host(last.trim(), topology)?);
        return match first <= last {
            true => Ok((first..=last).collect()),
            false => Err(format!("write `{}`", swapped(text))),
        };
    }
    match topology.node_named(text) {
        Some(node) if topology.nodes[node].role != Role::Host => {
            let neighbours = &topology.neighbours()[node];
            let hosts = neighbours.iter().map(|n| n.1 as u32);
            let mut below: Vec<u32> = hosts.filter(|&h| (h as usize) < topology.hosts()).collect();
            below.sort_unstable();
            below.dedup();
            match below.is_empty() {
                true => Err(format!("{text} has no hosts; name a switch that has")),
                false => Ok(below),
            }
        }
        _ => Ok(vec![host(text, topology)?]),
    }
}

/// A host's number by its name or number; the error is the remedy.
pub(crate) fn host(text: &str, topology: &Topology) -> Result<u32, String> {
    let count = topology.hosts();
    let by_number = text.parse::<usize>().ok().filter(|&n| n < count);
    let by_name = || topology.node_named(text).filter(|&n| n < count);
    match by_number.or_else(by_name) {
        Some(host) => Ok(host as u32),
        None => {
            let (first, last) = (&topology.nodes[0].name, &topology.nodes[count - 1].name);
            if topology.node_named(text).is_some() {
                return Err(format!("it is a switch; hosts are {first} to {last}"));
            }
            let near = nearest(text, topology.nodes.iter().map(|n| n.name.as_str()));
            let near = if near.starts_with("did") { format!("{near} ") } else { String::new() };
            Err(format!("{near}hosts are {first} to {last}, and switches stand for theirs"))
        }
    }
}

fn swapped(range: &str) -> String {
    let (a, b) = range.split_once("..").unwrap_or((range, range));
    format!("{}..{}", b.trim(), a.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::build;

    #[test]
    fn hosts_are_named_in_several_ways() {
        let t = build("kind = \"leaf-spine\"").unwrap();
        assert_eq!(select("h3..h5", &t), Ok(vec![3, 4, 5]));
        assert_eq!(select("leaf1", &t).unwrap(), (16..32).collect::<Vec<u32>>());
        assert_eq!(select("all", &t).unwrap().len(), 128);
        assert_eq!(select("7", &t), Ok(vec![7]));
        assert_eq!(select("h5..h3", &t), Err("write `h3..h5`".into()));
        assert_eq!(host("leaf0", &t), Err("it is a switch; hosts are h0 to h127".into()));
        assert!(select("h128", &t).unwrap_err().contains("hosts are h0 to h127"));
        assert!(select("spine0", &t).unwrap_err().contains("has no hosts"));
    }
}
