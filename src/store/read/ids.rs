//! Finds many documents by words of one band: the hashes of their ids, or fingerprints.

use crate::error::Result;
use crate::lsh::WordRange;
use crate::store::bytes::schema::{BandNo, DocNo, posting_key};
use crate::store::read::candidates::{Bucket, BucketSearch};
use crate::store::read::view::{ChunkTable, DocTable, View};
use crate::store::runs::filter::Occurrence;
use crate::store::runs::run::{BandRun, Run};
use crate::store::storage_error::guard;
use std::sync::Arc;

impl<P: ChunkTable, D: DocTable> View<'_, P, D> {
    /// The live documents whose ids have one of these hashes, which are in ascending order and
    /// distinct. The documents are in ascending order, too.
    pub(crate) fn with_id_hashes(&self, hashes: &[u64]) -> Result<Vec<DocNo>> {
        self.with_words(self.fixed.layout.ids(), hashes)
    }

    /// The live documents that have one of these words in a band. The words are in ascending order
    /// and distinct. The documents are in ascending order; one with several of the words comes
    /// several times.
    ///
    /// A chunk is opened and verified once for all words in it.
    pub(crate) fn with_words(&self, band: BandNo, words: &[u64]) -> Result<Vec<DocNo>> {
        let layout = self.fixed.layout;
        let bucket = |word: &u64| Bucket { band, words: WordRange::only(*word) };
        let searches = words.iter().map(|hash| BucketSearch::new(layout, bucket(hash)));
        let searches: Vec<BucketSearch> = searches.collect();
        let mut found = Vec::new();
        for segment in self.state.tail.segments() {
            for search in &searches {
                found.extend_from_slice(segment.bucket(search.bucket));
            }
        }
        guard(self.fixed.path, || {
            for (run, content) in self.state.manifest.with_band(band) {
                let possible = searches
                    .iter()
                    .filter(|search| search.occurrence_in(content) != Occurrence::Never)
                    .map(|search| (content.first_chunk(search.fence), search));
                let possible: Vec<(u32, &BucketSearch)> = possible.collect();
                for group in possible.chunk_by(|a, b| a.0 == b.0) {
                    self.search_chunk(run, content, group, &mut found)?;
                }
            }
            Ok(())
        })?;
        found.retain(|doc| self.is_live(*doc));
        found.sort_unstable();
        Ok(found)
    }

    /// Does the searches of a run that begin in the same chunk.
    fn search_chunk(
        &self,
        run: &Run,
        content: &Arc<BandRun>,
        searches: &[(u32, &BucketSearch)],
        found: &mut Vec<DocNo>,
    ) -> Result<()> {
        let Some((number, first)) = searches.first() else { return Ok(()) };
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
            for (_, search) in searches {
                let words = search.bucket.words;
                let entries = chunk.lower_bound(words.first)..chunk.len();
                let end = entries.clone().find(|entry| chunk.word(*entry) > words.last);
                match end {
                    Some(end) => found.extend((entries.start..end).map(|entry| chunk.doc(entry))),
                    None => beyond.push(search),
                }
            }
        })?;
        for search in beyond {
            self.search_run(run, search, content, usize::MAX, found)?;
        }
        Ok(())
    }
}
