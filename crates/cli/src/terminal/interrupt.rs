//! Ctrl-C and termination signals: the first one asks the command to stop at the next safe point.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Installs the signal handlers. The first signal only sets a flag. The second one ends the process
/// at once and loses at most the open transaction.
///
/// A signal that was ignored when the process began stays ignored: `nohup` does so with hangups,
/// and a shell with Ctrl-C for what it runs in the background.
pub fn catch() -> anyhow::Result<()> {
    install().map_err(|error| anyhow::anyhow!("cannot handle signals: {error}"))
}

#[cfg(unix)]
fn install() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;
    let ignored = ignored_signals();
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_in(ignored, *signal)) {
        // Those that are registered first are called first.
        flag::register_conditional_shutdown(signal, 2, Arc::clone(&ASKED))?;
        flag::register(signal, Arc::clone(&ASKED))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn install() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(2);
        }
    })
}

/// The signals that this process ignores, a bit each. None are known where there is no `/proc`.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default()
}

#[cfg(unix)]
fn is_in(signals: u64, signal: i32) -> bool {
    signals >> (signal - 1) & 1 == 1
}

/// Whether a signal has asked the command to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
