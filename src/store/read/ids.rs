//! Finds many documents by words of one band: the hashes of their ids, or fingerprints.

use crate::error::Result;
use crate::lsh::WordRange;
use crate::store::bytes::schema::{BandNo, DocNo, posting_key};
use crate::store::read::bucket::Bucket;
use crate::store::read::lookups::BucketSearch;
use crate::store::read::view::View;
use crate::store::runs::filter::Occurrence;
use crate::store::runs::run::{BandRun, Run};
use crate::store::storage_error::guard;
use std::sync::Arc;

/// The first documents of some words.
pub(crate) struct FirstDocuments {
    /// The documents, word by word.
    pub(crate) docs: Vec<DocNo>,
    /// How many each word has of them.
    pub(crate) found: Vec<usize>,
    /// Whether a word has more.
    pub(crate) limited: bool,
}

impl View<'_> {
    /// The live documents whose ids have one of these hashes, which are in ascending order and
    /// distinct. The documents are in ascending order, too.
    pub(crate) fn with_id_hashes(&self, hashes: &[u64]) -> Result<Vec<DocNo>> {
        self.with_words(self.fixed.layout.ids(), hashes)
    }

    /// The live documents that have one of these words in a band. The words are in ascending order
    /// and distinct. The documents are in ascending order; one with several of the words comes
    /// several times.
    pub(crate) fn with_words(&self, band: BandNo, words: &[u64]) -> Result<Vec<DocNo>> {
        let mut found = Vec::new();
        self.visit_words(band, words, |_, doc| {
            found.push(doc);
            true
        })?;
        found.sort_unstable();
        Ok(found)
    }

    /// The first `most` live documents of each of these words, which are in ascending order and
    /// distinct.
    pub(crate) fn first_with_words(
        &self,
        band: BandNo,
        words: &[u64],
        most: usize,
    ) -> Result<FirstDocuments> {
        let mut found: Vec<(usize, DocNo)> = Vec::new();
        // A word, and how many of its documents were met in a row of ascending numbers. Those are
        // the first of the row, so what comes behind `most` of them is not needed.
        let mut row = (usize::MAX, 0);
        self.visit_words(band, words, |word, doc| {
            let goes_on = row.0 == word && found.last().is_some_and(|last| *last < (word, doc));
            row = (word, if goes_on { row.1 + 1 } else { 1 });
            found.push((word, doc));
            row.1 <= most
        })?;
        found.sort_unstable();
        let mut first =
            FirstDocuments { docs: Vec::new(), found: vec![0; words.len()], limited: false };
        for of_word in found.chunk_by(|one, other| one.0 == other.0) {
            first.limited |= of_word.len() > most;
            let taken = of_word.iter().take(most);
            if let Some((word, _)) = of_word.first()
                && let Some(count) = first.found.get_mut(*word)
            {
                *count = taken.len();
            }
            first.docs.extend(taken.map(|(_, doc)| *doc));
        }
        Ok(first)
    }

    /// Visits the live documents of each of these words, which are in ascending order and distinct,
    /// with the position of the word: of each segment and run in the order of their numbers, until
    /// `visit` returns false for that word there.
    ///
    /// A chunk is opened and verified once for all words in it.
    fn visit_words(
        &self,
        band: BandNo,
        words: &[u64],
        mut visit: impl FnMut(usize, DocNo) -> bool,
    ) -> Result<()> {
        let layout = self.fixed.layout;
        let bucket = |word: &u64| Bucket { band, words: WordRange::only(*word) };
        let searches = words.iter().map(|hash| BucketSearch::new(layout, bucket(hash)));
        let searches: Vec<BucketSearch> = searches.collect();
        let mut visit = |at: usize, doc: DocNo| !self.is_live(doc) || visit(at, doc);
        for segment in self.state.tail.segments() {
            for (at, search) in searches.iter().enumerate() {
                let docs = segment.bucket(search.bucket);
                let _ = docs.iter().all(|doc| visit(at, *doc));
            }
        }
        guard(self.fixed.path, || {
            for (run, content) in self.state.manifest.with_band(band) {
                let possible = searches
                    .iter()
                    .enumerate()
                    .filter(|(_, search)| search.occurrence_in(content) != Occurrence::Never)
                    .map(|(at, search)| (content.first_chunk(search.fence), at, search));
                let possible: Vec<(u32, usize, &BucketSearch)> = possible.collect();
                for group in possible.chunk_by(|a, b| a.0 == b.0) {
                    self.search_chunk(run, content, group, &mut visit)?;
                }
            }
            Ok(())
        })
    }

    /// Does the searches of a run that begin in the same chunk.
    fn search_chunk(
        &self,
        run: &Run,
        content: &Arc<BandRun>,
        searches: &[(u32, usize, &BucketSearch)],
        visit: &mut impl FnMut(usize, DocNo) -> bool,
    ) -> Result<()> {
        let Some((number, _, first)) = searches.first() else { return Ok(()) };
        let band = first.bucket.band;
        if first.filter.is_some() {
            self.build_filter_if_due(band, run, content)?;
        }
        if *number >= content.chunks() {
            return Ok(());
        }
        // Searches whose documents may go on in the next chunk.
        let mut beyond = Vec::new();
        self.with_chunk(posting_key(run.number, band, *number), |chunk| {
            for (_, at, search) in searches {
                let words = search.bucket.words;
                let entries = chunk.lower_bound(words.first)..chunk.len();
                match entries.clone().find(|entry| chunk.word(*entry) > words.last) {
                    Some(end) => {
                        let docs = (entries.start..end).map(|entry| chunk.doc(entry));
                        let _ = docs.into_iter().all(|doc| visit(*at, doc));
                    }
                    None => beyond.push((*at, search)),
                }
            }
        })?;
        for (at, search) in beyond {
            self.visit_run(run, search, content, |doc| visit(at, doc))?;
        }
        Ok(())
    }
}
