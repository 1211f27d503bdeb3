//! Clusters of similar documents, each with one that stands for it.

use crate::error::Result;
use crate::estimate::least_equal_lanes;
use crate::index::ask::verify::Verifier;
use crate::index::group::by_number::ByNumber;
use crate::index::group::linkage::{self, Job, NOBODY};
use crate::index::snapshot::Snapshot;
use crate::lsh::Probe;
use crate::params::Threshold;
use crate::store::{DocNo, Tell, Watch, Work};
use std::cmp::Reverse;
use std::fmt;
use std::ops::Range;

/// What makes documents one cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Every member was compared with the representative, and its similarity to it, estimated or
    /// exact, is at least the threshold. Documents become representatives in the order of [`Keep`], and each
    /// takes what is similar to it and belongs to no other yet.
    #[default]
    Representative,
    /// Two documents belong together if a chain of similar pairs leads from one to the other. Members
    /// at both ends of a long chain may have nothing in common.
    Connected,
}

/// Which document of a cluster stands for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Keep {
    /// The one that was inserted earliest.
    #[default]
    First,
    /// The one whose text has the most bytes; the earlier one where two have as many.
    Longest,
    /// The one with the smallest id, byte by byte.
    Id,
}

/// How clusters are to be found; built by value and ended by [`find`](Self::find).
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
/// assert_eq!((clusters.len(), clusters.documents()), (1, 2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "no clusters are looked for until `find` is called"]
pub struct Clustering<'s> {
    snapshot: &'s Snapshot,
    threshold: Threshold,
    linkage: Linkage,
    keep: Keep,
    estimate: bool,
}

impl<'s> Clustering<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, threshold: Threshold) -> Self {
        let (linkage, keep) = (Linkage::default(), Keep::default());
        Self { snapshot, threshold, linkage, keep, estimate: false }
    }

    /// What makes documents one cluster; default [`Linkage::Representative`].
    pub fn linkage(mut self, linkage: Linkage) -> Self {
        self.linkage = linkage;
        self
    }

    /// Which document stands for a cluster; default [`Keep::First`].
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Goes by estimates although the index stores texts: faster, as no text is read.
    pub fn estimate(mut self, estimate: bool) -> Self {
        self.estimate = estimate;
        self
    }

    /// Finds all clusters of two or more documents.
    ///
    /// Takes about 12 bytes of memory for each document that shares a bucket with another one, 20
    /// more while these are ordered by length or id, and for [`Linkage::Connected`] what
    /// [`Pairs`](crate::Pairs) takes. With [`Linkage::Representative`] it costs a query for each
    /// representative.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged), [`Error::Io`](crate::Error::Io),
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn find(self) -> Work<'s, Clusters<'s>> {
        Work::new(move |tell| self.find_telling(tell))
    }

    fn find_telling(self, tell: &mut Tell<'_>) -> Result<Clusters<'s>> {
        const LOOKING: (&str, &str) = ("looking for clusters", "nothing was changed");
        let watch = Watch::new(self.snapshot.path(), LOOKING, tell);
        let (least, _) = self.least_and_recall();
        let verifier = self.verifies().then(|| Verifier::new(self.snapshot));
        let mut job = Job {
            snapshot: self.snapshot,
            probe: self.probe(),
            least,
            threshold: self.threshold.get(),
            verifier,
            watch,
        };
        let assigned = match self.linkage {
            Linkage::Representative => linkage::by_representative(&mut job, self.keep)?,
            Linkage::Connected => linkage::connected(&mut job, self.keep)?,
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

    /// The least equal lanes of what is compared or similar, and the recall at the threshold.
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

/// The clusters of a snapshot: the largest first, then in the order in which their representatives
/// were inserted. They hold numbers, some 4 bytes a document; ids are read when they are asked for.
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
            .field("documents", &self.documents())
            .finish_non_exhaustive()
    }
}

impl Clusters<'_> {
    /// Takes the clusters from what stands for each document; those of one are none.
    fn with(mut self, assigned: &ByNumber) -> Self {
        let mut sizes = ByNumber::new(0);
        for (_, leader) in assigned.iter() {
            sizes.set(DocNo(leader), sizes.get(DocNo(leader)) + 1);
        }
        let sized = sizes.iter().filter(|(_, size)| *size > 1);
        let mut leaders: Vec<(Reverse<u32>, DocNo)> =
            sized.map(|(leader, size)| (Reverse(size), leader)).collect();
        drop(sizes);
        leaders.sort_unstable();
        let mut places = ByNumber::new(NOBODY);
        let mut end = 0;
        for (Reverse(size), leader) in leaders {
            places.set(leader, end);
            self.clusters.push((leader, end..end + size));
            end += size;
        }
        self.members = vec![DocNo(NOBODY); end as usize];
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

    /// How many clusters there are.
    pub fn len(&self) -> usize {
        self.clusters.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }

    /// How many documents belong to a cluster.
    pub fn documents(&self) -> u64 {
        self.members.len() as u64
    }

    /// The probability with which a pair at the threshold was compared, at least.
    pub fn recall(&self) -> f64 {
        self.recall
    }

    /// The clusters in order.
    pub fn iter(&self) -> impl Iterator<Item = Cluster<'_>> {
        self.clusters.iter().map(|(representative, members)| Cluster {
            snapshot: self.snapshot,
            representative: *representative,
            members: &self.members[members.start as usize..members.end as usize],
        })
    }
}

impl<'c> IntoIterator for &'c Clusters<'_> {
    type Item = Cluster<'c>;
    type IntoIter = Box<dyn Iterator<Item = Cluster<'c>> + 'c>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

/// Two or more similar documents.
#[derive(Clone, Copy, Debug)]
pub struct Cluster<'c> {
    snapshot: &'c Snapshot,
    representative: DocNo,
    members: &'c [DocNo],
}

#[expect(clippy::len_without_is_empty, reason = "a cluster has two members at least")]
impl<'c> Cluster<'c> {
    /// How many documents it has, the representative included.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// The id of the document that stands for it.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io).
    pub fn representative(&self) -> Result<String> {
        Ok(self.snapshot.view().document(self.representative)?.id)
    }

    /// The ids of all its documents in order of insertion, the representative among them, each read
    /// as its turn comes.
    pub fn members(self) -> impl Iterator<Item = Result<String>> + 'c {
        self.ids_of(|_| true)
    }

    /// The ids of all its documents but the representative: what may go.
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
