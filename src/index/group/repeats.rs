//! Walks all passages that occur at two or more places of an index.

use crate::error::{Error, Result};
use crate::estimate::{SharedStretch, Span, further, stretches_to_report};
use crate::index::ask::known::LocatedText;
use crate::index::ask::passage_search::PassageSearch;
use crate::index::ask::text_cache::TextCache;
use crate::index::group::shared_words::{Leaders, Plan, Shared, Sweep};
use crate::index::snapshot::Snapshot;
use crate::store::{DocNo, Progress, parallel};
use std::collections::VecDeque;
use std::ops::Range;

/// The passages of a document that occur elsewhere, too.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RepeatingDocument {
    /// The id of the document.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Its repeated passages, in order. They may overlap.
    pub passages: Vec<RepeatedPassage>,
}

/// A passage that occurs at two or more places of an index.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RepeatedPassage {
    /// Its place in the document.
    pub span: Span,
    /// The number of its units: characters after normalisation, words, lines or tokens.
    pub units: usize,
    /// The number of documents that have it, this one included. If [`Repeats::max_texts`] left
    /// fingerprints out, there may be more.
    pub documents: u64,
    /// Another document that has it: the one that was inserted first. `None` if only this document
    /// has it, several times.
    pub other: Option<String>,
    /// A hash of its units: passages of equal units have the same one.
    pub hash: u64,
}

/// An iterator over the documents that have passages in common with others, or repeat themselves,
/// in order of insertion.
///
/// A *repeated passage* of a document is a stretch of at least as many units as the index was told
/// ([`IndexOptions::passages`](crate::IndexOptions::passages)) that also occurs at another place,
/// in this document or another one, and that is maximal: no longer stretch around it occurs at
/// another place (a near-supermaximal repeat: D. Gusfield, *Algorithms on strings, trees, and
/// sequences*, 1997, 7.12.1). None is missed, except that in a text that repeats itself, such as a
/// line of dashes, one may begin at each place: if all of them together are longer than 65,536
/// units and than four times the text, only as many are told as cover what is repeated. Of
/// documents with equal texts, the first is told, and the others are counted.
///
/// Needs stored texts. Memory: 48 bytes a document at the beginning, then 4 to 16, and some
/// 500 MB, or more without a limit.
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let path = folder.path().join("p.twx");
/// let index = twindex::Index::options().passages(20).store_text(true).create(path)?;
/// let mut txn = index.begin_write()?;
/// txn.insert("a", "First: it was the best of times, it was")?;
/// txn.insert("b", "Second: it was the best of times.")?;
/// txn.commit()?;
/// let snapshot = index.snapshot()?;
/// let documents = snapshot.repeats()?.collect::<twindex::Result<Vec<_>>>()?;
/// let passage = &documents[0].passages[0];
/// assert_eq!(&documents[0].text[passage.span.bytes()], ": it was the best of times");
/// assert_eq!((passage.documents, passage.other.as_deref()), (2, Some("b")));
/// # Ok(())
/// # }
/// ```
pub struct Repeats<'s> {
    snapshot: &'s Snapshot,
    most: Option<usize>,
    state: Option<State>,
    ready: VecDeque<RepeatingDocument>,
    /// Whether an error has ended the walk.
    failed: bool,
}

impl Snapshot {
    /// Iterates over the passages that occur at two or more places, document by document.
    ///
    /// # Errors
    ///
    /// [`Error::NoPassages`](crate::Error::NoPassages) if the index keeps no fingerprints of
    /// passages; [`Error::NoTexts`](crate::Error::NoTexts) if it stores no texts.
    pub fn repeats(&self) -> Result<Repeats<'_>> {
        Repeats::new(self)
    }
}

impl std::fmt::Debug for Repeats<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repeats").field("most", &self.most).finish_non_exhaustive()
    }
}

/// The memory for texts that are compared again, in bytes.
const CACHE_BYTES: usize = 256 << 20;

/// How far the walk has come.
struct State {
    leaders: Leaders,
    plan: Plan,
    /// The next range of the plan.
    range: usize,
    texts: TextCache,
    /// What the documents of the current range share.
    shared: Shared,
    /// The place of the next document among the leaders.
    next: usize,
    /// The end of the current range.
    end: u32,
}

impl<'s> Repeats<'s> {
    fn new(snapshot: &'s Snapshot) -> Result<Self> {
        let path = || snapshot.path().to_owned();
        if snapshot.settings().winnowing.is_none() {
            return Err(Error::NoPassages { path: path() });
        }
        if !snapshot.settings().store_text {
            return Err(Error::NoTexts { path: path() });
        }
        Ok(Self { snapshot, most: None, state: None, ready: VecDeque::new(), failed: false })
    }

    /// Leaves out what more than this many texts have in common: a fingerprint of more texts is not
    /// followed. [`limited`](Self::limited) counts such fingerprints. By default, all are followed,
    /// and a passage of n texts costs n² comparisons.
    ///
    /// A passage is told in full length if any of its fingerprints is followed.
    #[must_use]
    pub fn max_texts(self, most: usize) -> Self {
        Self { most: Some(most), ..self }
    }

    /// The number of fingerprints that more texts have than are followed, once the walk has begun.
    pub fn limited(&self) -> u64 {
        self.state.as_ref().map_or(0, |state| state.plan.limited)
    }

    fn begin(&self) -> Result<State> {
        let view = self.snapshot.view();
        let leaders = Leaders::find(&view)?;
        let plan = Sweep::new(&leaders, self.most.unwrap_or(usize::MAX)).plan(&view)?;
        let texts = TextCache::new(CACHE_BYTES, self.snapshot.settings());
        let shared = Shared::default();
        Ok(State { leaders, plan, range: 0, texts, shared, next: 0, end: 0 })
    }

    /// How many texts were worked through, of all. The first call of
    /// [`next_block`](Self::next_block) begins with a walk over all fingerprints.
    pub fn progress(&self) -> Progress {
        let texts = |state: &State| (state.next as u64, state.leaders.all.len() as u64);
        let (done, total) = self.state.as_ref().map_or((0, self.snapshot.len()), texts);
        let phase = match self.state {
            Some(_) => "comparing texts",
            None => "reading fingerprints",
        };
        Progress { phase, done, total }
    }

    /// Works through the next documents and returns those that have repeated passages, perhaps
    /// none; `None` at the end. A caller who may want to stop asks for blocks, as an iterator may
    /// work for long before it finds a document.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] or [`Error::Io`] if the file cannot be read.
    pub fn next_block(&mut self) -> Result<Option<Vec<RepeatingDocument>>> {
        if self.failed || (self.ready.is_empty() && !self.advance()?) {
            return Ok(None);
        }
        Ok(Some(self.ready.drain(..).collect()))
    }

    /// Works through the next documents. Returns false at the end.
    fn advance(&mut self) -> Result<bool> {
        let advanced = self.work_on();
        self.failed = advanced.is_err();
        advanced
    }

    fn work_on(&mut self) -> Result<bool> {
        /// The documents that are worked through together.
        const BLOCK: usize = 64;
        let mut state = match self.state.take() {
            Some(state) => state,
            None => self.begin()?,
        };
        let view = self.snapshot.view();
        let Some(&first) = state.leaders.all.get(state.next) else {
            self.state = Some(state);
            return Ok(false);
        };
        while first.0 >= state.end {
            let Some(range) = state.plan.ranges.get(state.range).cloned() else { break };
            let sweep = Sweep::new(&state.leaders, self.most.unwrap_or(usize::MAX));
            state.shared = sweep.collect(&view, &range)?;
            state.range += 1;
            state.end = range.end;
        }
        let rest = &state.leaders.all[state.next..];
        let count = rest.iter().take(BLOCK).take_while(|doc| doc.0 < state.end).count().max(1);
        let found = parallel::map(rest[..count].to_vec(), true, |doc| self.repeats_of(doc, &state));
        let found: Vec<Option<RepeatingDocument>> = found.into_iter().collect::<Result<_>>()?;
        self.ready.extend(found.into_iter().flatten());
        state.next += count;
        self.state = Some(state);
        Ok(true)
    }

    /// The repeated passages of a document; `None` if there are none.
    fn repeats_of(&self, doc: DocNo, state: &State) -> Result<Option<RepeatingDocument>> {
        let view = self.snapshot.view();
        let others = state.shared.with(doc);
        let copies = state.leaders.count(doc);
        let fingerprints = view.fingerprints(doc)?.unwrap_or_default();
        let repeats_itself = fingerprints.has_repeats();
        if others.is_empty() && copies == 1 && !repeats_itself {
            return Ok(None);
        }
        let text = view.text(doc)?;
        let sketcher = self.snapshot.sketcher();
        let shingles = sketcher.shingler().unranked_hashes(&text);
        let search = PassageSearch::prepare(sketcher, &text, shingles, &fingerprints, true);
        let Some(search) = search else {
            return Ok(None);
        };
        let mut partners: Vec<(DocNo, Vec<SharedStretch>)> = Vec::new();
        for other in others {
            let found = search.compare_written(&view, other, &state.texts)?;
            if !found.is_empty() {
                partners.push((other, found));
            }
        }
        let own = if repeats_itself { search.repeats(&fingerprints) } else { Vec::new() };
        let whole = (copies > 1 && search.can_share()).then_some(0..search.units());
        let of_partners = partners.iter().flat_map(|(_, found)| found).chain(&own);
        let mut stretches: Vec<Range<usize>> = of_partners.map(|found| found.a.clone()).collect();
        stretches.extend(whole);
        stretches.sort_unstable_by_key(|found| (found.start, std::cmp::Reverse(found.end)));
        let mut reaches_further = further();
        stretches.retain(|found| reaches_further(found));
        let stretches = stretches_to_report(stretches, search.units(), Range::clone);
        if stretches.is_empty() {
            return Ok(None);
        }
        let located = LocatedText::new(self.snapshot.sketcher(), &text)?;
        let mut passages = Vec::with_capacity(stretches.len());
        for stretch in stretches {
            let with = partners.iter().filter(|(_, found)| contains(found, &stretch));
            let (mut documents, mut first) = (copies, None);
            for (other, _) in with {
                documents += state.leaders.count(*other);
                first.get_or_insert(*other);
            }
            let first = first.into_iter().chain(state.leaders.copy_of(doc)).min();
            let other = first.map(|other| view.document(other)).transpose()?;
            passages.push(RepeatedPassage {
                span: located.span(stretch.clone()),
                units: stretch.len(),
                documents,
                other: other.map(|record| record.id),
                hash: search.hash_of(stretch),
            });
        }
        drop(located);
        let id = view.document(doc)?.id;
        Ok(Some(RepeatingDocument { id, text, passages }))
    }
}

/// Whether one of some maximal stretches contains another stretch.
fn contains(found: &[SharedStretch], stretch: &Range<usize>) -> bool {
    // Neither starts nor ends decrease, so the last one that begins in time ends last.
    let begun = found.partition_point(|found| found.a.start <= stretch.start);
    found[..begun].last().is_some_and(|last| last.a.end >= stretch.end)
}

impl Iterator for Repeats<'_> {
    type Item = Result<RepeatingDocument>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.failed {
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        self.ready.pop_front().map(Ok)
    }
}
