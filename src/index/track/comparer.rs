//! Compares documents of an index pair by pair, and remembers what it has read.

use crate::error::Result;
use crate::estimate::equal_lanes_from;
use crate::index::ask::verify::Elements;
use crate::sketch::Sketcher;
use crate::store::{ChunkTable, DocNo, DocTable, RecentLanes, View};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The memory of all threads for lanes, and for elements, in bytes. When its part is full, a thread
/// empties it.
const ROOM: usize = 32 << 20;

/// The number of pairs that are remembered as not similar.
const PAIRS: usize = 1 << 20;

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
pub(super) struct Comparer<'v, P, D> {
    view: &'v View<'v, P, D>,
    criteria: Criteria<'v>,
    /// The memory for lanes, and for elements, in bytes.
    room: usize,
    /// The lanes of new documents and of the latest ones before them.
    recent: RecentLanes,
    /// The lanes of others, one document after the other, and the place of each.
    lanes: Vec<u8>,
    places: FxHashMap<DocNo, u32>,
    /// The document that is compared with others, and its lanes.
    doc: DocNo,
    own: Vec<u8>,
    elements: FxHashMap<DocNo, Arc<Elements>>,
    /// The bytes of all elements.
    bytes: usize,
    /// Pairs whose texts were compared and are not similar: a pair may share many buckets.
    apart: FxHashSet<(DocNo, DocNo)>,
}

impl<'v, P: ChunkTable, D: DocTable> Comparer<'v, P, D> {
    /// A comparer that has one of this many parts of the memory.
    pub(super) fn new(
        view: &'v View<'v, P, D>,
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
            doc: DocNo(0),
            own: Vec::new(),
            elements: FxHashMap::default(),
            bytes: 0,
            apart: FxHashSet::default(),
        }
    }

    /// Whether two documents that share a bucket are similar. Fastest for the document that was the
    /// first one in the call before.
    pub(super) fn are_similar(&mut self, a: DocNo, b: DocNo) -> Result<bool> {
        if self.own.is_empty() || self.doc != a {
            let mut own = std::mem::take(&mut self.own);
            own.clear();
            own.extend_from_slice(self.lanes(a)?);
            (self.doc, self.own) = (a, own);
        }
        let Criteria { least, sketcher, threshold } = self.criteria;
        let own = std::mem::take(&mut self.own);
        let equal = self.lanes(b).map(|theirs| equal_lanes_from(&own, theirs, least));
        self.own = own;
        if equal?.is_none() {
            return Ok(false);
        }
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

    fn have_equal_texts(&self, a: DocNo, b: DocNo) -> Result<bool> {
        let (a, b) = (self.view.document(a)?, self.view.document(b)?);
        Ok((a.text_hash, a.text_length) == (b.text_hash, b.text_length))
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
