//! The set sizes of a snapshot's documents, read by its first containment query.

use crate::error::Result;
use crate::index::group::doc_map::DocMap;
use crate::lsh::size_class;
use crate::sketch::SetSize;
use crate::store::{ChunkTable, DocNo, DocTable, View};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// The cost of one lookup of a row, in rows of a sequential pass.
const ROWS_OF_A_LOOKUP: u64 = 8;

/// The size classes of a snapshot's documents; `None` before the first scan.
#[derive(Debug, Default)]
pub(crate) struct SetSizes(Mutex<Option<Arc<Classes>>>);

/// A document with its set size and the class of that size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizedDoc {
    pub(crate) doc: DocNo,
    pub(crate) class: usize,
    pub(crate) size: SetSize,
}

/// The size class of each non-empty document, at 4 bytes per document.
#[derive(Debug)]
pub(crate) struct Classes {
    class_by_doc: DocMap,
    /// The number of documents in each class, up to the highest class that has any.
    documents: Vec<u64>,
}

impl SetSizes {
    /// Hands the documents of the scanned classes to `compare` and returns the classes of all.
    ///
    /// The first call does both in one pass over all signatures. Other threads that call this
    /// meanwhile wait for that pass.
    pub(crate) fn scan<P: ChunkTable, D: DocTable>(
        &self,
        view: &View<'_, P, D>,
        is_scanned: impl Fn(usize) -> bool,
        mut compare: impl FnMut(SizedDoc, &[u8]),
    ) -> Result<Arc<Classes>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(classes) = &*known {
            let classes = Arc::clone(classes);
            drop(known);
            classes.scan(view, is_scanned, compare)?;
            return Ok(classes);
        }
        let mut classes =
            Classes { class_by_doc: DocMap::new(Classes::NONE), documents: Vec::new() };
        view.for_each_signature(|doc, lanes, size| {
            if !size.is_empty() {
                let class = size_class(size.estimate());
                classes.add(doc, class);
                if is_scanned(class) {
                    compare(SizedDoc { doc, class, size }, lanes);
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
        self.class_by_doc.set(doc, class as u32);
        if class >= self.documents.len() {
            self.documents.resize(class + 1, 0);
        }
        self.documents[class] += 1;
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
    fn scan<P: ChunkTable, D: DocTable>(
        &self,
        view: &View<'_, P, D>,
        is_scanned: impl Fn(usize) -> bool,
        mut compare: impl FnMut(SizedDoc, &[u8]),
    ) -> Result<()> {
        let some = |(class, documents)| if is_scanned(class) { documents } else { 0 };
        let (scanned, all) = (self.iter().map(some).sum::<u64>(), self.documents.iter().sum());
        if scanned.saturating_mul(ROWS_OF_A_LOOKUP) > all {
            return view.for_each_signature(|doc, lanes, size| {
                if let Some(class) = self.of(doc).filter(|class| is_scanned(*class)) {
                    compare(SizedDoc { doc, class, size }, lanes);
                }
                ControlFlow::Continue(())
            });
        }
        if scanned > 0 {
            for (doc, class) in self.class_by_doc.iter() {
                let class = class as usize;
                if is_scanned(class) {
                    view.with_signature(doc, |lanes, size| {
                        compare(SizedDoc { doc, class, size }, lanes);
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
        is: impl Fn(usize) -> bool,
    ) -> BTreeSet<(u32, u64)> {
        let snapshot = index.snapshot().expect("a snapshot");
        let mut found = BTreeSet::new();
        let compare = |SizedDoc { doc, class, size }: SizedDoc, _: &[u8]| {
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
        // Few, half, all and none of the documents: this covers lookups and full passes.
        for (least, documents) in [(3072.0, 4), (896.0, 30), (1.0, 59), (1e6, 0)] {
            let least = size_class(least);
            let sizes = SetSizes::default();
            let first = scanned(&sizes, &index, |class| class >= least);
            assert_eq!(first, scanned(&sizes, &index, |class| class >= least), "from {least} on");
            assert_eq!(first.len(), documents, "from {least} on");
        }
    }
}
