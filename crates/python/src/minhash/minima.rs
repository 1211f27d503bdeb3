//! From batches of values to minima.

use super::permute::Scheme;
use super::values::{Batch, Part};
use crate::process::with_threads;
use pyo3::Python;
use rayon::prelude::*;

/// How many hashes are permuted at once: they and a group of permutations fit into the first cache.
const HASHES: usize = 256;

/// The least number of values that is worth a thread: some 30 us of work.
const SHARE: usize = 1024;

/// The least number of values that is shared out.
const SHARED: usize = 2 * SHARE;

/// The least number of values for which Python's lock is released.
const RELEASE: usize = 256;

/// Lowers the minima by a part of a batch.
fn lower<S: Scheme>(scheme: &S, batch: &Batch, part: &Part, minima: &mut [S::Word]) {
    let mut hashes = batch.hashes(part);
    let mut words = [S::Word::default(); HASHES];
    loop {
        let mut length = 0;
        for (word, hash) in words.iter_mut().zip(&mut hashes) {
            *word = S::mix(S::word(hash));
            length += 1;
        }
        scheme.lower(&words[..length], minima);
        if length < HASHES {
            return;
        }
    }
}

/// Lowers the minima by a part of a batch, on several threads if it is long.
fn lower_shared<S: Scheme>(scheme: &S, batch: &Batch, part: &Part, minima: &mut [S::Word]) {
    let values = part.waiting.len();
    if values < SHARED {
        return lower(scheme, batch, part, minima);
    }
    let shares = (values / SHARE).min(4 * rayon::current_num_threads());
    let cut = |share: usize| part.waiting.start + values * share / shares;
    let start: &[S::Word] = minima;
    let parts = (0..shares).into_par_iter().map(|share| {
        let hashed = if share == 0 { part.hashed.clone() } else { 0..0 };
        let mut own = start.to_vec();
        lower(scheme, batch, &Part { waiting: cut(share)..cut(share + 1), hashed }, &mut own);
        own
    });
    let least = parts.reduce_with(|mut one, other| {
        lower_to(&mut one, &other);
        one
    });
    lower_to(minima, &least.unwrap_or_default());
}

fn lower_to<W: Copy + Ord>(minima: &mut [W], others: &[W]) {
    for (least, &other) in minima.iter_mut().zip(others) {
        *least = other.min(*least);
    }
}

/// Does the work without Python's lock if there are many values.
fn released(py: Python<'_>, values: usize, work: impl FnOnce() + Send) {
    match values {
        0..RELEASE => work(),
        RELEASE..SHARED => py.detach(work),
        _ => py.detach(|| with_threads(work)),
    }
}

/// Lowers the minima by a whole batch, and empties the batch.
pub(super) fn lower_one<S: Scheme>(
    py: Python<'_>,
    scheme: &S,
    batch: &mut Batch,
    minima: &mut [S::Word],
) {
    let part = batch.whole();
    let values = part.waiting.len() + part.hashed.len();
    released(py, values, || lower_shared(scheme, batch, &part, minima));
    batch.clear();
}

/// Lowers each row of minima by its part of a batch, and empties the batch. The rows are the last
/// ones that there are.
pub(super) fn lower_rows<S: Scheme>(
    py: Python<'_>,
    scheme: &S,
    batch: &mut Batch,
    parts: &mut Vec<Part>,
    rows: &mut [S::Word],
    row: usize,
) {
    let first = rows.len().saturating_sub(parts.len() * row);
    let (_, rows) = rows.split_at_mut(first);
    let part = batch.whole();
    let values = part.waiting.len() + part.hashed.len();
    released(py, values, || {
        if values < SHARED {
            for (minima, part) in rows.chunks_mut(row).zip(parts.iter()) {
                lower(scheme, batch, part, minima);
            }
        } else {
            rows.par_chunks_mut(row)
                .zip(parts.par_iter())
                .for_each(|(minima, part)| lower_shared(scheme, batch, part, minima));
        }
    });
    batch.clear();
    parts.clear();
}

/// Lowers the minima by hashes that another hash function made.
pub(super) fn lower_hashes<S: Scheme>(scheme: &S, hashes: &[S::Word], minima: &mut [S::Word]) {
    let mut words = [S::Word::default(); HASHES];
    for hashes in hashes.chunks(HASHES) {
        for (word, &hash) in words.iter_mut().zip(hashes) {
            *word = S::mix(hash);
        }
        scheme.lower(&words[..hashes.len()], minima);
    }
}
