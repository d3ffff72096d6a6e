//! Parts on threads of their own.
//!
//! A part publishes a clock: no event of it is earlier. It may handle everything before the least of
//! its neighbours' clocks, each plus the least delay of the links from there, because nothing can
//! come in before that. Packets go by mail, and a clock is published after the mail that it vouches
//! for. Neighbours wait for nobody else, so there is no barrier but at the end of an epoch, when the
//! run itself has something to do.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use headrace_cc::units::Time;

use super::part::{Part, World};
use crate::net::border::Mail;

/// All parts, and what lies between them.
pub(super) struct Parts {
    parts: Vec<Mutex<Part>>,
    clocks: Vec<Clock>,
    /// `boxes[from][to]`.
    boxes: Vec<Vec<Mutex<Mail>>>,
    /// Of each part: the parts that have links to it, with the least delay of those.
    neighbours: Vec<Vec<(usize, Time)>>,
    /// A part's thread has panicked: nobody should wait for it.
    failed: AtomicBool,
}

/// Every part, held between epochs.
pub(super) type Held<'a> = Vec<MutexGuard<'a, Part>>;

/// Alone in its cache lines.
#[repr(align(128))]
struct Clock(AtomicU64);

/// How often a thread looks before it lets another one run.
const PATIENCE: u32 = 200;

impl Parts {
    /// `neighbours` as in [`Parts`].
    pub(super) fn new(parts: Vec<Part>, neighbours: Vec<Vec<(usize, Time)>>) -> Self {
        let count = parts.len();
        let row = |_| (0..count).map(|_| Mutex::default()).collect();
        Parts {
            clocks: (0..count).map(|_| Clock(AtomicU64::new(0))).collect(),
            boxes: (0..count).map(row).collect(),
            parts: parts.into_iter().map(Mutex::new).collect(),
            neighbours,
            failed: AtomicBool::new(false),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.parts.len()
    }

    /// Takes every part in hand, between epochs.
    pub(super) fn hold(&self) -> Held<'_> {
        self.parts.iter().map(|part| part.lock().expect("a panic ends the run")).collect()
    }

    /// Least delay between parts; [`Time::NEVER`]: there is one part.
    pub(super) fn least_delay(&self) -> Time {
        let delays = self.neighbours.iter().flatten().map(|&(_, delay)| delay);
        delays.min().unwrap_or(Time::NEVER)
    }

    /// One part's share of an epoch: handles every event before `bound`.
    pub(super) fn run_epoch(&self, index: usize, bound: Time, world: World<'_>) {
        let mut part = self.parts[index].lock().expect("a panic ends the run");
        if self.count() == 1 {
            return part.run_to(bound, world);
        }
        let _alarm = Alarm(&self.failed);
        let mut mail = Mail::default();
        let mut clock = self.clocks[index].read();
        let (mut safe, mut waited) = (Time::ZERO, 0);
        while clock < bound {
            let reach = self.safe(index);
            if reach > safe {
                safe = reach;
                self.collect(index, &mut part, &mut mail);
            }
            part.run_to(safe.min(bound), world);
            let next = part.next_event().min(safe).min(bound);
            if next > clock {
                self.post(index, &mut part, next);
                clock = next;
                self.clocks[index].publish(clock);
                waited = 0;
            } else {
                waited += 1;
                self.wait(waited);
            }
        }
    }

    /// Nothing comes in before this.
    fn safe(&self, index: usize) -> Time {
        let clocks = self.neighbours[index]
            .iter()
            .map(|&(neighbour, delay)| self.clocks[neighbour].read().saturating_add(delay));
        clocks.min().unwrap_or(Time::NEVER)
    }

    /// Takes in the mail for a part. Flows may be announced by parts that are no neighbours.
    fn collect(&self, index: usize, part: &mut Part, mail: &mut Mail) {
        for from in (0..self.count()).filter(|&from| from != index) {
            // What is taken out is swapped for an empty one, so that both keep their memory.
            std::mem::swap(mail, &mut *lock(&self.boxes[from][index]));
            part.receive_mail(mail);
        }
    }

    /// Sends what has left a part before `clock`.
    fn post(&self, index: usize, part: &mut Part, clock: Time) {
        part.fabric.send_mail(clock);
        for (to, mail) in part.fabric.outgoing.iter_mut().enumerate() {
            if !mail.is_empty() {
                lock(&self.boxes[index][to]).append(mail);
            }
        }
    }

    /// Between epochs: brings all mail to where it goes.
    pub(super) fn deliver_all(&self) {
        let mut mail = Mail::default();
        for index in 0..self.count() {
            let mut part = self.parts[index].lock().expect("a panic ends the run");
            self.collect(index, &mut part, &mut mail);
        }
    }

    /// An epoch begins in which no event of any part is before `next`.
    pub(super) fn begin_epoch(&self, next: Time) {
        self.clocks.iter().for_each(|clock| clock.publish(next));
    }

    /// Panics if the thread of a part has.
    pub(super) fn assert_sound(&self) {
        assert!(!self.failed.load(Ordering::Relaxed), "another part of the simulation failed");
    }

    #[cold]
    fn wait(&self, waited: u32) {
        self.assert_sound();
        if waited < PATIENCE {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

impl Clock {
    fn read(&self) -> Time {
        Time::from_ps(self.0.load(Ordering::Acquire))
    }

    fn publish(&self, time: Time) {
        self.0.store(time.ps(), Ordering::Release);
    }
}

fn lock(mail: &Mutex<Mail>) -> MutexGuard<'_, Mail> {
    mail.lock().expect("a panic ends the run")
}

/// Tells the others when a part's thread unwinds.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
