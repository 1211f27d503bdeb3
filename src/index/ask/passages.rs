//! Passage queries: finds the documents that share a passage with a text, and the passages.

use crate::error::{Error, Result};
use crate::estimate::{SharedStretch, Span, stretches_to_report};
use crate::index::ask::excluded::Excluded;
use crate::index::ask::known::LocatedText;
use crate::index::ask::passage_search::{FoundPassages, PassageSearch, SharedUnits};
use crate::index::ask::ranks::named_first;
use crate::index::snapshot::Snapshot;
use crate::params::Threshold;
use crate::store::{CandidateLimit, DocNo, parallel};
use crate::text::Content;
use std::ops::Range;

/// A query for documents that share a passage with a text: a stretch of at least as many units as
/// the index was told ([`IndexOptions::passages`](crate::IndexOptions::passages)). One of the `by_`
/// methods runs it.
///
/// **Every such document is found**, however long it is and however little of it is shared. That is
/// a guarantee, not a probability (Schleimer, Wilkerson, Aiken 2003). If the index stores texts,
/// the passages are compared unit by unit, so no other document is reported.
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let path = folder.path().join("p.twx");
/// let options = twindex::Index::options().passages(30).store_text(true);
/// let index = options.create(path)?;
/// let mut txn = index.begin_write()?;
/// txn.insert("tale", "It was the best of times, it was the worst of times, it was the age of \
///     wisdom")?;
/// txn.insert("other", "Call me Ishmael. Some years ago, never mind how long precisely")?;
/// txn.commit()?;
///
/// let text = "As he wrote: IT WAS the worst  of times, it was the age of reason";
/// let found = index.snapshot()?.passages().by_text(text)?;
/// let first = found.first().expect("a document");
/// assert_eq!((first.id.as_str(), first.passages.len()), ("tale", 1));
/// let passage = &first.passages[0];
/// assert_eq!(&text[passage.query.bytes()], " IT WAS the worst  of times, it was the age of ");
/// # Ok(())
/// # }
/// ```
///
/// Cost: with stored texts, the whole text of every document that shares a fingerprint with the
/// query ([`PassageMatches::candidates`]) is read and compared, whatever the
/// [`limit`](Self::limit); [`max_candidates`](Self::max_candidates) bounds their number. A document
/// of 50 MB takes seconds. [`Snapshot::known_passages`] is bounded.
#[derive(Clone, Debug)]
#[must_use = "a query does not run until one of its `by_` methods is called"]
pub struct PassageQuery<'s> {
    snapshot: &'s Snapshot,
    limit: Option<usize>,
    threshold: Option<f64>,
    excluded: Vec<String>,
    located: bool,
    max_candidates: Option<usize>,
}

/// The documents that share a passage with a query.
///
/// They are sorted by how much of the query they share, most first, then by id.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PassageMatches {
    matches: Vec<PassageMatch>,
    /// The number of units of the query: characters after normalisation, words, lines or tokens.
    pub units: usize,
    /// The number of documents with a fingerprint of the query that were compared.
    pub candidates: u64,
    /// Whether [`PassageQuery::max_candidates`] may have left out candidates, so that documents
    /// which share a passage may be missing.
    pub limited: bool,
    /// The number of matches that [`PassageQuery::limit`] left out.
    pub left_out: u64,
}

/// A document that shares a passage with a query.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PassageMatch {
    /// The id of the document.
    pub id: String,
    /// The number of units of the query that lie in shared passages. Without stored texts, at least
    /// so many are shared, in stretches of which some may be shorter than a passage.
    pub shared: usize,
    /// The number of units of the query that may lie in shared passages: equals `shared` if the
    /// index stores texts.
    pub most: usize,
    /// The shared passages, in the order of the query. They may overlap there.
    ///
    /// In a query that repeats itself, such as a line of dashes, a passage may begin at each place.
    /// If all of them together are longer than 65,536 units and than four times the query, these
    /// are only as many as cover what is shared.
    pub passages: Vec<SharedPassage>,
}

/// A passage that a query and a document share.
///
/// With stored texts it is maximal: the document has no longer passage around it. If it has several
/// such places, the first one is told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SharedPassage {
    /// Its place in the query. Without stored texts, the place from the first common fingerprint to
    /// the last.
    pub query: Span,
    /// Its place in the document; `None` if the index stores no texts.
    pub document: Option<Span>,
    /// The number of its units. Without stored texts, at least so many in a row are shared, unless
    /// two fingerprints have the same hash of 32 bits by chance.
    pub units: usize,
    /// The most units that it can have: equals `units` if the index stores texts.
    pub most: usize,
}

impl Snapshot {
    /// Starts a query for documents that share a passage with a text.
    pub fn passages(&self) -> PassageQuery<'_> {
        PassageQuery::new(self)
    }
}

impl PassageMatches {
    /// The number of matches.
    pub fn len(&self) -> usize {
        self.matches.len()
    }

    /// Whether there are no matches.
    pub fn is_empty(&self) -> bool {
        self.matches.is_empty()
    }

    /// Iterates over the matches.
    pub fn iter(&self) -> std::slice::Iter<'_, PassageMatch> {
        self.matches.iter()
    }

    /// The match that shares most.
    pub fn first(&self) -> Option<&PassageMatch> {
        self.matches.first()
    }

    /// The share of the query that a match shares, from 0 to 1: at least, and at most.
    pub fn share(&self, of: &PassageMatch) -> (f64, f64) {
        let units = self.units.max(1) as f64;
        (of.shared as f64 / units, of.most as f64 / units)
    }
}

impl IntoIterator for PassageMatches {
    type Item = PassageMatch;
    type IntoIter = std::vec::IntoIter<PassageMatch>;

    fn into_iter(self) -> Self::IntoIter {
        self.matches.into_iter()
    }
}

impl<'m> IntoIterator for &'m PassageMatches {
    type Item = &'m PassageMatch;
    type IntoIter = std::slice::Iter<'m, PassageMatch>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'s> PassageQuery<'s> {
    fn new(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            limit: None,
            threshold: None,
            excluded: Vec::new(),
            located: true,
            max_candidates: None,
        }
    }

    /// Reports at most `limit` documents: those that share most. Of documents that share as much,
    /// those that were inserted first are reported.
    pub fn limit(self, limit: usize) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Reports documents that share at least this part of the query in passages, above 0 and at
    /// most 1. By default, all that share a passage. Without stored texts, a document is reported
    /// if it may share so much.
    pub fn threshold(self, share: f64) -> Self {
        Self { threshold: Some(share), ..self }
    }

    /// Compares at most this many candidates: at least 1. By default, all are compared, and no
    /// document that shares a passage is missed. If there are more, those that have the most
    /// fingerprints of the query are compared; in a tie, those that were inserted first. At most
    /// 131,072 documents of a fingerprint are counted, fewer if the query has more than eight
    /// fingerprints: a million of all of them. Documents that are [left out](Self::excluding) do
    /// not count. [`PassageMatches::limited`] tells whether candidates may have been left out.
    pub fn max_candidates(self, most: usize) -> Self {
        Self { max_candidates: Some(most), ..self }
    }

    /// Leaves the document with this id out of the result. May be called for several.
    pub fn excluding(mut self, id: impl Into<String>) -> Self {
        self.excluded.push(id.into());
        self
    }

    /// Whether to tell the passages and their places, which is the default. Without, the query is
    /// faster, and [`PassageMatch::passages`] is empty.
    pub fn places(self, places: bool) -> Self {
        Self { located: places, ..self }
    }

    /// Finds the documents that share a passage with a text. A text that is shorter than a passage
    /// shares none.
    ///
    /// # Errors
    ///
    /// Those of [`by_content`](Self::by_content).
    pub fn by_text(self, text: &str) -> Result<PassageMatches> {
        self.by_content(text)
    }

    /// Finds the documents that share a passage with a text, or a stretch of tokens.
    ///
    /// # Errors
    ///
    /// - [`Error::NoPassages`] if the index keeps no fingerprints of passages, and
    ///   [`Error::InvalidSetting`] for a threshold or a number of candidates out of range.
    /// - [`Error::UnexpectedWeights`] or [`Error::UnexpectedTokens`] for content of a kind that the
    ///   index does not take, and [`Error::InvalidSetting`] for a text of 4 GiB or more.
    /// - [`Error::Damaged`] or [`Error::Io`] if the file cannot be read.
    pub fn by_content<'c>(self, content: impl Into<Content<'c>>) -> Result<PassageMatches> {
        let content = content.into();
        if self.snapshot.settings().winnowing.is_none() {
            return Err(Error::NoPassages { path: self.snapshot.path().to_owned() });
        }
        self.snapshot.sketcher().check_content(content)?;
        self.ask(&content.stored())
    }

    /// Finds the documents that share a passage with the one that has this id, which is itself left
    /// out. Returns `None` if the index has no such document.
    ///
    /// # Errors
    ///
    /// Those of [`by_content`](Self::by_content), and [`Error::NoTexts`] if the index stores no
    /// texts.
    pub fn by_id(self, id: &str) -> Result<Option<PassageMatches>> {
        let view = self.snapshot.view();
        if view.fixed.layout.fingerprints().is_none() {
            return Err(Error::NoPassages { path: self.snapshot.path().to_owned() });
        }
        self.threshold.map(Threshold::new).transpose()?;
        self.candidate_limit()?;
        let Some((doc, _)) = view.find(id)? else { return Ok(None) };
        self.excluding(id).ask(&view.text(doc)?).map(Some)
    }

    fn candidate_limit(&self) -> Result<Option<CandidateLimit>> {
        self.max_candidates.map(CandidateLimit::new).transpose()
    }

    fn ask(self, text: &str) -> Result<PassageMatches> {
        let threshold = self.threshold.map(Threshold::new).transpose()?;
        let view = self.snapshot.view();
        let search = PassageSearch::new(self.snapshot.sketcher(), text, view.has_texts());
        let Some(search) = search else {
            return Err(Error::NoPassages { path: self.snapshot.path().to_owned() });
        };
        let gram = search.gram();
        let units = search.units();
        let excluded = Excluded::of(&view, &self.excluded)?;
        let limit = self.candidate_limit()?;
        let FoundPassages { found, candidates, limited } = search.run(&view, &excluded, limit)?;
        // A share that is computed as callers do: a product may be rounded to more than it is.
        let share = |shared: usize| shared as f64 / units.max(1) as f64;
        let reaches = |most| threshold.is_none_or(|least| share(most) >= least.get());
        let counted = found.into_iter().map(|(doc, shared)| (search.covered(&shared), doc, shared));
        let counted: Vec<Counted> = counted.filter(|((_, most), ..)| reaches(*most)).collect();
        let limit = self.limit.unwrap_or(usize::MAX);
        let order = |a: &Counted, b: &Counted| b.0.cmp(&a.0);
        let (named, left_out) = named_first(&view, counted, limit, order, |found| found.1)?;
        let places = if self.located && !named.is_empty() {
            Some(Places::new(self.snapshot, text)?)
        } else {
            None
        };
        let matches = parallel::try_map(named, |(((shared, most), doc, found), id)| {
            let passages = match &places {
                Some(places) => places.passages(doc, &found, gram)?,
                None => Vec::new(),
            };
            Ok(PassageMatch { id, shared, most, passages })
        })?;
        Ok(PassageMatches { matches, units, candidates, limited, left_out })
    }
}

/// A document: how many units of the query it shares, at least and at most, and which.
type Counted = ((usize, usize), DocNo, SharedUnits);

/// Converts places from units to bytes and characters.
struct Places<'q> {
    snapshot: &'q Snapshot,
    query: LocatedText<'q>,
}

impl<'q> Places<'q> {
    fn new(snapshot: &'q Snapshot, text: &'q str) -> Result<Self> {
        Ok(Self { snapshot, query: LocatedText::new(snapshot.sketcher(), text)? })
    }

    fn passages(&self, doc: DocNo, found: &SharedUnits, gram: usize) -> Result<Vec<SharedPassage>> {
        match found {
            SharedUnits::Exact(stretches) => {
                let text = self.snapshot.view().text(doc)?;
                let document = LocatedText::new(self.snapshot.sketcher(), &text)?;
                let passage = |found: &SharedStretch| SharedPassage {
                    query: self.query.span(found.a.clone()),
                    document: Some(document.span(found.in_b())),
                    units: found.a.len(),
                    most: found.a.len(),
                };
                let stretches: Vec<&SharedStretch> = stretches.iter().collect();
                let told =
                    stretches_to_report(stretches, self.query.units(), |found| found.a.clone());
                Ok(told.into_iter().map(passage).collect())
            }
            SharedUnits::Outlined(outline) => {
                let passages = outline.passages(gram).into_iter();
                let passage = |(query, units, most): (Range<usize>, usize, usize)| SharedPassage {
                    query: self.query.span(query),
                    document: None,
                    units,
                    most,
                };
                Ok(passages.map(passage).collect())
            }
        }
    }
}
