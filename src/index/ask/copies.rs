//! The first copies of a document that an index has very often.

use crate::error::Result;
use crate::lsh::{BandPlan, WordRange, word};
use crate::store::{BandNo, Bucket, CandidateLimit, DocNo, View};

/// The fewest documents in a bucket with which a crowd of copies is looked for.
pub(crate) const CROWD: usize = 64;

/// How many times as many documents of a bucket are read if too few of the first ones count.
const MORE: usize = 8;

/// The number of documents that are no copies after which it is given up, besides one for each
/// four copies that are wanted: then the bucket has a crowd, but not of copies.
const OTHERS: usize = 16;

/// The first copies of what is asked.
pub(crate) struct FirstCopies {
    /// By number. `None` if there are fewer than wanted, no crowd, or too many others among the
    /// first documents.
    pub(crate) docs: Option<Vec<DocNo>>,
    /// The number of documents that were compared.
    pub(crate) compared: usize,
}

/// The number of documents that are compared at most to find so many copies.
pub(crate) fn most_compared(copies: usize) -> usize {
    copies.saturating_add(most_others(copies) + 1)
}

/// The number of documents that may be no copies.
fn most_others(copies: usize) -> usize {
    OTHERS + copies / 4
}

/// The `most` documents with the lowest numbers among the copies of what is asked, if there is a
/// crowd of them: of those documents with equal lanes for which `is_copy` is true. Nothing can be
/// more similar. All copies share all buckets, so one bucket is enough to find them, and only its
/// first documents are read. Considers only documents for which `is_wanted` is true.
pub(crate) fn first_copies(
    view: &View<'_>,
    lanes: &[u8],
    plan: BandPlan,
    most: usize,
    is_wanted: impl Fn(DocNo) -> bool,
    mut is_copy: impl FnMut(DocNo) -> Result<bool>,
) -> Result<FirstCopies> {
    let bucket = Bucket { band: BandNo(0), words: WordRange::only(word(lanes, 0, plan.depth())) };
    let mut copies = Vec::new();
    let mut others = 0;
    let (mut seen, mut enough) = (0, CROWD.max(most));
    while enough <= CandidateLimit::READ
        && let Some(docs) = view.crowd(bucket, CROWD, enough)?
        && docs.len() >= most
    {
        for &doc in docs.get(seen..).unwrap_or_default() {
            if !view.is_live(doc) || !is_wanted(doc) {
                continue;
            }
            if view.with_lanes(doc, |other| other == lanes)? && is_copy(doc)? {
                copies.push(doc);
            } else {
                others += 1;
            }
            let compared = copies.len() + others;
            if copies.len() >= most {
                return Ok(FirstCopies { docs: Some(copies), compared });
            }
            if others > most_others(most) {
                return Ok(FirstCopies { docs: None, compared });
            }
        }
        if docs.len() < enough || enough == CandidateLimit::READ {
            break;
        }
        (seen, enough) = (docs.len(), CandidateLimit::READ.min(MORE * enough));
    }
    Ok(FirstCopies { docs: None, compared: copies.len() + others })
}
