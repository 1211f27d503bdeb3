//! Compares the documents of a batch with all documents of crowded buckets at once.
//!
//! Texts with a long part in common share buckets, even if the rest differs. To compare each new
//! one with all of them takes time that grows with the square of their number. But similar
//! documents agree in all of a few lanes (see [`LaneGroups`]). So one pass through the documents of
//! crowded buckets looks each of them up in tables of the batch, which tell who may be similar.

use crate::error::Result;
use crate::estimate::equal_lanes_from;
use crate::index::ask::search::SearchPlan;
use crate::index::write::batch_buckets::BatchBuckets;
use crate::lsh::{LaneGroups, group_key, word};
use crate::store::{
    BandNo, Bucket, CandidateLimit, DocNo, Document, Foretold, Grouped, Replaced, View, parallel,
};
use rustc_hash::FxHashSet;
use std::sync::atomic::{AtomicI64, Ordering};

/// The fewest documents of a crowded bucket.
const CROWDED: usize = if cfg!(test) { 64 } else { 1 << 9 };

/// The fewest documents of the batch that ask for a crowded bucket.
const ASKING: u32 = 16;

/// The buckets that are read together.
const TOGETHER: usize = 16;

/// Crowded buckets that have more documents than this, repetitions included, are left alone, and so
/// are those with more similar pairs. It bounds the memory that a batch takes.
const MOST_ENTRIES: usize = 1 << 21;
const MOST_SIMILAR: i64 = 1 << 20;

/// The tables are used if they take at most this share of the work of the usual search.
const WORTHWHILE: f64 = 0.25;

/// What it costs to read a document in a bucket, and to look for one in a table, relative to a
/// comparison of lanes.
const READING: f64 = 0.25;
const LOOKUP: f64 = 0.25;

/// The documents of crowded buckets that are compared together.
const PART: usize = 1 << 10;

/// The crowded buckets of a batch.
struct Crowds {
    /// For each band, whether a bucket of the batch is crowded, by its place.
    buckets: Vec<Vec<bool>>,
    /// The documents of all crowded buckets, by number.
    docs: Vec<DocNo>,
    /// The documents of the batch that ask for a crowded bucket, by position. Each has the number
    /// of documents in its crowded buckets, repetitions included.
    asking: Vec<(u32, usize)>,
}

/// Lets the documents of a batch pass over crowded buckets, where that is less work than to search
/// them. `documents` has those that will be searched for at their positions.
pub(super) fn replace(
    view: &View<'_>,
    foretold: &mut Foretold<'_>,
    buckets: &BatchBuckets,
    documents: &[Option<&Document>],
    search_plan: SearchPlan,
) -> Result<()> {
    let Some(crowds) = Crowds::read(view, buckets, documents)? else { return Ok(()) };
    if let Some(replaced) = crowds.replaced(view, buckets, documents, search_plan)? {
        foretold.replace(replaced);
    }
    Ok(())
}

impl Crowds {
    /// Reads the crowded buckets. Returns `None` if there are none, or if they have too many
    /// documents.
    fn read(
        view: &View<'_>,
        buckets: &BatchBuckets,
        documents: &[Option<&Document>],
    ) -> Result<Option<Self>> {
        let mut asked: Vec<(Bucket, u32)> = Vec::new();
        for (band, in_band) in (0..).map(BandNo).zip(buckets.bands()) {
            let mut counts = vec![0; in_band.buckets.len()];
            for (place, _) in in_band.of.iter().zip(documents).filter(|(_, one)| one.is_some()) {
                counts.get_mut(*place as usize).into_iter().for_each(|count| *count += 1);
            }
            let counted = (0..).zip(&in_band.buckets).zip(counts);
            let many = counted.filter(|(_, count)| *count >= ASKING);
            asked.extend(many.map(|((at, words), _)| (Bucket { band, words: *words }, at)));
        }
        let unknown = |count: usize| vec![0; count];
        let mut sizes: Vec<Vec<usize>> =
            buckets.bands().iter().map(|in_band| unknown(in_band.buckets.len())).collect();
        let mut docs = Vec::new();
        for together in asked.chunks(TOGETHER) {
            let read = |(bucket, _)| view.bucket_within(bucket, CandidateLimit::READ);
            for ((bucket, at), found) in
                together.iter().zip(parallel::map(together.to_vec(), true, read))
            {
                let Some(found) = found?.filter(|docs| docs.len() >= CROWDED) else { continue };
                sizes[usize::from(bucket.band.0)][*at as usize] = found.len();
                docs.extend(found);
            }
            if docs.len() > MOST_ENTRIES {
                return Ok(None);
            }
        }
        if docs.is_empty() {
            return Ok(None);
        }
        docs.sort_unstable();
        docs.dedup();
        let size = |at: usize| {
            let of_band = buckets.bands().iter().zip(&sizes);
            let own = of_band.filter_map(|(in_band, sizes)| {
                let place = *in_band.of.get(at)?;
                sizes.get(place as usize)
            });
            own.sum::<usize>()
        };
        let searched = (0..).zip(documents).filter(|(_, document)| document.is_some());
        let asking = searched.map(|(at, _)| (at, size(at as usize)));
        let asking = asking.filter(|(_, size)| *size > 0).collect();
        let is_crowded = |sizes: Vec<usize>| sizes.into_iter().map(|size| size > 0).collect();
        Ok(Some(Self { buckets: sizes.into_iter().map(is_crowded).collect(), docs, asking }))
    }

    /// Finds the documents of the crowded buckets that share a bucket with a document of the batch
    /// and have enough equal lanes. For a document that has more of them than the plan compares,
    /// the usual search remains. Returns `None` if the tables would take too much work, or find too
    /// much.
    fn replaced(
        self,
        view: &View<'_>,
        buckets: &BatchBuckets,
        documents: &[Option<&Document>],
        search_plan: SearchPlan,
    ) -> Result<Option<Replaced>> {
        let most = search_plan.limit.map_or(usize::MAX, |limit| limit.compared);
        let usual = |size: usize| size.min(most) as f64 + READING * size as f64;
        let usual: f64 = self.asking.iter().map(|(_, size)| usual(*size)).sum();
        let work = WORTHWHILE * usual;
        let lanes = |at: u32| documents.get(at as usize).copied().flatten();
        let lanes = self.asking.iter().filter_map(|(at, _)| Some((*at, lanes(*at)?)));
        let asking: Vec<(u32, &[u8])> =
            lanes.map(|(at, document)| (at, document.signature.lanes())).collect();
        let Some(tables) = self.tables(&asking, search_plan.least, work) else { return Ok(None) };
        let left = [work as i64, MOST_SIMILAR].map(AtomicI64::new);
        let comparison = Comparison { buckets, search_plan, asking, tables, left };
        let parts = self.docs.chunks(PART).collect();
        let mut similar: Vec<(u32, DocNo)> = Vec::new();
        for found in parallel::map(parts, true, |part| comparison.similar_among(view, part)) {
            let Some(found) = found? else { return Ok(None) };
            similar.extend(found);
        }
        let mut passing = vec![false; documents.len()];
        self.asking.iter().for_each(|(at, _)| passing[*at as usize] = true);
        similar.sort_unstable();
        for of_one in similar.chunk_by(|(one, _), (other, _)| one == other) {
            if let Some((at, _)) = of_one.first().filter(|_| of_one.len() > most) {
                passing[*at as usize] = false;
            }
        }
        similar.retain(|(at, _)| passing[*at as usize]);
        let wanted = Grouped::new(similar, documents.len());
        Ok(Some(Replaced { buckets: self.buckets, passing, wanted }))
    }

    /// A table for each group of lanes, or `None` if to use them would take more than this work.
    fn tables(&self, asking: &[(u32, &[u8])], least: usize, work: f64) -> Option<Vec<Table>> {
        let lanes: Vec<&[u8]> = asking.iter().map(|(_, lanes)| *lanes).collect();
        let groups = LaneGroups::of(&lanes, least)?;
        let (agreement, groups) = (groups.agreement(), groups.into_groups());
        let each = agreement * lanes.len() as f64 + LOOKUP * groups.len() as f64;
        let is_worthwhile = each * self.docs.len() as f64 <= work;
        is_worthwhile.then(|| parallel::map(groups, true, |group| Table::new(group, &lanes)))
    }
}

/// What documents of crowded buckets are compared with.
struct Comparison<'a> {
    buckets: &'a BatchBuckets,
    search_plan: SearchPlan,
    /// The positions of documents of the batch, and their lanes.
    asking: Vec<(u32, &'a [u8])>,
    tables: Vec<Table>,
    /// The comparisons that may still be made, and the similar pairs that may still be found.
    left: [AtomicI64; 2],
}

impl Comparison<'_> {
    /// Looks for documents in the tables. Returns the documents of the batch, by position, and the
    /// similar ones among `docs`. Returns `None` if all parts together compare or find too much.
    fn similar_among(
        &self,
        view: &View<'_>,
        docs: &[DocNo],
    ) -> Result<Option<FxHashSet<(u32, DocNo)>>> {
        let mut found = FxHashSet::default();
        if self.is_too_much([0; 2]) {
            return Ok(None);
        }
        let width = self.asking.first().map_or(0, |(_, lanes)| lanes.len()).max(1);
        let mut block = Vec::with_capacity(docs.len() * width);
        view.for_each_signature_of(docs, |_| true, |_, lanes| block.extend_from_slice(lanes))?;
        // One table after the other stays in the cache.
        for table in &self.tables {
            let (mut compared, before) = (0, found.len());
            for (doc, other) in docs.iter().zip(block.chunks_exact(width)) {
                for place in table.agreeing(other) {
                    compared += 1;
                    let (at, lanes) = self.asking[place as usize];
                    let equal = equal_lanes_from(lanes, other, self.search_plan.least);
                    if equal.is_some() && self.share_bucket(at, other) {
                        found.insert((at, *doc));
                    }
                }
            }
            if self.is_too_much([compared, (found.len() - before) as i64]) {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }

    /// Counts comparisons and similar pairs. Whether there are too many does not depend on which
    /// thread counts first.
    fn is_too_much(&self, counts: [i64; 2]) -> bool {
        let counted = self.left.iter().zip(counts);
        let left = counted.map(|(left, count)| left.fetch_sub(count, Ordering::Relaxed) - count);
        left.fold(false, |is_too_much, left| is_too_much | (left < 0))
    }

    /// Whether a document with these lanes is in a bucket of the one at this position of the batch.
    fn share_bucket(&self, at: u32, lanes: &[u8]) -> bool {
        let depth = self.search_plan.plan.depth();
        self.buckets.bands().iter().enumerate().any(|(band, in_band)| {
            let bucket = in_band.of.get(at as usize);
            let bucket = bucket.and_then(|place| in_band.buckets.get(*place as usize));
            bucket.is_some_and(|words| words.contains(word(lanes, band, depth)))
        })
    }
}

/// Documents of a batch by what they have in a group of lanes.
struct Table {
    group: Vec<usize>,
    /// Whether a document has a key with this hash, in bits.
    hashes: Vec<u64>,
    /// The key of each document and its place among those that ask, in this order.
    keys: Vec<(u64, u32)>,
}

impl Table {
    /// The bits of a hash: few enough for a cache of the first level.
    const BITS: u32 = 17;

    fn new(group: Vec<usize>, asking: &[&[u8]]) -> Self {
        let keys = asking.iter().map(|lanes| group_key(lanes, &group));
        let mut keys: Vec<(u64, u32)> = keys.zip(0..).collect();
        keys.sort_unstable();
        let mut hashes = vec![0; 1 << (Self::BITS - 6)];
        for (key, _) in &keys {
            let (at, bit) = Self::bit(*key);
            hashes[at] |= bit;
        }
        Self { group, hashes, keys }
    }

    /// Where the bit of a key is.
    fn bit(key: u64) -> (usize, u64) {
        // The golden ratio spreads keys (Knuth, TAOCP 3, 6.4).
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - Self::BITS);
        ((hash >> 6) as usize, 1 << (hash & 63))
    }

    /// The places of the documents that agree with these lanes in the group.
    fn agreeing(&self, lanes: &[u8]) -> impl Iterator<Item = u32> {
        let key = group_key(lanes, &self.group);
        let (at, bit) = Self::bit(key);
        let from = match self.hashes[at] & bit {
            0 => self.keys.len(),
            _ => self.keys.partition_point(|(other, _)| *other < key),
        };
        let equal = self.keys[from..].iter().take_while(move |(other, _)| *other == key);
        equal.map(|(_, place)| *place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::ask::search::{Similar, find_similar};
    use crate::index::ask::verify::Margins;
    use crate::params::Threshold;
    use crate::sketch::Signature;
    use crate::store::sim::testing::{documents as samples, filled, insert_into};
    use crate::store::{Asked, Engine};
    use std::cell::Cell;

    /// Documents that agree in the first 30 of 64 lanes, which fill several buckets. Every tenth is
    /// a copy of one of the first ones of `from`, with up to 14 lanes changed.
    fn half_alike(engine: &Engine, from: u64, count: u64) -> Vec<Document> {
        let sample = samples(engine, 0..1).remove(0);
        let document = |number: u64| {
            let mut random = fastrand::Rng::with_seed(number);
            let mut lanes = [7; 64];
            let base = if number.is_multiple_of(10) { number % 400 + 1 } else { number };
            let mut own = fastrand::Rng::with_seed(base + 1_000_000);
            lanes[30..].fill_with(|| own.u8(..));
            for _ in 0..if base == number { 0 } else { random.usize(..15) } {
                lanes[random.usize(..64)] = random.u8(..);
            }
            let signature = Signature::from_lanes(lanes, 1_000);
            Document { id: format!("half {number}"), signature, ..sample.clone() }
        };
        (from..from + count).map(document).collect()
    }

    #[test]
    fn the_same_is_similar_whether_crowded_buckets_are_replaced_or_not() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 3);
        let old = half_alike(&engine, 0, 900);
        for (number, some) in (0..).zip(old.chunks(90)) {
            let mut writer = engine.write().expect("begun");
            some.iter().cloned().for_each(|document| insert_into(&mut writer, document));
            assert!(writer.remove(&format!("half {}", 90 * number + 11)).expect("removed"));
            writer.commit().expect("committed");
        }
        let reader = engine.read().expect("a reader");
        let view = reader.view();
        let new = half_alike(&engine, 900, 300);
        let new: Vec<&Document> = new.iter().collect();
        let searched: Vec<Option<&Document>> = new.iter().copied().map(Some).collect();
        let settings = engine.settings();
        for (threshold, is_replaced) in [(0.7, true), (0.8, true), (0.9, true), (0.2, false)] {
            let threshold = Threshold::new(threshold).expect("a threshold");
            let plan = SearchPlan::new(settings, &Margins::default(), threshold, false);
            let buckets = BatchBuckets::find(&new, plan.plan, plan.probe);
            let all = view.foretell(buckets.bands());
            let mut replaced = view.foretell(buckets.bands());
            replace(&view, &mut replaced, &buckets, &searched, plan).expect("readable");
            let (mut visited, mut similar) = ([0_usize; 2], 0);
            for (at, document) in new.iter().enumerate() {
                let lanes = document.signature.lanes();
                let own = Cell::new(0);
                let [all, less] = [&all, &replaced].map(|foretold| {
                    let asked = Asked::Foretold(foretold, at);
                    let visit = |_, _: &[u8]| own.set(own.get() + 1);
                    view.candidates_among(asked, None, |_| true, visit).expect("readable");
                    let Similar { found, .. } =
                        find_similar(&view, lanes, Some(asked), plan, None, 900, |_| true)
                            .expect("readable");
                    (own.take(), found)
                });
                assert_eq!(
                    format!("{:?}", all.1),
                    format!("{:?}", less.1),
                    "{at} at {threshold:?}"
                );
                similar += less.1.len();
                visited[0] += all.0;
                visited[1] += less.0;
            }
            assert!(similar > 20, "{similar} similar at {threshold:?}");
            let are_fewer = 4 * visited[1] < visited[0];
            assert_eq!(are_fewer, is_replaced, "{visited:?} visited at {threshold:?}");
        }
    }

    #[test]
    fn what_has_too_many_similar_ones_or_is_not_searched_for_passes_over_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 3);
        for some in half_alike(&engine, 0, 900).chunks(90) {
            let mut writer = engine.write().expect("begun");
            some.iter().cloned().for_each(|document| insert_into(&mut writer, document));
            writer.commit().expect("committed");
        }
        let reader = engine.read().expect("a reader");
        let view = reader.view();
        let new = half_alike(&engine, 900, 300);
        let new: Vec<&Document> = new.iter().collect();
        let searched: Vec<Option<&Document>> =
            new.iter().enumerate().map(|(at, new)| (at % 7 > 0).then_some(*new)).collect();
        let threshold = Threshold::new(0.7).expect("a threshold");
        let plan = SearchPlan::new(engine.settings(), &Margins::default(), threshold, false);
        let buckets = BatchBuckets::find(&new, plan.plan, plan.probe);
        let replaced = |compared: Option<usize>| {
            let crowds =
                Crowds::read(&view, &buckets, &searched).expect("readable").expect("crowds");
            let plan =
                SearchPlan { limit: compared.map(|compared| CandidateLimit { compared }), ..plan };
            let replaced = crowds.replaced(&view, &buckets, &searched, plan).expect("readable");
            replaced.expect("worthwhile")
        };
        let (all, few) = (replaced(None), replaced(Some(1)));
        assert!((0..300).any(|at| all.wanted.of(at).len() > 1));
        for at in 0..300_u32 {
            let wanted = all.wanted.of(at);
            let is_searched = at % 7 > 0;
            assert_eq!(all.passing[at as usize], is_searched, "{at}");
            assert_eq!(few.passing[at as usize], is_searched && wanted.len() <= 1, "{at}");
        }
    }
}
