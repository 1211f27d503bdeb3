//! What a lower threshold would find: the neighbours of a sample of documents.

use super::histogram::Histogram;
use super::id_hash;
use super::removed::Removed;
use super::target::interrupted;
use crate::input::share;
use crate::run::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::progress_bar::ProgressBar;
use std::collections::{BinaryHeap, HashMap, HashSet};
use twindex::{Match, Snapshot};

/// The number of documents that are asked about.
const SAMPLED: usize = 1000;

/// How far below the threshold is looked.
const BELOW: f64 = 0.3;

/// The most neighbours of a document that are looked at, of those at the threshold or above and of
/// those below it each; and the most that are read to find some below it.
const NEIGHBOURS: usize = 12;
const MOST_READ: usize = 256;

/// How often the neighbours of neighbours are looked at, and the most documents that are asked
/// about in all.
const STEPS: usize = 3;
const MOST_ASKED: usize = 8000;

/// What lies below the threshold, by a sample of documents.
///
/// Whether a run at a lower threshold keeps a document depends on whether it keeps the neighbours
/// that came before, which depends on theirs. So this looks some steps around each document of the
/// sample, and decides there as the run does.
pub(super) struct Nearest {
    /// The number of documents of the sample.
    pub(super) sampled: u64,
    /// The number of documents of which they are a sample.
    pub(super) documents: u64,
    /// How similar the nearest earlier neighbours are, if they are below the threshold.
    pub(super) histogram: Histogram,
    /// The documents with these neighbours.
    pub(super) pairs: Vec<Removed>,
    neighbourhood: Neighbourhood,
    sample: Vec<u64>,
    threshold: f64,
}

/// The least similarity that is looked for.
pub(super) fn lowest(threshold: f64) -> f64 {
    (threshold - BELOW).max(0.05)
}

impl Nearest {
    /// Asks about a sample of so many documents of a snapshot, those that were inserted last.
    /// `gone` are the hashes of the ids of those that do not stay.
    pub(super) fn find(
        snapshot: &Snapshot,
        newest: u64,
        (threshold, estimate): (f64, bool),
        gone: &HashSet<u64>,
        progress: &ProgressBar,
    ) -> Result<Self, Failure> {
        let newest = newest.min(snapshot.len());
        let ids = sample(snapshot, newest)?;
        let around = (threshold, estimate);
        let neighbourhood = Neighbourhood::around(snapshot, &ids, around, progress)?;
        let (mut histogram, mut pairs) = (Histogram::new(), Vec::new());
        for id in &ids {
            if gone.contains(&id_hash(id)) {
                continue;
            }
            // The most similar comes first.
            let mut kept =
                neighbourhood.earlier(id_hash(id)).filter(|(other, _)| !gone.contains(other));
            let nearest = kept.next();
            if let Some((of, similarity)) = nearest.filter(|(_, found)| *found < threshold)
                && let Some(of) = neighbourhood.ids.get(&of)
            {
                histogram.add(similarity);
                let (id, of) = (id.clone(), of.clone());
                pairs.push(Removed { id, of, against: None, similarity, text: None });
            }
        }
        Ok(Self {
            sampled: ids.len() as u64,
            documents: newest,
            histogram,
            pairs,
            neighbourhood,
            sample: ids.iter().map(|id| id_hash(id)).collect(),
            threshold,
        })
    }

    /// Nothing, of no documents.
    #[cfg(test)]
    pub(super) fn none(threshold: f64) -> Self {
        let neighbourhood = Neighbourhood {
            neighbours: HashMap::new(),
            places: HashMap::new(),
            ids: HashMap::new(),
        };
        let (histogram, pairs, sample) = (Histogram::new(), Vec::new(), Vec::new());
        Self { sampled: 0, documents: 0, histogram, pairs, neighbourhood, sample, threshold }
    }

    /// About how many of all documents a count of the sample stands for.
    pub(super) fn scaled(&self, count: u64) -> u64 {
        let share = count as f64 / self.sampled.max(1) as f64;
        (share * self.documents as f64).round() as u64
    }

    /// About how many more documents a run at a lower threshold would remove.
    pub(super) fn more_at(&self, threshold: f64) -> u64 {
        let Self { neighbourhood, sample, .. } = self;
        let is_kept = |doc: &u64, threshold| neighbourhood.is_kept(*doc, threshold, STEPS);
        let kept_now = sample.iter().filter(|doc| is_kept(doc, self.threshold));
        self.scaled(kept_now.filter(|doc| !is_kept(doc, threshold)).count() as u64)
    }
}

/// Documents with their neighbours, all by the hash of their id.
struct Neighbourhood {
    /// The neighbours of each document that was asked about, the most similar first.
    neighbours: HashMap<u64, Vec<(u64, f64)>>,
    /// The places of all documents that were met, in the order of insertion.
    places: HashMap<u64, u64>,
    ids: HashMap<u64, String>,
}

impl Neighbourhood {
    /// Asks about these documents, their neighbours, and so on.
    fn around(
        snapshot: &Snapshot,
        ids: &[String],
        (threshold, estimate): (f64, bool),
        progress: &ProgressBar,
    ) -> Result<Self, Failure> {
        let ask = |id: &String, estimate: bool| -> Result<Vec<Match>, Failure> {
            if interrupt::asked() {
                return Err(interrupted());
            }
            let found = |most: usize| -> Result<Vec<Match>, Failure> {
                let lowest = lowest(threshold);
                let query = snapshot.query().threshold(lowest).top(most).estimate(estimate);
                Ok(query.by_id(id)?.into_iter().flatten().collect())
            };
            let mut nearest = found(NEIGHBOURS)?;
            // The copies of a document may be more than that, and its other neighbours behind them.
            let is_similar = |found: &Match| found.similarity >= threshold;
            if nearest.len() == NEIGHBOURS && nearest.last().is_some_and(is_similar) {
                nearest = found(MOST_READ)?;
                let (similar, below): (Vec<_>, Vec<_>) = nearest.into_iter().partition(is_similar);
                let similar = similar.into_iter().take(NEIGHBOURS);
                nearest = similar.chain(below.into_iter().take(NEIGHBOURS)).collect();
            }
            progress.add_documents(1);
            Ok(nearest)
        };
        let mut neighbours = HashMap::new();
        let mut met: HashMap<u64, String> =
            ids.iter().map(|id| (id_hash(id), id.clone())).collect();
        let mut next = ids.to_vec();
        for step in 0..STEPS {
            next.truncate(MOST_ASKED.saturating_sub(neighbours.len()));
            progress.expect_documents(next.len() as u64);
            // Texts are read for the sample only: for what is counted and shown.
            let estimate = estimate || step > 0;
            let found = share::map(next.iter().collect(), |id| ask(id, estimate));
            let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
            let mut further = Vec::new();
            for (id, matches) in next.into_iter().zip(found) {
                let mut list = Vec::with_capacity(matches.len());
                for Match { id, similarity, .. } in matches {
                    let hash = id_hash(&id);
                    list.push((hash, similarity));
                    if !neighbours.contains_key(&hash) && !met.contains_key(&hash) {
                        further.push(id.clone());
                    }
                    met.insert(hash, id);
                }
                let hash = id_hash(&id);
                neighbours.insert(hash, list);
                met.insert(hash, id);
            }
            next = further;
        }
        let mut places = HashMap::new();
        for (place, id) in (0..).zip(snapshot.ids()) {
            let hash = id_hash(&id?);
            if met.contains_key(&hash) {
                places.insert(hash, place);
            }
        }
        Ok(Self { neighbours, places, ids: met })
    }

    /// The neighbours that were inserted before a document, the most similar first.
    fn earlier(&self, doc: u64) -> impl Iterator<Item = (u64, f64)> + '_ {
        let place = self.places.get(&doc);
        let all = self.neighbours.get(&doc).into_iter().flatten().copied();
        all.filter(move |(other, _)| self.places.get(other) < place)
    }

    /// Whether a run keeps a document: if it keeps no similar one before it. What lies further away
    /// than `steps` is taken to be kept.
    fn is_kept(&self, doc: u64, threshold: f64, steps: usize) -> bool {
        steps == 0
            || !self.earlier(doc).any(|(other, similarity)| {
                similarity >= threshold && self.is_kept(other, threshold, steps - 1)
            })
    }
}

/// The ids with the least hashes, so that every document has the same chance.
fn sample(snapshot: &Snapshot, newest: u64) -> Result<Vec<String>, Failure> {
    let mut least: BinaryHeap<(u64, String)> = BinaryHeap::new();
    let older = usize::try_from(snapshot.len() - newest).unwrap_or(usize::MAX);
    for id in snapshot.ids().skip(older) {
        let id = id?;
        let hash = id_hash(&id);
        if least.len() < SAMPLED || least.peek().is_some_and(|(last, _)| hash < *last) {
            least.push((hash, id));
            if least.len() > SAMPLED {
                least.pop();
            }
        }
    }
    Ok(least.into_sorted_vec().into_iter().map(|(_, id)| id).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_goes_only_for_one_that_stays() {
        // 1 goes for 0, so 2, which is similar to 1 alone, stays, and 3 goes for 2.
        let similar = [(0, 1), (1, 2), (2, 3)];
        let mut neighbours: HashMap<u64, Vec<(u64, f64)>> = HashMap::new();
        for (a, b) in similar {
            neighbours.entry(a).or_default().push((b, 0.7));
            neighbours.entry(b).or_default().push((a, 0.7));
        }
        let places = (0..4).map(|doc| (doc, doc)).collect();
        let neighbourhood = Neighbourhood { neighbours, places, ids: HashMap::new() };
        let kept = |threshold| {
            (0..4).map(|doc| neighbourhood.is_kept(doc, threshold, 5)).collect::<Vec<_>>()
        };
        assert_eq!(kept(0.7), [true, false, true, false]);
        assert_eq!(kept(0.8), [true; 4]);
    }
}
