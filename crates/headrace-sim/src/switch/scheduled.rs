//! Several queues behind one transmitter: strict priority, WRR, DWRR.

use headrace_cc::units::Time;

use super::buffer::QueueBuffer;
use crate::net::packet::{Extra, Packet};
use crate::net::ring::Ring;
use crate::spec::Scheduler;

/// A packet that waits, with the port by which it came in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) packet: Packet,
    pub(crate) ingress: u16,
}

/// One of a port's queues.
pub(crate) struct Queue {
    pub(crate) buffer: QueueBuffer,
    pub(crate) waiting: Ring<Waiting>,
    pub(crate) extras: std::collections::VecDeque<Extra>,
    weight: u32,
    /// WRR: packets, DWRR: bytes that it may still send in this turn.
    credit: u64,
}

/// The frame being sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) queue: usize,
    pub(crate) frame: u64,
    pub(crate) shared: bool,
    pub(crate) done: Time,
}

/// A port's queues and the order in which they are served.
pub(crate) struct Scheduled {
    pub(crate) queues: Vec<Queue>,
    pub(crate) queue_of_priority: [u8; 8],
    pub(crate) sending: Option<Sending>,
    /// Bytes on the wire of all transmissions that have started.
    pub(crate) sent_bytes: u64,
    /// Time to send all that wait.
    pub(crate) waiting: Time,
    scheduler: Scheduler,
    /// Whose turn it is, under the round robins.
    turn: usize,
    /// DWRR's quantum for a weight of one, bytes on the wire.
    quantum: u64,
}

impl Scheduled {
    /// `quantum`: DWRR's bytes a turn for a weight of one; at least the largest frame.
    pub(crate) fn new(
        buffers: Vec<(QueueBuffer, u32)>,
        queue_of_priority: [u8; 8],
        scheduler: Scheduler,
        quantum: u64,
    ) -> Self {
        let mut queues: Vec<Queue> = (buffers.into_iter())
            .map(|(buffer, weight)| Queue {
                buffer,
                waiting: Ring::new(),
                extras: std::collections::VecDeque::new(),
                weight,
                credit: 0,
            })
            .collect();
        queues[0].credit = fresh_credit(scheduler, queues[0].weight, quantum);
        Scheduled {
            queues,
            queue_of_priority,
            sent_bytes: 0,
            sending: None,
            waiting: Time::ZERO,
            scheduler,
            turn: 0,
            quantum,
        }
    }

    /// The queue that a packet of `priority` joins.
    pub(crate) fn queue_of(&self, priority: u8) -> usize {
        usize::from(self.queue_of_priority[usize::from(priority)])
    }

    /// The queue whose front packet goes next; takes its size off the queue's credit. `None`: all
    /// are empty.
    pub(crate) fn next(&mut self) -> Option<usize> {
        if self.queues.iter().all(|q| q.waiting.is_empty()) {
            return None;
        }
        match self.scheduler {
            Scheduler::Strict => self.queues.iter().position(|q| !q.waiting.is_empty()),
            Scheduler::Wrr => self.round_robin(|_| 1),
            Scheduler::Dwrr => self.round_robin(|packet| u64::from(packet.wire())),
        }
    }

    /// A queue sends while its credit covers the packet at its front. Then the turn passes, and the
    /// next queue's credit grows by its quantum; an emptied queue keeps none (DRR, Figure 3).
    fn round_robin(&mut self, cost: fn(&Packet) -> u64) -> Option<usize> {
        loop {
            let queue = &mut self.queues[self.turn];
            if queue.waiting.is_empty() {
                queue.credit = 0;
            } else {
                let cost = cost(&queue.waiting.get(0).packet);
                if cost <= queue.credit {
                    queue.credit -= cost;
                    return Some(self.turn);
                }
                if self.scheduler == Scheduler::Wrr {
                    queue.credit = 0;
                }
            }
            self.turn = (self.turn + 1) % self.queues.len();
            let next = &mut self.queues[self.turn];
            next.credit += fresh_credit(self.scheduler, next.weight, self.quantum);
        }
    }
}

fn fresh_credit(scheduler: Scheduler, weight: u32, quantum: u64) -> u64 {
    match scheduler {
        Scheduler::Dwrr => u64::from(weight) * quantum,
        Scheduler::Strict | Scheduler::Wrr => u64::from(weight),
    }
}
