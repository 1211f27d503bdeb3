//! The first copies of a document that an index has very often.

use crate::error::Result;
use crate::index::ask::verify::{TextKey, text_key};
use crate::lsh::{BandPlan, WordRange, word};
use crate::store::{BandNo, Bucket, ChunkTable, DocNo, DocTable, View};

/// The fewest documents in a bucket with which a crowd of copies is looked for.
pub(crate) const CROWD: usize = 64;

/// How many times as many documents of a bucket are read if too few of the first ones count.
const MORE: usize = 8;

/// The number of documents with other lanes after which it is given up: then the bucket has a
/// crowd, but not of copies.
const OTHERS: usize = 16;

/// The `most` documents with the lowest numbers among the copies of what is asked, if there is a
/// crowd of them: of documents with equal lanes or, if the key of a text is given, of equal texts.
/// Nothing can be more similar. All copies share all buckets, so one bucket is enough to find them,
/// and only its first documents are read. Considers only documents for which `counts` is true.
///
/// `None` if there are fewer copies, no crowd, or a document that may be as similar without being a
/// copy.
pub(crate) fn first_copies<P: ChunkTable, D: DocTable>(
    view: &View<'_, P, D>,
    lanes: &[u8],
    plan: BandPlan,
    text: Option<TextKey>,
    most: usize,
    counts: impl Fn(DocNo) -> bool,
) -> Result<Option<Vec<DocNo>>> {
    let bucket = Bucket { band: BandNo(0), words: WordRange::only(word(lanes, 0, plan.depth())) };
    let (mut found, mut others, mut seen, mut enough) = (Vec::new(), 0, 0, CROWD.max(most));
    while let Some(docs) = view.crowd(bucket, CROWD, enough)? {
        for &doc in docs.get(seen..).unwrap_or_default() {
            if !view.is_live(doc) || !counts(doc) {
                continue;
            }
            if !view.with_lanes(doc, |other| other == lanes)? {
                others += 1;
                if others > OTHERS {
                    return Ok(None);
                }
                continue;
            }
            // Another text may have the same shingles, which only a comparison tells.
            if let Some(text) = text
                && text != text_key(view, doc)?
            {
                return Ok(None);
            }
            found.push(doc);
            if found.len() >= most {
                return Ok(Some(found));
            }
        }
        if docs.len() < enough {
            break;
        }
        (seen, enough) = (docs.len(), enough.saturating_mul(MORE));
    }
    Ok(None)
}
