//! Compares the documents that meet in buckets, on all threads.

use crate::error::Result;
use crate::index::track::cluster_ids::Joins;
use crate::index::track::comparer::{Comparer, Criteria};
use crate::store::{ClusterRows, DocNo, RecentLanes, View, Watch, parallel};
use std::cmp::Reverse;
use std::time::{Duration, Instant};

/// A bucket of more documents may take long.
const CROWDED: usize = 1024;

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
pub(super) struct Meeting<'v> {
    joins: Joins,
    /// One for each thread.
    workers: Vec<Worker<'v>>,
}

impl<'v> Meeting<'v> {
    /// A meeting of documents that are similar by these criteria. `joins` has the documents that
    /// stand for themselves, and `recent` the lanes of documents that are likely to be compared.
    pub(super) fn new(
        view: &'v View<'v>,
        criteria: Criteria<'v>,
        joins: Joins,
        recent: &RecentLanes,
    ) -> Self {
        let threads = rayon::current_num_threads();
        let worker = |_| {
            let comparer = Comparer::new(view, criteria, recent.clone(), threads);
            Worker { comparer, members: Vec::new(), groups: Vec::new() }
        };
        Self { joins, workers: (0..threads).map(worker).collect() }
    }

    /// Compares the new documents of each bucket with all others of it, and joins those that are
    /// similar. Documents that are joined already are not compared.
    pub(super) fn meet(
        &mut self,
        buckets: &[SharedBuckets],
        is_new: impl Fn(DocNo) -> bool + Sync,
        rows: &ClusterRows<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        /// The time between two looks at whether to stop.
        const SLICE: Duration = Duration::from_millis(200);
        let documents: usize = buckets.iter().map(SharedBuckets::documents).sum();
        let shared = documents >= parallel::MIN_DOCUMENTS;
        self.place(buckets, shared, rows)?;
        let Self { joins, workers } = self;
        let parts = parts_of(buckets, workers.len());
        let task = |buckets| Task { buckets, next: 0, place: 0 };
        let mut tasks: Vec<_> = workers.iter_mut().zip(parts.into_iter().map(task)).collect();
        loop {
            let until = Instant::now() + SLICE;
            let go_on = |(worker, task): &mut (&mut Worker<'v>, Task<'_>)| {
                worker.go_on(task, &is_new, joins, until)
            };
            let done = parallel::map(tasks.iter_mut().collect(), shared, go_on);
            done.into_iter().collect::<Result<()>>()?;
            tasks.retain(|(_, task)| task.next < task.buckets.len());
            if tasks.is_empty() {
                return Ok(());
            }
            watch.advance_now(0)?;
        }
    }

    /// Gives nodes to the documents in these buckets that have none, by their clusters: new
    /// documents and those that stand for themselves have some.
    fn place(
        &mut self,
        buckets: &[SharedBuckets],
        shared: bool,
        rows: &ClusterRows<'_>,
    ) -> Result<()> {
        let joins = &self.joins;
        let unknown = |shared: &SharedBuckets| {
            let is_unknown = |doc: &DocNo| joins.node(*doc).is_none();
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
        unknown.into_iter().zip(found).for_each(|(doc, cluster)| self.joins.place(doc, cluster));
        Ok(())
    }

    /// What is joined.
    pub(super) fn into_joins(self) -> Joins {
        self.joins
    }
}

/// The buckets of one thread, and how far it has come.
struct Task<'b> {
    buckets: Vec<&'b [DocNo]>,
    /// The number of the next bucket.
    next: usize,
    /// How many of its documents were compared.
    place: usize,
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

/// What one thread compares.
struct Worker<'v> {
    comparer: Comparer<'v>,
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

impl Worker<'_> {
    /// Compares the documents of the next buckets of a task: of all, or until a time if one has
    /// many.
    fn go_on(
        &mut self,
        task: &mut Task<'_>,
        is_new: impl Fn(DocNo) -> bool,
        joins: &Joins,
        until: Instant,
    ) -> Result<()> {
        while let Some(docs) = task.buckets.get(task.next) {
            match (*docs, task.place) {
                ([earlier, doc], _) => self.meet_two(*earlier, *doc, joins)?,
                (docs, 0) => self.begin(docs, &is_new, joins),
                _ => {}
            }
            while task.place < self.members.len() {
                self.meet_earlier(task.place, joins)?;
                task.place += 1;
                if docs.len() > CROWDED && Instant::now() >= until {
                    return Ok(());
                }
            }
            self.members.clear();
            (task.next, task.place) = (task.next + 1, 0);
        }
        Ok(())
    }

    /// Goes on to a bucket, whose last document is new. It has no members if all are joined.
    fn begin(&mut self, docs: &[DocNo], is_new: impl Fn(DocNo) -> bool, joins: &Joins) {
        let member = |doc| {
            let node = joins.node(doc)?;
            Some(Member { doc, is_new: is_new(doc), node, earlier: None })
        };
        self.members.extend(docs.iter().filter_map(|doc| member(*doc)));
        let mut roots = self.members.iter().map(|member| joins.root(member.node));
        let first = roots.next();
        if roots.all(|root| Some(root) == first) {
            self.members.clear();
            return;
        }
        self.comparer.begin_bucket(self.members.len());
        // An old document is often joined to the new one before it must be compared.
        let members = self.members.iter().enumerate().filter(|(_, member)| member.is_new);
        self.comparer.bring(members.map(|(place, member)| (place, member.doc)));
        self.groups.clear();
    }

    /// Compares the document at a place of the bucket with those before it.
    fn meet_earlier(&mut self, place: usize, joins: &Joins) -> Result<()> {
        let Member { is_new, node, .. } = self.members[place];
        let mut root = joins.root(node);
        let mut own = None;
        for at in 0..self.groups.len() {
            // Other threads may have joined the group to another meanwhile.
            let Group { root: other, last } = self.groups[at];
            let mut joined = root == joins.root(other);
            if is_new && !joined && self.is_similar_to_one(place, last)? {
                let both = [root, other];
                root = joins.join(root, other);
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
    fn meet_two(&mut self, earlier: DocNo, doc: DocNo, joins: &Joins) -> Result<()> {
        let (Some(other), Some(node)) = (joins.node(earlier), joins.node(doc)) else {
            return Ok(());
        };
        if !joins.are_joined(node, other) && self.comparer.are_two_similar(doc, earlier)? {
            joins.join(node, other);
        }
        Ok(())
    }
}
