//! Containment queries: finds the documents that contain most of the query's shingles.

use crate::error::{Error, Result};
use crate::estimate::{Agreement, Containment, equal_lanes, least_equal_lanes};
use crate::index::ask::matches::{Match, Matches, Score};
use crate::index::ask::query::Query;
use crate::index::ask::set_sizes::{Classes, SizedDoc};
use crate::index::ask::verify::{Elements, compare};
use crate::lsh::{BandPlan, ClassSearch, ContainmentPlan, Margin, Probe, word};
use crate::params::{Confidence, Recall, Threshold};
use crate::sketch::{SetSize, Signature};
use crate::store::{BandNo, Bucket, DocNo};
use rayon::prelude::*;
use std::cell::OnceCell;

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
    /// share. `None` if no class was scanned, or if [`Query::scan`] forced the scan.
    pub out_of_reach: Option<f64>,
}

impl SizesSearched {
    /// Counts the classes that have documents by how the plan searches them.
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

/// The parameters of a containment query.
#[derive(Clone, Copy)]
pub(crate) struct ContainmentRequest<'q> {
    pub(crate) signature: &'q Signature,
    /// The elements of the query, for exact answers; `None` for estimates.
    pub(crate) elements: Option<&'q Elements>,
    pub(crate) threshold: Threshold,
    pub(crate) recall: Recall,
    pub(crate) confidence: Confidence,
    pub(crate) excluded: Option<DocNo>,
}

/// A document that was compared with the query.
#[derive(Clone, Copy, Debug)]
struct Compared {
    doc: DocNo,
    score: Score,
    /// The share of the query's set that the document contains, from 0 to 1.
    share: f64,
    size: f64,
}

/// The state of a running containment query.
struct Search<'q> {
    asked: ContainmentRequest<'q>,
    query: &'q Query<'q>,
    size: f64,
    plan: ContainmentPlan,
    /// The margin of each class, computed on first use: an exact query's margin takes 0.1 ms.
    margins: Vec<OnceCell<Margin>>,
    found: Vec<Compared>,
}

impl<'q> Search<'q> {
    fn new(query: &'q Query<'q>, asked: ContainmentRequest<'q>) -> Self {
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

    /// The minimum number of equal lanes at which a document of a class is examined, and the
    /// probability that a document with exactly the threshold's share reaches it.
    fn margin(&self, class: usize) -> Margin {
        *self.margins[class].get_or_init(|| {
            let ContainmentRequest { elements, recall, .. } = self.asked;
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

    /// The number of equal lanes; `None` if it is below the margin of the class.
    fn equal_lanes(&self, class: usize, other: &[u8]) -> Option<usize> {
        let equal = equal_lanes(self.asked.signature.lanes(), other);
        (equal >= self.margin(class).least).then_some(equal)
    }

    /// Keeps a document unless the answer relies on estimates and its estimated share is too low.
    fn judge(&mut self, doc: DocNo, equal: usize, size: SetSize) {
        let size = size.estimate();
        let estimate = Agreement::new(equal, self.asked.signature.lanes().len()).similarity();
        let share = Containment::of_similarity(estimate, self.size, size);
        let open = self.asked.elements.is_some() || self.query.all_candidates;
        if open || share >= self.asked.threshold.get() {
            self.found.push(Compared { doc, score: Score::Estimated(equal), share, size });
        }
    }

    /// Computes exact shares and drops the documents whose share is below the threshold.
    fn verify(&mut self, elements: &Elements) -> Result<()> {
        let (view, sketcher) = (self.query.snapshot.view(), self.query.snapshot.sketcher());
        let exact = |compared: &Compared| {
            let found = compare(&view, sketcher, elements, compared.doc)?;
            let score = Score::Exact(found.similarity);
            Ok(Compared { score, share: found.share, ..*compared })
        };
        self.found = self.found.par_iter().map(exact).collect::<Result<_>>()?;
        let least = self.asked.threshold.get();
        self.found.retain(|compared| compared.share >= least);
        Ok(())
    }

    fn named(&self, compared: Compared, id: String) -> Match {
        let Compared { score, share, size, .. } = compared;
        let lanes = self.asked.signature.lanes().len();
        let containment = match score {
            Score::Exact(_) => Containment { share, low: share, high: share },
            Score::Estimated(equal) => {
                let estimate = Agreement::new(equal, lanes).estimate_with(self.asked.confidence);
                Containment::estimate(estimate, self.size, size)
            }
        };
        let found = score.named(id, lanes, self.asked.confidence);
        Match { containment: Some(containment), ..found }
    }
}

/// The buckets of several probes, merged to one per band: the shallowest contains the deeper ones.
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
    /// Finds documents that contain at least the threshold's share of the query's set.
    pub(crate) fn containing(&self, asked: ContainmentRequest<'_>) -> Result<Matches> {
        if self.snapshot.settings().weighted {
            return Err(Error::InvalidSetting {
                setting: "containment",
                got: "a query to an index of weighted sets".to_owned(),
                expected: "an index of sets or multisets, because containment needs set sizes",
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
            let SizedDoc { doc, class, size } = placed;
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

    /// Sorts the results and reads the ids of the reported ones. Returns how many were left out.
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
