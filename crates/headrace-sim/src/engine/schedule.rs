//! Whose turn it is: every node's pending events, and the node that goes next.
//!
//! What happens at one node reaches another no sooner than the delay of the link between them. So
//! the node whose next event is the earliest of all, at time `t`, may go on by itself until `t` plus
//! the least delay of the links that come in: nothing that another node has yet to do can arrive
//! before that. Such a turn handles many events of one node in a row while what they touch is in the
//! cache, and only its end changes the order of the nodes.

use headrace_cc::units::Time;

use super::pending::Pending;

/// What every node has pending.
pub(crate) struct Schedule {
    agendas: Vec<Agenda>,
    /// The next event of each node.
    turns: Pending,
}

/// What one node has pending.
pub(crate) struct Agenda {
    /// The first arrival on each link that comes in, by its port.
    pub(crate) arrivals: Pending,
    /// Its own events by source, in the order of events at one instant: ends of transmission by
    /// port, starts of flows, timers.
    own: Pending,
    /// Time of the first of those.
    pub(crate) own_next: Time,
    /// The time that `turns` has for it.
    next: Time,
    /// The directed link that comes in at its port 0; the others follow.
    pub(crate) first_link: u32,
    /// Least delay of the links that come in.
    lookahead: Time,
    /// In debug builds: everything before this has been handled.
    handled: Time,
}

impl Agenda {
    /// For a node with `links` links coming in, from `first_link` on, and `sources` of its own.
    pub(crate) fn new(first_link: usize, links: usize, sources: usize, lookahead: Time) -> Self {
        Agenda {
            arrivals: Pending::new(links),
            own: Pending::new(sources),
            own_next: Time::NEVER,
            next: Time::NEVER,
            first_link: first_link as u32,
            lookahead,
            handled: Time::ZERO,
        }
    }
}

impl Agenda {
    /// The first of its own events: whose it is.
    pub(crate) fn own_source(&self) -> usize {
        self.own.first().1
    }
}

impl Schedule {
    pub(crate) fn new(agendas: Vec<Agenda>) -> Self {
        let turns = Pending::new(agendas.len());
        Schedule { agendas, turns }
    }

    /// The earliest event of all: its time ([`Time::NEVER`]: there is none) and its node.
    #[inline(always)]
    pub(crate) fn next_turn(&self) -> (Time, usize) {
        self.turns.first()
    }

    /// `node`, whose next event is at `now` and the earliest of all, may go on by itself up to here,
    /// exclusive.
    #[inline(always)]
    pub(crate) fn horizon(&self, node: usize, now: Time) -> Time {
        now.saturating_add(self.agendas[node].lookahead)
    }

    #[inline(always)]
    pub(crate) fn agenda(&self, node: usize) -> &Agenda {
        &self.agendas[node]
    }

    /// In the node's own turn: the next packet at its port `ingress` arrives at `time`.
    #[inline(always)]
    pub(crate) fn set_arrival(&mut self, node: usize, ingress: usize, time: Time) {
        self.agendas[node].arrivals.set(ingress, time);
    }

    /// In another node's turn: a packet is on `link`, which was empty, and arrives at `time`.
    #[inline(always)]
    pub(crate) fn announce(&mut self, node: usize, link: usize, time: Time) {
        let agenda = &mut self.agendas[node];
        debug_assert!(time >= agenda.handled, "a packet comes too late for its node");
        agenda.arrivals.set(link - agenda.first_link as usize, time);
        if time < agenda.next {
            agenda.next = time;
            self.turns.set(node, time);
        }
    }

    /// In the node's own turn: its event of `source` is at `time`; [`Time::NEVER`]: there is none.
    #[inline(always)]
    pub(crate) fn set_own(&mut self, node: usize, source: usize, time: Time) {
        let agenda = &mut self.agendas[node];
        agenda.own.set(source, time);
        agenda.own_next = agenda.own.first().0;
    }

    /// A node's turn is over: it has handled everything before `handled`.
    #[inline(always)]
    pub(crate) fn end_turn(&mut self, node: usize, handled: Time) {
        let agenda = &mut self.agendas[node];
        if cfg!(debug_assertions) {
            agenda.handled = handled;
        }
        self.refresh(node);
    }

    /// A node's agenda was changed between turns, or by its turn.
    #[inline(always)]
    pub(crate) fn refresh(&mut self, node: usize) {
        let agenda = &mut self.agendas[node];
        agenda.next = agenda.arrivals.first().0.min(agenda.own_next);
        self.turns.set(node, agenda.next);
    }
}
