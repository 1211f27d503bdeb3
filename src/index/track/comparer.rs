//! Compares documents of an index pair by pair, and remembers what it has read.

use crate::error::Result;
use crate::estimate::equal_lanes;
use crate::index::ask::verify::Elements;
use crate::sketch::Sketcher;
use crate::store::{ChunkTable, DocNo, DocTable, LanesInOrder, View};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The memory for lanes, and for elements, in bytes. When it is full, it is emptied.
const ROOM: usize = 32 << 20;

/// The number of pairs that are remembered as not similar.
const PAIRS: usize = 1 << 20;

/// Decides whether two documents are similar.
pub(super) struct Comparer<'v, P, D> {
    view: &'v View<'v, P, D>,
    /// The fewest equal lanes of similar documents or, if texts are compared, of those whose texts
    /// are.
    least: usize,
    /// Makes the elements of texts; `None` if texts are not compared.
    sketcher: Option<&'v Sketcher>,
    threshold: f64,
    /// The lanes of new documents.
    known: LanesInOrder,
    /// The lanes of others.
    lanes: FxHashMap<DocNo, Box<[u8]>>,
    /// The number of documents whose lanes are kept.
    room: usize,
    elements: FxHashMap<DocNo, Arc<Elements>>,
    /// The bytes of all elements.
    bytes: usize,
    /// Pairs whose texts were compared and are not similar: a pair may share many buckets.
    apart: FxHashSet<(DocNo, DocNo)>,
}

impl<'v, P: ChunkTable, D: DocTable> Comparer<'v, P, D> {
    pub(super) fn new(
        view: &'v View<'v, P, D>,
        least: usize,
        sketcher: Option<&'v Sketcher>,
        threshold: f64,
    ) -> Self {
        let (known, lanes, elements, apart) = Default::default();
        let room = ROOM / view.fixed.lanes;
        Self { view, least, sketcher, threshold, known, lanes, room, elements, bytes: 0, apart }
    }

    /// Takes the lanes of documents that are likely to be compared.
    pub(super) fn know(&mut self, lanes: LanesInOrder) {
        self.known = lanes;
    }

    /// Whether two documents that share a bucket are similar.
    pub(super) fn are_similar(&mut self, a: DocNo, b: DocNo) -> Result<bool> {
        if self.lanes.len() >= self.room {
            self.lanes.clear();
        }
        self.read_lanes(a)?;
        self.read_lanes(b)?;
        let equal = match (self.lanes(a), self.lanes(b)) {
            (Some(a), Some(b)) => equal_lanes(a, b),
            _ => 0,
        };
        if equal < self.least {
            return Ok(false);
        }
        let Some(sketcher) = self.sketcher else { return Ok(true) };
        let pair = (a.min(b), a.max(b));
        if self.apart.contains(&pair) {
            return Ok(false);
        }
        let similar = self.have_equal_texts(a, b)? || {
            let (a, b) = (self.elements(a, sketcher)?, self.elements(b, sketcher)?);
            a.compare(&b).similarity >= self.threshold
        };
        if !similar {
            if self.apart.len() >= PAIRS {
                self.apart.clear();
            }
            self.apart.insert(pair);
        }
        Ok(similar)
    }

    fn lanes(&self, doc: DocNo) -> Option<&[u8]> {
        self.known.get(doc).or_else(|| self.lanes.get(&doc).map(|lanes| &lanes[..]))
    }

    fn read_lanes(&mut self, doc: DocNo) -> Result<()> {
        if self.lanes(doc).is_some() {
            return Ok(());
        }
        let lanes: Box<[u8]> = self.view.with_signature(doc, |lanes, _| lanes.into())?;
        self.lanes.insert(doc, lanes);
        Ok(())
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
        if self.bytes >= ROOM {
            self.elements.clear();
            self.bytes = 0;
        }
        self.bytes += elements.bytes();
        self.elements.insert(doc, Arc::clone(&elements));
        Ok(elements)
    }
}
