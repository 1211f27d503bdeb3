//! The error of the similarity of samples over their size, and the rate of theorem 2.
//!
//! Dembele, Lo 2017, section 3.III: the error is said to vanish as (n1 + n2)^(-1/4).

use super::{Cell, TheoryPart, TheorySettings};
use crate::estimate::Sampling;
use crate::study::{Axis, Finding, Panel, Point, Series, SeriesKind, StudyContext, Table};
use twindex::Result;
use twindex::internals::fmix64;

/// The elements of each of two equal sets, 2/3 of which are common: J = 1/2. Few enough for the
/// exact law, and many.
const FEW: usize = 300;
const MANY: usize = 12_000;

/// The shares of the sets that are drawn.
const SHARES: [f64; 10] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0];

const SIMILARITY: f64 = 0.5;

fn shared(elements: usize) -> usize {
    elements * 2 / 3
}

/// The probabilities of 0, 1, 2 and so on marked elements among `drawn` of `all` elements of which
/// `marked` are marked: the hypergeometric law, from its greatest term on by ratios.
fn hypergeometric(all: usize, marked: usize, drawn: usize) -> Vec<f64> {
    let (least, most) = ((marked + drawn).saturating_sub(all), marked.min(drawn));
    let mut law = vec![0.0; most + 1];
    let mode = ((marked + 1) * (drawn + 1) / (all + 2)).clamp(least, most);
    law[mode] = 1.0;
    let up = |j: usize| {
        let (more, fewer) = ((marked - j) * (drawn - j), (j + 1) * (all + j + 1 - marked - drawn));
        more as f64 / fewer as f64
    };
    (mode..most).for_each(|j| law[j + 1] = law[j] * up(j));
    (least..mode).rev().for_each(|j| law[j] = law[j + 1] / up(j));
    let sum: f64 = law.iter().sum();
    law.iter().map(|term| term / sum).collect()
}

/// The root mean square error of the similarity of independent samples of `drawn` of `elements`
/// elements of each set: the first sample holds x common elements, and the second hits some of
/// these.
fn independent_error(elements: usize, drawn: usize) -> f64 {
    let of_first = hypergeometric(elements, shared(elements), drawn);
    let square = of_first.iter().enumerate().filter(|(_, chance)| **chance > 1e-30);
    let square = square.map(|(x, chance)| {
        let hits = hypergeometric(elements, x, drawn);
        let error =
            |(c, p): (usize, f64)| p * (c as f64 / (2 * drawn - c) as f64 - SIMILARITY).powi(2);
        chance * hits.into_iter().enumerate().map(error).sum::<f64>()
    });
    square.sum::<f64>().sqrt()
}

/// That of a coordinated sample of `kept` elements of the union: drawing without replacement.
fn coordinated_error(elements: usize, kept: f64) -> f64 {
    let union = (2 * elements - shared(elements)) as f64;
    (SIMILARITY * (1.0 - SIMILARITY) / kept * (union - kept) / (union - 1.0)).max(0.0).sqrt()
}

/// The root mean square error of the runs of a sampling of the large sets. Between two runs,
/// `go_on` may end it.
fn drawn_error(sampling: &Sampling, seed: u64, go_on: &dyn Fn() -> Result<()>) -> Result<f64> {
    let own = MANY - shared(MANY);
    // Coordinated samples keep elements by their hashes, so these are hashes.
    let set = |from: usize| -> Vec<u64> {
        let mut set: Vec<u64> = (from..from + MANY).map(|element| fmix64(element as u64)).collect();
        set.sort_unstable();
        set
    };
    let sampled = sampling.watched(&set(0), &set(own), seed, go_on)?;
    let runs = f64::from(sampled.runs);
    let variance = sampled.spread.map_or(0.0, |spread| spread * spread * (runs - 1.0) / runs);
    Ok(((sampled.mean - SIMILARITY).powi(2) + variance).sqrt())
}

/// One size of the samples.
struct SampleSize {
    /// n1 + n2, of the large sets.
    elements: f64,
    share: f64,
    exact: f64,
    independent: f64,
    coordinated: f64,
}

pub(super) fn run(
    settings: &TheorySettings,
    context: &StudyContext<'_>,
) -> Result<(TheoryPart, Table)> {
    let seed = context.seed;
    let runs = (settings.runs / 4).max(50);
    let mut sizes = Vec::new();
    let go_on = || context.at(2, 3);
    for share in SHARES {
        let drawn = (share * MANY as f64).round() as usize;
        let few = (share * FEW as f64).round() as usize;
        sizes.push(SampleSize {
            elements: 2.0 * drawn as f64,
            share,
            exact: independent_error(FEW, few),
            independent: drawn_error(&Sampling::independent(drawn, drawn, runs)?, seed, &go_on)?,
            coordinated: drawn_error(&Sampling::coordinated(share, runs)?, seed, &go_on)?,
        });
    }
    let part = TheoryPart { panel: panel(&sizes), findings: findings(&sizes, runs) };
    Ok((part, table(&sizes)))
}

fn table(sizes: &[SampleSize]) -> Table {
    let mut table = Table::new(&["elements", "share", "rate", "independent", "coordinated"]);
    for one in sizes {
        table.push(vec![
            (one.elements as u64).into(),
            one.share.into(),
            Cell::Share(one.elements.powf(-0.25)),
            Cell::Share(one.independent),
            Cell::Share(one.coordinated),
        ]);
    }
    table
}

fn panel(sizes: &[SampleSize]) -> Panel {
    // A logarithmic axis has no place for the error 0 of whole sets.
    let above = |point: &Point| point.y > 1e-6;
    let of =
        |y: fn(&SampleSize) -> f64| sizes.iter().map(move |one| Point::new(one.elements, y(one)));
    let scale = FEW as f64 / MANY as f64;
    let exact = sizes.iter().map(|one| Point::new(one.elements * scale, one.exact)).filter(above);
    let kept = |one: &SampleSize| {
        let union = (2 * MANY - shared(MANY)) as f64;
        Point::new(one.elements, coordinated_error(MANY, one.share * union))
    };
    let from = 2.0 * FEW as f64 * SHARES[0];
    let ends = [from, 2.0 * MANY as f64].map(|x| Point::new(x, x.powf(-0.25)));
    Panel {
        title: "Error of the similarity of samples, J = .5".to_owned(),
        x: Axis::log("elements n1 + n2 of both samples").whole(),
        y: Axis::log("root mean square error"),
        series: vec![
            Series::new("(n1 + n2)^(-1/4), theorem 2", SeriesKind::Dashed, ends),
            Series::new(format!("independent, sets of {FEW} (exact)"), SeriesKind::Line, exact),
            Series::new(
                format!("independent, sets of {MANY} (drawn)"),
                SeriesKind::Dots,
                of(|one| one.independent).filter(above),
            ),
            Series::new(
                format!("coordinated, sets of {MANY}"),
                SeriesKind::Line,
                sizes.iter().map(kept).filter(above),
            ),
            Series::new(
                format!("coordinated, sets of {MANY}"),
                SeriesKind::Dots,
                of(|one| one.coordinated).filter(above),
            ),
        ],
    }
}

fn findings(sizes: &[SampleSize], runs: u32) -> Vec<Finding> {
    let at = |share: f64| sizes.iter().find(|one| one.share == share);
    let mut findings = Vec::new();
    if let Some(half) = at(0.5) {
        let rate = half.elements.powf(-0.25);
        findings.push(Finding::new(
            "independent samples have no rate: the error depends on the share that is drawn, not \
             on the number",
            half.independent > 2.0 * rate && (half.independent - half.exact).abs() < 0.01,
            format!(
                "half of each set: {:.4} for sets of {FEW}, {:.4} for sets of {MANY}, where the \
                 rate of theorem 2 is {rate:.4}",
                half.exact, half.independent
            ),
        ));
    }
    if let (Some(first), Some(last)) = (at(0.01), at(0.2)) {
        let slope =
            (last.coordinated / first.coordinated).ln() / (last.elements / first.elements).ln();
        // The sample of a fifth is a large part of the union: √(1 - share) is the difference.
        let law = -0.5
            + ((1.0 - last.share) / (1.0 - first.share)).ln()
                / (2.0 * (last.elements / first.elements).ln());
        // An error of R runs has a relative standard error of 1/√(2R).
        let error = 4.0 * (1.0 / f64::from(runs)).sqrt() / (last.elements / first.elements).ln();
        findings.push(Finding::new(
            "coordinated samples converge as the root of their size, faster than theorem 2 says",
            (slope - law).abs() < error && slope < -0.25,
            format!("slope {slope:.3} (theory {law:.3}), theorem 2 says -0.25"),
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::random_sample;

    #[test]
    fn the_hypergeometric_law_counts_subsets() {
        for (all, marked, drawn) in [(8, 3, 4), (6, 6, 2), (7, 0, 3), (9, 5, 9), (10, 7, 6)] {
            let law = hypergeometric(all, marked, drawn);
            let mut counts = vec![0.0; law.len()];
            let sets = (0..1_u32 << all).filter(|set| set.count_ones() as usize == drawn);
            let mut total = 0.0;
            for set in sets {
                counts[(set & ((1 << marked) - 1)).count_ones() as usize] += 1.0;
                total += 1.0;
            }
            for (got, count) in law.iter().zip(&counts) {
                assert!((got - count / total).abs() < 1e-12, "{all} {marked} {drawn}: {law:?}");
            }
        }
    }

    /// All pairs of samples of 3 of 6 elements, and random samples of 40 of 300.
    #[test]
    fn the_error_of_independent_samples_is_that_of_all_samples() {
        let (mut sum, mut pairs) = (0.0, 0.0);
        let draws: Vec<u32> = (0..64_u32).filter(|set| set.count_ones() == 3).collect();
        for a in &draws {
            for b in &draws {
                // The sets are 0 to 5 and 2 to 7.
                let (a, b) = (*a, *b << 2);
                let similarity = f64::from((a & b).count_ones()) / f64::from((a | b).count_ones());
                sum += (similarity - SIMILARITY).powi(2);
                pairs += 1.0;
            }
        }
        let expected: f64 = f64::sqrt(sum / pairs);
        assert!((independent_error(6, 3) - expected).abs() < 1e-12, "{expected}");

        let (a, b): (Vec<u64>, Vec<u64>) = ((0..300).collect(), (100..400).collect());
        let square = |seed: u64| {
            let (a, b) = (random_sample(&a, 40, 2 * seed), random_sample(&b, 40, 2 * seed + 1));
            let overlap = twindex::Overlap::of_sets(&a, &b);
            (overlap.similarity() - SIMILARITY).powi(2)
        };
        let seen = ((0..500).map(square).sum::<f64>() / 500.0).sqrt();
        assert!((seen - independent_error(300, 40)).abs() < 0.01, "{seen}");
    }

    #[test]
    fn whole_sets_have_no_error() {
        assert!(independent_error(FEW, FEW) < 1e-12);
        assert_eq!(coordinated_error(FEW, 400.0), 0.0);
    }
}
