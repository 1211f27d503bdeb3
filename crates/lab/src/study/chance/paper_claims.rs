//! Checks what the papers say about chance: a similarity of about 30 %, and a law whose first
//! printed form does not sum to 1.

use super::ChanceRow;
use crate::study::Finding;
use twindex::RandomSubsets;
use twindex::Result;

/// Small sizes k, m of two sets and n of the universe.
const SMALL: [(u64, u64, u64); 6] =
    [(1, 1, 2), (1, 2, 3), (3, 5, 8), (5, 5, 10), (4, 7, 20), (10, 10, 20)];

/// The binomial coefficient.
fn choices(of: u64, some: u64) -> f64 {
    if some > of {
        return 0.0;
    }
    (0..some).fold(1.0, |product, at| product * (of - at) as f64 / (at + 1) as f64)
}

/// The two halves of the law of the number of common elements: equation 10 of Dembele, Lo 2017,
/// without the division by 2.
fn halves((k, m, n): (u64, u64, u64), j: u64) -> (f64, f64) {
    let first = choices(k, j) * choices(n - k, m - j) / choices(n, m);
    (first, choices(m, j) * choices(n - m, k - j) / choices(n, k))
}

/// The sum of equation 2 of Dembele, Lo 2015, which divides both halves by C(n, k) C(n, m).
pub(super) fn sum_as_printed((k, m, n): (u64, u64, u64)) -> f64 {
    let both = choices(n, k) * choices(n, m);
    let term = |j| choices(m, j) * choices(n - m, k - j) + choices(k, j) * choices(n - k, m - j);
    (0..=k.min(m)).map(|j| term(j) / both / 2.0).sum()
}

/// The findings about the rows of the papers' sizes.
///
/// # Errors
///
/// None for these sizes.
pub(super) fn findings(rows: &[ChanceRow]) -> Result<Vec<Finding>> {
    let means: Vec<f64> = rows.iter().take(super::SIZES.len()).map(|row| row.papers.mean).collect();
    let range = |values: &[f64]| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        (least, values.iter().copied().fold(0.0, f64::max))
    };
    let (least, greatest) = range(&means);
    let mut thirds = Vec::new();
    for size in [50, 1_000, 50_000, 80_000, 110_000, 1_000_000] {
        let mean = RandomSubsets::new(size, size, 2 * size)?.expected_similarity();
        thirds.push(((mean - 1.0 / 3.0).abs() * size as f64, mean));
    }
    let unequal = SMALL.map(|sizes| {
        let gap = |j| (halves(sizes, j).0 - halves(sizes, j).1).abs();
        (0..=sizes.0.min(sizes.1)).map(gap).fold(0.0, f64::max)
    });
    let sums = SMALL
        .map(|sizes| (0..=sizes.0.min(sizes.1)).map(|j| halves(sizes, j).0).sum::<f64>() - 1.0);
    let worst = |values: &[f64]| values.iter().fold(0.0, |worst: f64, x| worst.max(x.abs()));
    let all_printed = SMALL.map(sum_as_printed);
    Ok(vec![
        Finding::new(
            "with sizes of 50,000 to 110,000 in a universe of a + b, chance makes about 30 %",
            least > 0.27 && greatest < 0.34,
            format!("{:.2} to {:.2} %", 100.0 * least, 100.0 * greatest),
        ),
        Finding::new(
            "with equal sizes, chance always makes about a third in that universe",
            thirds.iter().all(|(gap, _)| *gap < 0.1),
            format!(
                "{:.5} for 50, {:.7} for 50,000, {:.8} for 1,000,000",
                thirds[0].1, thirds[2].1, thirds[5].1
            ),
        ),
        Finding::new(
            "both halves of the law of 2017 (eq. 10) are equal, and it sums to 1",
            worst(&unequal) < 1e-12 && worst(&sums) < 1e-12,
            format!(
                "apart by {:.0e} at most, off 1 by {:.0e} at most, for {} sizes up to n = 20",
                worst(&unequal),
                worst(&sums),
                SMALL.len()
            ),
        ),
        Finding::new(
            "the law of 2015 (eq. 2), with the product of both denominators, does not sum to 1",
            all_printed.iter().all(|sum| *sum < 0.6),
            format!(
                "it sums to (1/C(n, k) + 1/C(n, m))/2: {:.4} for sizes 1 and 1 of 2, {:.4} for 5 \
                 and 5 of 10, {:.1e} for 10 and 10 of 20",
                all_printed[0], all_printed[3], all_printed[5]
            ),
        ),
    ])
}
