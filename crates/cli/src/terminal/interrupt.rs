//! Ctrl-C and termination signals: the first one asks the command to stop at the next safe point.

use anyhow::anyhow;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Installs the signal handler. The first signal only sets a flag. The second one ends the process
/// at once and loses at most the open transaction.
pub fn catch() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(2);
        }
    })
    .map_err(|error| anyhow!("cannot handle signals: {error}"))
}

/// Whether a signal has asked the command to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
