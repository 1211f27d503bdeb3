//! The lanes of documents in memory, by number.

use crate::store::bytes::schema::DocNo;
use std::ops::Range;
use std::sync::Arc;

/// The lanes of many documents, in the order of their numbers.
#[derive(Debug, Default)]
pub(crate) struct LanesInOrder {
    docs: Vec<DocNo>,
    lanes: Vec<u8>,
    width: usize,
}

impl LanesInOrder {
    /// Lanes of no documents yet, where a document has `width` of them, with room for some.
    pub(crate) fn with_room(width: usize, documents: usize) -> Self {
        let (docs, lanes) = (Vec::with_capacity(documents), Vec::with_capacity(documents * width));
        Self { docs, lanes, width }
    }

    /// Adds a document, whose number is greater than all others.
    pub(crate) fn push(&mut self, doc: DocNo, lanes: &[u8]) {
        self.docs.push(doc);
        self.lanes.extend_from_slice(lanes);
    }

    /// All documents with their lanes, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (DocNo, &[u8])> {
        self.docs.iter().copied().zip(self.lanes.chunks_exact(self.width.max(1)))
    }

    /// The lanes of a document, if it is among these.
    pub(crate) fn get(&self, doc: DocNo) -> Option<&[u8]> {
        let (first, last) = (self.docs.first()?, self.docs.last()?);
        let place = doc.0.checked_sub(first.0)? as usize;
        let is_gapless = (last.0 - first.0) as usize == self.docs.len() - 1;
        let place = if is_gapless || self.docs.get(place) == Some(&doc) {
            place
        } else {
            self.docs.binary_search(&doc).ok()?
        };
        self.lanes.get(place * self.width..(place + 1) * self.width)
    }

    /// The documents of both, where all numbers of `later` are greater.
    fn joined(earlier: &Self, later: &Self) -> Self {
        Self {
            docs: [&earlier.docs[..], &later.docs].concat(),
            lanes: [&earlier.lanes[..], &later.lanes].concat(),
            width: later.width,
        }
    }
}

/// The lanes of all documents of some numbers.
pub(crate) type NumberedLanes = (Range<u64>, Arc<LanesInOrder>);

/// The lanes of the documents that were inserted last, kept from one commit to the next: documents
/// that are similar often arrive one soon after the other. The number of a document is never used
/// again and its lanes never change, so nothing here can be out of date.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecentLanes {
    /// By the numbers of their documents, each with its last number.
    blocks: Vec<(DocNo, Arc<LanesInOrder>)>,
    /// Every document with one of these numbers that has lanes is in one of the blocks.
    complete: Range<u64>,
}

impl RecentLanes {
    /// The memory for lanes, in bytes.
    const ROOM: usize = 32 << 20;
    /// Blocks of fewer documents are merged with later ones.
    const SMALL: usize = 1 << 12;

    /// Adds all documents of these numbers that have lanes. The numbers are greater than all
    /// others. Forgets the oldest documents if there is no room.
    pub(crate) fn push(&mut self, numbers: Range<u64>, lanes: Arc<LanesInOrder>) {
        if numbers.start == self.complete.end {
            self.complete.end = numbers.end;
        } else {
            self.complete = numbers;
        }
        let (Some(first), Some(last)) = (lanes.docs.first(), lanes.docs.last().copied()) else {
            return;
        };
        if self.blocks.last().is_some_and(|(last, _)| last >= first) {
            self.blocks.clear();
        }
        let mut newest = lanes;
        // A document moves a logarithmic number of times if they are added one by one.
        let is_small = |block: &LanesInOrder, newest: &LanesInOrder| {
            block.docs.len() < Self::SMALL.min(2 * newest.docs.len())
        };
        while let Some((_, block)) = self.blocks.pop_if(|(_, block)| is_small(block, &newest)) {
            newest = Arc::new(LanesInOrder::joined(&block, &newest));
        }
        self.blocks.push((last, newest));
        let mut bytes: usize = self.blocks.iter().map(|(_, block)| block.lanes.len()).sum();
        while bytes > Self::ROOM && self.blocks.len() > 1 {
            let (last, block) = self.blocks.remove(0);
            bytes -= block.lanes.len();
            self.complete.start = self.complete.start.max(u64::from(last.0) + 1);
        }
    }

    /// Whether all documents have smaller numbers than this.
    pub(crate) fn is_before(&self, number: u64) -> bool {
        self.blocks.last().is_none_or(|(last, _)| u64::from(last.0) < number)
    }

    /// The lanes of a document, if it is among these.
    pub(crate) fn get(&self, doc: DocNo) -> Option<&[u8]> {
        let at = self.blocks.partition_point(|(last, _)| *last < doc);
        self.blocks.get(at)?.1.get(doc)
    }

    /// Blocks with every document of these numbers that has lanes, and with others. `None` if some
    /// may be missing.
    pub(crate) fn all_of(&self, numbers: Range<u64>) -> Option<Vec<Arc<LanesInOrder>>> {
        if numbers.start < self.complete.start || self.complete.end < numbers.end {
            return None;
        }
        let blocks = self.blocks.iter().filter(|(last, _)| u64::from(last.0) >= numbers.start);
        Some(blocks.map(|(_, block)| Arc::clone(block)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(docs: impl IntoIterator<Item = u32>) -> Arc<LanesInOrder> {
        let mut lanes = LanesInOrder::with_room(4, 0);
        docs.into_iter().for_each(|doc| lanes.push(DocNo(doc), &doc.to_le_bytes()));
        Arc::new(lanes)
    }

    fn range(first: u32, last: u32) -> Range<u64> {
        first.into()..u64::from(last) + 1
    }

    #[test]
    fn every_recent_document_has_its_own_lanes() {
        let mut recent = RecentLanes::default();
        recent.push(0..9000, lanes((0..9000).filter(|doc| doc % 3 > 0)));
        (9000..10_000).for_each(|doc| recent.push(range(2 * doc, 2 * doc), lanes([2 * doc])));
        assert!(recent.blocks.len() < 14, "{} blocks", recent.blocks.len());
        for doc in 0_u32..25_000 {
            let is_known =
                doc < 9000 && doc % 3 > 0 || (18_000..20_000).contains(&doc) && doc % 2 == 0;
            let expected = is_known.then(|| doc.to_le_bytes());
            assert_eq!(recent.get(DocNo(doc)), expected.as_ref().map(|lanes| &lanes[..]), "{doc}");
        }
        assert!(recent.is_before(19_999) && !recent.is_before(19_998));
        recent.push(5..6, lanes([5]));
        assert_eq!(recent.get(DocNo(6)), None, "numbers began anew");
        assert!(recent.get(DocNo(5)).is_some());
    }

    #[test]
    fn all_documents_of_some_numbers_are_told_from_a_part_of_them() {
        let mut recent = RecentLanes::default();
        let has = |recent: &RecentLanes, numbers: Range<u64>| {
            let all = recent.all_of(numbers.clone())?;
            let docs = all.iter().flat_map(|block| block.iter()).map(|(doc, _)| u64::from(doc.0));
            Some(docs.filter(|doc| numbers.contains(doc)).collect::<Vec<u64>>())
        };
        recent.push(10..5_020, lanes((10..5_020).filter(|doc| doc % 5 > 0)));
        recent.push(5_020..5_022, lanes([]));
        recent.push(5_022..5_024, lanes([5_022, 5_023]));
        assert_eq!(has(&recent, 5_018..5_024), Some(vec![5_018, 5_019, 5_022, 5_023]));
        assert_eq!(has(&recent, 10..12), Some(vec![11]));
        assert_eq!(has(&recent, 9..12), None);
        assert_eq!(has(&recent, 5_000..5_025), None);
        // Others were inserted in between.
        recent.push(6_000..6_001, lanes([6_000]));
        assert_eq!(has(&recent, 5_023..6_001), None);
        assert_eq!(has(&recent, 6_000..6_001), Some(vec![6_000]));
        assert!(recent.get(DocNo(5_023)).is_some());
    }

    #[test]
    fn memory_is_bounded() {
        let mut recent = RecentLanes::default();
        for block in 0..20 {
            let mut large = LanesInOrder::with_room(RecentLanes::ROOM / 8, 1);
            large.push(DocNo(block), &vec![block as u8; RecentLanes::ROOM / 8]);
            recent.push(range(block, block), Arc::new(large));
        }
        let bytes: usize = recent.blocks.iter().map(|(_, block)| block.lanes.len()).sum();
        assert!(bytes <= RecentLanes::ROOM, "{bytes} bytes");
        assert!(recent.get(DocNo(19)).is_some() && recent.get(DocNo(1)).is_none());
        assert!(recent.all_of(0..20).is_none() && recent.all_of(19..20).is_some());
    }
}
