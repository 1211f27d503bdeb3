//! Leader clustering over document numbers, and what both rules of linkage need.

use crate::error::Result;
use crate::estimate::{equal_lanes, least_equal_lanes};
use crate::index::ask::search::buckets;
use crate::index::ask::verifier::Verifier;
use crate::index::group::buckets::Buckets;
use crate::index::group::clusters::{Keep, Order};
use crate::index::group::doc_map::DocMap;
use crate::index::group::sort;
use crate::index::snapshot::Snapshot;
use crate::lsh::Probe;
use crate::store::{DocNo, Watch};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Stands for "no document": an index has fewer documents, so the number is never used.
pub(crate) const NO_DOC: u32 = u32::MAX;

/// The input of a clustering, and the watch that reports its progress.
pub(crate) struct Job<'s, 'w> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) probe: Probe,
    /// The minimum number of equal lanes of a similar document or, with texts, of one to verify.
    pub(crate) least: usize,
    pub(crate) threshold: f64,
    /// Compares texts; `None` for estimates.
    pub(crate) verifier: Option<Verifier<'s>>,
    pub(crate) watch: Watch<'w>,
}

impl Job<'_, '_> {
    /// The number of entries in all bands of the probe.
    pub(crate) fn entries(&self) -> u64 {
        self.snapshot.len().saturating_mul(self.probe.bands() as u64)
    }
}

impl Job<'_, '_> {
    /// Which pairs of documents with enough equal lanes are similar.
    pub(crate) fn are_similar(&mut self, pairs: &[(DocNo, DocNo)]) -> Result<Vec<bool>> {
        let Some(verifier) = &mut self.verifier else { return Ok(vec![true; pairs.len()]) };
        let similarities = verifier.similarities(pairs)?;
        Ok(similarities.iter().map(|similarity| *similarity >= self.threshold).collect())
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

/// Leader clustering (J. A. Hartigan, *Clustering Algorithms*, 1975, chapter 3). Visits documents
/// in this order. A document without a representative becomes one, and takes all similar
/// documents that have none.
pub(crate) fn by_representative(job: &mut Job<'_, '_>, preference: &Order) -> Assigned {
    // Reading the buckets is half of the reported work; the queries are the other half.
    job.watch.begin("reading buckets", 2 * job.entries())?;
    let mut order = sharing_a_bucket(job)?;
    in_order_of(preference, &mut order, job)?;
    job.watch.begin("comparing documents", 0)?;
    let share = job.entries() / order.len().max(1) as u64;
    let mut leaders = Leaders { assigned: DocMap::new(NO_DOC), lanes: Vec::new() };
    let mut rest = &order[..];
    while !rest.is_empty() {
        let ahead = leaders.look_ahead(job, rest)?;
        let (now, later) = rest.split_at(ahead.passed);
        job.watch.advance(share.saturating_mul(now.len() as u64))?;
        leaders.lead(job, now, ahead)?;
        rest = later;
    }
    Ok(leaders.assigned)
}

/// The state of a leader clustering.
struct Leaders {
    /// Maps each document to its representative.
    assigned: DocMap,
    /// The lanes of the document whose neighbours are looked for.
    lanes: Vec<u8>,
}

/// The next documents that are likely to become representatives, with their neighbours, so that
/// many texts are compared together.
#[derive(Default)]
struct Ahead {
    /// The number of documents, in order, among which they were looked for.
    passed: usize,
    /// Each with the number of its neighbours.
    leaders: VecDeque<(DocNo, usize)>,
    /// Each with each of its neighbours.
    pairs: Vec<(DocNo, DocNo)>,
}

impl Leaders {
    /// Looks for the next representatives among documents that are given in their order.
    fn look_ahead(&mut self, job: &Job<'_, '_>, docs: &[DocNo]) -> Result<Ahead> {
        /// The number of pairs of texts that are compared together.
        const TOGETHER: usize = 4096;
        // Estimates are compared at once.
        let most = if job.verifier.is_some() { TOGETHER } else { 1 };
        let lanes = job.snapshot.settings().lanes.get();
        let likely = least_equal_lanes(job.threshold, lanes);
        let (mut ahead, mut taken) = (Ahead::default(), FxHashSet::default());
        while ahead.pairs.len() < most
            && let Some(&doc) = docs.get(ahead.passed)
        {
            ahead.passed += 1;
            if self.assigned.get(doc) != NO_DOC || taken.contains(&doc) {
                continue;
            }
            let neighbours = self.neighbours(job, doc)?;
            ahead.leaders.push_back((doc, neighbours.len()));
            let similar = neighbours.iter().filter(|(equal, _)| *equal >= likely);
            taken.extend(similar.map(|(_, other)| *other));
            ahead.pairs.extend(neighbours.iter().map(|(_, other)| (doc, *other)));
        }
        Ok(ahead)
    }

    /// Assigns documents, in their order, to representatives.
    fn lead(&mut self, job: &mut Job<'_, '_>, docs: &[DocNo], mut ahead: Ahead) -> Result<()> {
        let similar = job.are_similar(&ahead.pairs)?;
        let mut compared = ahead.pairs.into_iter().zip(similar);
        for &doc in docs {
            let pairs: Vec<((DocNo, DocNo), bool)> = match ahead.leaders.front() {
                Some(&(leader, count)) if leader == doc => {
                    ahead.leaders.pop_front();
                    compared.by_ref().take(count).collect()
                }
                _ if self.assigned.get(doc) != NO_DOC => continue,
                _ => {
                    // An earlier one was likely to take it, but their texts differ too much.
                    let neighbours = self.neighbours(job, doc)?;
                    let pairs: Vec<_> = neighbours.iter().map(|(_, other)| (doc, *other)).collect();
                    let similar = job.are_similar(&pairs)?;
                    pairs.into_iter().zip(similar).collect()
                }
            };
            if self.assigned.get(doc) != NO_DOC {
                continue;
            }
            self.assigned.set(doc, doc.0);
            for ((_, other), similar) in pairs {
                if similar && self.assigned.get(other) == NO_DOC {
                    self.assigned.set(other, doc.0);
                }
            }
        }
        Ok(())
    }

    /// The other documents without a representative that share a bucket with a document and have
    /// enough equal lanes: their number, and the document.
    fn neighbours(&mut self, job: &Job<'_, '_>, doc: DocNo) -> Result<Vec<(usize, DocNo)>> {
        let Self { assigned, lanes } = self;
        let (view, plan) = (job.snapshot.view(), job.snapshot.settings().plan);
        lanes.clear();
        view.with_signature(doc, |own, _| lanes.extend_from_slice(own))?;
        let is_free = |other: DocNo| other != doc && assigned.get(other) == NO_DOC;
        let mut found = Vec::new();
        view.candidates_among(&buckets(lanes, plan, job.probe), None, is_free, |other, theirs| {
            let equal = equal_lanes(lanes, theirs);
            if equal >= job.least {
                found.push((equal, other));
            }
        })?;
        Ok(found)
    }
}

/// The documents that share a bucket with another document, by number.
fn sharing_a_bucket(job: &mut Job<'_, '_>) -> Result<Vec<DocNo>> {
    let view = job.snapshot.view();
    let mut shares_a_bucket = DocMap::new(NO_DOC);
    let mut buckets = Buckets::new(job.snapshot.settings().plan, job.probe);
    while buckets.next(&view)? {
        job.watch.advance(buckets.take_passed())?;
        buckets.docs().iter().for_each(|doc| shares_a_bucket.set(*doc, doc.0));
    }
    Ok(shares_a_bucket.iter().map(|(doc, _)| doc).collect())
}

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
