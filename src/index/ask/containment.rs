//! Containment queries: finds the documents that contain most of the query's shingles.

use crate::error::{Error, Result};
use crate::estimate::{
    Agreement, Containment, SharePrior, SizeCount, equal_lanes, least_equal_lanes,
};
use crate::index::ask::excluded::Excluded;
use crate::index::ask::matches::{Match, Matches, SizesSearched};
use crate::index::ask::passage_search::{FoundPassages, PassageSearch};
use crate::index::ask::query::Query;
use crate::index::ask::score::{Candidate, Score};
use crate::index::ask::set_sizes::{Classes, SizedDoc};
use crate::index::ask::verify::{AskedText, verified};
use crate::lsh::{BandPlan, ClassSearch, ContainmentPlan, Margin, Probe, word};
use crate::params::{Confidence, Recall, Threshold};
use crate::sketch::Signature;
use crate::store::{Asked, BandNo, Bucket, CandidateLimit, DocNo, parallel};
use std::cmp::Ordering;
use std::sync::OnceLock;

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
    /// The text of the query, for exact answers; `None` for estimates.
    pub(crate) text: Option<&'q AskedText>,
    pub(crate) threshold: Threshold,
    pub(crate) recall: Recall,
    pub(crate) confidence: Confidence,
    pub(crate) excluded: &'q Excluded,
    /// How many candidates are compared; the documents to leave out do not count.
    pub(crate) limit: Option<CandidateLimit>,
}

/// A document with enough equal lanes to be looked at.
#[derive(Clone, Copy, Debug)]
struct Compared {
    doc: DocNo,
    class: usize,
    equal: usize,
    /// The number of elements.
    size: f64,
}

/// A document that is reported.
#[derive(Clone, Copy, Debug)]
struct Found {
    doc: DocNo,
    score: Score,
    containment: Containment,
}

impl Found {
    /// Compares the ranks. The interval's lower end ranks first, then the share.
    fn order(&self, other: &Self) -> Ordering {
        let (a, b) = (self.containment, other.containment);
        b.low.total_cmp(&a.low).then(b.share.total_cmp(&a.share))
    }
}

/// The state of a running containment query.
struct Search<'q> {
    asked: ContainmentRequest<'q>,
    query: &'q Query<'q>,
    size: f64,
    plan: ContainmentPlan,
    /// For each class, whether its documents are out of the reach of bands. Their estimates are
    /// judged together, also if a forced scan compares the documents of all classes.
    is_far: Vec<bool>,
    /// The compared documents of each such class.
    far: Vec<SizeCount>,
    /// The margin of each class, computed on first use: an exact query's margin takes 0.1 ms.
    margins: Vec<OnceLock<Margin>>,
    met: Vec<Compared>,
}

impl<'q> Search<'q> {
    fn new(query: &'q Query<'q>, asked: ContainmentRequest<'q>) -> Self {
        let size = asked.signature.set_size().estimate();
        let bands = query.snapshot.settings().plan;
        let plan = ContainmentPlan::new(bands, asked.threshold, asked.recall, size);
        let is_far = plan.classes().iter().map(|class| class.search == ClassSearch::Scan);
        let is_far: Vec<bool> = is_far.collect();
        let plan = if query.scan { plan.scan() } else { plan };
        let margins = plan.classes().iter().map(|_| OnceLock::new()).collect();
        let far = vec![SizeCount::default(); is_far.len()];
        Self { asked, query, size, plan, is_far, far, margins, met: Vec::new() }
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
            let ContainmentRequest { text, recall, .. } = self.asked;
            let lanes = self.query.snapshot.settings().lanes;
            let (probe, similarity) = (self.probe(class), self.plan.class(class).similarity);
            let met = probe.map_or(1.0, Probe::recall);
            let least = Threshold::new(similarity).ok();
            let recall = if self.query.scan { Recall::CERTAIN } else { recall };
            match (text, least, probe) {
                _ if self.query.all_candidates => Margin { least: 0, recall: met },
                (Some(_), Some(least), Some(probe)) => {
                    Margin::of_probe(probe, lanes, least, recall)
                }
                (Some(_), Some(least), None) => Margin::of_scan(lanes, least, recall),
                // What the others contain may raise an estimate. This is the similarity of half the
                // share; documents with less are never reported.
                _ if self.is_far[class] => {
                    let half = similarity / (2.0 + similarity);
                    Margin { least: least_equal_lanes(half, lanes.get()), recall: met }
                }
                _ => Margin { least: least_equal_lanes(similarity, lanes.get()), recall: met },
            }
        })
    }

    /// Counts a document of a far class, and keeps a document that reaches the margin of its class.
    fn meet(&mut self, compared: Compared) {
        let Compared { doc, class, equal, size } = compared;
        if self.asked.excluded.contains(doc) {
            return;
        }
        if self.is_far[class] {
            self.far[class].add(size, equal);
        }
        if equal >= self.margin(class).least {
            self.met.push(compared);
        }
    }

    fn equal_lanes(&self, other: &[u8]) -> usize {
        equal_lanes(self.asked.signature.lanes(), other)
    }

    /// Computes exact shares and drops the documents whose share is below the threshold.
    fn verified(&self, text: &AskedText) -> Result<Vec<Found>> {
        let (view, sketcher) = (self.query.snapshot.view(), self.query.snapshot.sketcher());
        let exact = |met: &Compared| {
            let found = text.compare(&view, sketcher, met.doc)?;
            let containment =
                Containment { share: found.share, low: found.share, high: found.share };
            Ok(Found { doc: met.doc, score: Score::Exact(found.similarity), containment })
        };
        let mut found = parallel::try_map(self.met.iter().collect(), exact)?;
        let least = self.asked.threshold.get();
        found.retain(|found| found.containment.share >= least);
        Ok(found)
    }

    /// Judges documents by their equal lanes. Returns those that are told to contain the share, and
    /// the number of documents that are too large to be told about.
    fn estimated(&self) -> (Vec<Found>, u64) {
        let lanes = self.asked.signature.lanes().len();
        let prior = SharePrior::among(self.size, lanes, &self.far);
        let reach = |far: &SizeCount| {
            let mean = far.mean_size();
            (far.documents() > 0).then(|| {
                let errors = prior.common_errors(mean);
                (prior.reach(self.asked.threshold, mean, &errors), errors)
            })
        };
        let reaches = parallel::map(self.far.iter().collect(), true, reach);
        // Documents with fewer elements than this do not contain the share.
        let enough = self.asked.threshold.get() * self.size;
        let undecidable = self.far.iter().zip(&reaches);
        let undecidable = undecidable
            .filter(|(far, _)| far.mean_size() >= enough)
            .filter(|(_, reach)| reach.as_ref().is_some_and(|(reach, _)| reach.full < 0.5))
            .map(|(far, _)| far.documents());

        let judge = |met: &Compared| {
            let Compared { doc, class, equal, size } = *met;
            let agreement = Agreement::new(equal, lanes);
            let containment = if let Some((reach, errors)) = &reaches[class] {
                // The largest document of a class has 5/4 of the size of the smallest, so it may be
                // told about with fewer lanes than one of the mean size.
                let least = 0.8 * reach.least as f64 - 1.0;
                if !self.query.all_candidates && (equal as f64) < least {
                    return None;
                }
                let law = prior.judge_among(errors, equal, size);
                if !self.query.all_candidates && !law.tells(self.asked.threshold) {
                    return None;
                }
                let (low, high) = law.interval(self.asked.confidence);
                let share = law.median();
                Containment { share, low: low.min(share), high: high.max(share) }
            } else {
                let contained = Containment::of_similarity(agreement.similarity(), self.size, size);
                if !self.query.all_candidates && contained < self.asked.threshold.get() {
                    return None;
                }
                Containment::estimate_with(agreement, self.size, size, self.asked.confidence)
            };
            Some(Found { doc, score: Score::Estimated(equal), containment })
        };
        let judged = parallel::map(self.met.iter().collect(), true, judge);
        (judged.into_iter().flatten().collect(), undecidable.sum())
    }

    fn named(&self, found: &Found, id: String) -> Match {
        let lanes = self.asked.signature.lanes().len();
        let named = found.score.named(id, lanes, self.asked.confidence);
        Match { containment: Some(found.containment), ..named }
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
    /// Finds documents that share passages which cover at least the threshold's share of the query.
    /// Without texts, those that may: the recall is 1.
    pub(crate) fn containing_passages(
        &self,
        asked: ContainmentRequest<'_>,
        search: &PassageSearch<'_>,
    ) -> Result<Matches> {
        let (view, sketcher) = (self.snapshot.view(), self.snapshot.sketcher());
        let found = search.run(&view, asked.excluded, asked.limit)?;
        let FoundPassages { found, candidates, limited } = found;
        let units = search.units() as f64;
        let judged = parallel::map(found, true, |(doc, shared)| {
            let (low, high) = search.covered(&shared);
            let (low, high) = (low as f64 / units, high as f64 / units);
            let containment = Containment { share: f64::midpoint(low, high), low, high };
            (containment.high >= asked.threshold.get()).then_some((doc, containment))
        });
        let judged: Vec<(DocNo, Containment)> = judged.into_iter().flatten().collect();
        let scores: Vec<Score> = match asked.text {
            Some(text) => {
                let docs: Vec<Candidate> = judged.iter().map(|(doc, _)| (0, *doc)).collect();
                let compared = verified(&view, sketcher, text, &docs, 0.0)?;
                compared.into_iter().map(|(similarity, _)| Score::Exact(similarity)).collect()
            }
            None => {
                let equal = |lanes: &[u8], _| equal_lanes(asked.signature.lanes(), lanes);
                let score =
                    |(doc, _): &(DocNo, _)| Ok(Score::Estimated(view.with_signature(*doc, equal)?));
                parallel::try_map(judged.iter().collect(), score)?
            }
        };
        let found = judged.into_iter().zip(scores);
        let found = found.map(|((doc, containment), score)| Found { doc, score, containment });
        let lanes = asked.signature.lanes().len();
        let (matches, left_out) = self.reported(
            found.collect(),
            Found::order,
            |found| found.doc,
            |found, id| {
                let named = found.score.named(id, lanes, asked.confidence);
                Match { containment: Some(found.containment), ..named }
            },
        )?;
        Ok(Matches { matches, recall: 1.0, candidates, limited, left_out, sizes: None })
    }

    /// Finds documents that contain at least the threshold's share of the query's set.
    pub(crate) fn containing(&self, asked: ContainmentRequest<'_>) -> Result<Matches> {
        if self.snapshot.settings().weighted {
            return Err(Error::InvalidSetting {
                setting: "containment",
                got: "of weights".to_owned(),
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
        let equal = |other: &[u8]| equal_lanes(asked.signature.lanes(), other);
        let classes = self.snapshot.sizes().scan(&view, is_scanned, equal, |sized, equal| {
            let SizedDoc { doc, class, size } = sized;
            search.meet(Compared { doc, class, equal, size: size.estimate() });
        })?;
        let mut searched = SizesSearched::new(&search.plan, &classes);
        if self.scan {
            searched.out_of_reach = None;
        }
        // What is left out does not count.
        let in_scan = |doc: &DocNo| classes.of(*doc).is_some_and(is_scanned);
        searched.documents_scanned -= asked.excluded.iter().filter(in_scan).count() as u64;

        let probes: Vec<Probe> =
            classes.iter().filter_map(|(class, _)| search.probe(class)).collect();
        let bands = self.snapshot.settings().plan;
        let buckets = merged_buckets(asked.signature.lanes(), bands, &probes);
        let counts = |doc| asked.limit.is_none() || !asked.excluded.contains(doc);
        let is_probed =
            |doc| counts(doc) && classes.of(doc).is_some_and(|class| search.probe(class).is_some());
        let (mut candidates, mut met) = (searched.documents_scanned, Vec::new());
        let asked_buckets = Asked::Buckets(&buckets);
        let limited =
            view.candidates_among(asked_buckets, asked.limit, is_probed, |doc, other| {
                candidates += u64::from(!asked.excluded.contains(doc));
                let equal = search.equal_lanes(other);
                let class = classes.of(doc).filter(|class| equal >= search.margin(*class).least);
                met.extend(class.map(|class| (doc, class, equal)));
            })?;
        for (doc, class, equal) in met {
            let size = view.with_signature(doc, |_, size| size.estimate())?;
            search.meet(Compared { doc, class, equal, size });
        }

        let found = match asked.text {
            Some(text) => search.verified(text)?,
            None => {
                let (found, undecidable) = search.estimated();
                searched.undecidable = undecidable;
                found
            }
        };
        let looked = |class: &usize| search.is_scanned(*class) || search.probe(*class).is_some();
        let looked = classes.iter().map(|(class, _)| class).filter(looked);
        let recall = looked.map(|class| search.margin(class).recall).fold(1.0, f64::min);
        let (matches, left_out) = self.reported(
            found,
            Found::order,
            |found| found.doc,
            |found, id| search.named(found, id),
        )?;
        Ok(Matches { matches, recall, candidates, limited, left_out, sizes: Some(searched) })
    }
}

#[cfg(test)]
#[path = "containment_tests.rs"]
mod containment_tests;
