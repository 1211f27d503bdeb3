//! The result of a query: matches with their similarities.

use crate::estimate::{Agreement, Containment};
use crate::index::ask::containment::SizesSearched;
use crate::index::ask::search::Candidate;
use crate::params::Confidence;
use crate::store::DocNo;
use std::cmp::Ordering;

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

/// The similarity of a document to a query, estimated or exact.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Score {
    /// The number of equal lanes, from which the similarity is estimated.
    Estimated(usize),
    /// The exact Jaccard similarity.
    Exact(f64),
    /// The exact Jaccard similarity, and the share of the query that the document contains.
    Contained { similarity: f64, share: f64 },
}

impl Score {
    pub(crate) fn estimated((equal, doc): Candidate) -> (Self, DocNo) {
        (Self::Estimated(equal), doc)
    }

    pub(crate) fn exact((similarity, doc): (f64, DocNo)) -> (Self, DocNo) {
        (Self::Exact(similarity), doc)
    }

    /// The Jaccard similarity, for signatures with this number of lanes.
    pub(crate) fn similarity(self, lanes: usize) -> f64 {
        match self {
            Self::Estimated(equal) => Agreement::new(equal, lanes).similarity(),
            Self::Exact(similarity) | Self::Contained { similarity, .. } => similarity,
        }
    }

    /// Compares two scores of the same kind. Every exact score ranks above every estimate.
    pub(crate) fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Estimated(a), Self::Estimated(b)) => a.cmp(&b),
            (Self::Estimated(_), _) => Ordering::Less,
            (_, Self::Estimated(_)) => Ordering::Greater,
            // No lanes are needed for what is exact.
            (a, b) => a.similarity(0).total_cmp(&b.similarity(0)),
        }
    }

    /// Makes a match for the document with this id.
    pub(crate) fn named(self, id: String, lanes: usize, confidence: Confidence) -> Match {
        let similarity = self.similarity(lanes);
        let (low, high) = match self {
            Self::Exact(_) | Self::Contained { .. } => (similarity, similarity),
            Self::Estimated(equal) => {
                let estimate = Agreement::new(equal, lanes).estimate_with(confidence);
                (estimate.low, estimate.high)
            }
        };
        let exact = !matches!(self, Self::Estimated(_));
        let containment = match self {
            Self::Contained { share, .. } => Some(Containment { share, low: share, high: share }),
            Self::Exact(_) | Self::Estimated(_) => None,
        };
        Match { id, similarity, low, high, exact, containment }
    }
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
    /// The number of documents whose signatures were compared with the query's.
    pub candidates: u64,
    /// The number of matches that [`Query::limit`](crate::Query::limit) left out or, of those that
    /// it found, [`Query::top`](crate::Query::top), which does not look for all.
    pub left_out: u64,
    /// How a [containment](crate::Query::containment) query searched documents of different sizes;
    /// `None` for other queries, and if passages gave the answer.
    pub sizes: Option<SizesSearched>,
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
