//! Finding what a new document is a duplicate of: in the index, in others, earlier in its batch.

use crate::error::Result;
use crate::estimate::equal_lanes;
use crate::index::ask::matches::{Likeness, Match};
use crate::index::ask::search::{Exact, Look, near};
use crate::index::ask::verify::Elements;
use crate::index::snapshot::Snapshot;
use crate::index::write::insertion::Outcome;
use crate::lsh::{Probe, word};
use crate::params::{Confidence, Threshold};
use crate::sketch::Sketcher;
use crate::store::{Batch, DocNo, Document, Entry, Existing, Settings, SettingsRequest, WriteView};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell};
use std::cmp::Reverse;
use std::sync::Arc;

/// So many matches of a document are remembered: an earlier one of its batch may replace the first.
const BEST: usize = 4;

/// How documents are compared.
pub(super) struct Comparison<'s> {
    look: Look,
    /// Whether texts are compared, not only signatures.
    verifies: bool,
    threshold: f64,
    against: Vec<Against<'s>>,
    /// A document that comes again is a duplicate of itself from this number on.
    again_from: u64,
}

/// Another index that documents are compared with.
struct Against<'s> {
    snapshot: &'s Snapshot,
    look: Look,
    /// Whether its documents can be compared exactly.
    exact: bool,
}

impl<'s> Against<'s> {
    fn new(snapshot: &'s Snapshot, threshold: Threshold, verifies: bool) -> Self {
        let settings = snapshot.settings();
        let exact = verifies && settings.store_text;
        let look = Look::new(settings, &snapshot.margins, threshold, exact);
        Self { snapshot, look, exact }
    }
}

impl<'s> Comparison<'s> {
    /// Compares as `look` says in an index with these settings, and with other indexes.
    pub(super) fn new(
        settings: &Settings,
        look: Look,
        verifies: bool,
        threshold: Threshold,
        against: &[&'s Snapshot],
    ) -> Result<Self> {
        let request = SettingsRequest::of_signatures(settings);
        for other in against {
            request.check(other.settings(), other.reader().engine().path())?;
        }
        let others = against.iter();
        let against = others.map(|other| Against::new(other, threshold, verifies)).collect();
        Ok(Self { look, verifies, threshold: threshold.get(), against, again_from: u64::MAX })
    }

    /// The same, where a document that comes again is a duplicate of itself from this number on.
    pub(super) fn again_from(self, number: u64) -> Self {
        Self { again_from: number, ..self }
    }

    /// The probability with which a document at the threshold is found, at least.
    pub(super) fn recall(&self) -> f64 {
        let others = self.against.iter().map(|other| other.look.recall);
        others.fold(self.look.recall, f64::min)
    }

    /// The text of a document, if it is to be compared exactly.
    fn exact<'d>(&self, document: &'d Document, sketcher: &'d Sketcher) -> Option<Exact<'d>> {
        let text = document.text.as_deref().filter(|_| self.verifies)?;
        Some(Exact { text, sketcher, threshold: self.threshold })
    }
}

/// What a document is similar to of what was known before its batch.
#[derive(Default)]
struct Nearest {
    /// The best in the index, by falling similarity, then by number.
    own: Vec<(Likeness, DocNo)>,
    /// The id of the first.
    first_id: Option<String>,
    /// Whether there are more than these.
    more: bool,
    /// The best in another index, which index, its number.
    other: Option<(Likeness, usize, DocNo)>,
}

/// Judges the documents of a batch, one after the other.
pub(super) struct Judge<'c> {
    comparison: &'c Comparison<'c>,
    sketcher: &'c Sketcher,
    /// What the documents to come are similar to.
    nearest: std::vec::IntoIter<Nearest>,
    kept: Kept,
    /// Documents of the batch have numbers from here on.
    first: u64,
}

/// The documents of a batch that were kept so far.
struct Kept {
    probe: Probe,
    documents: Vec<KeptDocument>,
    /// Places in `documents`, by band and the beginning of its word.
    buckets: FxHashMap<(usize, u64), Vec<u32>>,
    /// What remembered elements take, in bytes.
    remembered: Cell<usize>,
}

struct KeptDocument {
    number: DocNo,
    id: String,
    lanes: Box<[u8]>,
    text: Option<Arc<str>>,
    /// What the text is made of, once it was compared with another.
    elements: OnceCell<Elements>,
}

impl<'c> Judge<'c> {
    /// Compares the documents of a batch with what was known before it, on all threads; `writes`
    /// says which of them would be written at all.
    pub(super) fn of(
        batch: &mut Batch<'_>,
        comparison: &'c Comparison<'_>,
        sketcher: &'c Sketcher,
        writes: impl Fn(Existing) -> bool + Sync + Send,
    ) -> Result<Self> {
        // Nothing replaces the first match of a document that is alone.
        let most = if batch.len() == 1 { 1 } else { BEST };
        let nearest = batch.ask(|view, document, existing| {
            match document.signature.is_empty() || !writes(existing) {
                true => Ok(Nearest::default()),
                false => {
                    let exact = comparison.exact(document, sketcher);
                    Nearest::new(view, document, existing.number(), comparison, exact, most)
                }
            }
        })?;
        let kept = Kept {
            probe: comparison.look.probe,
            documents: Vec::new(),
            buckets: FxHashMap::default(),
            remembered: Cell::new(0),
        };
        let first = batch.next_number();
        Ok(Self { comparison, sketcher, nearest: nearest.into_iter(), kept, first })
    }

    /// What the next document of the batch is a duplicate of, if of anything but its own former
    /// text. One that is none, and is written, is one that later documents are compared with.
    pub(super) fn judge(
        &mut self,
        entry: &mut Entry<'_, '_>,
        writes: bool,
    ) -> Result<Option<Outcome>> {
        let nearest = self.nearest.next().unwrap_or_default();
        if entry.document().signature.is_empty() {
            return Ok(None);
        }
        if let Existing::Same(doc) = entry.existing() {
            let again = u64::from(doc.0) >= self.comparison.again_from;
            let duplicate =
                || Outcome::Duplicate { of: self.itself(entry.document()), against: None };
            return Ok(again.then(duplicate));
        }
        if !writes {
            return Ok(None);
        }
        let duplicate = self.duplicate(entry, nearest)?;
        if duplicate.is_none() && entry.later() > 0 {
            self.kept.add(entry.number(), entry.document());
        }
        Ok(duplicate)
    }

    fn duplicate(
        &mut self,
        entry: &mut Entry<'_, '_>,
        mut nearest: Nearest,
    ) -> Result<Option<Outcome>> {
        let Self { comparison, sketcher, .. } = *self;
        let own = entry.existing().number();
        let counts =
            |entry: &Entry<'_, '_>, doc: DocNo| Some(doc) != own && !entry.was_replaced(doc);
        if nearest.more && !nearest.own.iter().any(|(_, doc)| counts(entry, *doc)) {
            // All that were remembered have been replaced since.
            let first = self.first;
            nearest.own = entry.read(|view, document| {
                let counts = |doc: DocNo| u64::from(doc.0) < first && Some(doc) != own;
                let exact = comparison.exact(document, sketcher);
                near(view, document.signature.lanes(), comparison.look, exact, 1, counts)
            })?;
            nearest.first_id = None;
        }
        let mine = nearest.own.iter().position(|(_, doc)| counts(entry, *doc));
        let mine = mine.and_then(|at| nearest.own.get(at).map(|scored| (*scored, at)));
        let document = entry.document();
        let exact = comparison.exact(document, sketcher);
        let fresh = self.kept.best(document, comparison.look, exact, |doc| counts(entry, doc))?;
        let likeness = mine.map(|((likeness, _), _)| likeness);
        let lanes = document.signature.lanes().len();
        let named = |id: String, likeness: Likeness| likeness.named(id, lanes, Confidence::DEFAULT);
        let is_more = |other: Likeness, than: Option<Likeness>| {
            let similarity = |likeness: Likeness| likeness.similarity(lanes);
            than.is_none_or(|than| similarity(other) > similarity(than))
        };
        let (best, likeness) = match (mine, fresh) {
            (_, Some((more, kept))) if is_more(more, likeness) => {
                (Some(named(kept.id.clone(), more)), Some(more))
            }
            (Some(((likeness, doc), at)), _) => {
                let first = if at == 0 { nearest.first_id } else { None };
                let id = first.map_or_else(|| entry.id_of(doc), Ok)?;
                (Some(named(id, likeness)), Some(likeness))
            }
            (None, _) => (None, None),
        };
        if let Some((more, against, doc)) = nearest.other
            && is_more(more, likeness)
            && let Some(Against { snapshot, .. }) = comparison.against.get(against)
        {
            let id = snapshot.view().document(doc)?.id;
            return Ok(Some(Outcome::Duplicate { of: named(id, more), against: Some(against) }));
        }
        Ok(best.map(|of| Outcome::Duplicate { of, against: None }))
    }

    /// A document as a match of itself.
    fn itself(&self, document: &Document) -> Match {
        let lanes = document.signature.lanes().len();
        let likeness = match self.comparison.exact(document, self.sketcher) {
            Some(_) => Likeness::Exact(1.0),
            None => Likeness::Estimated(lanes),
        };
        likeness.named(document.id.clone(), lanes, Confidence::DEFAULT)
    }
}

impl Nearest {
    /// Remembers `most` of the index, without the document that has the id of the new one.
    fn new(
        view: &WriteView<'_, '_>,
        document: &Document,
        own: Option<DocNo>,
        comparison: &Comparison<'_>,
        exact: Option<Exact<'_>>,
        most: usize,
    ) -> Result<Self> {
        let lanes = document.signature.lanes();
        // One more tells whether there are more; a document that is alone need not know.
        let asked = if most > 1 { most + 1 } else { most };
        let counts = |doc: DocNo| Some(doc) != own;
        let mut found = near(view, lanes, comparison.look, exact, asked, counts)?;
        let more = found.len() > most;
        found.truncate(most);
        let first_id = match found.first() {
            Some((_, doc)) => Some(view.document(*doc)?.id),
            None => None,
        };
        let mut other: Option<(Likeness, usize, DocNo)> = None;
        let similarity = |likeness: Likeness| likeness.similarity(lanes.len());
        for (number, against) in comparison.against.iter().enumerate() {
            let exact = exact.filter(|_| against.exact);
            let view = against.snapshot.view();
            let found = near(&view, lanes, against.look, exact, 1, |_| true)?;
            if let Some((likeness, doc)) = found.into_iter().next()
                && other.is_none_or(|best| similarity(likeness) > similarity(best.0))
            {
                other = Some((likeness, number, doc));
            }
        }
        Ok(Self { own: found, first_id, more, other })
    }
}

impl Kept {
    /// Remembers what a text is made of, as long as there is room.
    fn remember(&self, kept: &KeptDocument, elements: Elements) {
        const ROOM: usize = 64 << 20;
        let bytes = self.remembered.get() + elements.bytes();
        if bytes <= ROOM && kept.elements.set(elements).is_ok() {
            self.remembered.set(bytes);
        }
    }

    fn add(&mut self, number: u64, document: &Document) {
        if document.signature.is_empty() {
            return;
        }
        let lanes: Box<[u8]> = document.signature.lanes().into();
        let at = self.documents.len() as u32;
        for band in 0..self.probe.bands() {
            let key = (band, word(&lanes, band, self.probe.depth()));
            self.buckets.entry(key).or_default().push(at);
        }
        // A number that does not fit is refused when the document is written.
        let number = DocNo(number.try_into().unwrap_or(u32::MAX));
        let (id, text) = (document.id.clone(), document.text.clone());
        self.documents.push(KeptDocument { number, id, lanes, text, elements: OnceCell::new() });
    }

    /// The most similar of these, and among equals the first, of those that count.
    fn best(
        &self,
        document: &Document,
        look: Look,
        exact: Option<Exact<'_>>,
        counts: impl Fn(DocNo) -> bool,
    ) -> Result<Option<(Likeness, &KeptDocument)>> {
        let lanes = document.signature.lanes();
        let buckets = (0..self.probe.bands())
            .filter_map(|band| self.buckets.get(&(band, word(lanes, band, self.probe.depth()))));
        let mut places: Vec<u32> = buckets.flatten().copied().collect();
        places.sort_unstable();
        places.dedup();
        let candidates = places.into_iter().filter_map(|at| self.documents.get(at as usize));
        let candidates = candidates
            .filter(|document| counts(document.number))
            .map(|document| (equal_lanes(lanes, &document.lanes), document))
            .filter(|(equal, _)| *equal >= look.least);
        let Some(Exact { text, sketcher, threshold }) = exact else {
            let best = candidates.min_by_key(|(equal, kept)| (Reverse(*equal), kept.number));
            return Ok(best.map(|(equal, kept)| (Likeness::Estimated(equal), kept)));
        };
        let mut asked = None;
        let mut best: Option<(f64, &KeptDocument)> = None;
        for (_, kept) in candidates {
            if asked.is_none() {
                asked = Some(Elements::of_stored(text, sketcher)?);
            }
            let Some(asked) = &asked else { continue };
            let Some(text) = kept.text.as_deref() else { continue };
            let similarity = match kept.elements.get() {
                Some(theirs) => asked.compare(theirs).similarity,
                None => {
                    let theirs = Elements::of_stored(text, sketcher)?;
                    let similarity = asked.compare(&theirs).similarity;
                    self.remember(kept, theirs);
                    similarity
                }
            };
            let is_better = best.is_none_or(|(most, first)| {
                similarity > most || (similarity == most && kept.number < first.number)
            });
            if similarity >= threshold && is_better {
                best = Some((similarity, kept));
            }
        }
        Ok(best.map(|(similarity, kept)| (Likeness::Exact(similarity), kept)))
    }
}
