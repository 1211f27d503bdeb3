//! Compares the documents that meet in buckets, on all threads.

use crate::error::Result;
use crate::index::track::cluster_ids::Joins;
use crate::index::track::comparer::Comparer;
use crate::sketch::Sketcher;
use crate::store::{ChunkTable, ClusterRows, DocNo, DocTable, LanesInOrder, View, parallel};
use std::sync::Arc;

/// Documents that meet in buckets, and are joined if they are similar.
pub(super) struct Meeting<'v, P, D> {
    first: Worker<'v, P, D>,
    /// One for each other thread.
    others: Vec<Worker<'v, P, D>>,
}

impl<'v, P: ChunkTable + Sync, D: DocTable + Sync> Meeting<'v, P, D> {
    /// A meeting at a threshold: similar documents have at least `least` equal lanes and, if their
    /// texts are compared, texts that are as similar. `joins` has the documents that stand for
    /// themselves.
    pub(super) fn new(
        view: &'v View<'v, P, D>,
        least: usize,
        sketcher: Option<&'v Sketcher>,
        threshold: f64,
        joins: Joins,
    ) -> Self {
        let threads = rayon::current_num_threads();
        let worker = |joins| {
            let comparer = Comparer::new(view, least, sketcher, threshold, threads);
            Worker { comparer, joins }
        };
        let others = (1..threads).map(|_| worker(joins.clone())).collect();
        Self { first: worker(joins), others }
    }

    /// Takes the lanes of documents that are likely to be compared.
    pub(super) fn know(&mut self, lanes: &Arc<LanesInOrder>) {
        for worker in self.others.iter_mut().chain([&mut self.first]) {
            worker.comparer.know(Arc::clone(lanes));
        }
    }

    /// Compares the new documents of each bucket with all others of it, and joins those that are
    /// similar. Documents that are joined already are not compared. The numbers of each bucket
    /// ascend.
    pub(super) fn meet(
        &mut self,
        buckets: Vec<Vec<DocNo>>,
        is_new: impl Fn(DocNo) -> bool + Sync,
        rows: &ClusterRows<'_>,
    ) -> Result<()> {
        let workers: Vec<_> = [&mut self.first].into_iter().chain(&mut self.others).collect();
        let mut parts: Vec<Vec<Vec<DocNo>>> = workers.iter().map(|_| Vec::new()).collect();
        let (mut documents, threads) = (0, parts.len());
        for docs in buckets {
            // Documents that are similar meet in several bands. Then the oldest one is often the
            // same, so one worker finds that they are joined already.
            if let [oldest, _, ..] = docs[..] {
                documents += docs.len();
                parts[oldest.0 as usize % threads].push(docs);
            }
        }
        let meet = |(worker, buckets): (&mut Worker<'v, P, D>, Vec<Vec<DocNo>>)| {
            buckets.iter().try_for_each(|docs| worker.meet(docs, &is_new, rows))
        };
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
}

impl<P: ChunkTable, D: DocTable> Worker<'_, P, D> {
    /// Compares the new documents of a bucket with all others, and joins those that are similar.
    fn meet(
        &mut self,
        docs: &[DocNo],
        is_new: impl Fn(DocNo) -> bool,
        rows: &ClusterRows<'_>,
    ) -> Result<()> {
        // The documents met so far, by what they are joined to.
        let mut met: Vec<(u32, Vec<DocNo>)> = Vec::new();
        for &doc in docs {
            let new = is_new(doc);
            let node = match new {
                true => self.joins.new_node(doc),
                false => self.joins.node(doc, rows)?,
            };
            if new {
                for (other, docs) in &met {
                    if self.joins.are_joined(node, *other) {
                        continue;
                    }
                    for &earlier in docs {
                        if self.comparer.are_similar(doc, earlier)? {
                            self.joins.join(node, *other);
                            break;
                        }
                    }
                }
            }
            match met.iter_mut().find(|(other, _)| self.joins.are_joined(node, *other)) {
                Some((_, docs)) => docs.push(doc),
                None => met.push((node, vec![doc])),
            }
        }
        Ok(())
    }
}
