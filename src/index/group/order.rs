//! The order in which documents become the representatives of clusters.

use crate::index::doc_map::{DocMap, NO_DOC};
use crate::store::DocNo;

/// The rule that selects the representative of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Keep {
    /// The document that was inserted first.
    #[default]
    First,
    /// The document with the longest text in bytes; among equally long ones, the first inserted.
    Longest,
    /// The document with the smallest id in byte order.
    Id,
}

/// The order in which documents become representatives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// The rule for documents that `preferred` does not have.
    pub(crate) keep: Keep,
    /// The places of documents that come before all others.
    pub(crate) preferred: Option<Preferred>,
}

/// Documents that are preferred to all others, in an order.
#[derive(Clone, Debug)]
pub(crate) struct Preferred {
    places: DocMap,
    count: u32,
}

impl Preferred {
    /// No documents.
    pub(super) fn none() -> Self {
        Self { places: DocMap::new(NO_DOC), count: 0 }
    }

    /// Adds a document as the last one, if it is not among them.
    pub(super) fn add(&mut self, doc: DocNo) {
        if self.place(doc) == NO_DOC {
            self.places.set(doc, self.count);
            self.count += 1;
        }
    }

    /// The number of documents.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// The place of a document in this order, from 0 on; `NO_DOC` if it is not preferred.
    pub(crate) fn place(&self, doc: DocNo) -> u32 {
        self.places.get(doc)
    }
}
