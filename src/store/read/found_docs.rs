//! The documents found in several buckets, and how many of them are compared.

use crate::error::{Error, Result};
use crate::store::bytes::schema::{BandNo, DocNo};
use std::cmp::Reverse;

/// How many candidates a search compares, so that buckets which someone has crowded on purpose
/// take bounded time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CandidateLimit {
    /// The number of candidates to compare: those that share the most buckets.
    pub(crate) compared: usize,
}

impl CandidateLimit {
    /// The number of documents to read from one bucket. Reading one costs some nanoseconds, a
    /// comparison some ten times as much.
    pub(crate) const READ: usize = 1 << 17;

    /// The limit that a caller has set.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] for 0.
    pub(crate) fn new(most: usize) -> Result<Self> {
        match most {
            0 => Err(Error::InvalidSetting {
                setting: "max_candidates",
                got: "0".to_owned(),
                expected: "at least 1",
            }),
            compared => Ok(Self { compared }),
        }
    }

    /// The limit if this many candidates are compared anyway.
    pub(crate) fn less(self, known: usize) -> Self {
        Self { compared: self.compared.saturating_sub(known) }
    }
}

/// Of documents that were found several times, those to compare, and whether others were left out:
/// those that were found most often, of equals those with the lowest numbers.
pub(crate) fn most_often(found: Vec<DocNo>, limit: CandidateLimit) -> (Vec<DocNo>, bool) {
    FoundDocs { docs: found, ..FoundDocs::new(Some(limit)) }.into_docs()
}

/// Documents found in several buckets, each as often as it was found.
pub(super) struct FoundDocs {
    pub(super) docs: Vec<DocNo>,
    limit: Option<CandidateLimit>,
    /// The length of the list after repeated numbers were last dropped.
    unique: usize,
    /// The number of documents read in the bucket of each band. Empty without a limit, and before
    /// the first document.
    read: Vec<usize>,
    /// Whether a bucket has more documents than are read.
    cut: bool,
}

impl FoundDocs {
    pub(super) fn new(limit: Option<CandidateLimit>) -> Self {
        Self { docs: Vec::new(), limit, unique: 0, read: Vec::new(), cut: false }
    }

    /// The number of documents that are still read in the bucket of a band.
    pub(super) fn room_in(&self, band: BandNo) -> usize {
        let read = self.read.get(usize::from(band.0)).copied().unwrap_or(0);
        self.limit.map_or(usize::MAX, |_| CandidateLimit::READ.saturating_sub(read))
    }

    /// Counts documents of a bucket. Returns those for which there is room.
    pub(super) fn admit<'d>(&mut self, band: BandNo, docs: &'d [DocNo]) -> &'d [DocNo] {
        let admitted = docs.get(..self.room_in(band)).unwrap_or(docs);
        self.cut |= admitted.len() < docs.len();
        if self.read.is_empty() && self.limit.is_some() && !admitted.is_empty() {
            self.read.resize(usize::from(u8::MAX) + 1, 0);
        }
        if let Some(read) = self.read.get_mut(usize::from(band.0)) {
            *read += admitted.len();
        }
        admitted
    }

    /// Drops repeated numbers if the list is long enough. A large cluster of near-duplicates is in
    /// every bucket, so this is done each time the list has doubled. With a limit repetitions are
    /// kept, because they tell how many buckets a document shares.
    pub(super) fn compact(&mut self) {
        const MIN_LENGTH: usize = 1 << 12;
        if self.limit.is_none() && self.docs.len() >= MIN_LENGTH.max(2 * self.unique) {
            // The numbers of each bucket ascend for the most part, which this sort makes use of.
            self.docs.sort();
            self.docs.dedup();
            self.unique = self.docs.len();
        }
    }

    /// Whether it matters how often a document is found.
    pub(super) fn counts(&self) -> bool {
        self.limit.is_some()
    }

    /// The documents to compare, each once, in order of their numbers, and whether others were left
    /// out. Of documents that share equally many buckets, those with the lowest numbers remain.
    pub(super) fn into_docs(mut self) -> (Vec<DocNo>, bool) {
        self.docs.sort();
        let most = self.limit.map_or(usize::MAX, |limit| limit.compared);
        if self.docs.len() <= most {
            self.docs.dedup();
            return (self.docs, self.cut);
        }
        let equal = self.docs.chunk_by(|a, b| a == b);
        let mut counted: Vec<(Reverse<usize>, DocNo)> =
            equal.filter_map(|equal| Some((Reverse(equal.len()), *equal.first()?))).collect();
        let limited = counted.len() > most;
        if limited {
            counted.select_nth_unstable(most);
            counted.truncate(most);
        }
        let mut docs: Vec<DocNo> = counted.into_iter().map(|(_, doc)| doc).collect();
        docs.sort();
        (docs, self.cut || limited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(numbers: &[u32]) -> Vec<DocNo> {
        numbers.iter().copied().map(DocNo).collect()
    }

    #[test]
    fn documents_that_share_the_most_buckets_are_compared() {
        let mut found = FoundDocs::new(Some(CandidateLimit { compared: 3 }));
        for (band, bucket) in [&[1, 2, 5, 9][..], &[2, 7, 9], &[2, 7, 8]].iter().enumerate() {
            let bucket = docs(bucket);
            assert_eq!(found.admit(BandNo(band as u8), &bucket), bucket);
            found.docs.extend(bucket);
            found.compact();
        }
        assert_eq!(found.into_docs(), (docs(&[2, 7, 9]), true));
    }

    #[test]
    fn a_bucket_is_read_up_to_the_limit() {
        let bucket = docs(&vec![3; CandidateLimit::READ]);
        let mut found = FoundDocs::new(Some(CandidateLimit { compared: 3 }));
        assert_eq!(found.admit(BandNo(1), &docs(&[3; 10])).len(), 10);
        assert_eq!(found.room_in(BandNo(1)), CandidateLimit::READ - 10);
        assert_eq!(found.admit(BandNo(1), &bucket).len(), CandidateLimit::READ - 10);
        assert!(found.cut && found.room_in(BandNo(1)) == 0);
        assert_eq!(found.room_in(BandNo(2)), CandidateLimit::READ);
    }

    #[test]
    fn without_a_limit_every_document_is_compared() {
        let mut found = FoundDocs::new(None);
        for band in 0..9 {
            let bucket = docs(&(0..3000).collect::<Vec<u32>>());
            let admitted = found.admit(BandNo(band), &bucket);
            found.docs.extend(admitted);
            found.compact();
        }
        assert!(found.docs.len() <= 9000, "repetitions are dropped");
        assert_eq!(found.into_docs(), (docs(&(0..3000).collect::<Vec<u32>>()), false));
    }
}
