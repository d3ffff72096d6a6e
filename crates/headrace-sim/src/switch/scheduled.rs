//! Several queues behind one transmitter: strict priority, WRR, DWRR.

use super::buffer::QueueBuffer;
use crate::net::ring::Ring;
use crate::spec::Scheduler;

/// One of a port's queues.
pub struct Queue<P> {
    /// Its account.
    pub buffer: QueueBuffer,
    waiting: Ring<P>,
    weight: u32,
    /// WRR: packets, DWRR: bytes that it may still send in this turn.
    credit: u64,
}

/// A port's queues of packets `P` and the order in which they are served.
pub struct Scheduled<P> {
    queues: Vec<Queue<P>>,
    queue_of_priority: [u8; 8],
    scheduler: Scheduler,
    /// Whose turn it is, under the round robins.
    turn: usize,
    /// DWRR's quantum for a weight of one, bytes on the wire.
    quantum: u64,
}

impl<P: Copy + Default> Scheduled<P> {
    /// `buffers`: each queue's account and weight. `quantum`: DWRR's bytes a turn for a weight of
    /// one; at least the largest frame.
    pub fn new(
        buffers: Vec<(QueueBuffer, u32)>,
        queue_of_priority: [u8; 8],
        scheduler: Scheduler,
        quantum: u64,
    ) -> Self {
        let queue = |(buffer, weight)| Queue { buffer, waiting: Ring::new(), weight, credit: 0 };
        let mut queues: Vec<Queue<P>> = buffers.into_iter().map(queue).collect();
        queues[0].credit = fresh_credit(scheduler, queues[0].weight, quantum);
        Scheduled { queues, queue_of_priority, scheduler, turn: 0, quantum }
    }

    /// Every queue.
    pub fn queues(&self) -> &[Queue<P>] {
        &self.queues
    }

    /// The account of a queue, to be changed.
    pub fn buffer_mut(&mut self, queue: usize) -> &mut QueueBuffer {
        &mut self.queues[queue].buffer
    }

    /// Every queue's account, to be changed.
    pub fn buffers_mut(&mut self) -> impl Iterator<Item = &mut QueueBuffer> {
        self.queues.iter_mut().map(|queue| &mut queue.buffer)
    }

    /// Adds a packet at the back of a queue.
    pub fn push(&mut self, queue: usize, packet: P) {
        self.queues[queue].waiting.push(packet);
    }

    /// Takes the packet at the front of a queue that [`Scheduled::next`] named.
    pub fn pop(&mut self, queue: usize) -> P {
        self.queues[queue].waiting.pop()
    }

    /// The queue that a packet of `priority` joins.
    pub fn queue_of(&self, priority: u8) -> usize {
        usize::from(self.queue_of_priority[usize::from(priority)])
    }

    /// The queue whose front packet goes next; takes its size, which `wire_bytes` tells, off the
    /// queue's credit. `None`: all are empty.
    pub fn next(&mut self, wire_bytes: fn(&P) -> u64) -> Option<usize> {
        if self.queues.iter().all(|q| q.waiting.is_empty()) {
            return None;
        }
        match self.scheduler {
            Scheduler::Strict => self.queues.iter().position(|q| !q.waiting.is_empty()),
            Scheduler::Wrr => self.round_robin(|_| 1),
            Scheduler::Dwrr => self.round_robin(wire_bytes),
        }
    }

    /// A queue sends while its credit covers the packet at its front. Then the turn passes, and the
    /// next queue's credit grows by its quantum; an emptied queue keeps none (DRR, Figure 3).
    fn round_robin(&mut self, cost: fn(&P) -> u64) -> Option<usize> {
        loop {
            let queue = &mut self.queues[self.turn];
            if queue.waiting.is_empty() {
                queue.credit = 0;
            } else {
                let cost = cost(queue.waiting.get(0));
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

impl<P: Copy + Default> Queue<P> {
    /// The packets that wait, the first first.
    pub fn waiting(&self) -> impl Iterator<Item = &P> {
        self.waiting.iter()
    }
}

fn fresh_credit(scheduler: Scheduler, weight: u32, quantum: u64) -> u64 {
    match scheduler {
        Scheduler::Dwrr => u64::from(weight) * quantum,
        Scheduler::Strict | Scheduler::Wrr => u64::from(weight),
    }
}
