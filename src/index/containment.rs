//! Finding the documents that contain what is asked about.

use super::query::{Match, Matches, Query};
use super::search::merged_buckets;
use super::set_sizes::{Classes, Placed};
use crate::error::Result;
use crate::estimate::{Agreement, Containment, equal_lanes, least_equal_lanes};
use crate::lsh::{ClassPlan, ClassSearch, ContainmentPlan, Probe};
use crate::params::{Recall, Threshold};
use crate::sketch::{SetSize, Signature};
use crate::store::DocNo;

/// How a query for containment searched documents of different sizes.
///
/// Sizes are classed by quarters of a doubling, so that the largest of a class is at most 5/4 of its
/// least. Only classes that have documents are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SizesSearched {
    /// Classes whose documents are too small to contain the share.
    pub skipped: usize,
    /// Classes that were looked for in buckets.
    pub probed: usize,
    /// Classes of which every document was compared.
    pub scanned: usize,
    /// The documents of the classes that were scanned.
    pub documents_scanned: u64,
    /// The greatest similarity that a document of a scanned class has if it contains just the threshold's
    /// share: no band of the index reaches the recall there. `None` where no class was scanned, or
    /// all because [`Query::scan`] said so.
    pub out_of_reach: Option<f64>,
}

impl SizesSearched {
    /// What a plan means for the classes that there are.
    fn new(plan: &ContainmentPlan, classes: &Classes) -> Self {
        let mut searched = Self::default();
        for (class, documents) in classes.iter() {
            let class = plan.class(class);
            match class.search {
                ClassSearch::Skip => searched.skipped += 1,
                ClassSearch::Probe(_) => searched.probed += 1,
                ClassSearch::Scan => {
                    searched.scanned += 1;
                    searched.documents_scanned += documents;
                    let most = searched.out_of_reach.unwrap_or(0.0);
                    searched.out_of_reach = Some(class.similarity.max(most));
                }
            }
        }
        searched
    }
}

/// A document that was compared.
#[derive(Clone, Copy, Debug)]
struct Compared {
    doc: DocNo,
    /// How many lanes are equal.
    equal: usize,
    containment: Containment,
}

/// What is asked, and what was found.
struct Search<'q> {
    lanes: &'q [u8],
    size: f64,
    /// The least share to be found.
    threshold: f64,
    /// The least number of equal lanes with which a document of each class can have it.
    least: Vec<usize>,
    found: Vec<Compared>,
}

impl<'q> Search<'q> {
    fn new(signature: &'q Signature, plan: &ContainmentPlan, threshold: Threshold) -> Self {
        let lanes = signature.lanes();
        let least = |class: &ClassPlan| least_equal_lanes(class.similarity, lanes.len());
        Self {
            lanes,
            size: signature.set_size().estimate(),
            threshold: threshold.get(),
            least: plan.classes().iter().map(least).collect(),
            found: Vec::new(),
        }
    }

    /// The same, but everything is found that is compared.
    fn of_everything(self) -> Self {
        Self { threshold: 0.0, least: vec![0; self.least.len()], ..self }
    }

    /// The number of equal lanes, where a document of the class can have the share.
    fn equal_lanes(&self, class: usize, other: &[u8]) -> Option<usize> {
        let equal = equal_lanes(self.lanes, other);
        (equal >= self.least[class]).then_some(equal)
    }

    /// Takes a document with its number of equal lanes, if it has the share.
    fn judge(&mut self, doc: DocNo, equal: usize, size: SetSize) {
        let estimate = Agreement::new(equal, self.lanes.len()).estimate();
        let containment = Containment::estimate(estimate, self.size, size.estimate());
        if containment.share >= self.threshold {
            self.found.push(Compared { doc, equal, containment });
        }
    }
}

impl Query<'_> {
    /// Finds documents that contain at least the threshold's share of the signature's set.
    pub(super) fn containing(
        &self,
        signature: &Signature,
        threshold: Threshold,
        recall: Recall,
        excluded: Option<DocNo>,
    ) -> Result<Matches> {
        let view = self.snapshot.view();
        if signature.is_empty() {
            let sizes = Some(SizesSearched::default());
            return Ok(Matches { recall: 1.0, sizes, ..Matches::default() });
        }
        let (bands, size) = (self.snapshot.settings().plan, signature.set_size().estimate());
        let plan = ContainmentPlan::new(bands, threshold, recall, size);
        let plan = if self.scan { plan.scan() } else { plan };
        let search = Search::new(signature, &plan, threshold);
        let mut search = if self.all_candidates { search.of_everything() } else { search };

        let is_scanned = |class| plan.class(class).search == ClassSearch::Scan;
        let classes = self.snapshot.sizes().scan(&view, is_scanned, |placed, other| {
            let Placed { doc, class, size } = placed;
            if let Some(equal) = search.equal_lanes(class, other) {
                search.judge(doc, equal, size);
            }
        })?;
        let mut searched = SizesSearched::new(&plan, &classes);
        if self.scan {
            searched.out_of_reach = None;
        }

        let probe_of = |class| match plan.class(class).search {
            ClassSearch::Probe(probe) => Some(probe),
            ClassSearch::Skip | ClassSearch::Scan => None,
        };
        let probes: Vec<Probe> = classes.iter().filter_map(|(class, _)| probe_of(class)).collect();
        let buckets = merged_buckets(signature.lanes(), bands, &probes);
        let is_probed = |doc| classes.of(doc).and_then(probe_of).is_some();
        let (mut candidates, mut met) = (searched.documents_scanned, Vec::new());
        view.candidates_among(&buckets, is_probed, |doc, other| {
            candidates += 1;
            let equal = classes.of(doc).and_then(|class| search.equal_lanes(class, other));
            met.extend(equal.map(|equal| (doc, equal)));
        })?;
        for (doc, equal) in met {
            view.with_signature(doc, |_, size| search.judge(doc, equal, size))?;
        }

        search.found.retain(|compared| Some(compared.doc) != excluded);
        let recall = probes.iter().map(|probe| probe.recall()).fold(1.0, f64::min);
        let Search { found, .. } = search;
        let (matches, left_out) = self.most_containing(found)?;
        Ok(Matches { matches, recall, candidates, left_out, sizes: Some(searched) })
    }

    /// Orders what was found and reads the ids of what is reported. Tells how many were left out.
    fn most_containing(&self, mut found: Vec<Compared>) -> Result<(Vec<Match>, u64)> {
        let view = self.snapshot.view();
        let lanes = self.snapshot.settings().lanes.get();
        found.sort_unstable_by(|a, b| b.containment.share.total_cmp(&a.containment.share));
        let limit = self.limit.unwrap_or(usize::MAX).min(self.top.unwrap_or(usize::MAX));
        let mut matches: Vec<Match> = Vec::with_capacity(found.len().min(limit));
        for equals in found.chunk_by(|a, b| a.containment.share == b.containment.share) {
            if matches.len() >= limit {
                break;
            }
            let start = matches.len();
            for compared in equals {
                let id = view.document(compared.doc)?.id;
                let found = Match::estimated(id, compared.equal, lanes);
                matches.push(Match { containment: Some(compared.containment), ..found });
            }
            if let Some(equals) = matches.get_mut(start..) {
                equals.sort_unstable_by(|a, b| a.id.cmp(&b.id));
            }
        }
        matches.truncate(limit);
        let left_out = (found.len() - matches.len()) as u64;
        Ok((matches, left_out))
    }
}
