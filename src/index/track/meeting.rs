//! Compares the documents that meet in buckets, on all threads.

use crate::error::Result;
use crate::index::track::cluster_ids::Joins;
use crate::index::track::comparer::{Comparer, Criteria};
use crate::store::{ChunkTable, ClusterRows, DocNo, DocTable, RecentLanes, View, parallel};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

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

    /// Adds what a bucket has of documents below a number, if they are more than one.
    pub(super) fn push_before(&mut self, end: u64, docs: &[DocNo]) {
        let docs = docs.iter().copied().filter(|doc| u64::from(doc.0) < end);
        if docs.clone().nth(1).is_some() {
            self.push(docs);
        }
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
    /// The clusters of documents that are tracked already, as far as they were looked up.
    clusters: KnownClusters,
}

/// The cluster of each document that is known to be in one, or in none.
type KnownClusters = FxHashMap<DocNo, Option<u64>>;

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
            Worker { comparer, joins, members: Vec::new(), groups: Vec::new() }
        };
        let others = (1..threads).map(|_| worker(joins.clone())).collect();
        Self { first: worker(joins), others, clusters: FxHashMap::default() }
    }

    /// Compares the new documents of each bucket with all others of it, and joins those that are
    /// similar. Documents that are joined already are not compared.
    pub(super) fn meet(
        &mut self,
        buckets: &[SharedBuckets],
        is_new: impl Fn(DocNo) -> bool + Sync,
        rows: &ClusterRows<'_>,
    ) -> Result<()> {
        let documents: usize = buckets.iter().map(SharedBuckets::documents).sum();
        let shared = documents >= parallel::MIN_DOCUMENTS;
        self.look_up_clusters(buckets, shared, rows)?;
        let clusters = &self.clusters;
        let workers: Vec<_> = [&mut self.first].into_iter().chain(&mut self.others).collect();
        let parts = parts_of(buckets, workers.len());
        let meet = |(worker, buckets): (&mut Worker<'v, P, D>, Vec<&[DocNo]>)| {
            buckets.iter().try_for_each(|docs| worker.meet(docs, &is_new, clusters))
        };
        let met = parallel::map(workers.into_iter().zip(parts).collect(), shared, meet);
        met.into_iter().collect()
    }

    /// Learns the clusters of the documents in these buckets, except of new ones and of those that
    /// stand for themselves, on all threads if that is worth it.
    fn look_up_clusters(
        &mut self,
        buckets: &[SharedBuckets],
        shared: bool,
        rows: &ClusterRows<'_>,
    ) -> Result<()> {
        let Self { first, clusters, .. } = self;
        let unknown = |shared: &SharedBuckets| {
            let is_unknown = |doc: &DocNo| !first.joins.has(*doc) && !clusters.contains_key(doc);
            let mut docs: Vec<DocNo> = shared.docs.iter().copied().filter(is_unknown).collect();
            docs.sort_unstable();
            docs.dedup();
            docs
        };
        let mut unknown = parallel::map(buckets.iter().collect(), shared, unknown).concat();
        // The parts are sorted, which the stable sort makes use of.
        unknown.sort();
        unknown.dedup();
        let found = rows.clusters_of(&unknown)?;
        self.clusters.extend(unknown.into_iter().zip(found));
        Ok(())
    }

    /// What is joined.
    pub(super) fn into_joins(self) -> Joins {
        let mut joins = self.first.joins;
        self.others.into_iter().for_each(|worker| joins.absorb(worker.joins));
        joins
    }
}

/// Divides buckets into parts that take about the same time.
///
/// Documents that are similar meet in several bands, often with the same oldest one. All buckets
/// with it are in one part, so that one worker finds that the documents are joined already.
fn parts_of(buckets: &[SharedBuckets], parts: usize) -> Vec<Vec<&[DocNo]>> {
    /// Enough pieces that the parts become equal, although pieces differ.
    const PIECES_PER_PART: usize = 16;
    let mut pieces: Vec<(usize, Vec<&[DocNo]>)> = vec![(0, Vec::new()); parts * PIECES_PER_PART];
    let count = pieces.len();
    for docs in buckets.iter().flat_map(SharedBuckets::iter) {
        let piece = docs.first().and_then(|oldest| pieces.get_mut(oldest.0 as usize % count));
        if let Some((pairs, piece)) = piece {
            *pairs += docs.len() * docs.len();
            piece.push(docs);
        }
    }
    pieces.sort_by_key(|(pairs, _)| Reverse(*pairs));
    let mut divided = vec![(0, Vec::new()); parts];
    for (pairs, piece) in pieces {
        // The part that has the least so far.
        if let Some((all, part)) = divided.iter_mut().min_by_key(|(all, _)| *all) {
            *all += pairs;
            part.extend(piece);
        }
    }
    divided.into_iter().map(|(_, part)| part).collect()
}

/// What one thread compares, and has joined.
struct Worker<'v, P, D> {
    comparer: Comparer<'v, P, D>,
    joins: Joins,
    /// The documents of one bucket.
    members: Vec<Member>,
    /// Those that were met so far, by what they are joined to.
    groups: Vec<Group>,
}

/// A document of a bucket.
#[derive(Clone, Copy)]
struct Member {
    doc: DocNo,
    is_new: bool,
    node: u32,
    /// The place of the one before it in its group.
    earlier: Option<usize>,
}

/// Documents of one bucket that are joined.
#[derive(Clone, Copy)]
struct Group {
    /// The root of their nodes.
    root: u32,
    /// The place of the last one in the bucket.
    last: usize,
}

impl<P: ChunkTable, D: DocTable> Worker<'_, P, D> {
    /// Compares the new documents of a bucket with all others, and joins those that are similar.
    /// The last document is new.
    fn meet(
        &mut self,
        docs: &[DocNo],
        is_new: impl Fn(DocNo) -> bool,
        clusters: &KnownClusters,
    ) -> Result<()> {
        if let [earlier, doc] = *docs {
            return self.meet_two(earlier, doc, clusters);
        }
        self.members.clear();
        let mut roots = None;
        let mut are_joined = true;
        for &doc in docs {
            let is_new = is_new(doc);
            let node = self.node(doc, clusters);
            let root = self.joins.root(node);
            are_joined &= *roots.get_or_insert(root) == root;
            self.members.push(Member { doc, is_new, node, earlier: None });
        }
        if are_joined {
            return Ok(());
        }
        self.comparer.begin_bucket(docs.len());
        // An old document is often joined to the new one before it must be compared.
        let members = self.members.iter().enumerate().filter(|(_, member)| member.is_new);
        self.comparer.bring(members.map(|(place, member)| (place, member.doc)));
        self.groups.clear();
        for place in 0..docs.len() {
            self.meet_earlier(place)?;
        }
        Ok(())
    }

    /// Compares the document at a place of the bucket with those before it.
    fn meet_earlier(&mut self, place: usize) -> Result<()> {
        let Member { is_new, node, .. } = self.members[place];
        let mut root = self.joins.root(node);
        let mut own = None;
        for at in 0..self.groups.len() {
            let Group { root: other, last } = self.groups[at];
            let mut joined = root == other;
            if is_new && !joined && self.is_similar_to_one(place, last)? {
                let both = [root, other];
                root = self.joins.join(root, other);
                let groups = self.groups.iter_mut().filter(|group| both.contains(&group.root));
                groups.for_each(|group| group.root = root);
                joined = true;
            }
            if joined {
                own = own.or(Some(at));
                // An old document is compared with new ones only, which follow it.
                if !is_new {
                    break;
                }
            }
        }
        match own {
            Some(at) => {
                let before = std::mem::replace(&mut self.groups[at].last, place);
                self.members[place].earlier = Some(before);
            }
            None => self.groups.push(Group { root, last: place }),
        }
        Ok(())
    }

    /// Whether a document is similar to one of a group, given the place of its last document.
    fn is_similar_to_one(&mut self, place: usize, last: usize) -> Result<bool> {
        let doc = self.members[place].doc;
        let mut next = Some(last);
        while let Some(other) = next {
            let Member { doc: of_group, earlier, .. } = self.members[other];
            if self.comparer.are_similar((place, doc), (other, of_group))? {
                return Ok(true);
            }
            next = earlier;
        }
        Ok(false)
    }

    /// Most buckets have two documents. The second one is new.
    fn meet_two(&mut self, earlier: DocNo, doc: DocNo, clusters: &KnownClusters) -> Result<()> {
        let (other, node) = (self.node(earlier, clusters), self.node(doc, clusters));
        if !self.joins.are_joined(node, other) && self.comparer.are_two_similar(doc, earlier)? {
            self.joins.join(node, other);
        }
        Ok(())
    }
    /// The node of a document. One that is tracked stands for its cluster.
    fn node(&mut self, doc: DocNo, clusters: &KnownClusters) -> u32 {
        if !self.joins.has(doc)
            && let Some(cluster) = clusters.get(&doc)
        {
            self.joins.place(doc, *cluster);
        }
        self.joins.node(doc)
    }
}
