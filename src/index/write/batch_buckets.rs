//! The buckets of the documents of one batch.

use crate::lsh::{BandPlan, Probe, word};
use crate::store::{BandBuckets, Document, Grouped, parallel};

/// The buckets of the documents of a batch, and which of these documents share one.
pub(super) struct BatchBuckets {
    bands: Vec<BandBuckets>,
    /// For each document, the shared buckets that it is in. They are numbered over all bands.
    shared: Grouped<u32>,
    /// The number of shared buckets.
    count: usize,
}

impl BatchBuckets {
    /// Finds the buckets that a probe reads, on all threads. For a single document, which shares
    /// none, there are no bands.
    pub(super) fn find(documents: &[&Document], plan: BandPlan, probe: Probe) -> Self {
        let is_large = documents.len() >= parallel::MIN_DOCUMENTS;
        let bands = if documents.len() > 1 { (0..probe.bands()).collect() } else { Vec::new() };
        let bands = parallel::map(bands, is_large, |band| in_band(documents, band, plan, probe));
        let (mut in_shared, mut count) = (Vec::new(), 0);
        let mut found = Vec::with_capacity(bands.len());
        for (buckets, shared) in bands {
            for documents in &shared {
                in_shared.extend(documents.iter().map(|document| (*document, count)));
                count += 1;
            }
            found.push(buckets);
        }
        let shared = Grouped::new(in_shared, documents.len());
        Self { bands: found, shared, count: count as usize }
    }

    /// The buckets of each band.
    pub(super) fn bands(&self) -> &[BandBuckets] {
        &self.bands
    }

    /// The number of shared buckets.
    pub(super) fn shared_count(&self) -> usize {
        self.count
    }

    /// The numbers of the shared buckets that a document is in.
    pub(super) fn shared_by(&self, document: usize) -> &[u32] {
        self.shared.of(document as u32)
    }
}

/// The buckets of one band, and the documents of each one that several share.
fn in_band(
    documents: &[&Document],
    band: usize,
    plan: BandPlan,
    probe: Probe,
) -> (BandBuckets, Vec<Vec<u32>>) {
    let lanes = (0..).zip(documents.iter().map(|document| document.signature.lanes()));
    let words = lanes.filter(|(_, lanes)| !lanes.is_empty());
    let mut words: Vec<(u64, u32)> =
        words.map(|(at, lanes)| (word(lanes, band, plan.depth()), at)).collect();
    words.sort_unstable();
    let bucket = |word: u64| probe.bucket(word, plan);
    let equal = words.chunk_by(|(word, _), (next, _)| bucket(*word) == bucket(*next));
    let mut found = BandBuckets {
        buckets: Vec::with_capacity(words.len()),
        of: vec![BandBuckets::NOWHERE; documents.len()],
    };
    let mut shared = Vec::new();
    for equal in equal {
        let place = found.buckets.len() as u32;
        found.buckets.extend(equal.first().map(|(word, _)| bucket(*word)));
        for (_, document) in equal {
            found.of[*document as usize] = place;
        }
        if equal.len() > 1 {
            shared.push(equal.iter().map(|(_, document)| *document).collect());
        }
    }
    (found, shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::ask::search::buckets;
    use crate::params::{Recall, Threshold};
    use crate::store::sim::testing::{documents, filled};
    use crate::store::{Asked, BandNo, CandidateLimit, DocNo};
    use std::collections::BTreeSet;

    #[test]
    fn buckets_looked_up_together_have_the_candidates_of_each_document() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 430);
        let reader = engine.read().expect("a reader");
        let view = reader.view();
        assert!(
            view.state.tail.documents() > 0
                && view.state.manifest.with_band(BandNo(0)).next().is_some()
        );
        let new = documents(&engine, 180..520);
        let new: Vec<&Document> = new.iter().collect();
        let plan = engine.settings().plan;
        for threshold in [0.5, 0.8, 1.0] {
            let threshold = Threshold::new(threshold).expect("a threshold");
            let probe = Probe::of(plan, threshold, Recall::new(0.95).expect("a recall"));
            let together = BatchBuckets::find(&new, plan, probe);
            // After the first round some filters are built, and the next one looks at them.
            for limit in [None, Some(CandidateLimit { compared: 7 }), None] {
                let foretold = view.foretell(together.bands());
                let mut met = 0;
                for (at, document) in new.iter().enumerate() {
                    let alone = buckets(document.signature.lanes(), plan, probe);
                    let found = [Asked::Buckets(&alone), Asked::Foretold(&foretold, at)];
                    let [alone, together] = found.map(|asked| {
                        let mut docs: BTreeSet<DocNo> = BTreeSet::new();
                        let visit = |doc, _: &[u8]| assert!(docs.insert(doc));
                        let limited = view.candidates_among(asked, limit, |doc| doc.0 != 7, visit);
                        (docs, limited.expect("readable"))
                    });
                    assert_eq!(alone, together, "{at} at {threshold:?}");
                    met += together.0.len();
                }
                assert!(met > new.len() / 2, "{met} candidates");
            }
        }
    }

    #[test]
    fn documents_that_share_a_bucket_share_its_number() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 1);
        let mut all = documents(&engine, 0..60);
        all.extend(documents(&engine, 20..30));
        let all: Vec<&Document> = all.iter().collect();
        let plan = engine.settings().plan;
        let threshold = Threshold::new(0.7).expect("a threshold");
        let probe = Probe::of(plan, threshold, Recall::new(0.95).expect("a recall"));
        let together = BatchBuckets::find(&all, plan, probe);
        let words = |document: &Document| {
            let lanes = document.signature.lanes().to_vec();
            (0..probe.bands()).map(move |band| word(&lanes, band, probe.depth()))
        };
        for (at, a) in all.iter().enumerate() {
            for (other, b) in all.iter().enumerate().filter(|(other, _)| *other != at) {
                let shared = words(a).zip(words(b)).filter(|(a, b)| a == b).count();
                let both = together.shared_by(at).iter();
                let both = both.filter(|bucket| together.shared_by(other).contains(bucket));
                assert_eq!(both.count(), shared, "{at} and {other}");
            }
        }
        assert!(!together.shared_by(65).is_empty(), "a copy");
    }
}
