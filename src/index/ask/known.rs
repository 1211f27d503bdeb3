//! Which passages of a text are known: those that documents of an index have, each at the first.

use crate::error::{Error, Result};
use crate::estimate::{Span, covered, further, stretches_to_report};
use crate::index::ask::passage_search::{KnownSearch, PassageSearch};
use crate::index::ask::stretch::{MetStretch, Origin};
use crate::index::snapshot::Snapshot;
use crate::sketch::Sketcher;
use crate::text::{CharOffsets, Content, ELEMENT_END, Shingle, UnitPlaces};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The passages of a text that are known: documents that came before have them.
///
/// They are the answer of [`Snapshot::known_passages`], and of an insertion that
/// [cuts them out](crate::Insertion::without_passages) or
/// [refuses what has too many](crate::Insertion::unless_covered).
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let path = folder.path().join("k.twx");
/// let options = twindex::Index::options().passages(30).store_text(true);
/// let index = options.create(path)?;
/// let mut txn = index.begin_write()?;
/// txn.insert("exam", "Which river flows through the town of Salisbury, and where does it end?")?;
/// txn.commit()?;
///
/// let text = "Question 1. which river flows through\nthe town of Salisbury? The Avon.";
/// let known = index.snapshot()?.known_passages(text)?;
/// assert_eq!(known.passages()[0].of, "exam");
/// assert_eq!(known.without(text), "Question 1. ? The Avon.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct KnownPassages {
    passages: Vec<KnownPassage>,
    cuts: Vec<Range<usize>>,
    /// The number of units of the text: characters after normalisation, words, lines or tokens.
    pub units: usize,
    /// The number of units that lie in known passages.
    pub known: usize,
    /// Whether more than 100 documents have a fingerprint of the text. Only the first 100 of them
    /// were compared with it, so passages that only the others have may be missing.
    pub limited: bool,
}

/// A passage of a text that a document has.
///
/// It is maximal: no known passage is longer and contains it. If several documents have it, the
/// one that was inserted first is told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KnownPassage {
    /// Its place in the text.
    pub place: Span,
    /// The id of the document that has it. This may be the document itself, if it repeats a passage
    /// of its own.
    pub of: String,
    /// Its place in that document, as the index stores it.
    pub at: Span,
    /// The number of its units.
    pub units: usize,
}

impl KnownPassages {
    /// The known passages, in order. They may overlap.
    ///
    /// In a text that repeats itself, such as a line of dashes, a passage may begin at each place.
    /// If all of them together are longer than 65,536 units and than four times the text, this
    /// returns only as many as cover what is known.
    pub fn passages(&self) -> &[KnownPassage] {
        &self.passages
    }

    /// Whether nothing of the text is known.
    pub fn is_empty(&self) -> bool {
        self.passages.is_empty()
    }

    /// The share of the text that is known, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.known as f64 / self.units.max(1) as f64
    }

    /// What to cut out of the text: the known passages, in whole units, as ranges of bytes in
    /// order.
    ///
    /// Where characters are the units, words (UAX #29) stay whole: a word that a passage begins or
    /// ends within remains, unless the word has more than 64 bytes. White space before a passage
    /// remains, and white space at its end goes with it. Words go with the punctuation and the
    /// white space behind them, lines with their ends.
    pub fn cuts(&self) -> &[Range<usize>] {
        &self.cuts
    }

    /// The text without its known passages. Give the text that was asked about.
    pub fn without(&self, text: &str) -> String {
        let mut rest = String::with_capacity(text.len());
        let mut end = 0;
        for cut in &self.cuts {
            rest.push_str(text.get(end..cut.start).unwrap_or_default());
            end = cut.end;
        }
        rest.push_str(text.get(end..).unwrap_or_default());
        rest
    }
}

impl KnownPassages {
    /// Tells what was met of a text. `read` gives the id and the text of a document.
    pub(crate) fn tell(
        sketcher: &Sketcher,
        text: &str,
        mut met: Vec<MetStretch>,
        limited: bool,
        mut read: impl FnMut(Origin) -> Result<(String, String)>,
    ) -> Result<Self> {
        met.sort_unstable_by_key(|MetStretch { origin, stretch }| {
            (stretch.a.start, std::cmp::Reverse(stretch.a.end), *origin, stretch.b)
        });
        let mut reaches_further = further();
        met.retain(|met| reaches_further(&met.stretch.a));
        let own = LocatedText::new(sketcher, text)?;
        let units = own.places.len();
        let known = covered(met.iter().map(|met| met.stretch.a.clone()).collect());
        let cuts = own.cuts(sketcher.shingler().shingle(), met.iter().map(|met| &met.stretch.a));
        let mut met = stretches_to_report(met, units, |met| met.stretch.a.clone());
        let mut passages: Vec<(usize, KnownPassage)> = Vec::with_capacity(met.len());
        met.sort_by_key(|met| met.origin);
        for of_one in met.chunk_by(|one, other| one.origin == other.origin) {
            let Some(MetStretch { origin, .. }) = of_one.first() else { continue };
            let (id, theirs) = read(*origin)?;
            let theirs = LocatedText::new(sketcher, &theirs)?;
            for MetStretch { stretch, .. } in of_one {
                let (place, at) = (own.span(stretch.a.clone()), theirs.span(stretch.in_b()));
                let units = stretch.a.len();
                passages.push((stretch.a.start, KnownPassage { place, of: id.clone(), at, units }));
            }
        }
        passages.sort_unstable_by_key(|(start, _)| *start);
        let passages = passages.into_iter().map(|(_, passage)| passage).collect();
        Ok(Self { passages, cuts, units, known, limited })
    }
}

impl Snapshot {
    /// Finds the passages of a text that documents of the index have: at least as long as the index
    /// was told ([`IndexOptions::passages`](crate::IndexOptions::passages)), after normalisation.
    /// A text that is shorter has none.
    ///
    /// Every such passage is found, except that of a fingerprint that more than 100 documents have,
    /// only the first 100 are compared ([`KnownPassages::limited`]). Unlike
    /// [`passages`](Self::passages), this does not tell who else has a passage, which is faster for
    /// many texts.
    ///
    /// # Errors
    ///
    /// - [`Error::NoPassages`] if the index keeps no fingerprints of passages, and
    ///   [`Error::NoTexts`] if it stores no texts.
    /// - [`Error::UnexpectedWeights`] or [`Error::UnexpectedTokens`] for content of a kind that the
    ///   index does not take, and [`Error::InvalidSetting`] for a text of 4 GiB or more.
    /// - [`Error::Damaged`] or [`Error::Io`] if the file cannot be read.
    pub fn known_passages<'c>(&self, content: impl Into<Content<'c>>) -> Result<KnownPassages> {
        let content = content.into();
        let (view, sketcher) = (self.view(), self.sketcher());
        let Some(winnower) = sketcher.winnower() else {
            return Err(Error::NoPassages { path: self.path().to_owned() });
        };
        if !view.has_texts() {
            return Err(Error::NoTexts { path: self.path().to_owned() });
        }
        sketcher.check_content(content)?;
        let text = content.stored();
        let shingles = sketcher.shingler().unranked_hashes(&text);
        let fingerprints = winnower.fingerprints(&shingles);
        let search = KnownSearch::new(&view, &fingerprints, |_| true)?;
        if search.is_empty() {
            let units = winnower.units(fingerprints.shingles()) as usize;
            return Ok(KnownPassages { units, ..KnownPassages::default() });
        }
        let Some(asked) = PassageSearch::prepare(sketcher, &text, shingles, &fingerprints, true)
        else {
            return Err(Error::NoPassages { path: self.path().to_owned() });
        };
        let met = search.run(&view, &asked, &self.texts)?;
        KnownPassages::tell(sketcher, &text, met, search.limited, |origin| match origin {
            Origin::Written(doc) => Ok((view.document(doc)?.id, view.text(doc)?)),
            // A snapshot has no batch, and no text is compared with itself.
            Origin::Waiting(_) | Origin::Itself => Ok((String::new(), text.clone().into_owned())),
        })
    }
}

/// A text with the places of its units in bytes and characters.
pub(crate) struct LocatedText<'t> {
    text: &'t str,
    places: UnitPlaces,
    offsets: CharOffsets<'t>,
}

impl<'t> LocatedText<'t> {
    pub(crate) fn new(sketcher: &Sketcher, text: &'t str) -> Result<Self> {
        let places = sketcher.shingler().unit_places(text)?;
        Ok(Self { text, places, offsets: CharOffsets::new(text) })
    }

    /// The number of its units.
    pub(crate) fn units(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn span(&self, units: Range<usize>) -> Span {
        Span::of(&self.offsets, self.places.bytes(units))
    }

    /// The bytes to cut out of the text for some stretches of units, in order.
    fn cuts<'r>(
        &self,
        shingle: Shingle,
        stretches: impl Iterator<Item = &'r Range<usize>>,
    ) -> Vec<Range<usize>> {
        let mut joined: Vec<Range<usize>> = Vec::new();
        for stretch in stretches {
            match joined.last_mut().filter(|last| stretch.start <= last.end) {
                Some(last) => last.end = last.end.max(stretch.end),
                None => joined.push(stretch.clone()),
            }
        }
        let cut = |units: Range<usize>| {
            let next = self.places.start(units.end).unwrap_or(self.text.len());
            let Range { mut start, mut end } = self.places.bytes(units);
            match shingle {
                Shingle::Chars(_) => {
                    start = word_bound_after(self.text, start);
                    end = word_bound_before(self.text, end).max(start);
                }
                Shingle::Lines(_) => return self.lines(start, end),
                _ => end = self.after_space(end, next),
            }
            let inner = self.text.get(start..end).unwrap_or_default();
            start + inner.len() - inner.trim_start().len()..end
        };
        joined.into_iter().map(cut).filter(|cut| cut.start < cut.end).collect()
    }

    /// The whole lines of a range, which begins and ends within lines.
    fn lines(&self, start: usize, end: usize) -> Range<usize> {
        let before = self.text.get(..start).unwrap_or_default();
        let behind = self.text.get(end..).unwrap_or_default();
        let first = before.rfind('\n').map_or(0, |line_end| line_end + 1);
        let last = behind.find('\n').map_or(behind.len(), |line_end| line_end + 1);
        first..end + last
    }

    /// The byte behind the first white space between two units, such as that after a full stop, or
    /// the end of the first unit if there is none. An element of a set goes with its end.
    fn after_space(&self, end: usize, next: usize) -> usize {
        let between = self.text.get(end..next).unwrap_or_default();
        if between.starts_with(ELEMENT_END) {
            return end + ELEMENT_END.len_utf8();
        }
        match between.find(char::is_whitespace).and_then(|space| between.get(space..)) {
            Some(rest) => next - rest.trim_start().len(),
            None => end,
        }
    }
}

/// The most bytes of a word that stays whole.
const LONGEST_WORD: usize = 64;

/// The first place from a byte on at which a word begins or ends; the byte itself if its word is
/// too long.
fn word_bound_after(text: &str, byte: usize) -> usize {
    let bounds = word_bounds(text, byte);
    bounds.into_iter().find(|bound| (byte..=byte + LONGEST_WORD).contains(bound)).unwrap_or(byte)
}

/// The last such place up to a byte.
fn word_bound_before(text: &str, byte: usize) -> usize {
    let bounds = word_bounds(text, byte);
    let near = |bound: &usize| (byte.saturating_sub(LONGEST_WORD)..=byte).contains(bound);
    bounds.into_iter().rev().find(near).unwrap_or(byte)
}

/// The places around a byte at which words begin or end, in order.
fn word_bounds(text: &str, byte: usize) -> Vec<usize> {
    // What lies behind white space does not depend on what comes before it. If there is none, the
    // word is too long, or words are short.
    let near = character_before(text, byte.saturating_sub(4 * LONGEST_WORD));
    let before = text.get(near..byte).unwrap_or_default();
    let space = before.rfind(|letter: char| letter.is_ascii_whitespace()).unwrap_or(0);
    // The word of the byte may begin before this white space, if the byte is just behind it.
    let start = match before.get(..space).unwrap_or_default() {
        "" => near,
        earlier => near + earlier.rfind(|letter: char| letter.is_ascii_whitespace()).unwrap_or(0),
    };
    let end = character_before(text, byte + 2 * LONGEST_WORD);
    let part = text.get(start..end).unwrap_or_default();
    let bounds = part.split_word_bound_indices().map(|(place, _)| start + place);
    bounds.chain([end]).filter(|bound| *bound < end || end == text.len()).collect()
}

/// The last byte up to this one at which a character begins, or the end of the text.
fn character_before(text: &str, byte: usize) -> usize {
    (0..=byte.min(text.len())).rev().find(|byte| text.is_char_boundary(*byte)).unwrap_or(0)
}
