//! The tail: band entries of documents that are in no run yet, as immutable sorted segments.

use super::chunk::Entry;
use super::schema::{BandNo, DocNo, Layout};
use crate::lsh::{WordRange, word};
use rayon::prelude::*;
use std::sync::Arc;

/// The sorted entries of one band.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    words: Vec<u64>,
    docs: Vec<DocNo>,
}

impl Column {
    fn from_sorted(entries: &[Entry]) -> Self {
        Self {
            words: entries.iter().map(|entry| entry.0).collect(),
            docs: entries.iter().map(|entry| entry.1).collect(),
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<Entry> {
        Some((*self.words.get(at)?, *self.docs.get(at)?))
    }

    /// The documents whose words lie in the range.
    pub(super) fn within(&self, range: WordRange) -> &[DocNo] {
        let from = self.words.partition_point(|word| *word < range.first);
        let rest = self.words.get(from..).unwrap_or_default();
        let count = match range.last.checked_add(1) {
            // Buckets are small: most end right where they start.
            Some(after) => rest.partition_point(|word| *word < after),
            None => rest.len(),
        };
        self.docs.get(from..from + count).unwrap_or_default()
    }

    fn merge(older: &Self, newer: &Self) -> Self {
        let length = older.words.len() + newer.words.len();
        let mut out = Self { words: Vec::with_capacity(length), docs: Vec::with_capacity(length) };
        let (mut a, mut b) = (0, 0);
        loop {
            // All of the older documents have lower numbers, so equal words keep that order.
            let next = match (older.get(a), newer.get(b)) {
                (Some(x), Some(y)) if x.0 <= y.0 => (&mut a, x),
                (_, Some(y)) => (&mut b, y),
                (Some(x), None) => (&mut a, x),
                (None, None) => break out,
            };
            *next.0 += 1;
            out.words.push(next.1.0);
            out.docs.push(next.1.1);
        }
    }
}

/// What the bands need to know of a new document.
#[derive(Clone, Debug)]
pub(super) struct Fresh {
    pub(super) doc: DocNo,
    pub(super) id_hash: u64,
    /// The stored lanes; `None` for an empty document, which is in no band but that of ids.
    pub(super) lanes: Option<Box<[u8]>>,
}

/// Sorted entries of some documents with neighbouring numbers, for every band.
#[derive(Debug)]
pub(super) struct Segment {
    documents: usize,
    columns: Vec<Column>,
}

impl Segment {
    pub(super) fn new(layout: Layout, fresh: &[Fresh]) -> Self {
        let column = |band: BandNo| {
            let mut entries: Vec<Entry> = match band == layout.ids() {
                true => fresh.iter().map(|document| (document.id_hash, document.doc)).collect(),
                false => fresh
                    .iter()
                    .filter_map(|document| {
                        let lanes = document.lanes.as_deref()?;
                        let word = word(lanes, usize::from(band.0), u32::from(layout.depth));
                        Some((word, document.doc))
                    })
                    .collect(),
            };
            entries.sort_unstable();
            Column::from_sorted(&entries)
        };
        // Handing out work costs more than sorting a few.
        const PARALLEL_FROM: usize = 512;
        let columns = match fresh.len() < PARALLEL_FROM {
            true => layout.all().map(column).collect(),
            false => layout.all().collect::<Vec<_>>().into_par_iter().map(column).collect(),
        };
        Self { documents: fresh.len(), columns }
    }

    fn merge(older: &Self, newer: &Self) -> Self {
        Self {
            documents: older.documents + newer.documents,
            columns: older
                .columns
                .iter()
                .zip(&newer.columns)
                .map(|(a, b)| Column::merge(a, b))
                .collect(),
        }
    }

    pub(super) fn column(&self, band: BandNo) -> Option<&Column> {
        self.columns.get(usize::from(band.0))
    }
}

/// The segments of the tail, oldest first, each at least twice as large as the next: adding
/// documents one by one costs a logarithm of moves each, and a search looks at few segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    segments: Vec<Arc<Segment>>,
}

impl Tail {
    pub(super) fn push(&mut self, segment: Segment) {
        let mut segment = Arc::new(segment);
        while let Some(last) = self.segments.pop_if(|last| last.documents < 2 * segment.documents) {
            segment = Arc::new(Segment::merge(&last, &segment));
        }
        self.segments.push(segment);
    }

    pub(super) fn documents(&self) -> usize {
        self.segments.iter().map(|segment| segment.documents).sum()
    }

    pub(super) fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }

    pub(super) fn clear(&mut self) {
        self.segments.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = Layout { bands: 2, depth: 3 };

    fn fresh(doc: u32) -> Fresh {
        let lanes: Box<[u8]> = (0..64_u32).map(|lane| (lane * doc * 37 % 251) as u8).collect();
        Fresh {
            doc: DocNo(doc),
            id_hash: u64::from(doc).wrapping_mul(0x1234_5678_9ABC),
            lanes: Some(lanes),
        }
    }

    #[test]
    fn one_by_one_or_all_at_once_gives_the_same_entries() {
        let all: Vec<Fresh> = (0..700).map(fresh).collect();
        let mut tail = Tail::default();
        all.iter().for_each(|one| tail.push(Segment::new(LAYOUT, std::slice::from_ref(one))));
        assert_eq!(tail.documents(), 700);
        assert!(tail.segments().len() <= 10, "{} segments", tail.segments().len());
        let mut once = Tail::default();
        once.push(Segment::new(LAYOUT, &all));
        for band in LAYOUT.all() {
            let entries = |tail: &Tail| {
                let mut entries: Vec<Entry> = Vec::new();
                for segment in tail.segments() {
                    let column = segment.column(band).expect("every band");
                    let sorted: Vec<Entry> = (0..).map_while(|at| column.get(at)).collect();
                    assert!(sorted.is_sorted());
                    entries.extend(sorted);
                }
                entries.sort_unstable();
                entries
            };
            assert_eq!(entries(&tail), entries(&once));
        }
    }

    #[test]
    fn a_range_holds_what_lies_in_it() {
        let column = Column::from_sorted(&[
            (1, DocNo(4)),
            (5, DocNo(1)),
            (5, DocNo(2)),
            (u64::MAX, DocNo(3)),
        ]);
        let within = |first, last| column.within(WordRange { first, last });
        assert_eq!(within(5, 5), [DocNo(1), DocNo(2)]);
        assert_eq!(within(2, 4), []);
        assert_eq!(within(6, u64::MAX), [DocNo(3)]);
        assert_eq!(within(0, u64::MAX).len(), 4);
    }
}
