//! What both rules of linkage need: the job, and how it sorts documents by preference.

use crate::error::Result;
use crate::index::ask::verifier::Verifier;
use crate::index::doc_map::DocMap;
use crate::index::group::order::{Keep, Order};
use crate::index::group::sort;
use crate::index::snapshot::Snapshot;
use crate::lsh::Probe;
use crate::store::{DocNo, Watch};

/// The input of a clustering, and the watch that reports its progress.
pub(crate) struct Job<'s, 'w> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) probe: Probe,
    /// The minimum number of equal lanes of a similar document or, with texts, of one to verify.
    pub(crate) least: usize,
    pub(crate) threshold: f64,
    /// Compares texts; `None` for estimates.
    pub(crate) verifier: Option<Verifier<&'s Snapshot>>,
    pub(crate) watch: Watch<'w>,
}

impl Job<'_, '_> {
    /// The number of entries in all bands of the probe.
    pub(crate) fn entries(&self) -> u64 {
        self.snapshot.len().saturating_mul(self.probe.bands() as u64)
    }

    /// Which pairs of documents with enough equal lanes are similar.
    pub(crate) fn are_similar(&mut self, pairs: &[(DocNo, DocNo)]) -> Result<Vec<bool>> {
        let Some(verifier) = &self.verifier else { return Ok(vec![true; pairs.len()]) };
        let compared = verifier.compare(pairs)?;
        Ok(compared.iter().map(|result| result.similarity >= self.threshold).collect())
    }

    /// Splits documents with equal signatures into parts with equal content. Without texts, there
    /// is only one part.
    pub(crate) fn split_by_content(&mut self, docs: &[DocNo]) -> Result<Vec<Vec<DocNo>>> {
        match &mut self.verifier {
            Some(verifier) => verifier.split_by_content(docs),
            None => Ok(vec![docs.to_vec()]),
        }
    }
}

/// Maps each document to the representative of its cluster.
pub(crate) type Assigned = Result<DocMap>;

/// Sorts documents, given in the order of numbers, by how much they are preferred.
pub(crate) fn in_order_of(
    preference: &Order,
    docs: &mut [DocNo],
    job: &mut Job<'_, '_>,
) -> Result<()> {
    /// The number of documents read between two checks for an interruption.
    const STRIDE: u32 = 1 << 12;
    let view = job.snapshot.view();
    let mut reads = 0_u32;
    let mut read = |doc| {
        reads = reads.wrapping_add(1);
        if reads.is_multiple_of(STRIDE) {
            job.watch.expect(0)?;
        }
        view.document(doc)
    };
    match preference.keep {
        Keep::First => {}
        Keep::Longest => sort::sort_by_greatest(docs, |doc| Ok(read(doc)?.text_length))?,
        Keep::Id => {
            sort::sort_by_bytes(docs, sort::ROOM, |doc, out| {
                out.extend_from_slice(read(doc)?.id.as_bytes());
                Ok(())
            })?;
        }
    }
    if let Some(preferred) = &preference.preferred {
        // Documents that are not preferred keep the order that they have by now.
        docs.sort_by_key(|doc| preferred.place(*doc));
    }
    Ok(())
}
