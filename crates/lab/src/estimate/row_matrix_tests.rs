//! Compares RU and RUM with brute force over the rows, and with their laws.

use super::*;
use proptest::prelude::*;
use twindex::Overlap;
use twindex::{Normalization, Shingle, Shingler};

const CONFIDENCE: f64 = 0.95;

/// All maps of n rows: every x, or only units, with every y.
fn all_maps(n: u64, units: bool) -> AffineMaps {
    let fits = |x: &u64| !units || crate::sketch::greatest_divisor(*x, n) == 1;
    let pairs = (1..=n).filter(fits).flat_map(|x| (1..=n).map(move |y| (x, y)));
    AffineMaps::new(n, pairs.collect()).expect("maps")
}

/// The number of maps with equal minima over both sets, by criterion C as printed.
fn by_criterion(maps: &AffineMaps, a: &[u64], b: &[u64]) -> u32 {
    let of = |rows: &[u64]| maps.minima(rows.iter().copied());
    let (Some(a), Some(b)) = (of(a), of(b)) else { return 0 };
    a.iter().zip(&b).map(|(x, y)| u32::from(x == y)).sum()
}

/// The numbers, counted from 1, of the rows that satisfy `fits`.
fn numbers<'r>(rows: impl Iterator<Item = &'r u64>, fits: impl Fn(&u64) -> bool) -> Vec<u64> {
    (1..).zip(rows).filter(|(_, x)| fits(x)).map(|(row, _)| row).collect()
}

proptest! {
    #[test]
    fn it_agrees_with_the_rows_written_out(
        a in proptest::collection::vec(0_u64..30, 0..25),
        b in proptest::collection::vec(0_u64..30, 0..25),
        seed: u64,
        units: bool,
        k in 1_usize..15,
    ) {
        // A repeated element has one row, that of its first occurrence.
        let first = |set: &[u64]| -> Vec<u64> {
            (0..set.len()).filter(|i| !set[..*i].contains(&set[*i])).map(|i| set[i]).collect()
        };
        let (once_a, once_b) = (first(&a), first(&b));
        let union = first(&[a.clone(), b.clone()].concat());
        let stacked = [once_a.clone(), once_b.clone()].concat();
        let matrix = RowMatrix::of_sets(&a, &b);
        prop_assert_eq!(matrix.union_rows(), union.len() as u64);
        prop_assert_eq!(matrix.stacked_rows(), stacked.len() as u64);
        let maps = |n: u64| {
            let maps = if units { AffineMaps::units } else { AffineMaps::any };
            maps(k, n, seed).expect("maps")
        };
        let (in_a, in_b) = (|x: &u64| a.contains(x), |x: &u64| b.contains(x));
        let of_union = maps(matrix.union_rows());
        let expected =
            by_criterion(&of_union, &numbers(union.iter(), in_a), &numbers(union.iter(), in_b));
        prop_assert_eq!(matrix.ru(&of_union, CONFIDENCE).expect("rows that fit").equal, expected);
        let of_stacked = maps(matrix.stacked_rows());
        let (rows_a, rows_b) = (numbers(stacked.iter(), in_a), numbers(stacked.iter(), in_b));
        let expected = by_criterion(&of_stacked, &rows_a, &rows_b);
        let got = matrix.rum(&of_stacked, CONFIDENCE).expect("rows that fit");
        prop_assert_eq!(got.equal, expected);
        for estimate in [got.dice, got.jaccard] {
            prop_assert!(0.0 <= estimate.low && estimate.low <= estimate.similarity);
            prop_assert!(estimate.similarity <= estimate.high && estimate.high <= 1.0);
        }
    }
}

#[test]
fn the_mean_over_all_maps_of_units_is_the_similarity_itself() {
    // Consecutive rows, every third row, and mixed rows; n is prime, a power of two, or has many
    // divisors.
    let every_third: Vec<u64> = (0..12).step_by(3).collect();
    for (a, b) in [
        ((0..7).collect::<Vec<u64>>(), (4..11).collect::<Vec<u64>>()),
        ((0..12).collect(), every_third),
        (vec![5, 1, 8, 3, 9, 2, 0, 4], vec![8, 9, 30, 31, 1, 32, 33, 34, 35, 36, 37, 38]),
    ] {
        let (matrix, overlap) =
            (RowMatrix::of_sets(&a, &b), Overlap::of_sets(&sorted(&a), &sorted(&b)));
        let maps = all_maps(matrix.union_rows(), true);
        let got = matrix.ru(&maps, CONFIDENCE).expect("rows that fit").jaccard.similarity;
        assert!((got - overlap.similarity()).abs() < 1e-15, "{a:?} and {b:?}: {got}");
        let maps = all_maps(matrix.stacked_rows(), true);
        let got = matrix.rum(&maps, CONFIDENCE).expect("rows that fit");
        assert!((got.dice.similarity - overlap.dice()).abs() < 1e-15, "{a:?} and {b:?}: {got:?}");
        assert!((got.jaccard.similarity - overlap.similarity()).abs() < 1e-15, "{got:?}");
    }
}

#[test]
fn maps_that_are_not_permutations_overestimate() {
    let (a, b): (Vec<u64>, Vec<u64>) = ((0..8).collect(), (4..12).collect());
    let matrix = RowMatrix::of_sets(&a, &b);
    let got = matrix.ru(&all_maps(12, false), CONFIDENCE).expect("rows that fit");
    // 4 of 12 rows are common. An enumeration in Python found that 112 of the 144 maps agree.
    assert_eq!((got.equal, got.maps), (112, 144));
}

#[test]
fn a_multiset_is_a_set_of_ranked_hashes() {
    let shingler = Shingler::new(Shingle::chars(1), Normalization::NONE, true, 0).expect("valid");
    let (a, b) = (shingler.hashes("aaab"), shingler.hashes("aabbc"));
    // Twice a and once b of 4 and 5: dice 6/9, similarity 3/6.
    let matrix = RowMatrix::of_sets(&a, &b);
    assert_eq!((matrix.union_rows(), matrix.stacked_rows()), (6, 9));
    let got = matrix.rum(&all_maps(9, true), CONFIDENCE).expect("rows that fit");
    assert!((got.dice.similarity - 6.0 / 9.0).abs() < 1e-15);
    assert!((got.jaccard.similarity - 0.5).abs() < 1e-15);
}

#[test]
fn estimates_follow_their_laws() {
    let (a, b): (Vec<u64>, Vec<u64>) = ((0..90).collect(), (10..100).collect());
    let (matrix, k, runs) = (RowMatrix::of_sets(&a, &b), 16, 4_000);
    let (mut ru, mut rum) = (Vec::new(), Vec::new());
    for seed in 0..runs {
        let maps = AffineMaps::units(k, matrix.union_rows(), seed).expect("maps");
        ru.push(matrix.ru(&maps, CONFIDENCE).expect("rows that fit").jaccard.similarity);
        let maps = AffineMaps::units(k, matrix.stacked_rows(), seed).expect("maps");
        rum.push(matrix.rum(&maps, CONFIDENCE).expect("rows that fit").jaccard.similarity);
    }
    let moments = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64)
    };
    let ((mean, variance), (mean_stacked, variance_stacked)) = (moments(&ru), moments(&rum));
    // The bounds are four standard errors, 0.1/√4,000 for a mean and 2.3 % for a variance, plus
    // terms of the order 1/k.
    assert!((mean - 0.8).abs() < 0.0065, "{mean}");
    assert!((variance / 0.01 - 1.0).abs() < 0.1, "{variance}");
    assert!((mean_stacked - 0.8 - 0.288 / 32.0).abs() < 0.01, "{mean_stacked}");
    assert!((variance_stacked / variance - 1.62).abs() < 0.35, "{variance_stacked}");
}

#[test]
fn empty_equal_and_disjoint_sets_have_their_exact_estimates() {
    let one = AffineMaps::units(1, 1, 0).expect("maps");
    let same = RowMatrix::of_sets(&[7, 7], &[7]);
    assert_eq!(same.ru(&one, CONFIDENCE).expect("one row").jaccard.similarity, 1.0);
    for (a, b) in [(&[][..], &[][..]), (&[1, 2][..], &[][..]), (&[][..], &[1, 2][..])] {
        let matrix = RowMatrix::of_sets(a, b);
        let maps = AffineMaps::any(1, matrix.stacked_rows(), 0).expect("maps");
        let (ru, rum) = (matrix.ru(&maps, CONFIDENCE), matrix.rum(&maps, CONFIDENCE));
        let nothing = Estimate { similarity: 0.0, low: 0.0, high: 0.0 };
        assert_eq!(ru.expect("rows that fit").jaccard, nothing);
        assert_eq!(rum.expect("rows that fit").jaccard, nothing);
    }
    let apart = RowMatrix::of_sets(&[1], &[2]);
    let got =
        apart.ru(&AffineMaps::units(9, 2, 0).expect("maps"), CONFIDENCE).expect("rows that fit");
    assert_eq!((got.equal, got.jaccard.similarity, got.jaccard.low), (0, 0.0, 0.0));
    let got =
        apart.rum(&AffineMaps::units(9, 2, 0).expect("maps"), CONFIDENCE).expect("rows that fit");
    assert_eq!((got.equal, got.jaccard.similarity, got.jaccard.low), (0, 0.0, 0.0));
}

#[test]
fn maps_of_another_matrix_are_refused() {
    let matrix = RowMatrix::of_sets(&[1, 2, 3], &[2, 3, 4]);
    let maps = |n| AffineMaps::units(5, n, 0).expect("maps");
    assert!(matrix.ru(&maps(4), CONFIDENCE).is_ok() && matrix.ru(&maps(6), CONFIDENCE).is_err());
    assert!(matrix.rum(&maps(6), CONFIDENCE).is_ok() && matrix.rum(&maps(4), CONFIDENCE).is_err());
}

fn sorted(set: &[u64]) -> Vec<u64> {
    let mut set = set.to_vec();
    set.sort_unstable();
    set
}
