//! The locks of a disk in memory: ranges of bytes, shared or exclusive, as those of files are.

use std::ops::{Bound, Range};

/// An opening of a disk, to which locks belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opening(u64);

#[derive(Debug)]
struct Lock {
    opening: Opening,
    bytes: Range<u64>,
    is_exclusive: bool,
}

/// All locks of a disk.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    taken: Vec<Lock>,
    openings: u64,
}

/// The bytes between two bounds.
pub(crate) fn range(start: Bound<u64>, end: Bound<u64>) -> Range<u64> {
    let start = match start {
        Bound::Included(start) => start,
        Bound::Excluded(before) => before + 1,
        Bound::Unbounded => 0,
    };
    let end = match end {
        Bound::Included(last) => last + 1,
        Bound::Excluded(end) => end,
        Bound::Unbounded => u64::MAX,
    };
    start..end
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

impl Locks {
    pub(crate) fn new_opening(&mut self) -> Opening {
        self.openings += 1;
        Opening(self.openings)
    }

    /// Takes a lock, and returns whether nobody was in the way. A lock of the same opening is
    /// replaced.
    pub(crate) fn take(&mut self, opening: Opening, bytes: Range<u64>, is_exclusive: bool) -> bool {
        let is_in_the_way = |lock: &Lock| {
            lock.opening != opening
                && (lock.is_exclusive || is_exclusive)
                && overlap(&lock.bytes, &bytes)
        };
        if self.taken.iter().any(is_in_the_way) {
            return false;
        }
        self.unlock(opening, &bytes);
        self.taken.push(Lock { opening, bytes, is_exclusive });
        true
    }

    /// Unlocks bytes, which may be a part of those that were locked at once.
    pub(crate) fn unlock(&mut self, opening: Opening, bytes: &Range<u64>) {
        let cut = |lock: Lock| {
            if lock.opening != opening || !overlap(&lock.bytes, bytes) {
                return vec![lock];
            }
            let rest = [lock.bytes.start..bytes.start, bytes.end..lock.bytes.end];
            let rest = rest.into_iter().filter(|rest| rest.start < rest.end);
            rest.map(|bytes| Lock { bytes, ..lock }).collect()
        };
        self.taken = std::mem::take(&mut self.taken).into_iter().flat_map(cut).collect();
    }

    /// Releases all locks of an opening, as closing a file does.
    pub(crate) fn release(&mut self, opening: Opening) {
        self.taken.retain(|lock| lock.opening != opening);
    }

    pub(crate) fn are_taken_by_others(&self, opening: Opening, bytes: &Range<u64>) -> bool {
        let mut others = self.taken.iter().filter(|lock| lock.opening != opening);
        others.any(|lock| overlap(&lock.bytes, bytes))
    }

    pub(crate) fn are_taken(&self, bytes: Range<u64>) -> bool {
        self.taken.iter().any(|lock| overlap(&lock.bytes, &bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_of_one_opening_keep_others_out() {
        let mut locks = Locks::default();
        let (one, other) = (locks.new_opening(), locks.new_opening());
        assert!(locks.take(one, 0..10, false) && locks.take(other, 5..15, false));
        assert!(!locks.take(one, 12..13, true) && !locks.take(other, 9..10, true));
        assert!(locks.are_taken_by_others(one, &(14..20)));
        assert!(!locks.are_taken_by_others(other, &(14..20)));
        locks.unlock(one, &(5..10));
        assert!(locks.take(other, 9..10, true) && !locks.take(other, 4..5, true));
        locks.release(one);
        assert!(locks.take(other, 0..20, true) && !locks.take(one, 19..30, false));
    }
}
