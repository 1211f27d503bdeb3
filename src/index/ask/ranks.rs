//! The order of matches.

use crate::error::Result;
use crate::store::{DocNo, View};
use std::cmp::Ordering;

/// The first `limit` of what was found, with their ids, and how many more there are. At the limit,
/// of those of equal rank the documents with the lowest numbers are kept, which were inserted
/// first: so no id is read of what is left out. Those that are kept are sorted by rank, then by id.
pub(super) fn named_first<F>(
    view: &View<'_>,
    mut found: Vec<F>,
    limit: usize,
    order: impl Fn(&F, &F) -> Ordering,
    doc: impl Fn(&F) -> DocNo,
) -> Result<(Vec<(F, String)>, u64)> {
    let all = found.len();
    found.sort_unstable_by(|a, b| order(a, b).then_with(|| doc(a).cmp(&doc(b))));
    found.truncate(limit);
    let named = found.into_iter().map(|one| view.document(doc(&one)).map(|of| (one, of.id)));
    let mut named = named.collect::<Result<Vec<(F, String)>>>()?;
    named.sort_unstable_by(|a, b| order(&a.0, &b.0).then_with(|| a.1.cmp(&b.1)));
    let left_out = (all - named.len()) as u64;
    Ok((named, left_out))
}
