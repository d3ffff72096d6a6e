//! The two loads: the classic hold model, and packets over links.

use std::collections::VecDeque;

use crate::{NEVER, Pending, key, slot_of, time_of};

/// A splitmix64 generator (Steele, Lea and Flood, 2014): small, and cheap beside what is measured.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Uniform over all of `u64`.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform over 0 to `bound - 1`.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// Uniform over [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// How far ahead of now a hold schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Increment {
    /// Exponential, mean 1 us.
    Exponential,
    /// Bimodal, after Roenngren and Ayani, "A comparative study of parallel and sequential priority
    /// queue algorithms" (ACM TOMACS 7(2), 1997): uniform over [0, 0.95238) us, and 9.5238 us more
    /// for one in ten.
    Bimodal,
}

impl Increment {
    /// Both, for tables.
    pub const ALL: [Increment; 2] = [Increment::Exponential, Increment::Bimodal];

    /// Name in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Increment::Exponential => "exponential",
            Increment::Bimodal => "bimodal",
        }
    }

    /// One increment, picoseconds, at least 1.
    fn draw(self, random: &mut Random) -> u64 {
        let us = match self {
            Increment::Exponential => -libm::log(1.0 - random.unit()),
            Increment::Bimodal => {
                let base = 0.952_38 * random.unit();
                if random.unit() < 0.1 { base + 9.523_8 } else { base }
            }
        };
        (us * 1e6) as u64 + 1
    }
}

/// Increments drawn ahead of time, so that drawing them is not measured.
const DRAWN: usize = 1 << 14;

/// The classic hold model (Vaucher and Duval, 1975): a fixed number of pending events; the earliest
/// is taken, and its slot's next event put at a random distance after it.
#[derive(Debug)]
pub struct Hold<Q> {
    queue: Q,
    increments: Vec<u64>,
    next: usize,
}

impl<Q: Pending> Hold<Q> {
    /// `pending` slots, each with its first event one increment after 0.
    pub fn new(pending: usize, increment: Increment, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut queue = Q::new(pending);
        for slot in 0..pending {
            queue.push(key(increment.draw(&mut random), slot));
        }
        let increments = (0..DRAWN).map(|_| increment.draw(&mut random)).collect();
        Hold { queue, increments, next: 0 }
    }

    /// One hold; the key taken.
    #[inline]
    pub fn step(&mut self) -> u64 {
        let now = self.queue.min();
        let increment = self.increments[self.next & (DRAWN - 1)];
        self.next = self.next.wrapping_add(1);
        self.queue.replace_min(key(time_of(now) + increment, slot_of(now)));
        now
    }
}

/// Propagation delay of every link, picoseconds: 1 us.
const PROPAGATION: u64 = 1_000_000;

/// Picoseconds a byte at 100 Gb/s.
const BYTE: u64 = 80;

/// Bytes of a data packet, and of an acknowledgement.
const SIZES: [u64; 2] = [1500, 40];

/// What waits in a link's ring.
#[derive(Clone, Copy, Debug)]
struct Packet {
    /// When it arrives at the link's far end, picoseconds.
    arrival: u64,
    /// Bytes.
    size: u64,
}

/// What the structure holds of a link's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// The first packet to arrive on each link: the others wait in the link's ring.
    PerLink,
    /// Every packet.
    PerPacket,
}

/// Packets over links: the earliest arrival is taken off its link, and the packet put on another
/// link at random, where it leaves when the link is free and arrives a propagation delay later.
#[derive(Debug)]
pub struct Replay<Q> {
    queue: Q,
    rings: Vec<VecDeque<Packet>>,
    /// When each link's transmitter falls idle, picoseconds.
    idle_at: Vec<u64>,
    random: Random,
    entries: Entries,
}

impl<Q: Pending> Replay<Q> {
    /// `packets` packets, every other one data, put on random links at random times of the first
    /// propagation delay.
    ///
    /// # Panics
    /// If there are fewer than two links, or `entries` is per packet and the structure can only
    /// hold one event a slot.
    pub fn new(links: usize, packets: usize, entries: Entries, seed: u64) -> Self {
        assert!(links >= 2, "a packet needs another link to go to");
        assert!(entries == Entries::PerLink || !Q::ONE_PER_SLOT, "{} has one a slot", Q::NAME);
        let mut random = Random::new(seed);
        let mut starts: Vec<u64> =
            (0..packets).map(|_| random.below(PROPAGATION as usize) as u64).collect();
        starts.sort_unstable();
        let mut replay = Replay {
            queue: Q::new(links),
            rings: vec![VecDeque::new(); links],
            idle_at: vec![0; links],
            random,
            entries,
        };
        for (index, start) in starts.into_iter().enumerate() {
            let link = replay.random.below(links);
            replay.send(link, start, SIZES[index % SIZES.len()]);
        }
        replay
    }

    /// Puts a packet on a link at `now`.
    #[inline]
    fn send(&mut self, link: usize, now: u64, size: u64) {
        let idle_at = &mut self.idle_at[link];
        *idle_at = now.max(*idle_at) + size * BYTE;
        let arrival = *idle_at + PROPAGATION;
        let ring = &mut self.rings[link];
        let first = ring.is_empty();
        ring.push_back(Packet { arrival, size });
        if first || self.entries == Entries::PerPacket {
            self.queue.push(key(arrival, link));
        }
    }

    /// One arrival; its key, or [`NEVER`] where there are no packets.
    #[inline]
    pub fn step(&mut self) -> u64 {
        let now = self.queue.min();
        if now == NEVER {
            return NEVER;
        }
        let link = slot_of(now);
        let Some(packet) = self.rings[link].pop_front() else { return NEVER };
        match (self.entries, self.rings[link].front()) {
            (Entries::PerLink, Some(next)) => self.queue.replace_min(key(next.arrival, link)),
            _ => {
                self.queue.pop();
            }
        }
        // Any link but this one.
        let other = self.random.below(self.rings.len() - 1);
        let other = other + usize::from(other >= link);
        self.send(other, packet.arrival, packet.size);
        now
    }
}
