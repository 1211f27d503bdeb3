//! How new documents are compared with known ones, and which of them are duplicates.

use crate::error::{Error, Result};
use crate::estimate::least_equal_lanes;
use crate::index::ask::exact_text::{ElementCache, ExactText};
use crate::index::ask::search::SearchPlan;
use crate::index::snapshot::Snapshot;
use crate::index::write::expected::Rule;
use crate::params::Threshold;
use crate::sketch::Sketcher;
use crate::store::{CandidateLimit, DocNo, Document, OwnNumbers};
use std::path::Path;
use std::sync::Arc;

/// Decides which new documents are duplicates of known ones.
pub(super) struct DuplicateRule<'s> {
    pub(super) search_plan: SearchPlan,
    pub(super) sketcher: Arc<Sketcher>,
    /// The elements of texts, if texts are compared after signatures.
    elements: Option<Arc<ElementCache>>,
    threshold: f64,
    /// The least share of a new document that a similar one contains, if one is asked for.
    contained: Option<f64>,
    pub(super) others: Vec<OtherIndex<'s>>,
    /// The numbers of a deduplication run. A document with one of them that comes again is a
    /// duplicate of itself. `None` outside a run.
    run_numbers: Option<OwnNumbers>,
}

/// How much of a document a similar one must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shares {
    /// What is asked for, if anything is.
    Enough,
    Any,
}

/// Another index with which documents are compared.
pub(super) struct OtherIndex<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) search_plan: SearchPlan,
    /// Whether its documents can be compared exactly.
    pub(super) exact: bool,
}

impl<'s> OtherIndex<'s> {
    fn new(
        snapshot: &'s Snapshot,
        threshold: Threshold,
        verifies: bool,
        limit: CandidateLimit,
    ) -> Self {
        let settings = snapshot.settings();
        let exact = verifies && settings.store_text;
        let search_plan = SearchPlan::new(settings, &snapshot.margins, threshold, exact);
        Self { snapshot, search_plan: search_plan.limited(limit), exact }
    }
}

impl<'s> DuplicateRule<'s> {
    /// Compares by `search_plan` in an index, and with other indexes of comparable signatures;
    /// texts too if it is given a cache for their elements.
    pub(super) fn new(
        search_plan: SearchPlan,
        sketcher: Arc<Sketcher>,
        elements: Option<Arc<ElementCache>>,
        threshold: Threshold,
        against: &[&'s Snapshot],
        limit: CandidateLimit,
    ) -> Self {
        let verifies = elements.is_some();
        let others = against.iter().map(|other| OtherIndex::new(other, threshold, verifies, limit));
        Self {
            search_plan: search_plan.limited(limit),
            sketcher,
            elements,
            threshold: threshold.get(),
            contained: None,
            others: others.collect(),
            run_numbers: None,
        }
    }

    /// Makes a repeated document a duplicate of itself if the run that inserted these numbers
    /// inserted it.
    pub(super) fn of_run(self, run_numbers: Option<OwnNumbers>) -> Self {
        Self { run_numbers, ..self }
    }

    /// Takes a document for a duplicate only if the similar one contains this share of it. `path`
    /// is that of the index.
    pub(super) fn if_contained(self, share: f64, path: &Path) -> Result<Self> {
        if !(share > 0.0 && share <= 1.0) {
            return Err(Error::InvalidSetting {
                setting: "if_contained",
                got: share.to_string(),
                expected: "a share above 0, at most 1",
            });
        }
        let others = self.others.iter().map(|other| other.snapshot);
        let without = others.filter(|other| !other.settings().store_text).map(Snapshot::path);
        match without.chain(self.elements.is_none().then_some(path)).next() {
            Some(path) => Err(Error::NoTexts { path: path.to_owned() }),
            None => Ok(Self { contained: Some(share), ..self }),
        }
    }

    /// A lower bound on the probability that a document at the threshold is found.
    pub(super) fn recall(&self) -> f64 {
        let others = self.others.iter().map(|other| other.search_plan.recall);
        others.fold(self.search_plan.recall, f64::min)
    }

    /// Whether a document is a duplicate only of what contains enough of it.
    pub(super) fn asks_for_share(&self) -> bool {
        self.contained.is_some()
    }

    /// Whether the run that asks has inserted this document.
    pub(super) fn is_of_run(&self, doc: DocNo) -> bool {
        self.run_numbers.as_ref().is_some_and(|numbers| numbers.contains(u64::from(doc.0)))
    }

    /// How the texts of a batch are compared with each other, if they are.
    pub(super) fn of_batch(&self) -> Option<Rule<'_>> {
        Some(Rule {
            least: self.search_plan.least,
            similar: least_equal_lanes(self.threshold, self.sketcher.lanes()),
            sketcher: &self.sketcher,
            elements: self.elements.as_ref()?,
        })
    }

    /// The text of a document if texts are compared: with those that contain enough of it, or with
    /// all that are similar.
    pub(super) fn exact<'d>(
        &'d self,
        document: &'d Document,
        shares: Shares,
    ) -> Option<ExactText<'d>> {
        let contained = match shares {
            Shares::Enough => self.contained,
            Shares::Any => self.contained.map(|_| 0.0),
        };
        Some(ExactText {
            text: document.text.as_deref()?,
            key: document.text_key(),
            sketcher: &self.sketcher,
            threshold: self.threshold,
            contained,
            elements: self.elements.as_deref()?,
        })
    }
}
