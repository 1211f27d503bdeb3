//! Keeps signatures in memory, up to a budget in bytes.

use crate::error::Result;
use crate::index::doc_map::DocMap;
use crate::store::{DocNo, View};
use std::ops::ControlFlow;

/// The lanes of the documents with the lowest numbers.
#[derive(Debug)]
pub(crate) struct SignatureCache {
    width: usize,
    /// The position of each document's signature in `lanes`.
    places: DocMap,
    lanes: Vec<u8>,
}

/// The position of a document whose signature is not in memory.
const NOWHERE: u32 = u32::MAX;

impl SignatureCache {
    /// Reads the signatures of at most `documents` documents, in the order of their rows, until
    /// they take `budget` bytes.
    pub(crate) fn read(
        view: &View<'_>,
        width: usize,
        documents: u64,
        budget: usize,
    ) -> Result<Self> {
        // Reserves the exact size, because growing could take twice the budget.
        let most = usize::try_from(documents).unwrap_or(usize::MAX).min(budget / (width + 4));
        let lanes = Vec::with_capacity(most * width);
        let mut cache = Self { lanes, ..Self::of_width(width) };
        view.for_each_signature(|doc, lanes, _| {
            cache.push(doc, lanes);
            if cache.places.bytes() + cache.lanes.len() + width > budget {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        Ok(cache)
    }

    /// No signatures of so many lanes.
    pub(crate) fn of_width(width: usize) -> Self {
        Self { width, places: DocMap::new(NOWHERE), lanes: Vec::new() }
    }

    /// Adds the lanes of a document.
    pub(crate) fn push(&mut self, doc: DocNo, lanes: &[u8]) {
        self.places.set(doc, (self.lanes.len() / self.width) as u32);
        self.lanes.extend_from_slice(lanes);
    }

    /// The number of lanes of a signature.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The lanes of a document, if they are in memory.
    pub(crate) fn get(&self, doc: DocNo) -> Option<&[u8]> {
        // That of no document is beyond all lanes.
        let first = self.places.get(doc) as usize * self.width;
        self.lanes.get(first..)?.get(..self.width)
    }

    /// Appends the lanes of a document, from memory or from the file.
    pub(crate) fn append(&self, view: &View<'_>, doc: DocNo, out: &mut Vec<u8>) -> Result<()> {
        match self.get(doc) {
            Some(lanes) => {
                out.extend_from_slice(lanes);
                Ok(())
            }
            None => view.with_signature(doc, |lanes, _| out.extend_from_slice(lanes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IndexOptions;

    #[test]
    fn documents_that_were_replaced_many_times_are_kept_like_new_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        let index = IndexOptions::new().create(folder.path().join("i.twx")).expect("an index");
        // Each replacement gives a new number: the last ones are near 20,000.
        for round in 0..100 {
            let mut txn = index.begin_write().expect("a transaction");
            for id in 0..200 {
                txn.insert(&id.to_string(), &format!("text {id} of {round}")).expect("inserted");
            }
            txn.commit().expect("committed");
        }
        let snapshot = index.snapshot().expect("a snapshot");
        let (view, width) = (snapshot.view(), snapshot.settings().lanes());
        let documents = snapshot.len();
        let kept = |budget| {
            let cache = SignatureCache::read(&view, width, documents, budget).expect("read");
            let mut kept = 0;
            view.for_each_signature(|doc, lanes, _| {
                kept += u64::from(cache.get(doc).is_some_and(|own| own == lanes));
                ControlFlow::Continue(())
            })
            .expect("read");
            assert!(cache.lanes.len() + cache.places.bytes() <= budget + width);
            kept
        };
        assert_eq!(kept(usize::MAX >> 1), 200);
        assert_eq!(kept(32 * 1024 + 200 * (width + 4)), 200);
        let half = kept(17 * 1024 + 100 * width);
        assert!((90..120).contains(&half), "{half}");
    }
}
