//! Signatures kept in memory, as many as a budget has room for.

use crate::error::Result;
use crate::store::{ChunkTable, DocNo, DocTable, View};
use std::ops::ControlFlow;

/// The lanes of the documents with the lowest numbers.
#[derive(Debug, Default)]
pub(crate) struct LoadedSignatures {
    width: usize,
    /// Where a document's lanes are, in signatures; by number.
    places: Vec<u32>,
    lanes: Vec<u8>,
}

/// The place of a number that is no document's.
const NOWHERE: u32 = u32::MAX;

impl LoadedSignatures {
    /// Reads the signatures of at most so many documents, in the order of their rows, up to so
    /// many bytes.
    pub(crate) fn read<P: ChunkTable, D: DocTable>(
        view: &View<'_, P, D>,
        width: usize,
        documents: u64,
        budget: usize,
    ) -> Result<Self> {
        // Exact, as growing would take up to twice the budget.
        let most = usize::try_from(documents).unwrap_or(usize::MAX).min(budget / (width + 4));
        let lanes = Vec::with_capacity(most * width);
        let mut loaded = Self { width, places: Vec::with_capacity(most), lanes };
        view.for_each_signature(|doc, lanes, _| {
            let places = doc.0 as usize + 1;
            if 4 * places + loaded.lanes.len() + width > budget {
                return ControlFlow::Break(());
            }
            loaded.places.resize(places, NOWHERE);
            loaded.places[doc.0 as usize] = (loaded.lanes.len() / width) as u32;
            loaded.lanes.extend_from_slice(lanes);
            ControlFlow::Continue(())
        })?;
        Ok(loaded)
    }

    /// The number of lanes of a signature.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Appends the lanes of a document, from memory or from the file.
    pub(crate) fn append<P: ChunkTable, D: DocTable>(
        &self,
        view: &View<'_, P, D>,
        doc: DocNo,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match self.places.get(doc.0 as usize) {
            Some(&place) if place != NOWHERE => {
                out.extend_from_slice(&self.lanes[place as usize * self.width..][..self.width]);
                Ok(())
            }
            _ => view.with_signature(doc, |lanes, _| out.extend_from_slice(lanes)),
        }
    }
}
