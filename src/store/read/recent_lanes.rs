//! The lanes of documents in memory, by number.

use crate::store::bytes::schema::DocNo;
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

    /// The lanes of all documents, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.lanes.chunks_exact(self.width.max(1))
    }

    /// The lanes of a document, if it is among these.
    pub(crate) fn get(&self, doc: DocNo) -> Option<&[u8]> {
        let (first, last) = (self.docs.first()?, self.docs.last()?);
        let place = doc.0.checked_sub(first.0)? as usize;
        let is_gapless = (last.0 - first.0) as usize == self.docs.len() - 1;
        let place = match is_gapless || self.docs.get(place) == Some(&doc) {
            true => place,
            false => self.docs.binary_search(&doc).ok()?,
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

/// The lanes of the documents that were inserted last, kept from one commit to the next: documents
/// that are similar often arrive one soon after the other. The number of a document is never used
/// again and its lanes never change, so nothing here can be out of date.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecentLanes {
    /// By the numbers of their documents, each with its last number.
    blocks: Vec<(DocNo, Arc<LanesInOrder>)>,
}

impl RecentLanes {
    /// The memory for lanes, in bytes.
    const ROOM: usize = 32 << 20;
    /// Blocks of fewer documents are merged with later ones.
    const SMALL: usize = 1 << 12;

    /// Adds documents, whose numbers are greater than all others. Forgets the oldest ones if there
    /// is no room.
    pub(crate) fn push(&mut self, lanes: Arc<LanesInOrder>) {
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
            bytes -= self.blocks.remove(0).1.lanes.len();
        }
    }

    /// The lanes of a document, if it is among these.
    pub(crate) fn get(&self, doc: DocNo) -> Option<&[u8]> {
        let at = self.blocks.partition_point(|(last, _)| *last < doc);
        self.blocks.get(at)?.1.get(doc)
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

    #[test]
    fn every_recent_document_has_its_own_lanes() {
        let mut recent = RecentLanes::default();
        recent.push(lanes((0..9000).filter(|doc| doc % 3 > 0)));
        (9000..10_000).for_each(|doc| recent.push(lanes([2 * doc])));
        assert!(recent.blocks.len() < 14, "{} blocks", recent.blocks.len());
        for doc in 0_u32..25_000 {
            let is_known =
                doc < 9000 && doc % 3 > 0 || (18_000..20_000).contains(&doc) && doc % 2 == 0;
            let expected = is_known.then(|| doc.to_le_bytes());
            assert_eq!(recent.get(DocNo(doc)), expected.as_ref().map(|lanes| &lanes[..]), "{doc}");
        }
        recent.push(lanes([5]));
        assert_eq!(recent.get(DocNo(6)), None, "numbers began anew");
        assert!(recent.get(DocNo(5)).is_some());
    }

    #[test]
    fn memory_is_bounded() {
        let mut recent = RecentLanes::default();
        for block in 0..20 {
            let mut large = LanesInOrder::with_room(RecentLanes::ROOM / 8, 1);
            large.push(DocNo(block), &vec![block as u8; RecentLanes::ROOM / 8]);
            recent.push(Arc::new(large));
        }
        let bytes: usize = recent.blocks.iter().map(|(_, block)| block.lanes.len()).sum();
        assert!(bytes <= RecentLanes::ROOM, "{bytes} bytes");
        assert!(recent.get(DocNo(19)).is_some() && recent.get(DocNo(1)).is_none());
    }
}
