//! Ctrl-C, and the signals that end a process: noted, and heeded where a run can be left.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// From here on, an interruption is noted instead of ending the process.
pub fn watch() {
    // A second handler cannot be set; the first one does the same.
    let _ = ctrlc::set_handler(|| STOP.store(true, Ordering::Relaxed));
}

/// Whether there was one.
pub fn requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// The note itself.
pub fn flag() -> &'static AtomicBool {
    &STOP
}
