//! The result of a query: matches with their similarities.

use crate::estimate::Containment;

/// A document that is similar to the query.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Match {
    /// The id of the document.
    pub id: String,
    /// The Jaccard similarity to the query, from 0 to 1.
    pub similarity: f64,
    /// The lower end of the confidence interval of the similarity, at the confidence set by
    /// [`Query::confidence`](crate::Query::confidence). Equals the similarity if that is exact.
    pub low: f64,
    /// The upper end of the confidence interval.
    pub high: f64,
    /// Whether the similarity was computed exactly from stored texts. If not, it is an estimate
    /// with a standard error of about 0.025 for 256 lanes.
    pub exact: bool,
    /// The share of the query that the document contains; exact if the similarity is exact. If the
    /// index finds passages, that which lies in shared passages. `None` unless the query was a
    /// [containment](crate::Query::containment) query.
    pub containment: Option<Containment>,
}

/// The result of a query.
///
/// Matches are sorted by descending similarity, then by ascending id. Those of a
/// [containment](crate::Query::containment) query are sorted by the lower end of the interval of
/// their containment, then by the containment, both descending.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Matches {
    pub(crate) matches: Vec<Match>,
    /// A lower bound on the recall at the threshold, from 0 to 1.
    ///
    /// - Estimated answers: the probability that a document at the threshold became a candidate; 1
    ///   for scans. A candidate is reported if its *estimate* reaches the threshold, so a document
    ///   exactly at the threshold is reported about half the time.
    /// - Exact answers: the probability that a document at the threshold was found and reported.
    /// - [`Query::top`](crate::Query::top) that found as many documents as requested: the
    ///   probability that a document as similar as the last of them became a candidate.
    pub recall: f64,
    /// The number of documents whose signatures were compared with the query's, without those that
    /// [`Query::excluding`](crate::Query::excluding) or [`Query::by_id`](crate::Query::by_id) leave
    /// out.
    pub candidates: u64,
    /// Whether [`Query::max_candidates`](crate::Query::max_candidates) may have left out
    /// candidates, so that similar documents may be missing, whatever the recall.
    pub limited: bool,
    /// The number of matches that [`Query::limit`](crate::Query::limit) left out or, of those that
    /// it found, [`Query::top`](crate::Query::top), which does not look for all.
    pub left_out: u64,
    /// How a [containment](crate::Query::containment) query searched documents of different sizes;
    /// `None` for other queries, and if passages gave the answer.
    pub sizes: Option<SizesSearched>,
}

/// How a containment query searched documents of different sizes.
///
/// Each doubling of the set size is divided into four classes, so the largest size in a class is at
/// most 5/4 of the smallest. Only classes that have documents are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SizesSearched {
    /// The number of classes whose documents are too small to contain the required share.
    pub skipped: usize,
    /// The number of classes that were searched through buckets.
    pub probed: usize,
    /// The number of classes in which every document was compared.
    pub scanned: usize,
    /// The number of documents in the scanned classes.
    pub documents_scanned: u64,
    /// The highest Jaccard similarity at which the bands of the index miss the requested recall.
    /// It is the similarity of a document in a scanned class that contains exactly the threshold's
    /// share. `None` if no class was scanned, or if [`Query::scan`](crate::Query::scan) forced the
    /// scan.
    pub out_of_reach: Option<f64>,
    /// The number of compared documents that are so large that estimates cannot tell whether they
    /// contain the query: one of their size that contains all of it would be reported with a
    /// probability below 1/2. Only stored texts can answer for them. 0 if the answer is exact.
    pub undecidable: u64,
}

impl Matches {
    /// The number of matches.
    pub fn len(&self) -> usize {
        self.matches.len()
    }

    /// Whether there are no matches.
    pub fn is_empty(&self) -> bool {
        self.matches.is_empty()
    }

    /// Iterates over the matches, best first.
    pub fn iter(&self) -> std::slice::Iter<'_, Match> {
        self.matches.iter()
    }

    /// The best match.
    pub fn first(&self) -> Option<&Match> {
        self.matches.first()
    }
}

impl IntoIterator for Matches {
    type Item = Match;
    type IntoIter = std::vec::IntoIter<Match>;

    fn into_iter(self) -> Self::IntoIter {
        self.matches.into_iter()
    }
}

impl<'m> IntoIterator for &'m Matches {
    type Item = &'m Match;
    type IntoIter = std::slice::Iter<'m, Match>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
