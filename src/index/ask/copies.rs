//! The first copies of a document that an index has very often.

use crate::error::Result;
use crate::lsh::{BandPlan, WordRange, word};
use crate::store::{BandNo, Bucket, CandidateLimit, ChunkTable, DocNo, DocTable, View};

/// The fewest documents in a bucket with which a crowd of copies is looked for.
pub(crate) const CROWD: usize = 64;

/// How many times as many documents of a bucket are read if too few of the first ones count.
const MORE: usize = 8;

/// The number of documents that are no copies after which it is given up, besides one for each
/// four copies that are wanted: then the bucket has a crowd, but not of copies.
const OTHERS: usize = 16;

/// The first copies of what is asked.
pub(crate) struct FirstCopies {
    /// By number.
    pub(crate) docs: Vec<DocNo>,
    /// The number of documents that were compared.
    pub(crate) compared: u64,
}

/// The `most` documents with the lowest numbers among the copies of what is asked, if there is a
/// crowd of them: of those documents with equal lanes for which `is_copy` is true. Nothing can be
/// more similar. All copies share all buckets, so one bucket is enough to find them, and only its
/// first documents are read. Considers only documents for which `is_wanted` is true.
///
/// `None` if there are fewer copies, no crowd, or too many others among the first documents.
pub(crate) fn first_copies<P: ChunkTable, D: DocTable>(
    view: &View<'_, P, D>,
    lanes: &[u8],
    plan: BandPlan,
    most: usize,
    is_wanted: impl Fn(DocNo) -> bool,
    mut is_copy: impl FnMut(DocNo) -> Result<bool>,
) -> Result<Option<FirstCopies>> {
    let bucket = Bucket { band: BandNo(0), words: WordRange::only(word(lanes, 0, plan.depth())) };
    let mut found = FirstCopies { docs: Vec::new(), compared: 0 };
    let (mut others, most_others) = (0, OTHERS + most / 4);
    let (mut seen, mut enough) = (0, CROWD.max(most));
    while enough <= CandidateLimit::READ
        && let Some(docs) = view.crowd(bucket, CROWD, enough)?
        && docs.len() >= most
    {
        for &doc in docs.get(seen..).unwrap_or_default() {
            if !view.is_live(doc) || !is_wanted(doc) {
                continue;
            }
            found.compared += 1;
            if view.with_lanes(doc, |other| other == lanes)? && is_copy(doc)? {
                found.docs.push(doc);
            } else {
                others += 1;
            }
            if found.docs.len() >= most {
                return Ok(Some(found));
            }
            if others > most_others {
                return Ok(None);
            }
        }
        if docs.len() < enough || enough == CandidateLimit::READ {
            break;
        }
        (seen, enough) = (docs.len(), CandidateLimit::READ.min(MORE * enough));
    }
    Ok(None)
}
