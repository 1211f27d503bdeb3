//! Finds what is known of a new document: passages of the index, of the same batch, or of itself.

use crate::error::Result;
use crate::index::ask::known::KnownPassages;
use crate::index::ask::passage_search::{KnownSearch, PassageSearch, WaitingText};
use crate::index::ask::score::Score;
use crate::index::ask::stretch::{MetStretch, Origin};
use crate::index::ask::text_cache::TextCache;
use crate::index::write::outcome::{Inserted, Outcome};
use crate::params::Confidence;
use crate::sketch::{Fingerprints, Sketcher};
use crate::store::{Batch, DocNo, Document, Entry, Existing, OwnNumbers, View};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What is done about known passages.
#[derive(Debug)]
pub(super) struct PassageRule {
    /// Whether they are cut out.
    pub(super) cuts: bool,
    /// The largest share of a document that may be known.
    pub(super) most: f64,
    /// The numbers of a deduplication run. A document with one of them that comes again is a
    /// duplicate of itself. `None` outside a run.
    pub(super) own: Option<OwnNumbers>,
    /// Texts of the index that were compared.
    pub(super) texts: Arc<TextCache>,
}

/// What was met of a document before its batch, and what it repeats.
#[derive(Default)]
struct Met {
    stretches: Vec<MetStretch>,
    /// Whether the documents of the batch were searched too.
    with_batch: bool,
    /// How many documents were compared for each of its fingerprints, in the order of the hashes.
    found: Vec<usize>,
    limited: bool,
}

/// Decides about the documents of a batch, in order.
pub(super) struct PassageJudge<'c> {
    rule: &'c PassageRule,
    sketcher: &'c Sketcher,
    /// What was met of the documents still to be decided.
    met: std::vec::IntoIter<Met>,
    kept: Kept,
    limited: u64,
}

/// The documents of a batch that were inserted so far.
#[derive(Default)]
struct Kept {
    documents: Vec<KeptDocument>,
    /// The positions in `documents`, by fingerprint.
    with_print: FxHashMap<u32, Vec<u32>>,
}

struct KeptDocument {
    number: DocNo,
    id: String,
    text: WaitingText,
}

impl<'c> PassageJudge<'c> {
    /// Compares the documents of a batch with those known before it, on all threads. `writes`
    /// returns whether a document would be written if nothing of it is known.
    pub(super) fn compare_batch(
        batch: &mut Batch<'_>,
        rule: &'c PassageRule,
        sketcher: &'c Sketcher,
        writes: impl Fn(Existing) -> bool + Sync + Send,
    ) -> Result<Self> {
        let met = batch.ask(|view, document, existing| {
            if writes(existing) {
                Met::new(view, document, existing.number(), rule, sketcher)
            } else {
                Ok(Met::default())
            }
        })?;
        Ok(Self { rule, sketcher, met: met.into_iter(), kept: Kept::default(), limited: 0 })
    }

    /// Decides about the next document of the batch, and inserts what is left of it.
    pub(super) fn decide(
        &mut self,
        mut entry: Entry<'_, '_>,
        inserted: Inserted,
    ) -> Result<Outcome> {
        let mut met = self.met.next().unwrap_or_default();
        if !inserted.writes() {
            let again = matches!(entry.existing(), Existing::Same(doc) if self.is_own(doc));
            let outcome =
                if again { itself(entry.document()) } else { Outcome::Inserted(inserted) };
            entry.skip();
            return Ok(outcome);
        }
        if entry.has_replaced() && self.is_limited(entry.document(), &met) {
            // Documents that the batch has replaced have taken the place of others.
            let (own, rule, sketcher) = (entry.existing().number(), self.rule, self.sketcher);
            let search = |view: &View<'_>, document: &Document| {
                Met::new(view, document, own, rule, sketcher)
            };
            met = Met { with_batch: true, ..entry.read_with_batch(search)? };
        }
        if let Existing::Other(doc) = entry.existing()
            && let Some(outcome) = self.again(&mut entry, &met, doc)?
        {
            entry.skip();
            return Ok(outcome);
        }
        self.limited += u64::from(self.is_limited(entry.document(), &met));
        let Some(known) = self.known(&mut entry, &met, None)? else {
            self.kept.add(&entry);
            entry.insert()?;
            return Ok(Outcome::Inserted(inserted));
        };
        let text = entry.document().stored_text().unwrap_or_default();
        let rest = self.rule.cuts.then(|| known.without(text));
        if known.share() > self.rule.most
            || rest.as_ref().is_some_and(|rest| rest.chars().all(char::is_whitespace))
        {
            entry.skip();
            return Ok(Outcome::Covered(known));
        }
        let outcome = match rest.filter(|_| !known.cuts().is_empty()) {
            Some(text) => {
                if let Existing::Other(doc) = entry.existing()
                    && entry.has_text(doc, &text)?
                {
                    let outcome = self.left_unchanged(&entry, doc, known, text);
                    entry.skip();
                    return Ok(outcome);
                }
                entry.change(|document| document.with_text(&text, self.sketcher))?;
                Outcome::Cut { inserted, known, text }
            }
            None => Outcome::Inserted(inserted),
        };
        self.kept.add(&entry);
        entry.insert()?;
        Ok(outcome)
    }

    /// The outcome if the index has what was left of this document when it came before, under this
    /// number. What came later does not count then.
    fn again(&self, entry: &mut Entry<'_, '_>, met: &Met, doc: DocNo) -> Result<Option<Outcome>> {
        if !self.rule.cuts {
            return Ok(None);
        }
        let Some(known) = self.known(entry, met, Some(doc))? else { return Ok(None) };
        let text = known.without(entry.document().stored_text().unwrap_or_default());
        if !entry.has_text(doc, &text)? {
            return Ok(None);
        }
        Ok(Some(self.left_unchanged(entry, doc, known, text)))
    }

    /// The outcome for a document if this one has the text that is left of it.
    fn left_unchanged(
        &self,
        entry: &Entry<'_, '_>,
        doc: DocNo,
        known: KnownPassages,
        text: String,
    ) -> Outcome {
        if self.is_own(doc) {
            itself(entry.document())
        } else {
            Outcome::Cut { inserted: Inserted::Unchanged, known, text }
        }
    }

    /// The number of documents of which some passages may have been missed.
    pub(super) fn limited(&self) -> u64 {
        self.limited
    }

    /// Whether a document has a fingerprint with more documents than are compared.
    fn is_limited(&self, document: &Document, met: &Met) -> bool {
        let prints = document.fingerprints.as_ref().filter(|_| !met.with_batch);
        met.limited || prints.is_some_and(|prints| self.kept.is_limited(prints, &met.found))
    }

    fn is_own(&self, doc: DocNo) -> bool {
        self.rule.own.as_ref().is_some_and(|own| own.contains(doc.0.into()))
    }

    /// What is known of a document, by all others or those before one; `None` if nothing is.
    fn known(
        &self,
        entry: &mut Entry<'_, '_>,
        met: &Met,
        before: Option<DocNo>,
    ) -> Result<Option<KnownPassages>> {
        let Met { stretches, found, with_batch, .. } = met;
        let limited = self.is_limited(entry.document(), met);
        let own = entry.existing().number();
        let is_wanted = |doc: DocNo| {
            Some(doc) != own && !entry.was_replaced(doc) && before.is_none_or(|last| doc < last)
        };
        let mut stretches = stretches.clone();
        stretches.retain(|met| match met.origin {
            Origin::Written(doc) => is_wanted(doc),
            Origin::Waiting(_) | Origin::Itself => true,
        });
        let document = entry.document();
        let (Some(text), Some(fingerprints)) = (&document.text, &document.fingerprints) else {
            return Ok(None);
        };
        let mut near = if *with_batch { Vec::new() } else { self.kept.near(fingerprints, found) };
        near.retain(|(_, kept)| is_wanted(kept.number));
        if !near.is_empty()
            && let Some(asked) = search_of(self.sketcher, text, fingerprints)
        {
            for (at, kept) in near {
                let found = asked.compare_waiting(&kept.text);
                let met = |stretch| MetStretch { origin: Origin::Waiting(at), stretch };
                stretches.extend(found.into_iter().map(met));
            }
        }
        if stretches.is_empty() {
            return Ok(None);
        }
        let known = entry.read(|view, document| {
            let text = document.stored_text().unwrap_or_default();
            KnownPassages::tell(self.sketcher, text, stretches, limited, |origin| match origin {
                Origin::Written(doc) => Ok((view.document(doc)?.id, view.text(doc)?)),
                Origin::Waiting(at) => {
                    let kept = self.kept.documents.get(at);
                    Ok(kept.map_or_else(Default::default, |kept| {
                        (kept.id.clone(), (*kept.text.text).into())
                    }))
                }
                Origin::Itself => Ok((document.id.clone(), text.to_owned())),
            })
        })?;
        Ok(Some(known))
    }
}

/// The search for passages of a new document.
fn search_of<'s>(
    sketcher: &'s Sketcher,
    text: &str,
    fingerprints: &Fingerprints,
) -> Option<PassageSearch<'s>> {
    let shingles = sketcher.shingler().unranked_hashes(text);
    PassageSearch::prepare(sketcher, text, shingles, fingerprints, true)
}

/// The outcome for a document that is a duplicate of itself.
fn itself(document: &Document) -> Outcome {
    let lanes = document.signature.lanes().len();
    let of = Score::Exact(1.0).named(document.id.clone(), lanes, Confidence::DEFAULT);
    Outcome::Duplicate { of, against: None }
}

impl Met {
    /// Finds what the index has of a document, without the one that has its id, and what the
    /// document has itself at an earlier place.
    fn new(
        view: &View<'_>,
        document: &Document,
        own: Option<DocNo>,
        rule: &PassageRule,
        sketcher: &Sketcher,
    ) -> Result<Self> {
        let (Some(text), Some(fingerprints)) = (&document.text, &document.fingerprints) else {
            return Ok(Self::default());
        };
        let search = KnownSearch::new(view, fingerprints, |doc| Some(doc) != own)?;
        let repeats = fingerprints.has_repeats();
        let (found, limited) = (search.found.clone(), search.limited);
        let nothing = Self { stretches: Vec::new(), with_batch: false, found, limited };
        if search.is_empty() && !repeats {
            return Ok(nothing);
        }
        let Some(asked) = search_of(sketcher, text, fingerprints) else { return Ok(nothing) };
        let mut stretches = search.run(view, &asked, &rule.texts)?;
        if repeats {
            let met = |stretch| MetStretch { origin: Origin::Itself, stretch };
            stretches.extend(asked.repeats_before(fingerprints).into_iter().map(met));
        }
        Ok(Self { stretches, ..nothing })
    }
}

impl Kept {
    /// Adds a document that is about to be inserted.
    fn add(&mut self, entry: &Entry<'_, '_>) {
        let document = entry.document();
        let (Some(text), Some(fingerprints)) = (&document.text, &document.fingerprints) else {
            return;
        };
        if entry.later() == 0 {
            return;
        }
        let at = self.documents.len() as u32;
        for print in fingerprints.words() {
            self.with_print.entry(print).or_default().push(at);
        }
        self.documents.push(KeptDocument {
            // Writing the document fails if the number does not fit.
            number: DocNo(entry.number().try_into().unwrap_or(u32::MAX)),
            id: document.id.clone(),
            text: WaitingText::new(Arc::clone(text), fingerprints),
        });
    }

    /// For each fingerprint, the positions of the documents that have it, and how many of them are
    /// compared: the first, less those of the index that it was found with.
    fn with_prints<'k>(
        &'k self,
        fingerprints: &Fingerprints,
        found: &[usize],
    ) -> Vec<(&'k [u32], usize)> {
        let room = found.iter().map(|found| KnownSearch::MOST.saturating_sub(*found));
        let words = fingerprints.words();
        let with =
            words.iter().map(|word| self.with_print.get(word).map_or(&[][..], Vec::as_slice));
        with.zip(room).filter(|(with, _)| !with.is_empty()).collect()
    }

    /// Whether more documents have a fingerprint than are compared.
    fn is_limited(&self, fingerprints: &Fingerprints, found: &[usize]) -> bool {
        self.with_prints(fingerprints, found).iter().any(|(with, room)| with.len() > *room)
    }

    /// The documents that are compared with one of some fingerprints, with their positions.
    fn near(&self, fingerprints: &Fingerprints, found: &[usize]) -> Vec<(usize, &KeptDocument)> {
        let with = self.with_prints(fingerprints, found).into_iter();
        let first = with.flat_map(|(with, room)| with.iter().take(room));
        let mut near: Vec<usize> = first.map(|at| *at as usize).collect();
        near.sort_unstable();
        near.dedup();
        near.into_iter().filter_map(|at| Some((at, self.documents.get(at)?))).collect()
    }
}
