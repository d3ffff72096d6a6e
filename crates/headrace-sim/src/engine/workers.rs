//! The threads that run the parts: one each, the first on the caller's own.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::scope;

use headrace_cc::units::Time;

use super::parallel::Parts;
use super::part::World;

/// Runs epochs of all parts.
pub(super) struct Workers<'a> {
    parts: &'a Parts,
    world: World<'a>,
    /// Bounds to each other thread.
    orders: Vec<Sender<Time>>,
    /// One answer from each.
    done: Receiver<()>,
}

/// Gives `act` the threads that run `parts`; they end with it.
pub(super) fn with_workers<T>(
    parts: &Parts,
    world: World<'_>,
    act: impl FnOnce(&Workers<'_>) -> T,
) -> T {
    scope(|scope| {
        let (report, done) = channel();
        let mut orders = Vec::new();
        for index in 1..parts.count() {
            let (order, bounds) = channel();
            orders.push(order);
            let report = report.clone();
            scope.spawn(move || {
                while let Ok(bound) = bounds.recv() {
                    let _report = Report(&report);
                    parts.run_epoch(index, bound, world);
                }
            });
        }
        act(&Workers { parts, world, orders, done })
    })
}

impl Workers<'_> {
    /// Handles every event before `bound`.
    pub(super) fn run_epoch(&self, bound: Time) {
        for order in &self.orders {
            order.send(bound).expect("a panic ends the run");
        }
        self.parts.run_epoch(0, bound, self.world);
        for _ in &self.orders {
            self.done.recv().expect("this end of the channel has a sender too");
        }
        self.parts.assert_sound();
    }
}

/// Says that a thread is done with an epoch, also when it panics.
struct Report<'a>(&'a Sender<()>);

impl Drop for Report<'_> {
    fn drop(&mut self) {
        // Nobody listens any more when the caller's own thread has panicked.
        let _ = self.0.send(());
    }
}
