//! Whether this process may share work between threads.

use std::process;
use std::sync::OnceLock;

/// The process that loaded the module.
static LOADED_BY: OnceLock<u32> = OnceLock::new();

/// Remembers this process. Called when the module is loaded.
pub(super) fn remember_process() {
    LOADED_BY.get_or_init(process::id);
}

/// Whether threads may be used. A forked child has rayon's pool but not its threads, and would wait
/// for them for ever; so every process but the one that loaded the module computes alone.
pub(super) fn allowed() -> bool {
    LOADED_BY.get() == Some(&process::id()) && rayon::current_num_threads() > 1
}
