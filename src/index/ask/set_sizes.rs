//! Which documents have sets of which size: read once for a snapshot, when it is first asked.

use crate::error::Result;
use crate::index::group::by_number::ByNumber;
use crate::lsh::size_class;
use crate::sketch::SetSize;
use crate::store::{ChunkTable, DocNo, DocTable, View};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// A row that is looked up takes about as long as so many that are read one after the other.
const ROWS_OF_A_LOOKUP: u64 = 8;

/// The set sizes of a snapshot's documents, by class; unknown until somebody asks.
#[derive(Debug, Default)]
pub(crate) struct SetSizes(Mutex<Option<Arc<Classes>>>);

/// A document with its size and the class of that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) doc: DocNo,
    pub(crate) class: usize,
    pub(crate) size: SetSize,
}

/// The size class of each document that is not empty: 4 bytes each.
#[derive(Debug)]
pub(crate) struct Classes {
    by_number: ByNumber,
    /// How many documents each class has, as far as there are any.
    documents: Vec<u64>,
}

impl SetSizes {
    /// The classes of all documents, after comparing with those of the classes that are scanned.
    ///
    /// Where sizes are not known yet, one pass over all signatures does both. Threads that ask at the same
    /// time wait for it.
    pub(crate) fn scan<P: ChunkTable, D: DocTable>(
        &self,
        view: &View<'_, P, D>,
        is_scanned: impl Fn(usize) -> bool,
        mut compare: impl FnMut(Placed, &[u8]),
    ) -> Result<Arc<Classes>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(classes) = &*known {
            let classes = Arc::clone(classes);
            drop(known);
            classes.scan(view, is_scanned, compare)?;
            return Ok(classes);
        }
        let mut classes =
            Classes { by_number: ByNumber::new(Classes::NONE), documents: Vec::new() };
        view.for_each_signature(|doc, lanes, size| {
            if !size.is_empty() {
                let class = size_class(size.estimate());
                classes.add(doc, class);
                if is_scanned(class) {
                    compare(Placed { doc, class, size }, lanes);
                }
            }
            ControlFlow::Continue(())
        })?;
        let classes = Arc::new(classes);
        *known = Some(Arc::clone(&classes));
        Ok(classes)
    }
}

impl Classes {
    const NONE: u32 = u32::MAX;

    fn add(&mut self, doc: DocNo, class: usize) {
        self.by_number.set(doc, class as u32);
        if class >= self.documents.len() {
            self.documents.resize(class + 1, 0);
        }
        self.documents[class] += 1;
    }

    /// The class of a document; `None` of an empty one.
    pub(crate) fn of(&self, doc: DocNo) -> Option<usize> {
        let class = self.by_number.get(doc);
        (class != Self::NONE).then_some(class as usize)
    }

    /// The classes that have documents, and how many.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        self.documents.iter().copied().enumerate().filter(|(_, documents)| *documents > 0)
    }

    /// Reads the signatures of some classes: by number if they are few, else in one pass over all.
    fn scan<P: ChunkTable, D: DocTable>(
        &self,
        view: &View<'_, P, D>,
        is_scanned: impl Fn(usize) -> bool,
        mut compare: impl FnMut(Placed, &[u8]),
    ) -> Result<()> {
        let some = |(class, documents)| if is_scanned(class) { documents } else { 0 };
        let (scanned, all) = (self.iter().map(some).sum::<u64>(), self.documents.iter().sum());
        if scanned.saturating_mul(ROWS_OF_A_LOOKUP) > all {
            return view.for_each_signature(|doc, lanes, size| {
                if let Some(class) = self.of(doc).filter(|class| is_scanned(*class)) {
                    compare(Placed { doc, class, size }, lanes);
                }
                ControlFlow::Continue(())
            });
        }
        if scanned > 0 {
            for (doc, class) in self.by_number.iter() {
                let class = class as usize;
                if is_scanned(class) {
                    view.with_signature(doc, |lanes, size| {
                        compare(Placed { doc, class, size }, lanes);
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

    /// The numbers and set sizes that a scan of some classes hands over.
    fn scanned(
        sizes: &SetSizes,
        index: &Index,
        is: impl Fn(usize) -> bool,
    ) -> BTreeSet<(u32, u64)> {
        let snapshot = index.snapshot().expect("a snapshot");
        let mut found = BTreeSet::new();
        let compare = |Placed { doc, class, size }: Placed, _: &[u8]| {
            assert_eq!(size_class(size.estimate()), class);
            assert!(found.insert((doc.0, size.estimate() as u64)), "compared twice");
        };
        sizes.scan(&snapshot.view(), is, compare).expect("scanned");
        found
    }

    #[test]
    fn the_first_scan_and_later_ones_hand_over_the_same() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index = Index::create(folder.path().join("i.twx")).expect("created");
        let mut txn = index.begin_write().expect("begun");
        for number in 0..60_u64 {
            let signature = Signature::from_lanes(vec![7; 256], number * number);
            let document = Document::from_signature(number.to_string(), signature).expect("valid");
            txn.insertion().document(document).expect("inserted");
        }
        txn.commit().expect("committed");
        // Few, half, all and none: by number, and in a pass.
        for (least, documents) in [(3072.0, 4), (896.0, 30), (1.0, 59), (1e6, 0)] {
            let least = size_class(least);
            let sizes = SetSizes::default();
            let first = scanned(&sizes, &index, |class| class >= least);
            assert_eq!(first, scanned(&sizes, &index, |class| class >= least), "from {least} on");
            assert_eq!(first.len(), documents, "from {least} on");
        }
    }
}
