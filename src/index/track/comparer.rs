//! Compares documents of an index pair by pair, and remembers what it has read.

use crate::error::Result;
use crate::estimate::equal_lanes_from;
use crate::hash::TextKey;
use crate::index::ask::cache::Cached;
use crate::index::ask::verify::Elements;
use crate::sketch::Sketcher;
use crate::store::{DocNo, RecentLanes, View};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The memory of all threads for lanes, and for elements, in bytes. When its part is full, a thread
/// empties it.
const ROOM: usize = 32 << 20;

/// The number of pairs that are remembered as not similar.
const PAIRS: usize = 1 << 20;

/// The slot of a document whose lanes are not among those of the bucket yet.
const ELSEWHERE: u32 = u32::MAX;

/// What it takes to be similar.
#[derive(Clone, Copy)]
pub(super) struct Criteria<'v> {
    /// The fewest equal lanes of similar documents or, if texts are compared, of those whose texts
    /// are.
    pub(super) least: usize,
    /// Makes the elements of texts; `None` if texts are not compared.
    pub(super) sketcher: Option<&'v Sketcher>,
    /// The least similarity of texts.
    pub(super) threshold: f64,
}

/// Decides whether two documents are similar.
pub(super) struct Comparer<'v> {
    view: &'v View<'v>,
    criteria: Criteria<'v>,
    /// The memory for lanes, and for elements, in bytes.
    room: usize,
    /// The lanes of new documents and of the latest ones before them.
    recent: RecentLanes,
    /// The lanes of others, one document after the other, and the place of each.
    lanes: Vec<u8>,
    places: FxHashMap<DocNo, u32>,
    /// The lanes of one bucket, one document after the other: all pairs of a bucket may be
    /// compared, and memory that is read in order is read fastest. A document is here from its
    /// first comparison on at the latest.
    bucket: Vec<u8>,
    /// The place in `bucket` of each document of the bucket, or `ELSEWHERE`.
    slots: Vec<u32>,
    elements: FxHashMap<DocNo, Arc<Elements>>,
    /// The hash and the length of texts that were compared.
    hashes: FxHashMap<DocNo, TextKey>,
    /// The bytes of all elements.
    bytes: usize,
    /// Pairs whose texts were compared and are not similar: a pair may share many buckets.
    apart: FxHashSet<(DocNo, DocNo)>,
}

impl<'v> Comparer<'v> {
    /// A comparer that has one of this many parts of the memory.
    pub(super) fn new(
        view: &'v View<'v>,
        criteria: Criteria<'v>,
        recent: RecentLanes,
        parts: usize,
    ) -> Self {
        Self {
            view,
            criteria,
            room: ROOM / parts,
            recent,
            lanes: Vec::new(),
            places: FxHashMap::default(),
            bucket: Vec::new(),
            slots: Vec::new(),
            elements: FxHashMap::default(),
            hashes: FxHashMap::default(),
            bytes: 0,
            apart: FxHashSet::default(),
        }
    }

    /// Goes on to another bucket, which has this many documents.
    pub(super) fn begin_bucket(&mut self, documents: usize) {
        self.bucket.clear();
        self.slots.clear();
        self.slots.resize(documents, ELSEWHERE);
    }

    /// Copies the lanes of documents that will be compared, if they are in memory and there is
    /// room. One after the other they are copied faster than between comparisons. Each has its
    /// place in the bucket with it.
    pub(super) fn bring(&mut self, docs: impl IntoIterator<Item = (usize, DocNo)>) {
        let width = self.view.fixed.lanes;
        for (place, doc) in docs {
            // Any two others must find room.
            if self.bucket.len() + 3 * width > self.room {
                return;
            }
            if let Some(lanes) = self.recent.get(doc) {
                self.slots[place] = (self.bucket.len() / width) as u32;
                self.bucket.extend_from_slice(lanes);
            }
        }
    }

    /// Whether two documents of the bucket are similar. Each has its place in the bucket with it.
    pub(super) fn are_similar(&mut self, a: (usize, DocNo), b: (usize, DocNo)) -> Result<bool> {
        let width = self.view.fixed.lanes;
        if self.slots[a.0] == ELSEWHERE || self.slots[b.0] == ELSEWHERE {
            self.copy_both(a, b)?;
        }
        let lanes = |(place, _): (usize, DocNo)| {
            let start = self.slots[place] as usize * width;
            self.bucket.get(start..start + width).unwrap_or_default()
        };
        match equal_lanes_from(lanes(a), lanes(b), self.criteria.least) {
            Some(_) => self.have_similar_texts(a.1, b.1),
            None => Ok(false),
        }
    }

    /// Whether the two documents of a bucket that has no others are similar.
    pub(super) fn are_two_similar(&mut self, a: DocNo, b: DocNo) -> Result<bool> {
        match (self.recent.get(a), self.recent.get(b)) {
            (Some(x), Some(y)) => match equal_lanes_from(x, y, self.criteria.least) {
                Some(_) => self.have_similar_texts(a, b),
                None => Ok(false),
            },
            _ => {
                self.begin_bucket(2);
                self.are_similar((0, a), (1, b))
            }
        }
    }

    /// Copies the lanes of two documents that are to be compared to `bucket`.
    #[cold]
    fn copy_both(&mut self, a: (usize, DocNo), b: (usize, DocNo)) -> Result<()> {
        let width = self.view.fixed.lanes;
        if self.bucket.len() + 2 * width > self.room {
            self.begin_bucket(self.slots.len());
        }
        for (place, doc) in [a, b] {
            if self.slots[place] == ELSEWHERE {
                self.slots[place] = (self.bucket.len() / width) as u32;
                let mut bucket = std::mem::take(&mut self.bucket);
                let lanes = self.lanes(doc).map(|lanes| bucket.extend_from_slice(lanes));
                self.bucket = bucket;
                lanes?;
            }
        }
        Ok(())
    }

    /// Whether two documents with enough equal lanes have similar texts, if texts are compared.
    fn have_similar_texts(&mut self, a: DocNo, b: DocNo) -> Result<bool> {
        let Criteria { sketcher, threshold, .. } = self.criteria;
        let Some(sketcher) = sketcher else { return Ok(true) };
        let pair = (a.min(b), a.max(b));
        if self.apart.contains(&pair) {
            return Ok(false);
        }
        let similar = self.have_equal_texts(a, b)? || {
            let (a, b) = (self.elements(a, sketcher)?, self.elements(b, sketcher)?);
            a.compare(&b).similarity >= threshold
        };
        if !similar {
            if self.apart.len() >= PAIRS {
                self.apart.clear();
            }
            self.apart.insert(pair);
        }
        Ok(similar)
    }

    /// The lanes of a document, from memory or from the file.
    fn lanes(&mut self, doc: DocNo) -> Result<&[u8]> {
        if let Some(lanes) = self.recent.get(doc) {
            return Ok(lanes);
        }
        let width = self.view.fixed.lanes;
        let place = match self.places.get(&doc) {
            Some(place) => *place as usize * width,
            None => {
                if self.lanes.len() + width > self.room {
                    self.lanes.clear();
                    self.places.clear();
                }
                let place = self.lanes.len();
                let lanes = &mut self.lanes;
                self.view.with_signature(doc, |read, _| lanes.extend_from_slice(read))?;
                self.places.insert(doc, (place / width) as u32);
                place
            }
        };
        Ok(&self.lanes[place..place + width])
    }

    fn have_equal_texts(&mut self, a: DocNo, b: DocNo) -> Result<bool> {
        Ok(self.hash(a)? == self.hash(b)?)
    }

    fn hash(&mut self, doc: DocNo) -> Result<TextKey> {
        if let Some(hash) = self.hashes.get(&doc) {
            return Ok(*hash);
        }
        let record = self.view.document(doc)?;
        let hash = record.text_key();
        if self.hashes.len() * size_of::<(DocNo, TextKey)>() >= self.room {
            self.hashes.clear();
        }
        self.hashes.insert(doc, hash);
        Ok(hash)
    }

    fn elements(&mut self, doc: DocNo, sketcher: &Sketcher) -> Result<Arc<Elements>> {
        if let Some(elements) = self.elements.get(&doc) {
            return Ok(Arc::clone(elements));
        }
        let elements = Arc::new(Elements::read(self.view, sketcher, doc)?);
        if self.bytes >= self.room {
            self.elements.clear();
            self.bytes = 0;
        }
        self.bytes += elements.bytes();
        self.elements.insert(doc, Arc::clone(&elements));
        Ok(elements)
    }
}
