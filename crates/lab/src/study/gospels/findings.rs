//! The findings of the study of the Gospels.

use super::pair_measurements::{MeasuredPair, RumResult, SeenAndExpected};
use super::paper_values::{BY_FILE, DIRECT, EXACT, FUNCTIONS, PaperCell, RUM, SAMPLED};
use super::{GospelsSettings, MeasuredTranslation, name, paper_count};
use crate::estimate::Sampled;
use crate::study::Finding;

/// The number of standard errors that a mean may deviate. By chance 1 in 147,000 means deviates
/// more, and so the worst of 96 does in 1 of 1,500 studies. RUM has 96 means: six pairs, two
/// translations, four numbers of functions, two measures.
const ERRORS: f64 = 4.5;

/// The fewest shingles in a sample whose means and spreads can be told. Of fewer, most samples of a
/// pair have nothing in common, and the errors are far from normal.
const FEWEST_SHINGLES: usize = 100;

/// The findings, without those that cannot be told of samples of this size.
pub(super) fn all(settings: &GospelsSettings, all: &[MeasuredTranslation]) -> Vec<Finding> {
    let pairs: Vec<&MeasuredPair> = all.iter().flat_map(|compared| &compared.pairs).collect();
    let mut findings = Vec::new();
    if settings.folder.is_none() {
        findings.push(exact(all));
    }
    findings.push(by_file(&pairs));
    if settings.sample >= FEWEST_SHINGLES {
        findings.extend([
            independent(settings, &pairs),
            coordinated(&pairs),
            rum_means(&pairs),
            rum_spreads(&pairs),
        ]);
    }
    findings.extend(paper_count::findings(settings, all));
    findings.push(times(&pairs));
    findings
}

/// The least and the greatest number, with four decimals.
fn range(numbers: impl Iterator<Item = f64>) -> String {
    let (least, greatest) = numbers
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    format!("{least:.4} to {greatest:.4}")
}

/// The greatest distance.
fn furthest(distances: impl Iterator<Item = f64>) -> f64 {
    distances.fold(0.0, f64::max)
}

fn ten_thousandths(share: f64) -> u32 {
    (share * 10_000.0).round() as u32
}

fn exact(all: &[MeasuredTranslation]) -> Finding {
    let (mut compared, mut others) = (0, Vec::new());
    for (translation, published) in all.iter().zip(&EXACT) {
        for (pair, measured) in translation.pairs.iter().enumerate() {
            let mut check = |what: &str, got: u64, expected: u64| {
                compared += 1;
                if got != expected {
                    let of = translation.translation.name;
                    others.push(format!("{what} of {}, {of}: {got}, not {expected}", name(pair)));
                }
            };
            let similarity = ten_thousandths(measured.exact.similarity());
            check("multisets", similarity.into(), published.multisets[pair].into());
            if let Some(shared) = published.shared {
                check("common shingles", measured.exact.shared, shared[pair]);
            }
            if let Some(sets) = published.sets {
                let similarity = ten_thousandths(measured.sets.similarity());
                check("sets", similarity.into(), sets[pair].into());
            }
        }
    }
    let seen =
        if others.is_empty() { format!("all {compared} values agree") } else { others.join("; ") };
    let expected = "exact similarities agree to four decimals with those of another program";
    Finding::new(expected, others.is_empty(), seen)
}

fn by_file(pairs: &[&MeasuredPair]) -> Finding {
    let is_equal = |pair: &&&MeasuredPair| {
        (pair.by_file.multisets, pair.by_file.sets) == (pair.exact, pair.sets)
    };
    let equal = pairs.iter().filter(is_equal).count();
    let runs: u64 = pairs.iter().map(|pair| pair.by_file.runs).sum();
    Finding::new(
        "by file, every pair shares as many shingles as by the direct method",
        equal == pairs.len(),
        format!(
            "{equal} of {} pairs; {runs} sorted runs were written, with 1 MiB of memory",
            pairs.len()
        ),
    )
}

/// The pooled standard error of several means with the same number of runs and similar spreads.
fn pooled_error<'s>(sampled: impl Iterator<Item = &'s Sampled>) -> f64 {
    let (mut squares, mut count, mut runs) = (0.0, 0.0, 1.0);
    for sampled in sampled {
        squares += sampled.spread.unwrap_or(0.0).powi(2);
        count += 1.0;
        runs = f64::from(sampled.runs);
    }
    (squares / f64::max(count, 1.0) / runs).sqrt()
}

fn independent(settings: &GospelsSettings, pairs: &[&MeasuredPair]) -> Finding {
    let error = pooled_error(pairs.iter().map(|pair| &pair.independent));
    let off = furthest(pairs.iter().map(|pair| (pair.independent.mean - pair.limit).abs()));
    // If texts have unequal lengths, samples of equal size can be as similar as the whole texts or
    // more similar, because two errors compensate. So not every pair must be biased, but at least
    // one, unless all texts are taken whole.
    let biases = || pairs.iter().map(|pair| pair.limit - pair.exact.similarity());
    let is_partial = |pair: &&MeasuredPair| pair.exact.a.max(pair.exact.b) > settings.sample as u64;
    let is_biased = furthest(biases().map(f64::abs)) > ERRORS * error;
    Finding::new(
        format!(
            "independent samples of {} have the similarity of the closed form, within {ERRORS} \
             standard errors, and not that of the texts",
            settings.sample
        ),
        off <= ERRORS * error + 1e-12 && (is_biased || !pairs.iter().any(is_partial)),
        format!(
            "means {}, at most {off:.4} from the closed form, with a standard error of \
             {error:.4}; the bias is {}",
            range(pairs.iter().map(|pair| pair.independent.mean)),
            range(biases()),
        ),
    )
}

fn coordinated(pairs: &[&MeasuredPair]) -> Finding {
    // About this share of the union is kept, without replacement. Each kept element is common with
    // probability J.
    let in_errors = |pair: &&MeasuredPair| {
        let (j, share) = (pair.exact.similarity(), pair.share);
        let kept = share * (pair.exact.a + pair.exact.b - pair.exact.shared) as f64;
        let error =
            (j * (1.0 - j) * (1.0 - share) / kept / f64::from(pair.coordinated.runs)).sqrt();
        let off = (pair.coordinated.mean - j).abs();
        if off < 1e-12 { 0.0 } else { off / error }
    };
    let off = furthest(pairs.iter().map(in_errors));
    Finding::new(
        format!("coordinated samples are as similar as the texts, within {ERRORS} standard errors"),
        off <= ERRORS,
        format!(
            "means {}, at most {off:.1} standard errors from the texts",
            range(pairs.iter().map(|pair| pair.coordinated.mean)),
        ),
    )
}

fn rum_means(pairs: &[&MeasuredPair]) -> Finding {
    let all = || pairs.iter().flat_map(|pair| &pair.rum);
    let in_errors = |beside: &SeenAndExpected| {
        let off = (beside.seen.mean - beside.expected).abs();
        let error = beside.deviation / f64::from(beside.seen.runs).sqrt();
        if off < 1e-12 { 0.0 } else { off / error }
    };
    let off = furthest(all().flat_map(|rum| [in_errors(&rum.dice), in_errors(&rum.jaccard)]));
    let most = FUNCTIONS[FUNCTIONS.len() - 1];
    let with_most = |rum: &&RumResult| rum.functions == most;
    let reported = RUM[RUM.len() - 1].iter().map(|cell| cell.percent / 100.0);
    let their_samples = || SAMPLED.iter().map(|cell| cell.percent / 100.0);
    Finding::new(
        format!(
            "RUM's means are Dice's coefficient (simM) and the Jaccard similarity (sim) of the \
             samples, within {ERRORS} standard errors"
        ),
        off <= ERRORS,
        format!(
            "at most {off:.1} standard errors off; with {most} functions simM {}, sim {}, for \
             samples with similarity {}; the paper reports {} for samples with similarity {}, \
             whose simM is {}",
            range(all().filter(with_most).map(|rum| rum.dice.seen.mean)),
            range(all().filter(with_most).map(|rum| rum.jaccard.seen.mean)),
            range(all().filter(with_most).map(|rum| rum.of_samples)),
            range(reported),
            range(their_samples()),
            range(their_samples().map(|j| 2.0 * j / (1.0 + j))),
        ),
    )
}

fn rum_spreads(pairs: &[&MeasuredPair]) -> Finding {
    let mut spreads = Vec::new();
    let (mut off, mut runs) = (0.0_f64, 2.0_f64);
    for at in 0..FUNCTIONS.len() {
        let (mut seen, mut expected) = (0.0, 0.0);
        for dice in pairs.iter().map(|pair| &pair.rum[at].dice) {
            seen += dice.seen.spread.unwrap_or(0.0).powi(2);
            expected += dice.deviation.powi(2);
            runs = f64::from(dice.seen.runs);
        }
        // Rounding leaves a tiny variance where there is none.
        if expected > 1e-12 {
            off = off.max(((seen / expected).sqrt() - 1.0).abs());
        }
        spreads.push(format!("{:.4}", (seen / pairs.len() as f64).sqrt()));
    }
    // The relative standard error of a standard deviation from n + 1 runs of a normal law.
    let error = 1.0 / (2.0 * pairs.len() as f64 * (runs - 1.0)).sqrt();
    let last = RUM[RUM.len() - 1].iter().filter_map(|cell| cell.deviation);
    Finding::new(
        format!(
            "RUM's spread falls as one over the root of the functions, within {ERRORS} standard \
             errors"
        ),
        off <= ERRORS * error,
        format!(
            "standard deviations of simM {} with {} functions, at most {:.1} % from the binomial \
             law; in the paper {} with 20",
            spreads.join(", "),
            FUNCTIONS.map(|functions| functions.to_string()).join(", "),
            100.0 * off,
            range(last.map(|percent| percent / 100.0)),
        ),
    )
}

fn times(pairs: &[&MeasuredPair]) -> Finding {
    let total = |time: fn(&MeasuredPair) -> f64| pairs.iter().map(|pair| time(pair)).sum::<f64>();
    let slowest = furthest(pairs.iter().map(|pair| pair.times.direct));
    let paper = DIRECT.iter().map(|cell| cell.seconds).fold(f64::INFINITY, f64::min);
    let minutes = |cells: &[PaperCell]| cells.iter().map(|cell| cell.seconds).sum::<f64>() / 60.0;
    Finding::new(
        "a pair takes less than a hundredth of the paper's time by the direct method",
        slowest < paper * 1000.0 / 100.0,
        format!(
            "at most {slowest:.1} ms for each pair, in the paper at least {paper} s; all {} \
             pairs: direct {:.1} ms, by file {:.1} ms, samples {:.1} ms independent and {:.1} ms \
             coordinated, RUM with 20 functions {:.1} ms; everything in {:.0} ms, the paper's 6 \
             pairs in {:.0} minutes direct and {:.0} by file",
            pairs.len(),
            total(|pair| pair.times.direct),
            total(|pair| pair.times.by_file),
            total(|pair| pair.times.independent),
            total(|pair| pair.times.coordinated),
            total(|pair| pair.rum.last().map_or(0.0, |rum| rum.milliseconds)),
            total(|pair| pair.times.all),
            minutes(&DIRECT),
            minutes(&BY_FILE),
        ),
    )
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
