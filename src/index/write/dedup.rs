//! Check and insert for many documents, as if one came after the other.

use crate::error::Result;
use crate::estimate::equal_lanes;
use crate::index::ask::matches::{Likeness, Match};
use crate::index::ask::search::{Exact, Look, near};
use crate::index::ask::verify::Elements;
use crate::index::document::Document;
use crate::index::snapshot::Snapshot;
use crate::index::write::transaction::{Inserted, WriteTxn};
use crate::lsh::{Probe, word};
use crate::params::{Confidence, Threshold};
use crate::sketch::Sketcher;
use crate::store::DedupMark;
use crate::store::{
    ChunkTable, DocNo, DocTable, Existing, Known, NewDocument, SettingsRequest, View,
};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell};
use std::cmp::Reverse;
use std::sync::Arc;

/// So many matches of a document are remembered: an earlier one of its batch may replace the first.
const BEST: usize = 4;

/// What check-and-insert did with one of many documents.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// No similar document was known, and it was inserted.
    Inserted(Inserted),
    /// It is similar to a document that was known, and was not inserted.
    Duplicate {
        /// The most similar one.
        of: Match,
        /// Which of the other indexes that one is in, from 0 on; `None` for this index.
        against: Option<usize>,
    },
}

/// How documents are compared.
#[derive(Clone, Copy)]
struct How<'s> {
    look: Look,
    /// What texts are compared with; `None` for estimates.
    sketcher: Option<&'s Sketcher>,
    threshold: f64,
    against: &'s [Against<'s>],
    /// Documents from this number on are those of the run: one that comes again is a duplicate of
    /// itself.
    since: u64,
}

/// Another index that documents are compared with.
#[derive(Clone, Copy)]
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

/// What a document is similar to of what was known before its batch.
#[derive(Default)]
struct Judged {
    /// The best in the index, by falling similarity, then by number.
    own: Vec<(Likeness, DocNo)>,
    /// The id of the first.
    first_id: Option<String>,
    /// Whether there are more than these.
    more: bool,
    /// The best in another index, which index, its number.
    other: Option<(Likeness, usize, DocNo)>,
}

impl<'s> How<'s> {
    /// The text of a document, if it is to be compared exactly.
    fn exact<'d>(&self, document: &'d NewDocument) -> Option<Exact<'d>>
    where
        's: 'd,
    {
        let (sketcher, threshold) = (self.sketcher?, self.threshold);
        Some(Exact { text: document.text.as_deref()?, sketcher, threshold })
    }
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

impl WriteTxn<'_> {
    /// Inserts documents, each unless it is similar to one that is known: in the index, in one of
    /// the snapshots `against` of other indexes, or earlier among these. As if one came after the
    /// other by [`insert_document_unless_similar`](Self::insert_document_unless_similar), but
    /// compared on all threads. The verdicts are in the order of the documents.
    ///
    /// A duplicate is that of the most similar document; among equals this index comes before
    /// others, which come in their order, and the earliest inserted comes first.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("u.twx"))?;
    /// use twindex::Verdict;
    /// let texts = ["A line of some length, said once.", "Another one, said only once.",
    ///              "a line of some length,  said once."];
    /// let documents = (1..).zip(texts).map(|(n, text)| index.prepare(format!("line-{n}"), text));
    /// let documents = documents.collect::<Result<Vec<_>, _>>()?;
    /// let mut txn = index.begin_write()?;
    /// let verdicts = txn.insert_documents_unless_similar(documents, 0.8, &[])?;
    /// assert!(matches!(&verdicts[2], Verdict::Duplicate { of, .. } if of.id == "line-1"));
    /// txn.commit()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`insert_document`](Self::insert_document);
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a threshold out of range,
    /// [`Error::SettingMismatch`](crate::Error::SettingMismatch) for an index whose signatures do
    /// not compare with those of this one.
    pub fn insert_documents_unless_similar(
        &mut self,
        documents: Vec<Document>,
        threshold: f64,
        against: &[&Snapshot],
    ) -> Result<Vec<Verdict>> {
        self.judge(documents, threshold, against, u64::MAX)
    }

    /// The probability with which a document at the threshold is found here and in each of the others, at
    /// least: what check-and-insert promises. With stored texts it is then a duplicate for certain.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a threshold out of range.
    pub fn recall_at(&self, threshold: f64, against: &[&Snapshot]) -> Result<f64> {
        let (threshold, verifies) = (Threshold::new(threshold)?, self.verifies());
        let of = |other: &&Snapshot| Against::new(other, threshold, verifies).look.recall;
        Ok(against.iter().map(of).fold(self.look(threshold).recall, f64::min))
    }

    /// The same, where a document that comes again with its id and its text is unchanged only if it
    /// was inserted before number `since`; else it is a duplicate of itself.
    pub fn judge(
        &mut self,
        documents: Vec<Document>,
        threshold: f64,
        against: &[&Snapshot],
        since: u64,
    ) -> Result<Vec<Verdict>> {
        let threshold = Threshold::new(threshold)?;
        let request = SettingsRequest::of_signatures(self.settings);
        for other in against {
            request.check(other.settings(), other.reader().engine().path())?;
        }
        documents.iter().try_for_each(|document| self.fits(document))?;
        let verifies = self.verifies();
        let against: Vec<Against<'_>> =
            against.iter().map(|other| Against::new(other, threshold, verifies)).collect();
        let how = How {
            look: self.look(threshold),
            sketcher: verifies.then_some(self.sketcher),
            threshold: threshold.get(),
            against: &against,
            since,
        };
        let mut rest: Vec<NewDocument> = documents.into_iter().map(|document| document.0).collect();
        let mut verdicts = Vec::with_capacity(rest.len());
        while !rest.is_empty() {
            let later = rest.split_off(rest.len().min(self.writer.batch()));
            self.judge_batch(rest, how, &mut verdicts).inspect_err(|_| {
                // What gave way may have nothing in its place yet.
                self.writer.fail();
            })?;
            rest = later;
        }
        Ok(verdicts)
    }

    fn judge_batch(
        &mut self,
        documents: Vec<NewDocument>,
        how: How<'_>,
        verdicts: &mut Vec<Verdict>,
    ) -> Result<()> {
        let ids: Vec<&str> = documents.iter().map(|document| document.id.as_str()).collect();
        let known = self.writer.known(&ids)?;
        let judged: Vec<Judged> = self.writer.read(|view| {
            let both = documents.par_iter().zip(&known);
            both.map(|(document, known)| {
                match document.signature.is_empty() || known.is(document) {
                    true => Ok(Judged::default()),
                    false => Judged::new(view, document, how),
                }
            })
            .collect()
        })?;
        let before = self.writer.next_number();
        let mut kept = Kept {
            probe: how.look.probe,
            documents: Vec::new(),
            buckets: FxHashMap::default(),
            remembered: Cell::new(0),
        };
        let mut waiting: Vec<NewDocument> = Vec::new();
        for ((document, known), judged) in documents.into_iter().zip(known).zip(judged) {
            if known == Known::Repeated {
                self.writer.insert_all(std::mem::take(&mut waiting))?;
            }
            let own = match self.writer.compare(&document, Some(known))? {
                Existing::Same(doc) => {
                    let again = u64::from(doc.0) >= how.since && !document.signature.is_empty();
                    verdicts.push(match again {
                        true => Verdict::Duplicate { of: itself(&document, how), against: None },
                        false => Verdict::Inserted(Inserted::Unchanged),
                    });
                    continue;
                }
                Existing::Other(doc) => Some(doc),
                Existing::Absent => None,
            };
            if let Some(duplicate) = self.duplicate(&document, own, judged, how, &kept, before)? {
                verdicts.push(duplicate);
                continue;
            }
            if let Some(own) = own {
                self.writer.remove_number(own);
            }
            let replaced = if own.is_some() { Inserted::Replaced } else { Inserted::Added };
            verdicts.push(Verdict::Inserted(replaced));
            let number = self.writer.next_number() + waiting.len() as u64;
            kept.add(number, &document);
            waiting.push(document);
        }
        self.writer.insert_all(waiting)
    }

    /// What a document is a duplicate of, if of anything but its own former text. Documents of its
    /// batch have numbers from `before` on.
    fn duplicate(
        &mut self,
        document: &NewDocument,
        own: Option<DocNo>,
        mut judged: Judged,
        how: How<'_>,
        kept: &Kept,
        before: u64,
    ) -> Result<Option<Verdict>> {
        if document.signature.is_empty() {
            return Ok(None);
        }
        let lanes = document.signature.lanes();
        let counts = |writer: &Self, doc: DocNo| Some(doc) != own && writer.writer.is_live(doc);
        if judged.more && !judged.own.iter().any(|(_, doc)| counts(self, *doc)) {
            // All that were remembered have been replaced since.
            judged.own = self.writer.read(|view| {
                let counts = |doc: DocNo| u64::from(doc.0) < before && Some(doc) != own;
                near(view, lanes, how.look, how.exact(document), 1, counts)
            })?;
            judged.first_id = None;
        }
        let mine = judged.own.iter().position(|(_, doc)| counts(self, *doc));
        let mine = mine.and_then(|at| judged.own.get(at).map(|scored| (*scored, at)));
        let fresh = kept.best(document, how, |doc| counts(self, doc))?;
        let likeness = mine.map(|((likeness, _), _)| likeness);
        let named =
            |id: String, likeness: Likeness| likeness.named(id, lanes.len(), Confidence::DEFAULT);
        let is_more = |other: Likeness, than: Option<Likeness>| {
            let similarity = |likeness: Likeness| likeness.similarity(lanes.len());
            than.is_none_or(|than| similarity(other) > similarity(than))
        };
        let (best, likeness) = match (mine, fresh) {
            (_, Some((more, kept))) if is_more(more, likeness) => {
                (Some(named(kept.id.clone(), more)), Some(more))
            }
            (Some(((likeness, doc), at)), _) => {
                let first = if at == 0 { judged.first_id } else { None };
                let id = match first {
                    Some(id) => id,
                    None => self.writer.view(|view| view.document(doc))?.id,
                };
                (Some(named(id, likeness)), Some(likeness))
            }
            (None, _) => (None, None),
        };
        if let Some((more, against, doc)) = judged.other
            && is_more(more, likeness)
            && let Some(Against { snapshot, .. }) = how.against.get(against)
        {
            let id = snapshot.view().document(doc)?.id;
            return Ok(Some(Verdict::Duplicate { of: named(id, more), against: Some(against) }));
        }
        Ok(best.map(|of| Verdict::Duplicate { of, against: None }))
    }
}

/// Only the command deduplicates in runs.
impl WriteTxn<'_> {
    /// How far the deduplication with this hash has come, if its output is not complete.
    pub fn dedup_mark(&self, run: u64) -> Result<Option<DedupMark>> {
        self.writer.dedup_mark(run)
    }

    /// Stores how far it has come, with what it has inserted; `None` when its output is complete.
    pub fn set_dedup_mark(&mut self, run: u64, mark: Option<&DedupMark>) -> Result<()> {
        self.writer.set_dedup_mark(run, mark)
    }

    /// The number that the next document gets.
    pub fn next_number(&self) -> u64 {
        self.writer.next_number()
    }
}

/// A document as a match of itself.
fn itself(document: &NewDocument, how: How<'_>) -> Match {
    let lanes = document.signature.lanes().len();
    let likeness = match how.exact(document) {
        Some(_) => Likeness::Exact(1.0),
        None => Likeness::Estimated(lanes),
    };
    likeness.named(document.id.clone(), lanes, Confidence::DEFAULT)
}

impl Judged {
    fn new<P: ChunkTable, D: DocTable>(
        view: &View<'_, P, D>,
        document: &NewDocument,
        how: How<'_>,
    ) -> Result<Self> {
        let (lanes, exact) = (document.signature.lanes(), how.exact(document));
        let mut own = near(view, lanes, how.look, exact, BEST + 1, |_| true)?;
        let more = own.len() > BEST;
        own.truncate(BEST);
        let first_id = match own.first() {
            Some((_, doc)) => Some(view.document(*doc)?.id),
            None => None,
        };
        let mut other: Option<(Likeness, usize, DocNo)> = None;
        let similarity = |likeness: Likeness| likeness.similarity(lanes.len());
        for (number, against) in how.against.iter().enumerate() {
            let exact = exact.filter(|_| against.exact);
            let view = against.snapshot.view();
            let found = near(&view, lanes, against.look, exact, 1, |_| true)?;
            if let Some((likeness, doc)) = found.into_iter().next()
                && other.is_none_or(|best| similarity(likeness) > similarity(best.0))
            {
                other = Some((likeness, number, doc));
            }
        }
        Ok(Self { own, first_id, more, other })
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

    fn add(&mut self, number: u64, document: &NewDocument) {
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
        document: &NewDocument,
        how: How<'_>,
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
            .filter(|(equal, _)| *equal >= how.look.least);
        let Some(Exact { text, sketcher, threshold }) = how.exact(document) else {
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
