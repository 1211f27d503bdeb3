//! Leader clustering over document numbers.

use crate::error::Result;
use crate::estimate::least_equal_lanes;
use crate::index::doc_map::{DocMap, NO_DOC};
use crate::index::group::linkage::{Assigned, Job};
use crate::index::group::neighbourhood::{Neighbour, Neighbourhood};
use crate::index::group::order::Order;
use crate::store::{DocNo, parallel};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Leader clustering (J. A. Hartigan, *Clustering Algorithms*, 1975, chapter 3). Visits documents
/// in this order. A document without a representative becomes one, and takes all similar
/// documents that have none.
pub(crate) fn by_representative(job: &mut Job<'_, '_>, preference: &Order) -> Assigned {
    job.watch.begin("reading buckets", 2 * job.entries())?;
    let (neighbourhood, order) = Neighbourhood::read(job, preference)?;
    job.watch.begin("comparing documents", 0)?;
    let share = job.entries() / order.len().max(1) as u64;
    let assigned = DocMap::new(NO_DOC);
    let mut leaders = Leaders { assigned, neighbourhood, together: 1 };
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
struct Leaders<'s> {
    /// Maps each document to its representative.
    assigned: DocMap,
    neighbourhood: Neighbourhood<'s>,
    /// The number of documents whose neighbours are looked for together, on all threads.
    together: usize,
}

/// The next documents that are likely to become representatives, with their neighbours, so that
/// many are compared together.
#[derive(Default)]
struct Ahead {
    /// The number of documents, in order, among which they were looked for.
    passed: usize,
    /// The documents, each with the number of its neighbours.
    leaders: VecDeque<(DocNo, usize)>,
    /// The pairs of each of them with each of its neighbours.
    pairs: Vec<(DocNo, DocNo)>,
}

/// The most documents whose neighbours are looked for together. The search is in vain for a
/// document that an earlier one of them takes. While this happens to more than a quarter of them,
/// fewer are taken together.
const MOST_TOGETHER: usize = 64;

impl Leaders<'_> {
    /// Looks for the next representatives among documents that are given in their order.
    fn look_ahead(&mut self, job: &Job<'_, '_>, docs: &[DocNo]) -> Result<Ahead> {
        /// The number of pairs that are compared together.
        const PAIRS: usize = 4096;
        /// With this many, the neighbours of fewer documents are looked for together.
        const MANY_PAIRS: usize = 16 * PAIRS;
        let likely = least_equal_lanes(job.threshold, job.snapshot.settings().lanes.get());
        let (mut ahead, mut taken) = (Ahead::default(), FxHashSet::default());
        while ahead.pairs.len() < PAIRS && ahead.passed < docs.len() {
            let mut free = Vec::with_capacity(self.together);
            while free.len() < self.together
                && let Some(&doc) = docs.get(ahead.passed)
            {
                ahead.passed += 1;
                if self.assigned.get(doc) == NO_DOC && !taken.contains(&doc) {
                    free.push(doc);
                }
            }
            let shared = free.len() > 1;
            let find = |doc| Ok((doc, self.neighbours(doc)?));
            let (looked, mut in_vain) = (free.len(), 0);
            for found in parallel::map(free, shared, find) {
                let (doc, neighbours): (DocNo, Vec<Neighbour>) = found?;
                if taken.contains(&doc) {
                    in_vain += 1;
                    continue;
                }
                ahead.leaders.push_back((doc, neighbours.len()));
                let similar = neighbours.iter().filter(|(equal, _)| *equal >= likely);
                taken.extend(similar.map(|(_, other)| *other));
                ahead.pairs.extend(neighbours.iter().map(|(_, other)| (doc, *other)));
            }
            let many = ahead.pairs.len() >= MANY_PAIRS;
            self.together = if many || 4 * in_vain > looked {
                (self.together / 2).max(1)
            } else {
                (self.together * 2).min(MOST_TOGETHER)
            };
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
                    let neighbours = self.neighbours(doc)?;
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

    /// The neighbours of a document that have no representative when it is its turn. All documents
    /// before it have one then.
    fn neighbours(&self, doc: DocNo) -> Result<Vec<Neighbour>> {
        self.neighbourhood.later(doc, |other| self.assigned.get(other) == NO_DOC)
    }
}
