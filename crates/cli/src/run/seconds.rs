//! Times as the command prints and reads them: whole seconds since 1970, negative before.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The whole seconds since 1970, rounded down.
pub(crate) fn seconds_of(time: SystemTime) -> i64 {
    let whole = |since: Duration| i64::try_from(since.as_secs());
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since).unwrap_or(i64::MAX),
        Err(before) => {
            let before = before.duration();
            let begun = i64::from(before.subsec_nanos() > 0);
            whole(before).map_or(i64::MIN, |seconds| (-seconds).saturating_sub(begun))
        }
    }
}

/// The time this many seconds after 1970; `None` if the operating system has no such time.
pub(crate) fn time_of(seconds: i64) -> Option<SystemTime> {
    let distance = Duration::from_secs(seconds.unsigned_abs());
    if seconds < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) }
}
