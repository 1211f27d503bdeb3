//! Counts the documents in each bucket, which shows whether one text dominates the index.

use crate::error::Result;
use crate::index::snapshot::Snapshot;
use crate::store::{BandEntries, BandNo, parallel};

/// The distribution of bucket sizes in the first bands of an index, at the index's own depth.
///
/// A document with shingles is in exactly one bucket of each band. An empty document is in none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BucketSizes {
    /// The number of bands that were counted.
    pub bands: usize,
    /// The number of documents in the largest bucket; 0 if there are no buckets.
    pub largest: u64,
    /// The buckets by size: 1, 2, 3 to 4, 5 to 8, 9 to 16, ... documents, up to the largest.
    pub classes: Vec<SizeClass>,
}

/// The number of buckets whose sizes lie in one range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SizeClass {
    /// The smallest size in the range, in documents.
    pub from: u64,
    /// The largest size in the range, in documents.
    pub to: u64,
    /// The number of buckets in the range.
    pub buckets: u64,
}

/// The bucket counts of one band by size class, and the size of its largest bucket.
type Counts = (Vec<u64>, u64);

impl Snapshot {
    /// Counts the documents in the buckets of the first `bands` bands; pass `usize::MAX` for all.
    ///
    /// Reads the entries of these bands on all threads. An entry costs about 90 ns, so a band of a
    /// million documents costs 90 ms on one core.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io).
    pub fn bucket_sizes(&self, bands: usize) -> Result<BucketSizes> {
        BucketSizes::count(self, bands)
    }
}

impl BucketSizes {
    /// Counts one band per thread. Memory use does not depend on the size of the index.
    fn count(snapshot: &Snapshot, bands: usize) -> Result<Self> {
        let bands = bands.min(snapshot.settings().plan.bands());
        let count = |band| count_band(snapshot, BandNo(band as u8));
        let counts = parallel::try_map((0..bands).collect(), count)?;
        let (mut total, mut largest) = (Vec::new(), 0);
        for (counts, most) in counts {
            total.resize(counts.len().max(total.len()), 0);
            total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            largest = most.max(largest);
        }
        let class = |(class, buckets): (usize, u64)| {
            let to = 1_u64 << class;
            SizeClass { from: to / 2 + 1, to, buckets }
        };
        Ok(Self { bands, largest, classes: total.into_iter().enumerate().map(class).collect() })
    }
}

fn count_band(snapshot: &Snapshot, band: BandNo) -> Result<Counts> {
    let view = snapshot.view();
    let mut entries = BandEntries::new(&view, band);
    let (mut counts, mut largest) = (Vec::new(), 0);
    let mut take = |size: u64| {
        // The number of binary digits of `size - 1`, which puts 1, 2, 3 to 4, 5 to 8, ... in
        // classes.
        let class = (u64::BITS - (size - 1).leading_zeros()) as usize;
        if counts.len() <= class {
            counts.resize(class + 1, 0);
        }
        counts[class] += 1;
        largest = size.max(largest);
    };
    let mut bucket: Option<(u64, u64)> = None;
    while let Some((word, _)) = entries.next(&view)? {
        match &mut bucket {
            Some((same, size)) if *same == word => *size += 1,
            other => {
                if let Some((_, size)) = other.replace((word, 1)) {
                    take(size);
                }
            }
        }
    }
    if let Some((_, size)) = bucket {
        take(size);
    }
    Ok((counts, largest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;

    #[test]
    fn buckets_are_counted_by_powers_of_two() -> Result<()> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index = Index::options().flush_documents(7).create(folder.path().join("i.twx"))?;
        let mut txn = index.begin_write()?;
        for copy in 0..9 {
            txn.insert(&format!("copy-{copy}"), "one text that is there many times")?;
            txn.insert(&format!("other-{copy}"), &format!("{copy} {copy}{copy} is alone"))?;
        }
        txn.insert("empty", "")?;
        txn.commit()?;
        let mut txn = index.begin_write()?;
        txn.remove("copy-3")?;
        txn.remove("other-3")?;
        txn.commit()?;

        let sizes = index.snapshot()?.bucket_sizes(usize::MAX)?;
        assert_eq!((sizes.bands, sizes.largest), (16, 8));
        let classes: Vec<_> = sizes.classes.iter().map(|c| (c.from, c.to)).collect();
        assert_eq!(classes, [(1, 1), (2, 2), (3, 4), (5, 8)]);
        assert_eq!(sizes.classes.last().map(|class| class.buckets), Some(16));
        // Every document with shingles is in one bucket of each band.
        let others: u64 = sizes.classes.iter().take(3).map(|class| class.buckets).sum();
        assert!(others > 0 && others <= 8 * 16, "{sizes:?}");

        let first = index.snapshot()?.bucket_sizes(1)?;
        assert_eq!((first.bands, first.largest), (1, 8));
        assert_eq!(first.classes.last().map(|class| class.buckets), Some(1));
        Ok(())
    }

    #[test]
    fn an_empty_index_has_no_buckets() -> Result<()> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index = Index::create(folder.path().join("i.twx"))?;
        let sizes = index.snapshot()?.bucket_sizes(usize::MAX)?;
        assert_eq!((sizes.largest, sizes.classes.len()), (0, 0));
        Ok(())
    }
}
