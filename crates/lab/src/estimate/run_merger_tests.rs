//! Compares merging with sorting, and counting with [`Overlap`].

use super::*;
use crate::estimate::external_sort::RunSorter;
use proptest::prelude::*;

/// The hashes as runs of `each` hashes.
fn runs(hashes: &[u64], each: usize) -> RunFile {
    let mut sorter = RunSorter::new(8 * each).expect("a file");
    sorter.take(hashes).expect("written");
    sorter.end().expect("written")
}

fn sorted(hashes: &[u64]) -> Vec<u64> {
    let mut sorted = hashes.to_vec();
    sorted.sort_unstable();
    sorted
}

fn all(runs: &RunFile, buffer: usize) -> Vec<u64> {
    let mut merging = RunMerger::new(runs, &runs.runs, buffer).expect("read");
    let (mut piece, mut all) = (Vec::new(), Vec::new());
    while merging.next(&mut piece).expect("read") {
        assert!(!piece.is_empty() && piece.len() <= buffer / 8);
        all.extend_from_slice(&piece);
    }
    assert!(piece.is_empty() && !merging.next(&mut piece).expect("read"));
    all
}

/// Few distinct values, so that some are equal, and the greatest hash, which also marks the end of
/// a run.
fn hashes() -> impl Strategy<Value = Vec<u64>> {
    let hash = prop_oneof![0_u64..30, Just(u64::MAX), Just(u64::MAX - 1), any::<u64>()];
    proptest::collection::vec(hash, 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn merged_is_sorted(hashes in hashes(), each in 1_usize..50, buffer in 1_usize..9) {
        let runs = runs(&hashes, each);
        prop_assert_eq!(runs.runs.len(), hashes.len().div_ceil(each));
        prop_assert_eq!(all(&runs, 8 * buffer), sorted(&hashes));
    }

    #[test]
    fn merged_in_passes_is_sorted(hashes in hashes(), each in 1_usize..9, most in 2_usize..6) {
        let mut fewer = runs(&hashes, each);
        while fewer.runs.len() > 1 {
            let before = fewer.runs.len();
            let mut told = 0;
            let fewer_runs = fewer.merged(most, 1 << 10, &mut |count| {
                told += count;
                Ok(())
            });
            fewer = fewer_runs.expect("merged");
            prop_assert_eq!((fewer.runs.len(), told), (before.div_ceil(most), hashes.len() as u64));
        }
        prop_assert_eq!(all(&fewer, 64), sorted(&hashes));
    }

    #[test]
    fn shared_elements_are_counted_as_in_memory(
        a in hashes(), b in hashes(), each in 1_usize..50, buffer in 1_usize..9,
    ) {
        let (of_a, of_b) = (runs(&a, each), runs(&b, each));
        let merging = |runs| RunMerger::new(runs, &runs.runs, 8 * buffer).expect("read");
        let counted = count(merging(&of_a), merging(&of_b), &mut |_| Ok(())).expect("counted");
        let (mut a, mut b) = (sorted(&a), sorted(&b));
        let multisets = Overlap::of_multisets(&a, &b);
        a.dedup();
        b.dedup();
        prop_assert_eq!(counted, (Overlap::of_sets(&a, &b), multisets));
    }
}

#[test]
fn equal_hashes_of_many_runs_are_all_returned() {
    let hashes = vec![u64::MAX; 5_000];
    assert_eq!(all(&runs(&hashes, 100), 800), hashes);
}
