//! The MMU's accounting (BCC 2.1): a queue's private buffer first, then its shared pool under the
//! dynamic threshold.

use headrace_cc::switch::{CongestionPoint, Point, QueueView, Verdict};

use super::view::{PacketView, PortView};
use crate::record::DropReason;
use crate::rng;
use crate::spec::QueueSpec;

/// A shared pool of one MMU.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Pool {
    /// Its size, bytes.
    pub(crate) capacity: u64,
    /// Bytes in use by the ports that keep an account. May count frames that have left since the
    /// last time the port was settled: never less than the truth.
    pub(crate) used: u64,
    /// While no more than this is in use, no congestion point looks at the pool.
    pub(crate) quiet: u64,
    /// While those with an account use no more than this, the others need none: even if each were
    /// at its calm limit, nothing would be refused and no congestion point would look.
    pub(crate) slack: u64,
    /// What the queues without an account may hold here together, at most.
    pub(crate) dark: u64,
    /// Ports of this pool may do without an account at all.
    may_be_dark: bool,
    /// Ports whose queues use it, in port order.
    pub(crate) ports: Vec<u32>,
}

impl Pool {
    /// For queues that have no pool, and for hosts.
    pub fn none() -> Self {
        Pool {
            capacity: 0,
            used: 0,
            quiet: u64::MAX,
            slack: 0,
            dark: 0,
            may_be_dark: true,
            ports: Vec::new(),
        }
    }

    /// A pool of `capacity` bytes.
    pub fn new(capacity: u64) -> Self {
        Pool { capacity, ..Pool::none() }
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Sets `quiet`, `slack` and the calm limits for the queues that use the pool.
    pub fn tune(&mut self, queues: &mut [&mut QueueBuffer]) {
        for queue in &*queues {
            self.quiet = self.quiet.min(queue.quiet_pool);
        }
        // Half the pool for what dark queues may hold together, the other half for the rest.
        let share = self.quiet.min(self.capacity) / 2 / (queues.len() as u64).max(1);
        let mut threshold = 0;
        for queue in queues.iter_mut().filter(|q| !q.has_private()) {
            queue.calm = queue.calm.min(share);
            self.dark += queue.calm;
            if queue.alpha_q16 != u64::MAX {
                // A queue at its calm limit is admitted while more than this is free.
                let free = (u128::from(queue.calm) << 16) / u128::from(queue.alpha_q16) + 1;
                threshold = threshold.max(free.min(u128::from(u64::MAX)) as u64);
            }
        }
        let limit = self.quiet.min(self.capacity.saturating_sub(threshold));
        self.may_be_dark = limit > self.dark;
        self.slack = limit.saturating_sub(self.dark);
    }

    /// Whether a port of this pool may do without an account now.
    pub(crate) fn lets_go_dark(&self) -> bool {
        self.may_be_dark && self.used <= self.slack
    }
}

/// A queue's occupancy, its limits, and the congestion points on it.
///
/// What every packet touches comes first.
#[repr(C)]
pub struct QueueBuffer {
    /// Bytes held, the frame being sent included.
    pub(crate) bytes: u64,
    /// Up to this many bytes, counted too high if need be, no point acts and the queue's own limits
    /// admit: its exact occupancy does not matter.
    calm: u64,
    private_used: u64,
    pub(crate) shared_used: u64,
    private_capacity: u64,
    alpha_q16: u64,
    /// Index of its pool.
    pub(crate) pool: u32,
    /// What a refusal by the private buffer and the pool's size is called.
    full: DropReason,
    /// Some point acts at arrival.
    arrival_points: bool,
    limit: u64,
    /// While the queue and the pool hold no more than this, no point acts.
    quiet_queue: u64,
    quiet_pool: u64,
    /// Frames marked.
    pub(crate) marks: u64,
    points: Vec<Point>,
}

impl QueueBuffer {
    /// A switch queue named `name`, on pool `pool` (an index into all pools; 0 is no pool).
    pub fn new(spec: &QueueSpec, pool: u32, seed: u64, name: &str) -> Self {
        let points: Vec<Point> = (spec.markers.iter().enumerate())
            .map(|(i, marker)| marker.start(rng::stream_seed(seed, &format!("{name}/marker{i}"))))
            .collect();
        let quiet = |of: fn(&Point) -> u64| points.iter().map(of).min().unwrap_or(u64::MAX);
        let quiet_queue = quiet(|p| p.quiet().queue_bytes);
        let limit = spec.limit_bytes.unwrap_or(u64::MAX);
        // Above it a frame may go to the private buffer or to the pool, and which must be known.
        let private = if spec.private_bytes == 0 { u64::MAX } else { spec.private_bytes };
        QueueBuffer {
            bytes: 0,
            private_used: 0,
            shared_used: 0,
            private_capacity: spec.private_bytes,
            calm: quiet_queue.min(limit).min(private),
            limit,
            alpha_q16: spec.alpha_q16.unwrap_or(u64::MAX),
            pool,
            full: DropReason::BufferFull,
            quiet_queue,
            quiet_pool: quiet(|p| p.quiet().pool_bytes),
            arrival_points: points.iter().any(Point::acts_at_arrival),
            marks: 0,
            points,
        }
    }

    /// A host NIC's queue: a buffer of its own, no pool, no congestion point.
    pub(crate) fn nic(capacity: Option<u64>) -> Self {
        QueueBuffer {
            bytes: 0,
            private_used: 0,
            shared_used: 0,
            private_capacity: capacity.unwrap_or(u64::MAX),
            calm: capacity.unwrap_or(u64::MAX),
            limit: u64::MAX,
            alpha_q16: u64::MAX,
            pool: 0,
            full: DropReason::NicBuffer,
            quiet_queue: u64::MAX,
            quiet_pool: u64::MAX,
            arrival_points: false,
            marks: 0,
            points: Vec::new(),
        }
    }

    /// Whether its congestion points do nothing but mark, and have no timers: then they may be asked
    /// later than the moment they are asked about.
    pub(crate) fn only_marks(&self) -> bool {
        self.points.iter().all(|p| !matches!(p, Point::Custom(_)))
    }

    /// Whether a point on this queue acts on packets that arrive.
    #[inline(always)]
    pub(crate) fn watches_arrivals(&self) -> bool {
        self.arrival_points
    }

    /// Bytes on the wire that may wait before the port must keep an account; `None`: none may.
    /// `largest` is the largest packet on the wire: of the one being sent, a part is gone.
    pub(crate) fn calm_wire_bytes(&self, largest: u16) -> Option<u64> {
        self.calm.checked_sub(u64::from(largest)).filter(|&calm| calm >= u64::from(largest))
    }

    /// It has a private buffer, and uses no pool before that is full.
    pub(crate) fn has_private(&self) -> bool {
        self.private_capacity > 0
    }

    /// Whether a frame of `size` is admitted while `used` bytes of the pool are in use: `Ok(true)` to
    /// the pool, `Ok(false)` to the private buffer. What is admitted at too high a count is admitted
    /// at the true one.
    #[inline(always)]
    pub fn admit(&self, pool: &Pool, used: u64, size: u64) -> Result<bool, DropReason> {
        if self.bytes + size > self.limit {
            return Err(DropReason::QueueLimit);
        }
        if self.private_used + size <= self.private_capacity {
            return Ok(false);
        }
        if used + size > pool.capacity {
            return Err(self.full);
        }
        let free = pool.capacity - used;
        let part = u128::from(self.shared_used) << 16;
        if self.alpha_q16 != u64::MAX && part >= u128::from(self.alpha_q16) * u128::from(free) {
            return Err(DropReason::DynamicThreshold);
        }
        Ok(true)
    }

    /// Counts an admitted frame.
    #[inline(always)]
    pub fn add(&mut self, pool: &mut Pool, size: u64, shared: bool) {
        let in_pool = if shared { size } else { 0 };
        self.bytes += size;
        self.shared_used += in_pool;
        self.private_used += size - in_pool;
        pool.used += in_pool;
    }

    /// Takes a frame that has left out of the count.
    #[inline(always)]
    pub fn remove(&mut self, pool: &mut Pool, size: u64, shared: bool) {
        let in_pool = if shared { size } else { 0 };
        self.bytes -= size;
        self.shared_used -= in_pool;
        self.private_used -= size - in_pool;
        pool.used -= in_pool;
    }

    /// Whether the congestion points must be asked.
    #[inline(always)]
    pub(crate) fn loud(&self, pool: &Pool) -> bool {
        self.bytes > self.quiet_queue || pool.used > self.quiet_pool
    }

    /// Asks every congestion point about a packet whose transmission starts. True if it is to be
    /// marked now.
    #[inline(never)]
    pub fn on_departure(&mut self, pool: &Pool, port: &PortView, packet: &PacketView) -> bool {
        self.ask(pool, port, packet, Point::on_departure)
    }

    /// Asks every congestion point about a packet that was admitted and counted. True if it is to be
    /// marked now.
    #[inline(never)]
    pub fn on_arrival(&mut self, pool: &Pool, port: &PortView, packet: &PacketView) -> bool {
        self.ask(pool, port, packet, Point::on_arrival)
    }

    fn ask(
        &mut self,
        pool: &Pool,
        port: &PortView,
        packet: &PacketView,
        question: fn(&mut Point, &QueueView) -> Verdict,
    ) -> bool {
        let view = packet.in_queue(port, self.bytes, pool.used);
        // Every point is asked, so that each one's state and random stream see every packet.
        // Of the verdict, marks are carried out; nothing carries notifications or telemetry yet.
        let mark = self.points.iter_mut().fold(false, |m, p| question(p, &view).mark | m);
        let marks = mark && packet.ect && !packet.ce;
        self.marks += u64::from(marks);
        marks
    }

    /// The accounting identity: what is in the queue lies either in its private buffer or the pool.
    pub(crate) fn consistent(&self) -> bool {
        self.bytes == self.private_used + self.shared_used
            && self.private_used <= self.private_capacity
    }
}
