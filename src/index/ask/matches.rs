//! The answer to a query, and how similar what it found is.

use crate::estimate::{Agreement, Containment};
use crate::index::ask::containment::SizesSearched;
use crate::index::ask::search::Scored;
use crate::params::Confidence;
use crate::store::DocNo;
use std::cmp::Ordering;

/// A document that is similar to the one asked about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Match {
    /// Its id.
    pub id: String,
    /// Its Jaccard similarity, from 0 to 1.
    pub similarity: f64,
    /// The lower end of the similarity's interval, at the confidence that was asked for or 95 %.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Whether the similarity is exact, from stored texts, rather than estimated. Estimates have a
    /// standard error of about 0.025 with 256 lanes.
    pub exact: bool,
    /// How much of what was asked about it contains, where [`Query::containment`](crate::Query::containment)
    /// asked for that; exact if the similarity is.
    pub containment: Option<Containment>,
}

/// How similar a document is, as far as that was found out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Likeness {
    /// So many lanes are equal.
    Estimated(usize),
    Exact(f64),
}

impl Likeness {
    pub(crate) fn estimated((equal, doc): Scored) -> (Self, DocNo) {
        (Self::Estimated(equal), doc)
    }

    pub(crate) fn exact((similarity, doc): (f64, DocNo)) -> (Self, DocNo) {
        (Self::Exact(similarity), doc)
    }

    /// The similarity, of signatures with so many lanes.
    pub(crate) fn similarity(self, lanes: usize) -> f64 {
        match self {
            Self::Estimated(equal) => Agreement::new(equal, lanes).similarity(),
            Self::Exact(similarity) => similarity,
        }
    }

    /// How it compares with another one that was found out in the same way.
    pub(crate) fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Estimated(a), Self::Estimated(b)) => a.cmp(&b),
            (Self::Exact(a), Self::Exact(b)) => a.total_cmp(&b),
            (Self::Estimated(_), Self::Exact(_)) => Ordering::Less,
            (Self::Exact(_), Self::Estimated(_)) => Ordering::Greater,
        }
    }

    /// The document with this id as a match.
    pub(crate) fn named(self, id: String, lanes: usize, confidence: Confidence) -> Match {
        let similarity = self.similarity(lanes);
        let (low, high) = match self {
            Self::Exact(_) => (similarity, similarity),
            Self::Estimated(equal) => {
                let estimate = Agreement::new(equal, lanes).estimate_with(confidence);
                (estimate.low, estimate.high)
            }
        };
        let exact = matches!(self, Self::Exact(_));
        Match { id, similarity, low, high, exact, containment: None }
    }
}

/// The answer to a query: matches by falling similarity, or of
/// [`Query::containment`](crate::Query::containment) by falling containment, then by id.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Matches {
    pub(crate) matches: Vec<Match>,
    /// The probability with which a document at the threshold became a candidate, at least. 1 for
    /// scans. A candidate is reported when its *estimate* reaches the threshold, so a document
    /// right at the threshold is reported about half the time.
    ///
    /// Of exact answers: the probability with which a document at the threshold was found, at
    /// least, and thus reported.
    ///
    /// Of [`Query::top`](crate::Query::top), where as many as asked for were found: the probability with which a
    /// document as similar as the last of them became a candidate.
    pub recall: f64,
    /// How many documents were compared by signature.
    pub candidates: u64,
    /// Matches that were found and that [`Query::limit`](crate::Query::limit) or [`Query::top`](crate::Query::top) left out.
    pub left_out: u64,
    /// How [`Query::containment`](crate::Query::containment) searched documents of different sizes; `None` of
    /// other queries.
    pub sizes: Option<SizesSearched>,
}

impl Matches {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.matches.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.matches.is_empty()
    }

    /// The matches in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Match> {
        self.matches.iter()
    }

    /// The most similar one.
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
