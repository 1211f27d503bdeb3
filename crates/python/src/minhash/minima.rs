//! From batches of values to minima.

use super::permute::Scheme;
use super::threads::share_out;
use super::values::{Batch, Part};
use pyo3::Python;
use std::sync::Arc;
use twindex::with_threads;

/// How many hashes are permuted at once: they and a group of permutations fit into the first cache.
const HASHES: usize = 256;

/// The least number of blocks that is worth a thread: some 30 us of work.
const SHARE: usize = 1024;

/// The least number of blocks that is shared out.
const SHARED: usize = 2 * SHARE;

/// How many shares rows are cut into.
const SHARES: usize = 16;

/// The least number of blocks for which Python's lock is released.
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

fn lower_to<W: Copy + Ord>(minima: &mut [W], others: &[W]) {
    for (least, &other) in minima.iter_mut().zip(others) {
        *least = other.min(*least);
    }
}

/// Lowers the minima by a whole batch, which is empty then.
pub(super) fn lower_one<S: Scheme>(
    py: Python<'_>,
    scheme: &Arc<S>,
    batch: &mut Batch,
    minima: &mut [S::Word],
) {
    let part = batch.whole();
    match batch.blocks() {
        0..RELEASE => lower(&**scheme, batch, &part, minima),
        RELEASE..SHARED => py.detach(|| lower(&**scheme, batch, &part, minima)),
        _ => py.detach(|| with_threads(|| share_out_one(scheme, batch.take(), part, minima))),
    }
    batch.clear();
}

fn share_out_one<S: Scheme>(scheme: &Arc<S>, batch: Batch, part: Part, minima: &mut [S::Word]) {
    let shares = (batch.blocks() / SHARE).clamp(1, part.waiting.len().max(1));
    let (scheme, start) = (Arc::clone(scheme), minima.to_vec());
    let made = share_out(shares, move |share| {
        let cut = |share| part.waiting.len() * share / shares;
        let hashed = if share == 0 { part.hashed.clone() } else { 0..0 };
        let mut own = start.clone();
        lower(&*scheme, &batch, &Part { waiting: cut(share)..cut(share + 1), hashed }, &mut own);
        own
    });
    for (_, own) in made {
        lower_to(minima, &own);
    }
}

/// Lowers each row of minima by its part of a batch, which is empty then, as are the parts. The
/// rows are the last ones that there are, of `width` words each.
pub(super) fn lower_rows<S: Scheme>(
    py: Python<'_>,
    scheme: &Arc<S>,
    batch: &mut Batch,
    parts: &mut Vec<Part>,
    rows: &mut [S::Word],
    width: usize,
) {
    let first = rows.len().saturating_sub(parts.len() * width);
    let (_, rows) = rows.split_at_mut(first);
    if parts.len() == 1 {
        parts.clear();
        return lower_one(py, scheme, batch, rows);
    }
    let parts = std::mem::take(parts);
    match batch.blocks() {
        0..RELEASE => lower_each(&**scheme, batch, &parts, rows),
        RELEASE..SHARED => py.detach(|| lower_each(&**scheme, batch, &parts, rows)),
        _ => py.detach(|| {
            with_threads(|| share_out_rows(scheme, batch.take(), parts, rows, width));
        }),
    }
    batch.clear();
}

fn lower_each<S: Scheme>(scheme: &S, batch: &Batch, parts: &[Part], rows: &mut [S::Word]) {
    let width = rows.len() / parts.len().max(1);
    for (minima, part) in rows.chunks_mut(width.max(1)).zip(parts) {
        lower(scheme, batch, part, minima);
    }
}

fn share_out_rows<S: Scheme>(
    scheme: &Arc<S>,
    batch: Batch,
    parts: Vec<Part>,
    rows: &mut [S::Word],
    width: usize,
) {
    let each = parts.len().div_ceil(SHARES);
    let (scheme, start) = (Arc::clone(scheme), rows.to_vec());
    let made = share_out(parts.len().div_ceil(each), move |share| {
        let parts = parts.chunks(each).nth(share).unwrap_or_default();
        let mut own = start.chunks(each * width).nth(share).unwrap_or_default().to_vec();
        lower_each(&*scheme, &batch, parts, &mut own);
        own
    });
    for (share, own) in made {
        if let Some(rows) = rows.chunks_mut(each * width).nth(share) {
            rows.copy_from_slice(&own);
        }
    }
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
