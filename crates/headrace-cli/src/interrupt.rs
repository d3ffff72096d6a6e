//! Ctrl-C, and the signals that end a process: the first is noted, and heeded where a run can be
//! left; the second ends the process where it stands.

use std::sync::atomic::{AtomicBool, Ordering};

/// Exit status of a process that a second interruption ended: 128 + SIGINT, as shells count.
const ENDED: i32 = 130;

static STOP: AtomicBool = AtomicBool::new(false);

/// From here on, an interruption is noted instead of ending the process; another one ends it.
pub fn watch() {
    // A second handler cannot be set; the first one does the same.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(ENDED);
        }
    });
}

/// Whether there was one.
pub fn requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// The note itself.
pub fn flag() -> &'static AtomicBool {
    &STOP
}
