//! Compares the documents that meet in buckets, on all threads.

use crate::error::Result;
use crate::index::track::cluster_ids::Joins;
use crate::index::track::comparer::{Comparer, Criteria};
use crate::store::{ChunkTable, ClusterRows, DocNo, DocTable, RecentLanes, View, parallel};

/// Buckets with their documents, by number.
#[derive(Default)]
pub(super) struct SharedBuckets {
    /// The documents of one bucket after the other.
    docs: Vec<DocNo>,
    /// Where each bucket ends.
    ends: Vec<usize>,
}

impl SharedBuckets {
    /// Adds a bucket.
    pub(super) fn push(&mut self, docs: impl IntoIterator<Item = DocNo>) {
        let start = self.docs.len();
        self.docs.extend(docs);
        if let Some(docs) = self.docs.get_mut(start..) {
            docs.sort_unstable();
        }
        self.ends.push(self.docs.len());
    }

    /// The number of documents, each as often as it is in a bucket.
    pub(super) fn documents(&self) -> usize {
        self.docs.len()
    }

    fn iter(&self) -> impl Iterator<Item = &[DocNo]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).filter_map(|(start, end)| self.docs.get(start..*end))
    }
}

/// Documents that meet in buckets, and are joined if they are similar.
pub(super) struct Meeting<'v, P, D> {
    first: Worker<'v, P, D>,
    /// One for each other thread.
    others: Vec<Worker<'v, P, D>>,
}

impl<'v, P: ChunkTable + Sync, D: DocTable + Sync> Meeting<'v, P, D> {
    /// A meeting of documents that are similar by these criteria. `joins` has the documents that
    /// stand for themselves, and `recent` the lanes of documents that are likely to be compared.
    pub(super) fn new(
        view: &'v View<'v, P, D>,
        criteria: Criteria<'v>,
        joins: Joins,
        recent: &RecentLanes,
    ) -> Self {
        let threads = rayon::current_num_threads();
        let worker = |joins| {
            let comparer = Comparer::new(view, criteria, recent.clone(), threads);
            Worker { comparer, joins, groups: Vec::new(), earlier: Vec::new() }
        };
        let others = (1..threads).map(|_| worker(joins.clone())).collect();
        Self { first: worker(joins), others }
    }

    /// Compares the new documents of each bucket with all others of it, and joins those that are
    /// similar. Documents that are joined already are not compared.
    pub(super) fn meet(
        &mut self,
        buckets: &[SharedBuckets],
        is_new: impl Fn(DocNo) -> bool + Sync,
        rows: &ClusterRows<'_>,
    ) -> Result<()> {
        let workers: Vec<_> = [&mut self.first].into_iter().chain(&mut self.others).collect();
        let mut parts: Vec<Vec<&[DocNo]>> = workers.iter().map(|_| Vec::new()).collect();
        let threads = parts.len();
        for docs in buckets.iter().flat_map(SharedBuckets::iter) {
            // Documents that are similar meet in several bands. Then the oldest one is often the
            // same, so one worker finds that they are joined already.
            if let [oldest, ..] = docs {
                parts[oldest.0 as usize % threads].push(docs);
            }
        }
        let meet = |(worker, buckets): (&mut Worker<'v, P, D>, Vec<&[DocNo]>)| {
            buckets.iter().try_for_each(|docs| worker.meet(docs, &is_new, rows))
        };
        let documents: usize = buckets.iter().map(SharedBuckets::documents).sum();
        let shared = documents >= parallel::MIN_DOCUMENTS;
        let met = parallel::map(workers.into_iter().zip(parts).collect(), shared, meet);
        met.into_iter().collect()
    }

    /// What is joined.
    pub(super) fn into_joins(self) -> Joins {
        let mut joins = self.first.joins;
        self.others.into_iter().for_each(|worker| joins.absorb(worker.joins));
        joins
    }
}

/// What one thread compares, and has joined.
struct Worker<'v, P, D> {
    comparer: Comparer<'v, P, D>,
    joins: Joins,
    /// The documents of one bucket that were met so far, by what they are joined to.
    groups: Vec<Group>,
    /// For each of them, the place of the one before it in its group.
    earlier: Vec<Option<usize>>,
}

/// Documents of one bucket that are joined.
#[derive(Clone, Copy)]
struct Group {
    /// The node of the first one.
    node: u32,
    /// The place of the last one in the bucket.
    last: usize,
}

impl<P: ChunkTable, D: DocTable> Worker<'_, P, D> {
    /// Compares the new documents of a bucket with all others, and joins those that are similar. The
    /// last document is new.
    fn meet(
        &mut self,
        docs: &[DocNo],
        is_new: impl Fn(DocNo) -> bool,
        rows: &ClusterRows<'_>,
    ) -> Result<()> {
        if let [earlier, doc] = *docs {
            return self.meet_two(earlier, doc, is_new, rows);
        }
        self.comparer.begin_bucket(docs.len());
        self.groups.clear();
        self.earlier.clear();
        for (place, &doc) in docs.iter().enumerate() {
            let new = is_new(doc);
            let node = self.node(doc, new, rows)?;
            let mut own = None;
            for at in 0..self.groups.len() {
                let Group { node: other, last } = self.groups[at];
                let mut joined = self.joins.are_joined(node, other);
                if new && !joined && self.is_similar_to_one((place, doc), docs, last)? {
                    self.joins.join(node, other);
                    joined = true;
                }
                if joined {
                    own = own.or(Some(at));
                    // An old document is compared with new ones only, which follow it.
                    if !new {
                        break;
                    }
                }
            }
            let before = own.map(|at| std::mem::replace(&mut self.groups[at].last, place));
            if before.is_none() {
                self.groups.push(Group { node, last: place });
            }
            self.earlier.push(before);
        }
        Ok(())
    }

    /// Whether a document is similar to one of a group, given the place of its last document.
    fn is_similar_to_one(
        &mut self,
        doc: (usize, DocNo),
        docs: &[DocNo],
        last: usize,
    ) -> Result<bool> {
        let mut next = Some(last);
        while let Some(place) = next {
            if self.comparer.are_similar(doc, (place, docs[place]))? {
                return Ok(true);
            }
            next = self.earlier[place];
        }
        Ok(false)
    }

    /// Most buckets have two documents. The second one is new.
    fn meet_two(
        &mut self,
        earlier: DocNo,
        doc: DocNo,
        is_new: impl Fn(DocNo) -> bool,
        rows: &ClusterRows<'_>,
    ) -> Result<()> {
        let other = self.node(earlier, is_new(earlier), rows)?;
        let node = self.joins.own_node(doc);
        if !self.joins.are_joined(node, other) && self.comparer.are_two_similar(doc, earlier)? {
            self.joins.join(node, other);
        }
        Ok(())
    }

    fn node(&mut self, doc: DocNo, is_new: bool, rows: &ClusterRows<'_>) -> Result<u32> {
        match is_new {
            true => Ok(self.joins.own_node(doc)),
            false => self.joins.node(doc, rows),
        }
    }
}
