//! Converts times to their stored form, whole seconds since 1970, and back.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The present time in whole seconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// The whole seconds since 1970, rounded down and negative before 1970. Times out of range become
/// the nearest number in range.
pub(crate) fn seconds_of(time: SystemTime) -> i64 {
    let whole = |since: Duration| i64::try_from(since.as_secs());
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since).unwrap_or(i64::MAX),
        Err(before) => {
            let before = before.duration();
            let fraction = i64::from(before.subsec_nanos() > 0);
            whole(before).map_or(i64::MIN, |seconds| (-seconds).saturating_sub(fraction))
        }
    }
}

/// The time `seconds` after 1970, or the nearest time that the operating system can represent.
pub(crate) fn time_of(seconds: i64) -> SystemTime {
    let at = |distance: u64| {
        if seconds < 0 {
            UNIX_EPOCH.checked_sub(Duration::from_secs(distance))
        } else {
            UNIX_EPOCH.checked_add(Duration::from_secs(distance))
        }
    };
    let wanted = seconds.unsigned_abs();
    at(wanted).unwrap_or_else(|| {
        // Finds the greatest distance that the system can represent, bit by bit.
        let mut greatest = 0;
        for bit in (0..u64::BITS).rev() {
            let next = greatest | 1 << bit;
            if next <= wanted && at(next).is_some() {
                greatest = next;
            }
        }
        at(greatest).unwrap_or(UNIX_EPOCH)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_down_to_seconds_also_before_1970() {
        let (second, nano) = (Duration::from_secs(1), Duration::from_nanos(1));
        for (time, seconds) in [
            (UNIX_EPOCH, 0),
            (UNIX_EPOCH + nano, 0),
            (UNIX_EPOCH + second - nano, 0),
            (UNIX_EPOCH + second, 1),
            (UNIX_EPOCH - nano, -1),
            (UNIX_EPOCH - second, -1),
            (UNIX_EPOCH - second - nano, -2),
        ] {
            assert_eq!(seconds_of(time), seconds, "{time:?}");
        }
    }

    #[test]
    fn every_number_of_seconds_becomes_a_time() {
        for seconds in [0, 1, -1, 1 << 40, -(1 << 40)] {
            assert_eq!(seconds_of(time_of(seconds)), seconds);
        }
        assert!(time_of(i64::MIN) < time_of(-(1 << 40)));
        assert!(time_of(1 << 40) < time_of(i64::MAX));
        assert!(seconds_of(time_of(i64::MIN)) < 0 && seconds_of(time_of(i64::MAX)) > 0);
    }
}
