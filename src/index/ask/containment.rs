//! Finding the documents that contain what is asked about.

use crate::error::{Error, Result};
use crate::estimate::{Agreement, Containment, equal_lanes, least_equal_lanes};
use crate::index::ask::matches::{Likeness, Match, Matches};
use crate::index::ask::query::Query;
use crate::index::ask::set_sizes::{Classes, Placed};
use crate::index::ask::verify::{Elements, compare};
use crate::lsh::{BandPlan, ClassSearch, ContainmentPlan, Margin, Probe, word};
use crate::params::{Confidence, Recall, Threshold};
use crate::sketch::{SetSize, Signature};
use crate::store::{BandNo, Bucket, DocNo};
use rayon::prelude::*;
use std::cell::OnceCell;

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

/// What is asked.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'q> {
    pub(crate) signature: &'q Signature,
    /// Where answers are to be exact.
    pub(crate) elements: Option<&'q Elements>,
    pub(crate) threshold: Threshold,
    pub(crate) recall: Recall,
    pub(crate) confidence: Confidence,
    pub(crate) excluded: Option<DocNo>,
}

/// A document that was compared.
#[derive(Clone, Copy, Debug)]
struct Compared {
    doc: DocNo,
    likeness: Likeness,
    /// The share of what is asked about that it contains.
    share: f64,
    size: f64,
}

/// A question on its way.
struct Search<'q> {
    asked: Asked<'q>,
    query: &'q Query<'q>,
    size: f64,
    plan: ContainmentPlan,
    /// What is known of each class, once it is needed: margins of exact answers take 0.1 ms to find.
    margins: Vec<OnceCell<Margin>>,
    found: Vec<Compared>,
}

impl<'q> Search<'q> {
    fn new(query: &'q Query<'q>, asked: Asked<'q>) -> Self {
        let size = asked.signature.set_size().estimate();
        let bands = query.snapshot.settings().plan;
        let plan = ContainmentPlan::new(bands, asked.threshold, asked.recall, size);
        let plan = if query.scan { plan.scan() } else { plan };
        let margins = plan.classes().iter().map(|_| OnceCell::new()).collect();
        Self { asked, query, size, plan, margins, found: Vec::new() }
    }

    fn is_scanned(&self, class: usize) -> bool {
        self.plan.class(class).search == ClassSearch::Scan
    }

    fn probe(&self, class: usize) -> Option<Probe> {
        match self.plan.class(class).search {
            ClassSearch::Probe(probe) => Some(probe),
            ClassSearch::Skip | ClassSearch::Scan => None,
        }
    }

    /// The least number of equal lanes with which a document of a class is looked into, and the
    /// probability that one with the threshold's share is.
    fn margin(&self, class: usize) -> Margin {
        *self.margins[class].get_or_init(|| {
            let Asked { elements, recall, .. } = self.asked;
            let lanes = self.query.snapshot.settings().lanes;
            let (probe, similarity) = (self.probe(class), self.plan.class(class).similarity);
            let met = probe.map_or(1.0, Probe::recall);
            let least = Threshold::new(similarity).ok();
            match (elements, least, probe) {
                _ if self.query.all_candidates => Margin { least: 0, recall: met },
                (Some(_), Some(least), Some(probe)) => {
                    Margin::of_probe(probe, lanes, least, recall)
                }
                (Some(_), Some(least), None) => Margin::of_scan(lanes, least, recall),
                _ => Margin { least: least_equal_lanes(similarity, lanes.get()), recall: met },
            }
        })
    }

    /// The number of equal lanes, where a document of the class is looked into.
    fn equal_lanes(&self, class: usize, other: &[u8]) -> Option<usize> {
        let equal = equal_lanes(self.asked.signature.lanes(), other);
        (equal >= self.margin(class).least).then_some(equal)
    }

    /// Takes a document with its number of equal lanes, unless an estimate decides that it has not the
    /// share.
    fn judge(&mut self, doc: DocNo, equal: usize, size: SetSize) {
        let size = size.estimate();
        let estimate = Agreement::new(equal, self.asked.signature.lanes().len()).similarity();
        let share = Containment::of_similarity(estimate, self.size, size);
        let open = self.asked.elements.is_some() || self.query.all_candidates;
        if open || share >= self.asked.threshold.get() {
            self.found.push(Compared { doc, likeness: Likeness::Estimated(equal), share, size });
        }
    }

    /// Of what was found, what has the share exactly.
    fn verify(&mut self, elements: &Elements) -> Result<()> {
        let (view, sketcher) = (self.query.snapshot.view(), self.query.snapshot.sketcher());
        let exact = |compared: &Compared| {
            let found = compare(&view, sketcher, elements, compared.doc)?;
            let likeness = Likeness::Exact(found.similarity);
            Ok(Compared { likeness, share: found.share, ..*compared })
        };
        self.found = self.found.par_iter().map(exact).collect::<Result<_>>()?;
        let least = self.asked.threshold.get();
        self.found.retain(|compared| compared.share >= least);
        Ok(())
    }

    fn named(&self, compared: Compared, id: String) -> Match {
        let Compared { likeness, share, size, .. } = compared;
        let lanes = self.asked.signature.lanes().len();
        let containment = match likeness {
            Likeness::Exact(_) => Containment { share, low: share, high: share },
            Likeness::Estimated(equal) => {
                let estimate = Agreement::new(equal, lanes).estimate_with(self.asked.confidence);
                Containment::estimate(estimate, self.size, size)
            }
        };
        let found = likeness.named(id, lanes, self.asked.confidence);
        Match { containment: Some(containment), ..found }
    }
}

/// The buckets that any of some probes looks at, one a band: the shallowest holds the deeper ones.
fn merged_buckets(lanes: &[u8], plan: BandPlan, probes: &[Probe]) -> Vec<Bucket> {
    let bucket = |band: usize| {
        let reaching = probes.iter().filter(|probe| band < probe.bands());
        let shallowest = reaching.min_by_key(|probe| probe.depth())?;
        let words = shallowest.bucket(word(lanes, band, plan.depth()), plan);
        Some(Bucket { band: BandNo(band as u8), words })
    };
    (0..plan.bands()).filter_map(bucket).collect()
}

impl Query<'_> {
    /// Finds documents that contain at least the threshold's share of the signature's set.
    pub(crate) fn containing(&self, asked: Asked<'_>) -> Result<Matches> {
        if self.snapshot.settings().weighted {
            return Err(Error::InvalidSetting {
                setting: "containment",
                got: "asked of an index of weights".to_owned(),
                expected: "an index of sets or multisets: it goes by the sizes of sets",
            });
        }
        if asked.signature.is_empty() {
            let sizes = Some(SizesSearched::default());
            return Ok(Matches { recall: 1.0, sizes, ..Matches::default() });
        }
        let view = self.snapshot.view();
        let mut search = Search::new(self, asked);

        let plan = search.plan.clone();
        let is_scanned = |class| plan.class(class).search == ClassSearch::Scan;
        let classes = self.snapshot.sizes().scan(&view, is_scanned, |placed, other| {
            let Placed { doc, class, size } = placed;
            if let Some(equal) = search.equal_lanes(class, other) {
                search.judge(doc, equal, size);
            }
        })?;
        let mut searched = SizesSearched::new(&search.plan, &classes);
        if self.scan {
            searched.out_of_reach = None;
        }

        let probes: Vec<Probe> =
            classes.iter().filter_map(|(class, _)| search.probe(class)).collect();
        let bands = self.snapshot.settings().plan;
        let buckets = merged_buckets(asked.signature.lanes(), bands, &probes);
        let is_probed = |doc| classes.of(doc).is_some_and(|class| search.probe(class).is_some());
        let (mut candidates, mut met) = (searched.documents_scanned, Vec::new());
        view.candidates_among(&buckets, is_probed, |doc, other| {
            candidates += 1;
            let equal = classes.of(doc).and_then(|class| search.equal_lanes(class, other));
            met.extend(equal.map(|equal| (doc, equal)));
        })?;
        for (doc, equal) in met {
            view.with_signature(doc, |_, size| search.judge(doc, equal, size))?;
        }

        search.found.retain(|compared| Some(compared.doc) != asked.excluded);
        if let Some(elements) = asked.elements {
            search.verify(elements)?;
        }
        let looked = |class: &usize| search.is_scanned(*class) || search.probe(*class).is_some();
        let looked = classes.iter().map(|(class, _)| class).filter(looked);
        let recall = looked.map(|class| search.margin(class).recall).fold(1.0, f64::min);
        let (matches, left_out) = self.most_containing(search)?;
        Ok(Matches { matches, recall, candidates, left_out, sizes: Some(searched) })
    }

    /// Orders what was found and reads the ids of what is reported. Tells how many were left out.
    fn most_containing(&self, mut search: Search<'_>) -> Result<(Vec<Match>, u64)> {
        let view = self.snapshot.view();
        let mut found = std::mem::take(&mut search.found);
        found.sort_unstable_by(|a, b| b.share.total_cmp(&a.share));
        let limit = self.limit.unwrap_or(usize::MAX).min(self.top.unwrap_or(usize::MAX));
        let mut matches: Vec<Match> = Vec::with_capacity(found.len().min(limit));
        for equals in found.chunk_by(|a, b| a.share == b.share) {
            if matches.len() >= limit {
                break;
            }
            let start = matches.len();
            for compared in equals {
                matches.push(search.named(*compared, view.document(compared.doc)?.id));
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
