//! Whether every host reaches every other, through switches alone.

use super::{Role, Topology};

impl Topology {
    /// Two hosts between which there is no way; `None` if all reach each other.
    pub fn disconnected_hosts(&self) -> Option<(&str, &str)> {
        let neighbours = self.neighbours();
        let first = self.nodes.iter().position(|n| n.role == Role::Host)?;
        let mut reached = vec![false; self.nodes.len()];
        let mut waiting = vec![first];
        reached[first] = true;
        while let Some(node) = waiting.pop() {
            // A host is a way's end.
            if node != first && self.nodes[node].role == Role::Host {
                continue;
            }
            for &(_, next) in &neighbours[node] {
                if !std::mem::replace(&mut reached[next], true) {
                    waiting.push(next);
                }
            }
        }
        let lost = |i: &usize| self.nodes[*i].role == Role::Host && !reached[*i];
        let other = (0..self.nodes.len()).find(lost)?;
        Some((&self.nodes[first].name, &self.nodes[other].name))
    }
}
