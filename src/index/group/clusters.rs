//! Clusters of similar documents, each with a representative.

use crate::error::Result;
use crate::estimate::least_equal_lanes;
use crate::index::ask::verifier::Verifier;
use crate::index::doc_map::{DocMap, NO_DOC};
use crate::index::group::connected::connected;
use crate::index::group::leaders::by_representative;
use crate::index::group::linkage::Job;
use crate::index::group::order::{Keep, Order, Preferred};
use crate::index::snapshot::Snapshot;
use crate::lsh::Probe;
use crate::params::Threshold;
use crate::store::{DocNo, Tell, Watch, Work};
use std::cmp::Reverse;
use std::fmt;
use std::ops::Range;

/// The rule that puts documents in one cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Leader clustering (Hartigan 1975): the similarity of every member to the representative,
    /// estimated or exact, is at least the threshold. Documents become representatives in the order
    /// of [`Keep`]. Each takes all similar documents that do not belong to a cluster yet.
    #[default]
    Representative,
    /// Single linkage: two documents belong to one cluster if a chain of similar pairs connects
    /// them. Documents at the two ends of a long chain may have nothing in common.
    Connected,
}

/// The options of a search for clusters. The setters take it by value; [`find`](Self::find) ends
/// it.
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let index = twindex::Index::create(folder.path().join("c.twx"))?;
/// use twindex::Keep;
/// let mut txn = index.begin_write()?;
/// txn.insert("b", "It was the best of times, it was the worst of times")?;
/// txn.insert("a", "It was the best of times, it was  the worst of times")?;
/// txn.insert("c", "Call me Ishmael")?;
/// txn.commit()?;
/// let snapshot = index.snapshot()?;
/// let clusters = snapshot.clusters(0.8)?.keep(Keep::Id).find().run()?;
/// for cluster in &clusters {
///     assert_eq!((cluster.representative()?.as_str(), cluster.len()), ("a", 2));
///     let members: Vec<String> = cluster.members().collect::<Result<_, _>>()?;
///     assert_eq!(members, ["b", "a"]);
/// }
/// assert_eq!((clusters.len(), clusters.member_count()), (1, 2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "the search for clusters does not start until `find` is called"]
pub struct Clustering<'s> {
    snapshot: &'s Snapshot,
    threshold: Threshold,
    linkage: Linkage,
    order: Order,
    estimate: bool,
}

impl Snapshot {
    /// Starts a search for clusters of documents with a similarity of at least the threshold: above
    /// 0, at most 1. See [`Linkage`](crate::Linkage) for the definition of a cluster.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a threshold out of range.
    pub fn clusters(&self, threshold: f64) -> Result<Clustering<'_>> {
        Ok(Clustering::new(self, Threshold::new(threshold)?))
    }
}

impl<'s> Clustering<'s> {
    fn new(snapshot: &'s Snapshot, threshold: Threshold) -> Self {
        let (linkage, order) = (Linkage::default(), Order::default());
        Self { snapshot, threshold, linkage, order, estimate: false }
    }

    /// Sets the rule that puts documents in one cluster. The default is
    /// [`Linkage::Representative`].
    pub fn linkage(mut self, linkage: Linkage) -> Self {
        self.linkage = linkage;
        self
    }

    /// Sets the rule that selects the representative. The default is [`Keep::First`].
    pub fn keep(mut self, keep: Keep) -> Self {
        self.order.keep = keep;
        self
    }

    /// Prefers the documents with these ids as representatives: the first of them most, and all of
    /// them to other documents, which follow in the order of [`Keep`]. So a program can keep the
    /// better copy by what it alone knows, such as a score or a date.
    ///
    /// An id that the snapshot does not have is ignored, and the first of equal ids counts. A
    /// second call replaces the first one. Cost: a lookup for each id, and 4 bytes of memory for
    /// each document.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("c.twx"))?;
    /// let mut txn = index.begin_write()?;
    /// for id in ["a", "b", "c"] {
    ///     txn.insert(id, "It was the best of times, it was the worst of times")?;
    /// }
    /// txn.commit()?;
    /// let snapshot = index.snapshot()?;
    /// let clustering = snapshot.clusters(0.8)?.prefer(["c", "unknown", "a"])?;
    /// assert_eq!(clustering.preferred(), 2);
    /// let clusters = clustering.find().run()?;
    /// assert_eq!(clusters.get(0).expect("a cluster").representative()?, "c");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io) if the file
    /// cannot be read.
    pub fn prefer<I: AsRef<str>>(mut self, ids: impl IntoIterator<Item = I>) -> Result<Self> {
        let view = self.snapshot.view();
        let mut preferred = Preferred::none();
        for id in ids {
            if let Some((doc, _)) = view.find(id.as_ref())? {
                preferred.add(doc);
            }
        }
        self.order.preferred = Some(preferred);
        Ok(self)
    }

    /// The number of documents that [`prefer`](Self::prefer) has found.
    pub fn preferred(&self) -> u64 {
        self.order.preferred.as_ref().map_or(0, |preferred| preferred.count().into())
    }

    /// Uses estimates even if the index stores texts. This is faster because no text is read.
    pub fn estimate(mut self, estimate: bool) -> Self {
        self.estimate = estimate;
        self
    }

    /// Finds all clusters of two or more documents.
    ///
    /// Memory: about 16 bytes for each document that shares a bucket with another one, and 20 more
    /// while [`Keep::Longest`] or [`Keep::Id`] sorts these. In addition, up to the [cache
    /// size](crate::IndexOptions::cache_bytes) of the index for signatures, as much for buckets and
    /// the order of documents in large ones and, if texts are compared, 1.25 times as much for
    /// them.
    /// Time: [`Linkage::Representative`] costs one query per representative, on all threads.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io) if the file
    /// cannot be read; [`Error::Interrupted`](crate::Error::Interrupted) if the caller stopped the
    /// work.
    pub fn find(self) -> Work<'s, Clusters<'s>> {
        Work::new(move |tell| self.find_telling(tell))
    }

    fn find_telling(self, tell: &mut Tell<'_>) -> Result<Clusters<'s>> {
        const LOOKING: (&str, &str) = ("looking for clusters", "nothing was changed");
        let watch = Watch::new(self.snapshot.path(), LOOKING, tell);
        let (least, _) = self.least_and_recall();
        let verifier = self.verifies().then(|| Verifier::of(self.snapshot));
        let mut job = Job {
            snapshot: self.snapshot,
            probe: self.probe(),
            least,
            threshold: self.threshold.get(),
            verifier,
            watch,
        };
        let assigned = match self.linkage {
            Linkage::Representative => by_representative(&mut job, &self.order)?,
            Linkage::Connected => connected(&mut job, &self.order)?,
        };
        Ok(self.none().with(&assigned))
    }

    fn probe(&self) -> Probe {
        let settings = self.snapshot.settings();
        Probe::of(settings.plan, self.threshold, settings.recall)
    }

    fn verifies(&self) -> bool {
        self.snapshot.settings().store_text && !self.estimate
    }

    /// The minimum number of equal lanes of a similar document (or, with texts, of one to verify),
    /// and the recall at the threshold.
    fn least_and_recall(&self) -> (usize, f64) {
        let (settings, threshold) = (self.snapshot.settings(), self.threshold);
        if self.verifies() {
            let margin = self.snapshot.margins.of(settings, threshold, settings.recall, false);
            return (margin.least, margin.recall);
        }
        (least_equal_lanes(threshold.get(), settings.lanes.get()), self.probe().recall())
    }

    fn none(&self) -> Clusters<'s> {
        let (snapshot, (_, recall)) = (self.snapshot, self.least_and_recall());
        Clusters { snapshot, recall, clusters: Vec::new(), members: Vec::new() }
    }
}

/// The clusters of a snapshot: the largest first, clusters of equal size in the order in which
/// their representatives were inserted.
///
/// Takes about 4 bytes of memory per member. Ids are read from the file on demand.
pub struct Clusters<'s> {
    snapshot: &'s Snapshot,
    recall: f64,
    clusters: Vec<(DocNo, Range<u32>)>,
    /// The members of all clusters, each cluster's in order of insertion.
    members: Vec<DocNo>,
}

impl fmt::Debug for Clusters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clusters")
            .field("clusters", &self.len())
            .field("members", &self.member_count())
            .finish_non_exhaustive()
    }
}

impl Clusters<'_> {
    /// Builds the clusters from the representative of each document. Leaves out single documents.
    fn with(mut self, assigned: &DocMap) -> Self {
        let mut sizes = DocMap::new(0);
        for (_, leader) in assigned.iter() {
            sizes.set(DocNo(leader), sizes.get(DocNo(leader)) + 1);
        }
        let sized = sizes.iter().filter(|(_, size)| *size > 1);
        let mut leaders: Vec<(Reverse<u32>, DocNo)> =
            sized.map(|(leader, size)| (Reverse(size), leader)).collect();
        drop(sizes);
        leaders.sort_unstable();
        let mut places = DocMap::new(NO_DOC);
        let mut end = 0;
        for (Reverse(size), leader) in leaders {
            places.set(leader, end);
            self.clusters.push((leader, end..end + size));
            end += size;
        }
        self.members = vec![DocNo(NO_DOC); end as usize];
        for (doc, leader) in assigned.iter() {
            let leader = DocNo(leader);
            let place = places.get(leader);
            if let Some(member) = self.members.get_mut(place as usize) {
                *member = doc;
                places.set(leader, place + 1);
            }
        }
        self
    }

    /// The number of clusters.
    pub fn len(&self) -> usize {
        self.clusters.len()
    }

    /// Whether there are no clusters.
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }

    /// The number of documents in all clusters.
    pub fn member_count(&self) -> u64 {
        self.members.len() as u64
    }

    /// A lower bound on the probability that a pair at the threshold was compared, from 0 to 1.
    pub fn recall(&self) -> f64 {
        self.recall
    }

    /// Iterates over the clusters, the largest first.
    pub fn iter(&self) -> impl Iterator<Item = Cluster<'_>> {
        self.clusters.iter().map(|cluster| self.cluster(cluster))
    }

    /// Returns the cluster at a place, counted from 0; `None` past the last one.
    pub fn get(&self, place: usize) -> Option<Cluster<'_>> {
        self.clusters.get(place).map(|cluster| self.cluster(cluster))
    }

    fn cluster(&self, (representative, members): &(DocNo, Range<u32>)) -> Cluster<'_> {
        Cluster {
            snapshot: self.snapshot,
            representative: *representative,
            members: &self.members[members.start as usize..members.end as usize],
        }
    }
}

impl<'c> IntoIterator for &'c Clusters<'_> {
    type Item = Cluster<'c>;
    type IntoIter = Box<dyn Iterator<Item = Cluster<'c>> + 'c>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

/// A cluster of two or more similar documents.
#[derive(Clone, Copy, Debug)]
pub struct Cluster<'c> {
    snapshot: &'c Snapshot,
    representative: DocNo,
    members: &'c [DocNo],
}

#[expect(clippy::len_without_is_empty, reason = "a cluster has two members at least")]
impl<'c> Cluster<'c> {
    /// The number of documents, the representative included.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// The id of the representative, read from the file.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io).
    pub fn representative(&self) -> Result<String> {
        Ok(self.snapshot.view().document(self.representative)?.id)
    }

    /// Iterates over the ids of all documents in order of insertion, the representative included.
    /// Reads each id from the file when the iterator reaches it.
    pub fn members(self) -> impl Iterator<Item = Result<String>> + 'c {
        self.ids_of(|_| true)
    }

    /// Iterates over the ids of all documents except the representative: the redundant copies.
    pub fn duplicates(self) -> impl Iterator<Item = Result<String>> + 'c {
        let representative = self.representative;
        self.ids_of(move |doc| doc != representative)
    }

    fn ids_of(
        self,
        wanted: impl Fn(DocNo) -> bool + 'c,
    ) -> impl Iterator<Item = Result<String>> + 'c {
        let snapshot = self.snapshot;
        let docs = self.members.iter().copied().filter(move |doc| wanted(*doc));
        docs.map(move |doc| Ok(snapshot.view().document(doc)?.id))
    }
}
