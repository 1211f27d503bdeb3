//! The limit of the size of files, as `ulimit -f` sets it.

/// Makes a write beyond the limit fail as any write can, with `File too large`. Without this, the
/// system ends the process by a signal, and no message says why.
#[cfg(unix)]
pub(crate) fn catch() -> anyhow::Result<()> {
    use signal_hook::{consts::SIGXFSZ, flag};
    // Nobody asks whether the signal came: the write says it.
    let ignored = std::sync::Arc::default();
    flag::register(SIGXFSZ, ignored)
        .map(|_| ())
        .map_err(|error| anyhow::anyhow!("cannot handle signals: {error}"))
}

#[cfg(not(unix))]
pub(crate) fn catch() -> anyhow::Result<()> {
    Ok(())
}
