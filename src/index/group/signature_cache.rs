//! Keeps signatures in memory, up to a budget in bytes.

use crate::error::Result;
use crate::store::{ChunkTable, DocNo, DocTable, View};
use std::ops::ControlFlow;

/// The lanes of the documents with the lowest numbers.
#[derive(Debug, Default)]
pub(crate) struct SignatureCache {
    width: usize,
    /// The position of each document's signature in `lanes`, by document number.
    places: Vec<u32>,
    lanes: Vec<u8>,
}

/// The position of a number that belongs to no document.
const NOWHERE: u32 = u32::MAX;

impl SignatureCache {
    /// Reads the signatures of at most `documents` documents, in the order of their rows, until
    /// they take `budget` bytes.
    pub(crate) fn read<P: ChunkTable, D: DocTable>(
        view: &View<'_, P, D>,
        width: usize,
        documents: u64,
        budget: usize,
    ) -> Result<Self> {
        // Reserves the exact size, because growing could take twice the budget.
        let most = usize::try_from(documents).unwrap_or(usize::MAX).min(budget / (width + 4));
        let lanes = Vec::with_capacity(most * width);
        let mut cache = Self { width, places: Vec::with_capacity(most), lanes };
        view.for_each_signature(|doc, lanes, _| {
            let places = doc.0 as usize + 1;
            if 4 * places + cache.lanes.len() + width > budget {
                return ControlFlow::Break(());
            }
            cache.push(doc, lanes);
            ControlFlow::Continue(())
        })?;
        Ok(cache)
    }

    #[cfg(test)]
    pub(crate) fn of_width(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// Adds the lanes of a document, whose number is greater than all others.
    pub(crate) fn push(&mut self, doc: DocNo, lanes: &[u8]) {
        self.places.resize(doc.0 as usize + 1, NOWHERE);
        self.places[doc.0 as usize] = (self.lanes.len() / self.width) as u32;
        self.lanes.extend_from_slice(lanes);
    }

    /// The number of lanes of a signature.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The lanes of a document, if they are in memory.
    pub(crate) fn get(&self, doc: DocNo) -> Option<&[u8]> {
        let place = *self.places.get(doc.0 as usize).filter(|place| **place != NOWHERE)?;
        self.lanes.get(place as usize * self.width..)?.get(..self.width)
    }

    /// Appends the lanes of a document, from memory or from the file.
    pub(crate) fn append<P: ChunkTable, D: DocTable>(
        &self,
        view: &View<'_, P, D>,
        doc: DocNo,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match self.get(doc) {
            Some(lanes) => {
                out.extend_from_slice(lanes);
                Ok(())
            }
            None => view.with_signature(doc, |lanes, _| out.extend_from_slice(lanes)),
        }
    }
}
