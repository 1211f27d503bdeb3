//! Finds the similar ones among the many documents of a bucket that are mostly not similar.
//!
//! Texts with a long part in common share buckets, even if the rest differs. Comparing each of them
//! with each takes time that grows with the square of their number. But similar documents differ in
//! few lanes. If the lanes are divided into more groups than that, two similar documents agree in
//! all lanes of at least one group, by the pigeonhole principle. Few pairs have to be compared if
//! the lanes of a group agree in few documents.

use crate::error::Result;
use crate::index::group::signature_cache::SignatureCache;
use crate::lsh::{LaneGroups, group_key};
use crate::store::{DocNo, parallel, sort_spread};

/// A crowd is used if it leaves at most this share of the pairs.
const WORTHWHILE: f64 = 0.25;

/// The documents of a large bucket, ordered by each group of lanes.
pub(super) struct Crowd {
    /// The documents with their ranks, which ascend.
    docs: Vec<(u32, DocNo)>,
    orders: Vec<Order>,
}

/// Documents in the order of a group of lanes.
struct Order {
    /// The places of the documents. Those that agree in the group follow each other, and their
    /// places ascend.
    places: Vec<u32>,
    /// Whether a document agrees with the one before it.
    agrees: Vec<bool>,
    /// Where each document is in `places`.
    at: Vec<u32>,
}

impl Crowd {
    /// The memory for a document in the order of one group, in bytes.
    const BYTES: usize = 2 * size_of::<u32>() + size_of::<bool>();

    /// Orders documents, given with their ranks, which ascend. Pairs with at least `least` equal
    /// lanes are looked for. Returns `None` if this would take more memory than `budget`, or leave
    /// too many pairs. Calls `go_on` from time to time, which may stop the work.
    pub(super) fn order(
        docs: Vec<(u32, DocNo)>,
        least: usize,
        signatures: &SignatureCache,
        budget: usize,
        mut go_on: impl FnMut() -> Result<()>,
    ) -> Result<Option<Self>> {
        let Some(count) = signatures.width().checked_sub(least).map(|most| most + 1) else {
            return Ok(None);
        };
        let threads = rayon::current_num_threads();
        let while_made =
            threads * Order::WHILE_SORTED + size_of::<&[u8]>() + size_of::<(u32, DocNo)>();
        if docs.len().saturating_mul(count * Self::BYTES + while_made) > budget {
            return Ok(None);
        }
        let lanes: Option<Vec<&[u8]>> = docs.iter().map(|(_, doc)| signatures.get(*doc)).collect();
        let Some(lanes) = lanes else { return Ok(None) };
        let groups = LaneGroups::of(&lanes, least);
        let groups = groups.filter(|groups| groups.agreement() <= WORTHWHILE);
        let Some(mut groups) = groups.map(LaneGroups::into_groups) else { return Ok(None) };
        let mut left = WORTHWHILE * pairs(docs.len());
        let mut orders = Vec::with_capacity(count);
        let shared = docs.len() >= parallel::MIN_DOCUMENTS;
        while !groups.is_empty() {
            let now = groups.drain(..threads.min(groups.len())).collect();
            let now = parallel::map(now, shared, |group: Vec<usize>| Order::sort(&lanes, &group));
            left -= now.iter().map(Order::pairs).sum::<f64>();
            if left < 0.0 {
                return Ok(None);
            }
            orders.extend(now);
            go_on()?;
        }
        Ok(Some(Self { docs, orders }))
    }

    /// The memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.docs.len() * (self.orders.len() * Self::BYTES + size_of::<(u32, DocNo)>())
    }

    /// Visits the documents of later ranks that may be similar to the one of this rank, some
    /// repeatedly.
    pub(super) fn visit_later(&self, rank: u32, mut visit: impl FnMut(DocNo)) {
        let Ok(own) = self.docs.binary_search_by_key(&rank, |(rank, _)| *rank) else { return };
        for order in &self.orders {
            order.later(own).iter().for_each(|place| visit(self.docs[*place as usize].1));
        }
    }
}

impl Order {
    /// The memory for a document while an order is made, in bytes: the keys are sorted in two
    /// blocks.
    const WHILE_SORTED: usize = 2 * size_of::<(u64, u32)>();

    /// Sorts documents, given by their lanes, by a group of them.
    fn sort(lanes: &[&[u8]], group: &[usize]) -> Self {
        let keys = lanes.iter().map(|lanes| group_key(lanes, group));
        let mut keys: Vec<(u64, u32)> = keys.zip(0..).collect();
        sort_spread(&mut keys, &mut Vec::new(), |(key, _)| *key);
        let mut at = vec![0; keys.len()];
        keys.iter().zip(0..).for_each(|((_, place), order)| at[*place as usize] = order);
        let agrees = keys.windows(2).map(|two| two[0].0 == two[1].0);
        let agrees = [false].into_iter().chain(agrees).take(keys.len()).collect();
        Self { places: keys.into_iter().map(|(_, place)| place).collect(), agrees, at }
    }

    /// The later documents that agree with this one in the group.
    fn later(&self, place: usize) -> &[u32] {
        let next = self.at[place] as usize + 1;
        let count = self.agrees[next..].iter().take_while(|agrees| **agrees).count();
        &self.places[next..next + count]
    }

    /// The number of pairs that agree in the group.
    fn pairs(&self) -> f64 {
        self.agrees.chunk_by(|_, agrees| *agrees).map(|run| pairs(run.len())).sum()
    }
}

/// The number of pairs of this many documents.
fn pairs(documents: usize) -> f64 {
    (documents * documents.saturating_sub(1) / 2) as f64
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
        let ranked = (0..).step_by(2).zip(docs.iter().copied()).collect();
        let crowd = Crowd::order(ranked, LEAST, &signatures, usize::MAX, || Ok(()));
        let crowd = crowd.expect("not stopped").expect("useful");
        let lanes = |doc: DocNo| signatures.get(doc).expect("in memory");
        let (mut met, mut similar) = (0_usize, 0);
        for (rank, &doc) in (0..).step_by(2).zip(&docs) {
            let mut found = Vec::new();
            crowd.visit_later(rank, |other| found.push(other));
            found.sort_unstable();
            found.dedup();
            assert!(found.iter().all(|other| *other > doc));
            for &other in docs.iter().filter(|other| **other > doc) {
                if equal_lanes(lanes(doc), lanes(other)) >= LEAST {
                    assert!(found.binary_search(&other).is_ok(), "{doc:?} and {other:?}");
                    similar += 1;
                }
            }
            met += found.len();
        }
        assert!(similar > 25, "{similar} similar");
        let pairs = docs.len().pow(2) / 2;
        assert!(met < pairs / 20, "{met} of {pairs} pairs");
    }

    #[test]
    fn documents_that_agree_in_most_lanes_are_no_crowd() {
        let docs: Vec<(u32, DocNo)> = (0..2_000).map(|doc| (doc, DocNo(3 * doc))).collect();
        let of = |shared, budget| {
            let signatures = signatures(2_000, shared);
            let crowd = Crowd::order(docs.clone(), LEAST, &signatures, budget, || Ok(()));
            crowd.expect("not stopped").is_some()
        };
        assert!(of(10, usize::MAX) && !of(60, usize::MAX));
        assert!(!of(10, 1 << 16), "not within the memory");
    }
}
