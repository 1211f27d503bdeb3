//! The tail, the index's memtable: entries of documents that are in no run yet, in sorted,
//! immutable segments.

use crate::lsh::word;
use crate::store::bytes::chunk::Entry;
use crate::store::bytes::schema::{BandNo, DocNo, Layout};
use crate::store::parallel;
use crate::store::read::bucket::Bucket;
use crate::store::runs::column::{Column, ColumnBuilder};
use std::sync::Arc;

/// A new document as the bands need it: its entries follow from these fields.
#[derive(Clone, Debug)]
pub(crate) struct TailDocument {
    pub(crate) doc: DocNo,
    pub(crate) id_hash: u64,
    /// The stored lanes; `None` for an empty document, which has an entry in the id band only.
    pub(crate) lanes: Option<Box<[u8]>>,
    /// The distinct fingerprints, ascending; empty if the index keeps none.
    pub(crate) fingerprints: Box<[u32]>,
}

/// The sorted entries of consecutive documents, one column for each band.
#[derive(Debug)]
pub(crate) struct Segment {
    documents: usize,
    columns: Vec<Column>,
}

impl Segment {
    /// The most documents of a new segment. Merged segments may have more.
    pub(crate) const MAX_NEW: usize = ColumnBuilder::MAX_DOCUMENTS;

    /// A segment of at most [`MAX_NEW`](Self::MAX_NEW) documents in order of their numbers.
    pub(crate) fn new(layout: Layout, documents: &[TailDocument]) -> Self {
        let doc = |at: usize| documents.get(at).map_or(DocNo(u32::MAX), |document| document.doc);
        let column = |band: BandNo| {
            let mut entries = ColumnBuilder::with_capacity(documents.len());
            for (at, document) in documents.iter().enumerate() {
                if band == layout.ids() {
                    entries.push(document.id_hash, at);
                } else if Some(band) == layout.fingerprints() {
                    let words = document.fingerprints.iter();
                    words.for_each(|word| entries.push(u64::from(*word), at));
                } else if let Some(lanes) = document.lanes.as_deref() {
                    let word = word(lanes, usize::from(band.0), u32::from(layout.depth));
                    entries.push(word, at);
                }
            }
            entries.into_column(layout.word_bits(band), doc)
        };
        let shared = documents.len() >= parallel::MIN_DOCUMENTS;
        let columns = parallel::map(layout.all().collect(), shared, column);
        Self { documents: documents.len(), columns }
    }

    fn merge(layout: Layout, older: &Self, newer: &Self) -> Self {
        let documents = older.documents + newer.documents;
        let bands: Vec<_> = layout.all().zip(&older.columns).zip(&newer.columns).collect();
        let merge = |((band, older), newer): ((BandNo, &Column), &Column)| {
            Column::merge(older, newer, layout.word_bits(band))
        };
        let shared = documents >= parallel::MIN_DOCUMENTS;
        Self { documents, columns: parallel::map(bands, shared, merge) }
    }

    /// The documents of a bucket.
    pub(crate) fn bucket(&self, bucket: Bucket) -> &[DocNo] {
        self.column(bucket.band).map_or(&[], |column| column.within(bucket.words))
    }

    pub(crate) fn column(&self, band: BandNo) -> Option<&Column> {
        self.columns.get(usize::from(band.0))
    }
}

/// The segments of the tail, oldest first.
///
/// Each segment is at least twice as large as the next. So an entry moves a logarithmic number of
/// times when documents are added one by one, and a search visits few segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    segments: Vec<Arc<Segment>>,
}

impl Tail {
    /// Adds documents. Their numbers are greater than those of the documents in the tail.
    pub(crate) fn push(&mut self, layout: Layout, documents: &[TailDocument]) {
        for documents in documents.chunks(Segment::MAX_NEW) {
            let mut segment = Arc::new(Segment::new(layout, documents));
            while let Some(last) =
                self.segments.pop_if(|last| last.documents < 2 * segment.documents)
            {
                segment = Arc::new(Segment::merge(layout, &last, &segment));
            }
            self.segments.push(segment);
        }
    }

    /// All entries of a band that are wanted, sorted.
    pub(crate) fn sorted(&self, band: BandNo, is_wanted: impl Fn(DocNo) -> bool) -> Vec<Entry> {
        let mut columns = self.segments.iter().rev().filter_map(|segment| segment.column(band));
        // The smallest segments come first, so that an entry moves twice on average.
        let newest = columns.next().map(|column| column.entries().collect());
        let mut entries = columns.fold(newest.unwrap_or_default(), |newer: Vec<Entry>, column| {
            column.entries_with(&newer)
        });
        entries.retain(|(_, doc)| is_wanted(*doc));
        entries
    }

    /// The number of entries of a band.
    pub(crate) fn entries(&self, band: BandNo) -> usize {
        let columns = self.segments.iter().filter_map(|segment| segment.column(band));
        columns.map(Column::len).sum()
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

    const LAYOUT: Layout = Layout { bands: 2, depth: 3, passages: true };

    fn document(doc: u32) -> TailDocument {
        let lanes: Box<[u8]> = (0..64_u32).map(|lane| (lane * doc * 37 % 251) as u8).collect();
        TailDocument {
            doc: DocNo(doc),
            id_hash: u64::from(doc).wrapping_mul(0x1234_5678_9ABC) >> 24,
            lanes: Some(lanes),
            fingerprints: [7, 8 + doc / 3, doc.wrapping_mul(0x9E37_79B9) | 1 << 20].into(),
        }
    }

    #[test]
    fn adding_documents_one_by_one_or_at_once_gives_the_same_entries() {
        let all: Vec<TailDocument> = (0..700).map(document).collect();
        let mut tail = Tail::default();
        all.iter().for_each(|one| tail.push(LAYOUT, std::slice::from_ref(one)));
        assert_eq!(tail.documents(), 700);
        assert!(tail.segments().len() <= 10, "{} segments", tail.segments().len());
        let mut once = Tail::default();
        once.push(LAYOUT, &all);
        for band in LAYOUT.all() {
            let entries = once.sorted(band, |_| true);
            assert!(entries.is_sorted());
            assert_eq!(entries.len(), if band.0 == 3 { 2100 } else { 700 });
            assert_eq!(tail.sorted(band, |_| true), entries);
        }
    }
}
