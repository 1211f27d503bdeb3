//! What comparing a document with a query gives: equal lanes, or an exact similarity.

use crate::estimate::{Agreement, Containment};
use crate::index::ask::matches::Match;
use crate::params::Confidence;
use crate::store::DocNo;
use std::cmp::Ordering;

/// A compared document: its number of equal lanes and its number.
pub(crate) type Candidate = (usize, DocNo);

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
