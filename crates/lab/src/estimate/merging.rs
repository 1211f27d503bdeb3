//! Merging sorted runs as they are read, by a tree of losers (Knuth, *The art of computer programming*, volume 3,
//! section 5.4.1): a comparison for each doubling of the number of runs.

use super::external::{Run, Runs};
use std::cmp::Ordering;
use std::sync::mpsc::sync_channel;
use twindex::Overlap;
use twindex::Result;

/// More bytes for each run make reading no faster.
const MOST: usize = 1 << 20;

/// All hashes of some runs in ascending order, piece by piece.
pub(super) struct Merging<'r> {
    runs: &'r Runs,
    cursors: Vec<Cursor>,
    /// Of each inner node the next hash of the run that lost there, and the run; at 0 that of the winner.
    /// A run that has ended stands there with the greatest hash there is.
    tree: Vec<(u64, usize)>,
    /// Hashes that are still to come.
    left: u64,
    /// Hashes of a run that are read at once, and of a piece.
    buffer: usize,
    bytes: Vec<u8>,
}

/// What of a run is still to come.
struct Cursor {
    /// The first hash that is not read, and how many there are.
    next: u64,
    left: u64,
    hashes: Vec<u64>,
    at: usize,
}

impl<'r> Merging<'r> {
    /// The fewest bytes for each run with which reading is worthwhile.
    pub(super) const LEAST: usize = 16 << 10;

    /// A merge that takes `buffer` bytes for each run, and twice that.
    pub(super) fn new(runs: &'r Runs, some: &[Run], buffer: usize) -> Result<Self> {
        let buffer = buffer.min(MOST) / 8;
        let cursor =
            |run: &Run| Cursor { next: run.start, left: run.hashes, hashes: Vec::new(), at: 0 };
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

    /// Bytes that are in use.
    pub(super) fn memory(&self) -> usize {
        8 * self.buffer * (self.cursors.len() + 2)
    }

    /// Plays all games once.
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

    /// The next hash of a run; the greatest there is if it has ended.
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

    /// Replaces `out` by the next piece; `false` and an empty one at the end.
    pub(super) fn next(&mut self, out: &mut Vec<u64>) -> Result<bool> {
        out.clear();
        let count = self.left.min(self.buffer as u64) as usize;
        out.reserve_exact(count);
        for _ in 0..count {
            let (hash, run) = self.tree[0];
            out.push(hash);
            if hash == u64::MAX {
                // All that is left is as great, and which of the runs have ended cannot be told.
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

/// Counts what two sides have and share, as sets and as multisets. The first is merged on a thread of its
/// own. Tells how many hashes were passed.
pub(super) fn count(
    mut first: Merging<'_>,
    mut second: Merging<'_>,
    tell: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<(Overlap, Overlap)> {
    std::thread::scope(|scope| {
        // One is being made and one is used; two are on their way.
        let (sender, receiver) = sync_channel(2);
        scope.spawn(move || {
            loop {
                let mut piece = Vec::new();
                let next = first.next(&mut piece);
                let ended = !matches!(next, Ok(true));
                // Who does not listen any more has met an error.
                if sender.send(next.map(|_| piece)).is_err() || ended {
                    return;
                }
            }
        });
        let mut passed = 0;
        let mut first = Elements::of(|piece: &mut Vec<u64>| {
            *piece = receiver.recv().unwrap_or_else(|_| Ok(Vec::new()))?;
            Ok(())
        });
        let mut second = Elements::of(|piece: &mut Vec<u64>| second.next(piece).map(|_| ()));
        let none = Overlap { a: 0, b: 0, shared: 0 };
        let (mut sets, mut multisets) = (none, none);
        let (mut x, mut y) = (first.next()?, second.next()?);
        loop {
            // The end is greater than any hash.
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

/// Hashes that are passed before it is told again.
const TOLD: u64 = 1 << 20;

/// The elements of a multiset, each with the number of times that it occurs.
struct Elements<F> {
    fill: F,
    piece: Vec<u64>,
    at: usize,
}

impl<F: FnMut(&mut Vec<u64>) -> Result<()>> Elements<F> {
    /// Of ascending hashes that come in pieces, an empty one at the end.
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
#[path = "merging_tests.rs"]
mod tests;
