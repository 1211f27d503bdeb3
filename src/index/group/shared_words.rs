//! Which documents have a fingerprint in common: one pass over the band of fingerprints for each
//! range of documents.

use crate::error::Result;
use crate::index::doc_map::DocMap;
use crate::store::{BandEntries, DocNo, DocumentRecord, View};
use std::ops::Range;

/// The documents of which each stands for all with its text: the first of them.
#[derive(Debug)]
pub(super) struct Leaders {
    /// For documents that are not the first of their text, the number of the first.
    of: DocMap,
    /// The number of documents with the text of a first one, less 1.
    copies: DocMap,
    /// The second document with the text of a first one.
    second: DocMap,
    /// The numbers of all first documents, ascending.
    pub(super) all: Vec<DocNo>,
}

impl Leaders {
    /// Finds them. Takes 48 bytes a document meanwhile, and 4 to 12 bytes afterwards.
    pub(super) fn find(view: &View<'_>) -> Result<Self> {
        const BLOCK: usize = 4096;
        let mut keys: Vec<((u128, u64), DocNo)> = Vec::new();
        let mut from = Some(DocNo(0));
        while let Some(first) = from {
            let records = view.documents_from(first, BLOCK)?;
            let next = records.last().and_then(|(doc, _)| doc.0.checked_add(1));
            from = next.map(DocNo);
            let key = |record: &DocumentRecord| (record.text_hash.number(), record.text_length);
            keys.extend(records.into_iter().map(|(doc, record)| (key(&record), doc)));
        }
        keys.sort_unstable();
        let mut leaders = Self {
            of: DocMap::new(u32::MAX),
            copies: DocMap::new(0),
            second: DocMap::new(u32::MAX),
            all: Vec::new(),
        };
        for equal in keys.chunk_by(|a, b| a.0 == b.0) {
            let Some(((_, first), others)) = equal.split_first() else { continue };
            others.iter().for_each(|(_, doc)| leaders.of.set(*doc, first.0));
            if let Some((_, second)) = others.first() {
                leaders.copies.set(*first, others.len() as u32);
                leaders.second.set(*first, second.0);
            }
            leaders.all.push(*first);
        }
        leaders.all.sort_unstable();
        Ok(leaders)
    }

    /// The first document with the text of this one.
    fn of(&self, doc: DocNo) -> DocNo {
        match self.of.get(doc) {
            u32::MAX => doc,
            first => DocNo(first),
        }
    }

    /// The first copy of a first document; `None` if it has none.
    pub(super) fn copy_of(&self, leader: DocNo) -> Option<DocNo> {
        (self.copies.get(leader) > 0).then(|| DocNo(self.second.get(leader)))
    }

    /// The number of documents with the text of a first one.
    pub(super) fn count(&self, leader: DocNo) -> u64 {
        1 + u64::from(self.copies.get(leader))
    }
}

/// Fingerprints that several texts have.
pub(super) struct Sweep<'l> {
    leaders: &'l Leaders,
    /// The most texts of a fingerprint that is followed.
    most: usize,
}

/// The documents that share fingerprints with those of a range.
#[derive(Default)]
pub(super) struct Shared {
    /// The documents of each fingerprint, one after the other.
    members: Vec<DocNo>,
    /// A document of the range, and where the documents of one of its fingerprints lie.
    entries: Vec<(DocNo, Range<usize>)>,
}

impl Shared {
    /// The other documents that have a fingerprint of this one, ascending.
    pub(super) fn with(&self, doc: DocNo) -> Vec<DocNo> {
        let first = self.entries.partition_point(|(other, _)| *other < doc);
        let own = self.entries[first..].iter().take_while(|(other, _)| *other == doc);
        let groups = own.map(|(_, at)| &self.members[at.clone()]);
        let mut others: Vec<DocNo> = groups.flatten().copied().filter(|o| *o != doc).collect();
        others.sort_unstable();
        others.dedup();
        others
    }
}

/// How much memory the fingerprints of some documents take, and what was left out.
#[derive(Default)]
pub(super) struct Plan {
    /// Ranges of document numbers for one sweep each.
    pub(super) ranges: Vec<Range<u32>>,
    /// The number of fingerprints that more texts have than are followed.
    pub(super) limited: u64,
}

impl<'l> Sweep<'l> {
    pub(super) fn new(leaders: &'l Leaders, most: usize) -> Self {
        Self { leaders, most }
    }

    /// Calls `visit` with the texts of each fingerprint that several of them have. Those of more
    /// than the limit are counted instead.
    fn for_each(&self, view: &View<'_>, mut visit: impl FnMut(&[DocNo])) -> Result<u64> {
        let Some(band) = view.fixed.layout.fingerprints() else { return Ok(0) };
        let mut entries = BandEntries::new(view, band);
        let (mut word, mut group, mut limited) = (None, Vec::new(), 0);
        loop {
            let next = entries.next(view)?;
            if next.map(|(word, _)| word) != word {
                group.sort_unstable();
                group.dedup();
                match group.len() {
                    0 | 1 => {}
                    texts if texts > self.most => limited += 1,
                    _ => visit(&group),
                }
                group.clear();
            }
            let Some((next, doc)) = next else { return Ok(limited) };
            word = Some(next);
            group.push(self.leaders.of(doc));
        }
    }

    /// Divides the documents into ranges whose shared fingerprints fit into memory together.
    pub(super) fn plan(&self, view: &View<'_>) -> Result<Plan> {
        /// The documents that are counted together.
        const BLOCK: u32 = 256;
        /// The most members and entries of a range, 4 and 24 bytes each.
        const MOST: u64 = 8 << 20;
        let end = view.state.counters.next_doc;
        let mut sizes = vec![0_u64; (end / u64::from(BLOCK)) as usize + 1];
        let limited = self.for_each(view, |group| {
            let mut last = None;
            for doc in group {
                let block = (doc.0 / BLOCK) as usize;
                let members = if last == Some(block) { 0 } else { group.len() as u64 };
                // A damaged row may name a document that is not there.
                if let Some(size) = sizes.get_mut(block) {
                    *size += members + 1;
                }
                last = Some(block);
            }
        })?;
        let (mut ranges, mut start, mut size) = (Vec::new(), 0, 0);
        for (block, own) in sizes.iter().enumerate() {
            let from = block as u32 * BLOCK;
            if size > 0 && size + own > MOST {
                ranges.push(start..from);
                (start, size) = (from, 0);
            }
            size += own;
        }
        ranges.push(start..u32::try_from(end).unwrap_or(u32::MAX));
        Ok(Plan { ranges, limited })
    }

    /// Collects what the documents of a range share with all others.
    pub(super) fn collect(&self, view: &View<'_>, range: &Range<u32>) -> Result<Shared> {
        let mut shared = Shared::default();
        self.for_each(view, |group| {
            let own = group.iter().filter(|doc| range.contains(&doc.0));
            let from = shared.members.len();
            let at = from..from + group.len();
            let before = shared.entries.len();
            shared.entries.extend(own.map(|doc| (*doc, at.clone())));
            if shared.entries.len() > before {
                shared.members.extend_from_slice(group);
            }
        })?;
        shared.entries.sort_by_key(|(doc, _)| *doc);
        Ok(shared)
    }
}
