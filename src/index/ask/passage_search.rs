//! Searches an index for the passages of one text.

use crate::error::Result;
use crate::estimate::{
    SharedStretch, around_seeds, by_suffixes, covered, earlier_by_suffixes, repeated_around_seeds,
    repeated_by_suffixes,
};
use crate::hash::{TextKey, fmix64};
use crate::index::ask::excluded::Excluded;
use crate::index::ask::outline::{Outline, QueryGrams};
use crate::index::ask::prints::Prints;
use crate::index::ask::stretch::{MetStretch, Origin};
use crate::index::ask::text_cache::TextCache;
use crate::sketch::{Fingerprints, Sketcher};
use crate::store::{CandidateLimit, DocNo, View, most_often, parallel};
use crate::text::{Shingle, Shingler, UnitNumbers, UnitSequence};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The words under which the documents with these fingerprints are found, ascending.
fn words_of(fingerprints: &Fingerprints) -> Vec<u64> {
    fingerprints.words().iter().map(|word| u64::from(*word)).collect()
}

/// What a document shares with the query, in units.
#[derive(Clone, Debug)]
pub(crate) enum SharedUnits {
    /// Computed from the text.
    Exact(Vec<SharedStretch>),
    /// Told by fingerprints.
    Outlined(Outline),
}

/// The answer of a search, before ids are read.
pub(crate) struct FoundPassages {
    pub(crate) found: Vec<(DocNo, SharedUnits)>,
    pub(crate) candidates: u64,
    /// Whether a limit left out candidates.
    pub(crate) limited: bool,
}

/// The documents of an index that may have passages of a text.
pub(crate) struct KnownSearch {
    docs: Vec<DocNo>,
    /// How many of them each fingerprint has, in the order of the hashes.
    pub(crate) found: Vec<usize>,
    /// Whether a fingerprint has more documents than were taken.
    pub(crate) limited: bool,
}

impl KnownSearch {
    /// The documents of a fingerprint that are compared: those that were inserted first.
    pub(crate) const MOST: usize = 100;

    /// Finds the documents with a fingerprint of a text for which `is_wanted` is true.
    pub(crate) fn new(
        view: &View<'_>,
        fingerprints: &Fingerprints,
        is_wanted: impl Fn(DocNo) -> bool,
    ) -> Result<Self> {
        let Some(band) = view.fixed.layout.fingerprints() else {
            return Ok(Self { docs: Vec::new(), found: Vec::new(), limited: false });
        };
        let words = words_of(fingerprints);
        let first = view.first_with_words(band, &words, Self::MOST)?;
        let mut docs: Vec<DocNo> = first.docs.into_iter().filter(|doc| is_wanted(*doc)).collect();
        docs.sort_unstable();
        docs.dedup();
        Ok(Self { docs, found: first.found, limited: first.limited })
    }

    /// Whether no document has a fingerprint of the text.
    pub(crate) fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// The stretches of the text that the documents have.
    pub(crate) fn run(
        &self,
        view: &View<'_>,
        asked: &PassageSearch<'_>,
        texts: &TextCache,
    ) -> Result<Vec<MetStretch>> {
        let mut met = Vec::new();
        for doc in &self.docs {
            let origin = Origin::Written(*doc);
            let found = asked.compare_written(view, *doc, texts)?;
            met.extend(found.into_iter().map(|stretch| MetStretch { origin, stretch }));
        }
        Ok(met)
    }
}

/// A text that is not in the index yet.
pub(crate) struct WaitingText {
    pub(crate) text: Arc<str>,
    prints: Prints,
    /// Its characters, once a comparison needs them.
    characters: OnceLock<UnitSequence>,
}

impl WaitingText {
    pub(crate) fn new(text: Arc<str>, fingerprints: &Fingerprints) -> Self {
        Self { text, prints: Prints::new(fingerprints), characters: OnceLock::new() }
    }
}

/// A text whose passages are looked for.
pub(crate) struct PassageSearch<'s> {
    shingler: &'s Shingler,
    grams: QueryGrams,
    /// The words of its fingerprints, ascending.
    words: Vec<u64>,
    units: Vec<u32>,
    /// Whether texts are compared.
    exact: bool,
    numbers: UnitNumbers,
    least: usize,
    shingles: Vec<u64>,
    /// The number of units in a shingle.
    width: usize,
}

impl<'s> PassageSearch<'s> {
    /// Prepares a text. `exact` asks for a comparison of texts. `None` if the sketcher makes no
    /// fingerprints.
    pub(crate) fn new(sketcher: &'s Sketcher, text: &str, exact: bool) -> Option<Self> {
        let shingles = sketcher.shingler().unranked_hashes(text);
        let fingerprints = sketcher.winnower()?.fingerprints(&shingles);
        Self::prepare(sketcher, text, shingles, &fingerprints, exact)
    }

    /// Prepares a text whose shingles and fingerprints are known.
    pub(crate) fn prepare(
        sketcher: &'s Sketcher,
        text: &str,
        shingles: Vec<u64>,
        fingerprints: &Fingerprints,
        exact: bool,
    ) -> Option<Self> {
        let (winnower, shingler) = (sketcher.winnower()?, sketcher.shingler());
        let mut numbers = UnitNumbers::default();
        let units = shingler.numbered(text, &mut numbers);
        Some(Self {
            shingler,
            words: words_of(fingerprints),
            grams: QueryGrams::new(winnower, &shingles, fingerprints, units.len()),
            units,
            exact,
            numbers,
            least: winnower.winnowing.length(),
            width: shingler.shingle().units(),
            shingles,
        })
    }

    /// The number of units in a gram.
    pub(crate) fn gram(&self) -> usize {
        self.grams.gram()
    }

    /// The number of units of the text.
    pub(crate) fn units(&self) -> usize {
        self.units.len()
    }

    /// The number of units of the text that are shared: at least, and at most.
    pub(crate) fn covered(&self, shared: &SharedUnits) -> (usize, usize) {
        match shared {
            SharedUnits::Exact(stretches) => {
                let covered = covered(stretches.iter().map(|found| found.a.clone()).collect());
                (covered, covered)
            }
            SharedUnits::Outlined(outline) => outline.covered(self.grams.gram()),
        }
    }

    /// Whether the text is long enough to share a passage.
    pub(crate) fn can_share(&self) -> bool {
        !self.words.is_empty()
    }

    /// The live documents that have one of the fingerprints, in ascending order, except some. With
    /// a limit, those that have the most of them, and whether others may have been left out.
    fn candidates(
        &self,
        view: &View<'_>,
        excluded: &Excluded,
        limit: Option<CandidateLimit>,
    ) -> Result<(Vec<DocNo>, bool)> {
        /// The words that are looked up together: neighbours are in the same chunks.
        const PIECE: usize = 64;
        /// The pieces whose documents are in memory together.
        const TOGETHER: usize = 16;
        /// The documents of all words that are read with a limit, each as often as it is found.
        const READ: usize = 1 << 20;
        let Some(band) = view.fixed.layout.fingerprints() else { return Ok((Vec::new(), false)) };
        let pieces: Vec<&[u64]> = self.words.chunks(PIECE).collect();
        let Some(limit) = limit else {
            let mut docs = Vec::new();
            // All pieces may have the same documents, which are in memory once for each of these.
            for pieces in pieces.chunks(TOGETHER) {
                let found = parallel::try_map(pieces.to_vec(), |words| {
                    let mut docs = view.with_words(band, words)?;
                    docs.dedup();
                    Ok(docs)
                })?;
                docs.extend(found.into_iter().flatten());
                // What is added is sorted in parts, which this sort makes use of.
                docs.sort();
                docs.dedup();
            }
            docs.retain(|doc| !excluded.contains(*doc));
            return Ok((docs, false));
        };
        let most = (READ / self.words.len().max(1)).clamp(1, CandidateLimit::READ);
        let read = parallel::try_map(pieces, |words| view.first_with_words(band, words, most))?;
        let are_cut = read.iter().any(|first| first.limited);
        let found = read.into_iter().flat_map(|first| first.docs);
        let found = found.filter(|doc| !excluded.contains(*doc)).collect();
        let (docs, limited) = most_often(found, limit);
        Ok((docs, are_cut || limited))
    }

    /// Finds all documents that share a passage, by their numbers, except some.
    pub(crate) fn run(
        &self,
        view: &View<'_>,
        excluded: &Excluded,
        limit: Option<CandidateLimit>,
    ) -> Result<FoundPassages> {
        let (docs, limited) = self.candidates(view, excluded, limit)?;
        let candidates = docs.len() as u64;
        let outlined = parallel::try_map(docs, |doc| {
            let Some(fingerprints) = view.fingerprints(doc)? else { return Ok(None) };
            let outline = self.grams.outline(&Prints::new(&fingerprints), self.least);
            Ok(outline.map(|outline| (doc, outline)))
        })?;
        let outlined: Vec<(DocNo, Outline)> = outlined.into_iter().flatten().collect();
        let found = if self.exact {
            self.verified(view, outlined)?
        } else {
            let found = outlined.into_iter();
            found.map(|(doc, outline)| (doc, SharedUnits::Outlined(outline))).collect()
        };
        Ok(FoundPassages { found, candidates, limited })
    }

    /// The passages that a document shares, by its text.
    fn compare_text(
        &self,
        view: &View<'_>,
        doc: DocNo,
        outline: &Outline,
    ) -> Result<Vec<SharedStretch>> {
        Ok(self.compare_units(&self.units_of(&view.text(doc)?), outline))
    }

    /// The units of another text, to compare with those of the query.
    fn units_of(&self, text: &str) -> UnitSequence {
        self.shingler.renumbered(text, &self.numbers)
    }

    fn compare_units(&self, other: &UnitSequence, outline: &Outline) -> Vec<SharedStretch> {
        let (units, least) = (&self.units, self.least);
        match (outline.seeds(), other) {
            (Some(seeds), UnitSequence::Ascii(other)) => around_seeds(units, other, seeds, least),
            (Some(seeds), UnitSequence::Numbers(other)) => around_seeds(units, other, seeds, least),
            (None, UnitSequence::Ascii(other)) => by_suffixes(units, other, least),
            (None, UnitSequence::Numbers(other)) => by_suffixes(units, other, least),
        }
    }

    /// The passages that a document shares. `texts` keeps what is read of it.
    pub(crate) fn compare_written(
        &self,
        view: &View<'_>,
        doc: DocNo,
        texts: &TextCache,
    ) -> Result<Vec<SharedStretch>> {
        let prints = texts.prints(view, doc)?;
        let Some(outline) = self.grams.outline(&prints, self.least) else {
            return Ok(Vec::new());
        };
        let read = || Ok(self.units_of(&view.text(doc)?));
        let units = match self.shingler.shingle() {
            Shingle::Chars(_) => texts.characters(doc, read)?,
            // The numbers of other units depend on the query.
            _ => Arc::new(read()?),
        };
        Ok(self.compare_units(&units, &outline))
    }

    /// The passages that a text shares which is not in the index yet.
    pub(crate) fn compare_waiting(&self, other: &WaitingText) -> Vec<SharedStretch> {
        let Some(outline) = self.grams.outline(&other.prints, self.least) else {
            return Vec::new();
        };
        match self.shingler.shingle() {
            Shingle::Chars(_) => {
                let units = other.characters.get_or_init(|| self.units_of(&other.text));
                self.compare_units(units, &outline)
            }
            _ => self.compare_units(&self.units_of(&other.text), &outline),
        }
    }

    /// The passages that the text has more than once. `fingerprints` are its own.
    pub(crate) fn repeats(&self, fingerprints: &Fingerprints) -> Vec<SharedStretch> {
        match self.grams.pairs_within(fingerprints) {
            Some(seeds) => repeated_around_seeds(&self.units, &seeds, self.least),
            None => repeated_by_suffixes(&self.units, self.least),
        }
    }

    /// The stretches that the text has at an earlier place, which does not overlap. `fingerprints`
    /// are its own.
    pub(crate) fn repeats_before(&self, fingerprints: &Fingerprints) -> Vec<SharedStretch> {
        match self.grams.pairs_within(fingerprints) {
            Some(seeds) => {
                let apart = |(before, place): &(usize, usize)| place - before >= self.least;
                let seeds = seeds.into_iter().filter(apart).map(|(before, place)| (place, before));
                around_seeds(&self.units, &self.units, seeds.collect(), self.least)
            }
            None => earlier_by_suffixes(&self.units, self.least),
        }
    }

    /// A hash of a stretch of units: that of equal stretches of other texts.
    pub(crate) fn hash_of(&self, stretch: Range<usize>) -> u64 {
        let shingles = stretch.end + 1 - self.width;
        let chained = |hash: u64, shingle: &u64| fmix64(hash ^ shingle);
        self.shingles[stretch.start..shingles].iter().fold(stretch.len() as u64, chained)
    }

    /// Compares texts. Copies of one text are compared once.
    fn verified(
        &self,
        view: &View<'_>,
        outlined: Vec<(DocNo, Outline)>,
    ) -> Result<Vec<(DocNo, SharedUnits)>> {
        let keyed = parallel::try_map(outlined, |(doc, outline)| {
            let record = view.document(doc)?;
            Ok((doc, outline, record.text_key()))
        })?;
        let mut first: FxHashMap<TextKey, usize> = FxHashMap::default();
        for (at, (_, _, key)) in keyed.iter().enumerate() {
            first.entry(*key).or_insert(at);
        }
        let compare = |(at, (doc, outline, key)): (usize, &(DocNo, Outline, _))| {
            if first.get(key) == Some(&at) {
                self.compare_text(view, *doc, outline)
            } else {
                Ok(Vec::new())
            }
        };
        let compared = parallel::try_map(keyed.iter().enumerate().collect(), compare)?;
        let found = keyed.iter().filter_map(|(doc, _, key)| {
            let stretches = &compared[*first.get(key)?];
            (!stretches.is_empty()).then(|| (*doc, SharedUnits::Exact(stretches.clone())))
        });
        Ok(found.collect())
    }
}
