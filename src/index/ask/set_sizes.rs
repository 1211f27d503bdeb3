//! The size classes of documents. Containment queries search class by class. The first query of an
//! index reads the classes, and later snapshots take them over.

use crate::error::Result;
use crate::index::doc_map::DocMap;
use crate::lsh::size_class;
use crate::sketch::SetSize;
use crate::store::{DocNo, View};
use std::sync::{Arc, Mutex, PoisonError};

/// The cost of one lookup of a row, in rows of a sequential pass.
const ROWS_OF_A_LOOKUP: u64 = 8;

/// The size classes of the newest snapshot that has read them. All snapshots of an open index share
/// them.
#[derive(Debug, Default)]
pub(crate) struct LatestClasses(Mutex<Option<Arc<Classes>>>);

/// The size classes of a snapshot's documents.
#[derive(Debug, Default)]
pub(crate) struct SetSizes {
    /// `None` before the first scan.
    known: Mutex<Option<Arc<Classes>>>,
    latest: Arc<LatestClasses>,
}

/// A document with its set size and the class of that size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizedDoc {
    pub(crate) doc: DocNo,
    pub(crate) class: usize,
    pub(crate) size: SetSize,
}

/// The size class of each non-empty document, at 4 bytes per document, removed ones included.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    class_by_doc: DocMap,
    /// The number of documents in each class, up to the highest class that has any.
    documents: Vec<u64>,
    /// The number of all documents, empty ones included.
    all: u64,
    /// The number of documents that were removed since all signatures were read.
    removed: u64,
    /// The commit as of which this holds.
    commit: u64,
    /// Documents from this number on were not read.
    upto: u64,
}

impl LatestClasses {
    /// The classes as of a commit or of one before it.
    fn before(&self, commit: u64) -> Option<Arc<Classes>> {
        let latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        latest.clone().filter(|classes| classes.commit <= commit)
    }

    fn put(&self, classes: &Arc<Classes>) {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.as_ref().is_none_or(|latest| latest.commit <= classes.commit) {
            *latest = Some(Arc::clone(classes));
        }
    }
}

impl SetSizes {
    /// Nothing is known of a snapshot yet, but perhaps of an earlier one.
    pub(crate) fn new(latest: &Arc<LatestClasses>) -> Self {
        Self { known: Mutex::default(), latest: Arc::clone(latest) }
    }

    /// Hands the documents of the scanned classes to `meet`, with what `compare` says of their
    /// lanes, and returns the classes of all. `compare` may run on all threads.
    ///
    /// The first call does both in one pass over all signatures, unless the classes of an earlier
    /// snapshot are known: then it reads those of new documents first. Other threads that call this
    /// meanwhile wait. So that pass is done by one thread: if it shared its work, it could meet
    /// another call in the pool, which waits for it.
    pub(crate) fn scan(
        &self,
        view: &View<'_>,
        is_scanned: impl Fn(usize) -> bool + Sync,
        compare: impl Fn(&[u8]) -> usize + Sync,
        mut meet: impl FnMut(SizedDoc, usize),
    ) -> Result<Arc<Classes>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none()
            && let Some(earlier) = self.latest.before(view.state.counters.commit)
            && let Some(classes) = earlier.followed(view)?
        {
            self.latest.put(&classes);
            *known = Some(classes);
        }
        if let Some(classes) = &*known {
            let classes = Arc::clone(classes);
            drop(known);
            classes.scan(view, is_scanned, compare, meet)?;
            return Ok(classes);
        }
        let mut classes = Classes::default();
        let compare = |class, lanes: &[u8]| is_scanned(class).then(|| compare(lanes));
        classes.read(view, compare, |sized, compared| {
            if let Some(compared) = compared {
                meet(sized, compared);
            }
        })?;
        let classes = Arc::new(classes);
        self.latest.put(&classes);
        *known = Some(Arc::clone(&classes));
        Ok(classes)
    }
}

impl Default for Classes {
    fn default() -> Self {
        let class_by_doc = DocMap::new(Self::NONE);
        Self { class_by_doc, documents: Vec::new(), all: 0, removed: 0, commit: 0, upto: 0 }
    }
}

impl Classes {
    const NONE: u32 = u32::MAX;

    /// Reads the documents from number `upto` on, and hands those that are not empty to `meet`.
    fn read<T: Send>(
        &mut self,
        view: &View<'_>,
        compare: impl Fn(usize, &[u8]) -> T + Sync,
        mut meet: impl FnMut(SizedDoc, T),
    ) -> Result<()> {
        let counters = view.state.counters;
        let sized = |doc, lanes: &[u8], size: SetSize| {
            let class = size_class(size.estimate());
            let compared = (!size.is_empty()).then(|| compare(class, lanes));
            Some((SizedDoc { doc, class, size }, compared))
        };
        view.map_signatures(self.upto..counters.next_doc, false, sized, |(sized, compared)| {
            self.all += 1;
            if let Some(compared) = compared {
                self.add(sized);
                meet(sized, compared);
            }
        })?;
        (self.commit, self.upto) = (counters.commit, counters.next_doc);
        Ok(())
    }

    /// The classes of a snapshot of this commit or of a later one. `None` if it is not known which
    /// documents were removed in the meantime, or if they are so many that they take most of the
    /// memory.
    fn followed(self: &Arc<Self>, view: &View<'_>) -> Result<Option<Arc<Self>>> {
        let counters = view.state.counters;
        if self.commit == counters.commit {
            return Ok(Some(Arc::clone(self)));
        }
        let mut classes = Self::clone(self);
        view.state.tombstones.iter().for_each(|doc| classes.remove(doc));
        classes.read(view, |_, _| (), |_, ()| {})?;
        // A removed document that is among no tombstones, or was empty, is still counted.
        let is_right = classes.all == counters.documents;
        Ok((is_right && classes.removed <= classes.all).then(|| Arc::new(classes)))
    }

    fn add(&mut self, SizedDoc { doc, class, .. }: SizedDoc) {
        self.class_by_doc.set(doc, class as u32);
        if class >= self.documents.len() {
            self.documents.resize(class + 1, 0);
        }
        self.documents[class] += 1;
    }

    fn remove(&mut self, doc: DocNo) {
        if let Some(class) = self.of(doc) {
            self.class_by_doc.set(doc, Self::NONE);
            self.documents[class] -= 1;
            self.all -= 1;
            self.removed += 1;
        }
    }

    /// The class of a document; `None` if the document is empty.
    pub(crate) fn of(&self, doc: DocNo) -> Option<usize> {
        let class = self.class_by_doc.get(doc);
        (class != Self::NONE).then_some(class as usize)
    }

    /// The classes that have documents, each with their number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        self.documents.iter().copied().enumerate().filter(|(_, documents)| *documents > 0)
    }

    /// Reads the signatures of the scanned classes: by lookups if these have few documents, in one
    /// pass over all signatures otherwise.
    fn scan(
        &self,
        view: &View<'_>,
        is_scanned: impl Fn(usize) -> bool + Sync,
        compare: impl Fn(&[u8]) -> usize + Sync,
        mut meet: impl FnMut(SizedDoc, usize),
    ) -> Result<()> {
        let some = |(class, documents)| if is_scanned(class) { documents } else { 0 };
        let (scanned, all) = (self.iter().map(some).sum::<u64>(), self.documents.iter().sum());
        if scanned.saturating_mul(ROWS_OF_A_LOOKUP) > all {
            let compared = |doc, lanes: &[u8], size| {
                let class = self.of(doc).filter(|class| is_scanned(*class))?;
                Some((SizedDoc { doc, class, size }, compare(lanes)))
            };
            let all = 0..self.upto;
            return view.map_signatures(all, true, compared, |(sized, equal)| meet(sized, equal));
        }
        if scanned > 0 {
            for (doc, class) in self.class_by_doc.iter() {
                let class = class as usize;
                if is_scanned(class) {
                    view.with_signature(doc, |lanes, size| {
                        meet(SizedDoc { doc, class, size }, compare(lanes));
                    })?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Document, Index};
    use crate::sketch::Signature;
    use std::collections::BTreeSet;

    /// The numbers and set sizes of the documents that a scan hands over.
    fn scanned(
        sizes: &SetSizes,
        index: &Index,
        is: impl Fn(usize) -> bool + Sync,
    ) -> BTreeSet<(u32, u64)> {
        let snapshot = index.snapshot().expect("a snapshot");
        let mut found = BTreeSet::new();
        let meet = |SizedDoc { doc, class, size }: SizedDoc, first: usize| {
            assert_eq!((size_class(size.estimate()), first), (class, 7));
            assert!(found.insert((doc.0, size.estimate() as u64)), "compared twice");
        };
        let first = |lanes: &[u8]| usize::from(lanes[0]);
        sizes.scan(&snapshot.view(), is, first, meet).expect("scanned");
        found
    }

    fn insert(index: &Index, numbers: std::ops::Range<u64>) {
        let mut txn = index.begin_write().expect("begun");
        for number in numbers {
            let signature = Signature::from_lanes(vec![7; 256], number * number);
            let document = Document::from_signature(number.to_string(), signature).expect("valid");
            txn.insertion().document(document).expect("inserted");
        }
        txn.commit().expect("committed");
    }

    #[test]
    fn the_first_scan_and_later_ones_hand_over_the_same() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index = Index::create(folder.path().join("i.twx")).expect("created");
        insert(&index, 0..60);
        // Few, half, all and none of the documents: this covers lookups and full passes.
        for (least, documents) in [(3072.0, 4), (896.0, 30), (1.0, 59), (1e6, 0)] {
            let least = size_class(least);
            let sizes = SetSizes::default();
            let first = scanned(&sizes, &index, |class| class >= least);
            assert_eq!(first, scanned(&sizes, &index, |class| class >= least), "from {least} on");
            assert_eq!(first.len(), documents, "from {least} on");
        }
    }

    #[test]
    fn later_snapshots_take_over_what_is_known() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut index = Index::create(folder.path().join("i.twx")).expect("created");
        let latest = Arc::<LatestClasses>::default();
        let same = |index: &Index, documents: usize| {
            let sizes = SetSizes::new(&latest);
            let found = scanned(&sizes, index, |_| true);
            assert_eq!(found, scanned(&SetSizes::default(), index, |_| true));
            let of = |sizes: &SetSizes| -> Vec<(usize, u64)> {
                sizes.known.lock().expect("sound").as_ref().expect("read").iter().collect()
            };
            let anew = SetSizes::default();
            scanned(&anew, index, |_| false);
            assert_eq!((of(&sizes), found.len()), (of(&anew), documents));
        };
        let followed = |index: &Index| {
            let known = latest.before(u64::MAX).expect("read before");
            known.followed(&index.snapshot().expect("a snapshot").view()).expect("read").is_some()
        };
        let old = index.snapshot().expect("a snapshot").commit_number();
        insert(&index, 0..60);
        same(&index, 59);
        assert!(latest.before(old).is_none(), "an earlier snapshot knows nothing of it");
        insert(&index, 60..400);
        assert!(followed(&index));
        same(&index, 399);
        let mut txn = index.begin_write().expect("begun");
        assert!(txn.remove("9").expect("removed") && txn.remove("70").expect("removed"));
        txn.commit().expect("committed");
        assert!(followed(&index), "the tombstones tell");
        same(&index, 397);
        let mut txn = index.begin_write().expect("begun");
        assert!(txn.remove("0").expect("removed"));
        txn.commit().expect("committed");
        assert!(!followed(&index), "an empty document was removed");
        same(&index, 397);
        let earlier = index.snapshot().expect("a snapshot");
        insert(&index, 400..410);
        same(&index, 407);
        let sizes = SetSizes::new(&latest);
        let mut found = 0;
        sizes.scan(&earlier.view(), |_| true, |_| 0, |_, _| found += 1).expect("scanned");
        assert_eq!(found, 397, "an earlier snapshot is read by itself");
        drop(earlier);
        let mut txn = index.begin_write().expect("begun");
        assert!(txn.remove("200").expect("removed"));
        let version = Document::from_signature("201", Signature::from_lanes(vec![7; 256], 99));
        txn.insertion().document(version.expect("valid")).expect("replaced");
        txn.commit().expect("committed");
        index.compact().run().expect("compacted");
        assert!(!followed(&index), "the tombstones are gone");
        same(&index, 406);
        insert(&index, 410..412);
        assert!(followed(&index));
        same(&index, 408);
        let mut txn = index.begin_write().expect("begun");
        let many: Vec<String> = (202..408).map(|number| number.to_string()).collect();
        assert_eq!(txn.remove_batch(&many).expect("removed"), 206);
        txn.commit().expect("committed");
        assert!(!followed(&index), "more are removed than are left");
        same(&index, 202);
    }

    /// The first scan holds a lock. If it waited for a pool meanwhile, it could meet a query there
    /// that waits for the lock.
    #[test]
    fn many_scans_of_a_new_snapshot_at_once_end() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index = Index::create(folder.path().join("i.twx")).expect("created");
        insert(&index, 0..3_000);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("a pool");
        let (sender, receiver) = std::sync::mpsc::channel();
        let asked = std::thread::spawn(move || {
            let snapshot = index.snapshot().expect("a snapshot");
            for round in 0..50 {
                let sizes = SetSizes::default();
                let scan = || {
                    let mut found = 0;
                    let scan = sizes.scan(&snapshot.view(), |_| true, |_| 0, |_, _| found += 1);
                    assert_eq!(scan.map(|_| found).ok(), Some(2_999));
                };
                // Queries that come one after the other, while threads have no other work.
                pool.in_place_scope(|scope| {
                    for _ in 0..8 {
                        scope.spawn(|_| scan());
                        std::thread::sleep(std::time::Duration::from_micros(20 * round));
                    }
                });
            }
            sender.send(()).expect("the test waits");
        });
        let ended = receiver.recv_timeout(std::time::Duration::from_secs(60));
        assert!(ended.is_ok(), "the scans wait for each other, or failed");
        asked.join().expect("no panic");
    }
}
