//! Ctrl-C and termination: asked for once, the command ends at the next safe place.

use crate::run::failure::Failure;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on the signals are only noted. A second one ends the process at once, which loses no
/// more than the transaction that is open.
pub fn catch() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(2);
        }
    })
    .map_err(|error| anyhow::anyhow!("cannot handle signals: {error}").into())
}

/// Whether the command was asked to end.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
