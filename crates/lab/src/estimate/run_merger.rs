//! Merges sorted runs while reading them, with a tree of losers (Knuth, *The art of computer
//! programming*, volume 3, section 5.4.1): one comparison for each doubling of the number of runs.

use super::external_sort::{RunFile, SortedRun};
use std::cmp::Ordering;
use std::sync::mpsc::sync_channel;
use twindex::Overlap;
use twindex::Result;

/// The most bytes to buffer for each run. More would not make reading faster.
const MOST: usize = 1 << 20;

/// Yields all hashes of some runs in ascending order, piece by piece.
pub(super) struct RunMerger<'r> {
    runs: &'r RunFile,
    cursors: Vec<RunCursor>,
    /// For each inner node, the next hash of the run that lost there, and the number of that run;
    /// entry 0 is the winner. A run that has ended has the greatest possible hash.
    tree: Vec<(u64, usize)>,
    /// The number of hashes not yet returned.
    left: u64,
    /// The number of hashes that are read at once from a run, and of a piece.
    buffer: usize,
    bytes: Vec<u8>,
}

/// The part of a run that is not yet merged.
struct RunCursor {
    /// The position of the first hash that is not read, and the number of unread hashes.
    next: u64,
    left: u64,
    hashes: Vec<u64>,
    at: usize,
}

impl<'r> RunMerger<'r> {
    /// The fewest bytes to buffer for each run.
    pub(super) const LEAST: usize = 16 << 10;

    /// Creates a merger that takes `buffer` bytes for each run, and twice that besides.
    pub(super) fn new(runs: &'r RunFile, some: &[SortedRun], buffer: usize) -> Result<Self> {
        let buffer = buffer.min(MOST) / 8;
        let cursor = |run: &SortedRun| RunCursor {
            next: run.start,
            left: run.hashes,
            hashes: Vec::new(),
            at: 0,
        };
        let mut merging = Self {
            runs,
            cursors: some.iter().map(cursor).collect(),
            tree: vec![(u64::MAX, 0); some.len()],
            left: some.iter().map(|run| run.hashes).sum(),
            buffer,
            bytes: Vec::new(),
        };
        merging.begin()?;
        Ok(merging)
    }

    /// The bytes of memory in use.
    pub(super) fn memory(&self) -> usize {
        8 * self.buffer * (self.cursors.len() + 2)
    }

    /// Fills the tree by playing all games once.
    fn begin(&mut self) -> Result<()> {
        let count = self.cursors.len();
        let mut winners = vec![(u64::MAX, 0); 2 * count];
        for run in 0..count {
            winners[count + run] = (self.advance(run)?, run);
        }
        for node in (1..count).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            (winners[node], self.tree[node]) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        }
        if count > 0 {
            self.tree[0] = winners[1];
        }
        Ok(())
    }

    /// The next hash of a run, or the greatest hash if the run has ended.
    #[inline]
    fn advance(&mut self, run: usize) -> Result<u64> {
        let cursor = &mut self.cursors[run];
        if let Some(hash) = cursor.hashes.get(cursor.at) {
            cursor.at += 1;
            return Ok(*hash);
        }
        self.refill(run)
    }

    #[cold]
    fn refill(&mut self, run: usize) -> Result<u64> {
        let cursor = &mut self.cursors[run];
        let count = cursor.left.min(self.buffer as u64);
        if count == 0 {
            cursor.hashes = Vec::new();
            cursor.at = 0;
            return Ok(u64::MAX);
        }
        self.runs.read(cursor.next, count as usize, &mut self.bytes, &mut cursor.hashes)?;
        cursor.next += count;
        cursor.left -= count;
        cursor.at = 1;
        Ok(cursor.hashes.first().copied().unwrap_or(u64::MAX))
    }

    /// Replaces `out` by the next piece. At the end the piece is empty and the result is `false`.
    pub(super) fn next(&mut self, out: &mut Vec<u64>) -> Result<bool> {
        out.clear();
        let count = self.left.min(self.buffer as u64) as usize;
        out.reserve_exact(count);
        for _ in 0..count {
            let (hash, run) = self.tree[0];
            out.push(hash);
            if hash == u64::MAX {
                // All remaining hashes are the greatest one, and ended runs look the same.
                out.resize(count, u64::MAX);
                break;
            }
            let mut winner = (self.advance(run)?, run);
            let mut node = (self.cursors.len() + run) / 2;
            while node > 0 {
                let other = &mut self.tree[node];
                if other.0 < winner.0 {
                    std::mem::swap(other, &mut winner);
                }
                node /= 2;
            }
            self.tree[0] = winner;
        }
        self.left -= count as u64;
        Ok(count > 0)
    }
}

/// Counts the elements of two sides and the shared ones, as sets and as multisets. The first side
/// is merged on a separate thread. Reports the number of hashes passed.
pub(super) fn count(
    mut first: RunMerger<'_>,
    mut second: RunMerger<'_>,
    tell: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<(Overlap, Overlap)> {
    std::thread::scope(|scope| {
        // One piece is being made, one is in use, and two are queued.
        let (sender, receiver) = sync_channel(2);
        scope.spawn(move || {
            loop {
                let mut piece = Vec::new();
                let next = first.next(&mut piece);
                let ended = !matches!(next, Ok(true));
                // The receiver stops listening only after an error.
                if sender.send(next.map(|_| piece)).is_err() || ended {
                    return;
                }
            }
        });
        let mut passed = 0;
        let mut first = CountedElements::of(|piece: &mut Vec<u64>| {
            *piece = receiver.recv().unwrap_or_else(|_| Ok(Vec::new()))?;
            Ok(())
        });
        let mut second = CountedElements::of(|piece: &mut Vec<u64>| second.next(piece).map(|_| ()));
        let none = Overlap { a: 0, b: 0, shared: 0 };
        let (mut sets, mut multisets) = (none, none);
        let (mut x, mut y) = (first.next()?, second.next()?);
        loop {
            // A finished side compares greater than any hash.
            let order = match (x, y) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(x), Some(y)) => x.0.cmp(&y.0),
            };
            let of_a = x.filter(|_| order != Ordering::Greater).map_or(0, |x| x.1);
            let of_b = y.filter(|_| order != Ordering::Less).map_or(0, |y| y.1);
            multisets.a += of_a;
            multisets.b += of_b;
            multisets.shared += of_a.min(of_b);
            sets.a += u64::from(of_a > 0);
            sets.b += u64::from(of_b > 0);
            sets.shared += u64::from(of_a.min(of_b) > 0);
            if of_a > 0 {
                x = first.next()?;
            }
            if of_b > 0 {
                y = second.next()?;
            }
            if multisets.a + multisets.b >= passed + TOLD {
                tell(multisets.a + multisets.b - passed)?;
                passed = multisets.a + multisets.b;
            }
        }
        Ok((sets, multisets))
    })
}

/// The number of hashes between two reports of progress.
const TOLD: u64 = 1 << 20;

/// Yields the elements of a multiset with their counts.
struct CountedElements<F> {
    fill: F,
    piece: Vec<u64>,
    at: usize,
}

impl<F: FnMut(&mut Vec<u64>) -> Result<()>> CountedElements<F> {
    /// Reads ascending hashes from `fill`, which gives them piece by piece and an empty piece at
    /// the end.
    const fn of(fill: F) -> Self {
        Self { fill, piece: Vec::new(), at: 0 }
    }

    fn peek(&mut self) -> Result<Option<u64>> {
        if self.at == self.piece.len() {
            (self.fill)(&mut self.piece)?;
            self.at = 0;
        }
        Ok(self.piece.get(self.at).copied())
    }

    fn next(&mut self) -> Result<Option<(u64, u64)>> {
        let Some(hash) = self.peek()? else { return Ok(None) };
        let mut count = 0;
        while self.peek()? == Some(hash) {
            count += 1;
            self.at += 1;
        }
        Ok(Some((hash, count)))
    }
}

#[cfg(test)]
#[path = "run_merger_tests.rs"]
mod tests;
