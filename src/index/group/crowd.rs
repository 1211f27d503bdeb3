//! Finds the similar ones among many documents that share a bucket and are mostly not similar.
//!
//! Texts with a long part in common share buckets, even if the rest differs. Comparing each of them
//! with each takes time that grows with the square of their number. But similar documents differ in
//! few lanes. If the lanes are divided into more groups than that, two similar documents agree in
//! all lanes of at least one group, by the pigeonhole principle. Few pairs have to be compared if
//! the lanes of a group agree in few documents.

use crate::error::Result;
use crate::index::group::doc_map::DocMap;
use crate::index::group::linkage::NO_DOC;
use crate::index::group::signature_cache::SignatureCache;
use crate::store::{DocNo, parallel, sort_spread};

/// The most lanes of a group: they fill a number of 64 bits.
const MOST_LANES: usize = 8;

/// A crowd is used if it leaves this share of the pairs.
const WORTHWHILE: f64 = 0.25;

/// Documents of large buckets, ordered by each group of lanes.
pub(super) struct Crowd {
    /// Ascending.
    docs: Vec<DocNo>,
    /// The place of each document in `docs`.
    places: DocMap,
    orders: Vec<Order>,
}

/// Documents in the order of a group of lanes.
struct Order {
    /// The places of the documents. Those that agree in the group follow each other.
    places: Vec<u32>,
    /// Whether a document agrees with the one before it.
    agrees: Vec<bool>,
    /// Where each document is in `places`.
    at: Vec<u32>,
}

impl Crowd {
    /// The memory for a document in the order of one group, in bytes.
    const BYTES: usize = 2 * size_of::<u32>() + size_of::<bool>();

    /// Orders documents, which ascend. `pairs` is the number of pairs in their buckets, and pairs
    /// with at least `least` equal lanes are looked for. Returns `None` if this would take more
    /// memory than `budget`, or leave too many pairs. Calls `go_on` from time to time, which may
    /// stop the work.
    pub(super) fn of(
        docs: Vec<DocNo>,
        pairs: f64,
        least: usize,
        signatures: &SignatureCache,
        budget: usize,
        mut go_on: impl FnMut() -> Result<()>,
    ) -> Result<Option<Self>> {
        let Some(count) = signatures.width().checked_sub(least).map(|most| most + 1) else {
            return Ok(None);
        };
        let threads = rayon::current_num_threads();
        let bytes = count * Self::BYTES + threads * Order::WHILE_SORTED + size_of::<&[u8]>();
        if docs.len().saturating_mul(bytes) > budget {
            return Ok(None);
        }
        let lanes: Option<Vec<&[u8]>> = docs.iter().map(|doc| signatures.get(*doc)).collect();
        let Some(lanes) = lanes else { return Ok(None) };
        let most = WORTHWHILE * pairs;
        let groups = Groups::of(count, &agreement(&lanes));
        let is_useful = |groups: &Groups| groups.agreement() * (docs.len() as f64).powi(2) <= most;
        let Some(mut groups) = groups.filter(is_useful) else { return Ok(None) };
        let (mut orders, mut left) = (Vec::with_capacity(count), most);
        let shared = docs.len() >= parallel::MIN_DOCUMENTS;
        while !groups.lanes.is_empty() {
            let now = groups.lanes.drain(..threads.min(groups.lanes.len())).collect();
            let now = parallel::map(now, shared, |group: Vec<usize>| Order::of(&lanes, &group));
            left -= now.iter().map(Order::pairs).sum::<f64>();
            if left < 0.0 {
                return Ok(None);
            }
            orders.extend(now);
            go_on()?;
        }
        let mut places = DocMap::new(NO_DOC);
        docs.iter().zip(0..).for_each(|(doc, place)| places.set(*doc, place));
        Ok(Some(Self { docs, places, orders }))
    }

    /// Visits all documents that may be similar to one of them, some repeatedly, and itself.
    pub(super) fn visit(&self, doc: DocNo, mut visit: impl FnMut(DocNo)) {
        let own = self.places.get(doc);
        if own == NO_DOC {
            return;
        }
        for order in &self.orders {
            order.agreeing(own).iter().for_each(|place| visit(self.docs[*place as usize]));
        }
    }
}

impl Order {
    /// The memory for a document while an order is made, in bytes: the keys are sorted in two
    /// blocks.
    const WHILE_SORTED: usize = 2 * size_of::<(u64, u32)>();

    fn of(lanes: &[&[u8]], group: &[usize]) -> Self {
        let key = |lanes: &[u8]| group.iter().fold(0, |key, at| key << 8 | u64::from(lanes[*at]));
        let keys = lanes.iter().map(|lanes| key(lanes));
        let mut keys: Vec<(u64, u32)> = keys.zip(0..).collect();
        sort_spread(&mut keys, &mut Vec::new(), |(key, _)| *key);
        let mut at = vec![0; keys.len()];
        keys.iter().zip(0..).for_each(|((_, place), order)| at[*place as usize] = order);
        let agrees = keys.windows(2).map(|two| two[0].0 == two[1].0);
        let agrees = [false].into_iter().chain(agrees).take(keys.len()).collect();
        Self { places: keys.into_iter().map(|(_, place)| place).collect(), agrees, at }
    }

    /// The documents that agree with this one in the group, itself included.
    fn agreeing(&self, place: u32) -> &[u32] {
        let own = self.at[place as usize] as usize;
        let before = self.agrees[..=own].iter().rev().take_while(|agrees| **agrees).count();
        let after = self.agrees[own + 1..].iter().take_while(|agrees| **agrees).count();
        &self.places[own - before..=own + after]
    }

    /// The number of pairs that agree in the group, each counted twice.
    fn pairs(&self) -> f64 {
        let runs = self.agrees.chunk_by(|_, agrees| *agrees);
        runs.map(|run| (run.len() as f64).powi(2)).sum()
    }
}

/// For each lane, how likely two of a sample of the documents agree in it.
fn agreement(lanes: &[&[u8]]) -> Vec<f64> {
    const SAMPLE: usize = 512;
    let sample: Vec<&[u8]> =
        lanes.iter().step_by(lanes.len().div_ceil(SAMPLE).max(1)).copied().collect();
    let width = sample.first().map_or(0, |lanes| lanes.len());
    let share = |lane: usize| {
        let mut counts = [0_u32; 256];
        sample.iter().for_each(|lanes| counts[usize::from(lanes[lane])] += 1);
        let same: f64 = counts.iter().map(|count| f64::from(*count).powi(2)).sum();
        // A document agrees with itself. No sample tells that two never agree.
        let others = sample.len() as f64;
        ((same - others) / (others * (others - 1.0)).max(1.0)).max(1.0 / 256.0)
    };
    (0..width).map(share).collect()
}

/// Lanes that are divided into groups.
struct Groups {
    lanes: Vec<Vec<usize>>,
    /// How likely two documents agree in each.
    agreement: Vec<f64>,
}

impl Groups {
    /// Divides lanes into this many groups, in which documents agree as rarely as possible. Returns
    /// `None` if there are not that many lanes.
    fn of(count: usize, agreement: &[f64]) -> Option<Self> {
        let mut order: Vec<usize> = (0..agreement.len()).collect();
        order.sort_by(|a, b| agreement[*a].total_cmp(&agreement[*b]));
        let (first, others) = order.split_at_checked(count)?;
        let mut groups = Self {
            lanes: first.iter().map(|lane| vec![*lane]).collect(),
            agreement: first.iter().map(|lane| agreement[*lane]).collect(),
        };
        for lane in others {
            let has_room = |group: &usize| groups.lanes[*group].len() < MOST_LANES;
            let by_agreement =
                |a: &usize, b: &usize| groups.agreement[*a].total_cmp(&groups.agreement[*b]);
            let Some(worst) = (0..count).filter(has_room).max_by(by_agreement) else { break };
            groups.lanes[worst].push(*lane);
            groups.agreement[worst] *= agreement[*lane];
        }
        Some(groups)
    }

    /// How many groups two documents are expected to agree in.
    fn agreement(&self) -> f64 {
        self.agreement.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::equal_lanes;

    const LANES: usize = 64;
    const LEAST: usize = 52;

    /// Signatures of documents that agree in the first `shared` lanes. Every tenth is a copy of the
    /// one before, with up to 14 lanes changed.
    fn signatures(documents: u32, shared: usize) -> SignatureCache {
        let mut random = fastrand::Rng::with_seed(u64::from(documents));
        let mut cache = SignatureCache::of_width(LANES);
        let mut lanes = [7; LANES];
        for doc in 0..documents {
            if doc % 10 == 0 {
                for _ in 0..random.usize(..15) {
                    lanes[random.usize(..LANES)] = random.u8(..);
                }
            } else {
                lanes = [7; LANES];
                lanes[shared..].fill_with(|| random.u8(..));
            }
            cache.push(DocNo(3 * doc), &lanes);
        }
        cache
    }

    #[test]
    fn no_similar_pair_is_missed_and_few_others_are_met() {
        const DOCUMENTS: u32 = 1_500;
        let signatures = signatures(DOCUMENTS, 30);
        let docs: Vec<DocNo> = (0..DOCUMENTS).map(|doc| DocNo(3 * doc)).collect();
        let pairs = f64::from(DOCUMENTS).powi(2);
        let crowd = Crowd::of(docs.clone(), pairs, LEAST, &signatures, usize::MAX, || Ok(()));
        let crowd = crowd.expect("not stopped").expect("useful");
        let lanes = |doc: DocNo| signatures.get(doc).expect("in memory");
        let (mut met, mut similar) = (0_usize, 0);
        for &doc in &docs {
            let mut found = Vec::new();
            crowd.visit(doc, |other| found.push(other));
            found.sort_unstable();
            found.dedup();
            for &other in &docs {
                if equal_lanes(lanes(doc), lanes(other)) >= LEAST {
                    assert!(found.binary_search(&other).is_ok(), "{doc:?} and {other:?}");
                    similar += 1;
                }
            }
            met += found.len();
        }
        assert!(similar > DOCUMENTS + 50, "{similar} similar");
        assert!((met as f64) < pairs / 20.0, "{met} of {pairs} pairs");
    }

    #[test]
    fn documents_that_agree_in_most_lanes_are_no_crowd() {
        let docs: Vec<DocNo> = (0..2_000).map(|doc| DocNo(3 * doc)).collect();
        let of = |shared, budget| {
            let signatures = signatures(2_000, shared);
            let crowd = Crowd::of(docs.clone(), 4e6, LEAST, &signatures, budget, || Ok(()));
            crowd.expect("not stopped").is_some()
        };
        assert!(of(10, usize::MAX) && !of(60, usize::MAX));
        assert!(!of(10, 1 << 16), "not within the memory");
    }
}
