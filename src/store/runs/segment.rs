//! The tail: band entries of documents that are in no run yet, as immutable sorted segments.

use crate::lsh::word;
use crate::store::bytes::schema::{BandNo, DocNo, Layout};
use crate::store::parallel;
use crate::store::read::candidates::Bucket;
use crate::store::runs::column::{Column, Unsorted};
use std::sync::Arc;

/// What the bands need to know of a new document.
#[derive(Clone, Debug)]
pub(crate) struct Fresh {
    pub(crate) doc: DocNo,
    pub(crate) id_hash: u64,
    /// The stored lanes; `None` for an empty document, which is in no band but that of ids.
    pub(crate) lanes: Option<Box<[u8]>>,
}

/// Sorted entries of some documents with neighbouring numbers, for every band.
#[derive(Debug)]
pub(crate) struct Segment {
    documents: usize,
    columns: Vec<Column>,
}

impl Segment {
    /// The most documents of one segment as it is made; merged ones have more.
    pub(crate) const MOST: usize = Unsorted::MOST;

    /// A segment of at most [`MOST`](Self::MOST) documents in order of their numbers.
    pub(crate) fn new(layout: Layout, fresh: &[Fresh]) -> Self {
        let doc = |at: usize| fresh.get(at).map_or(DocNo(u32::MAX), |document| document.doc);
        let column = |band: BandNo| {
            let mut entries = Unsorted::with_capacity(fresh.len());
            for (at, document) in fresh.iter().enumerate() {
                if band == layout.ids() {
                    entries.push(document.id_hash, at);
                } else if let Some(lanes) = document.lanes.as_deref() {
                    let word = word(lanes, usize::from(band.0), u32::from(layout.depth));
                    entries.push(word, at);
                }
            }
            entries.into_column(layout.word_bits(band), doc)
        };
        let shared = fresh.len() >= parallel::DOCUMENTS;
        let columns = parallel::map(layout.all().collect(), shared, column);
        Self { documents: fresh.len(), columns }
    }

    fn merge(layout: Layout, older: &Self, newer: &Self) -> Self {
        let documents = older.documents + newer.documents;
        let bands: Vec<_> = layout.all().zip(&older.columns).zip(&newer.columns).collect();
        let merge = |((band, older), newer): ((BandNo, &Column), &Column)| {
            Column::merge(older, newer, layout.word_bits(band))
        };
        Self { documents, columns: parallel::map(bands, documents >= parallel::DOCUMENTS, merge) }
    }

    /// The documents of a bucket.
    pub(crate) fn bucket(&self, bucket: Bucket) -> &[DocNo] {
        self.column(bucket.band).map_or(&[], |column| column.within(bucket.words))
    }

    pub(crate) fn column(&self, band: BandNo) -> Option<&Column> {
        self.columns.get(usize::from(band.0))
    }
}

/// The segments of the tail, oldest first, each at least twice as large as the next: adding
/// documents one by one costs a logarithm of moves each, and a search looks at few segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    segments: Vec<Arc<Segment>>,
}

impl Tail {
    /// Adds documents, whose numbers follow those that are there.
    pub(crate) fn push(&mut self, layout: Layout, fresh: &[Fresh]) {
        for fresh in fresh.chunks(Segment::MOST) {
            let mut segment = Arc::new(Segment::new(layout, fresh));
            while let Some(last) =
                self.segments.pop_if(|last| last.documents < 2 * segment.documents)
            {
                segment = Arc::new(Segment::merge(layout, &last, &segment));
            }
            self.segments.push(segment);
        }
    }

    /// All entries of a band, sorted.
    pub(crate) fn band(&self, layout: Layout, band: BandNo) -> Column {
        let columns = self.segments.iter().filter_map(|segment| segment.column(band));
        // The newest segments are the smallest.
        columns.rev().fold(Column::default(), |newer, older| match newer.len() {
            0 => older.clone(),
            _ => Column::merge(older, &newer, layout.word_bits(band)),
        })
    }

    pub(crate) fn documents(&self) -> usize {
        self.segments.iter().map(|segment| segment.documents).sum()
    }

    pub(crate) fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }

    pub(crate) fn clear(&mut self) {
        self.segments.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::bytes::chunk::Entry;

    const LAYOUT: Layout = Layout { bands: 2, depth: 3 };

    fn fresh(doc: u32) -> Fresh {
        let lanes: Box<[u8]> = (0..64_u32).map(|lane| (lane * doc * 37 % 251) as u8).collect();
        Fresh {
            doc: DocNo(doc),
            id_hash: u64::from(doc).wrapping_mul(0x1234_5678_9ABC) >> 24,
            lanes: Some(lanes),
        }
    }

    #[test]
    fn one_by_one_or_all_at_once_gives_the_same_entries() {
        let all: Vec<Fresh> = (0..700).map(fresh).collect();
        let mut tail = Tail::default();
        all.iter().for_each(|one| tail.push(LAYOUT, std::slice::from_ref(one)));
        assert_eq!(tail.documents(), 700);
        assert!(tail.segments().len() <= 10, "{} segments", tail.segments().len());
        let mut once = Tail::default();
        once.push(LAYOUT, &all);
        for band in LAYOUT.all() {
            let entries: Vec<Entry> = once.band(LAYOUT, band).entries().collect();
            assert!(entries.is_sorted());
            assert_eq!(entries.len(), 700);
            assert_eq!(tail.band(LAYOUT, band).entries().collect::<Vec<_>>(), entries);
        }
    }
}
