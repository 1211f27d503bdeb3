//! The findings of the study of bits.

use super::law::{Layout, TODAY, best_bits, storage_factor};
use super::measured::{Measured, Place};
use super::tables::{
    LOW_THRESHOLDS, UNRELATED, bytes_for_error_of_today, lanes_for_error_of_today,
};
use super::words::{BACKGROUND, DEPTH, Word};
use super::{Results, SMALL, band_lanes, bytes_of_document, layouts};
use crate::study::Finding;
use twindex::{DEFAULT_THRESHOLD, Result};

/// The standard errors that chance does not exceed in some hundred comparisons.
const BEYOND_CHANCE: f64 = 4.5;

/// Errors of small sets are a finding only if chance changes their ratio by this at most.
const TELLING_CHANCE: f64 = 0.2;

/// The bytes that a document must stay below, without record and text.
const BUDGET: f64 = 300.0;

pub(super) fn all(results: &Results) -> Result<Vec<Finding>> {
    let mut findings = vec![factors_of_the_paper(), best_widths(), bytes_at_the_threshold()];
    findings.extend(unbiased(results));
    findings.extend(errors_follow_the_law(results));
    findings.push(words_need_their_bits());
    findings.extend(mixed_signatures()?);
    findings.push(reports_in_vain()?);
    findings.extend(short_texts(results)?);
    Ok(findings)
}

/// Li and König's factors, which follow from the law alone.
fn factors_of_the_paper() -> Finding {
    let [of_64, of_32] = [64, 32].map(|bits| storage_factor(bits, 0.5) / storage_factor(1, 0.5));
    Finding::new(
        "at similarity .5, 1 bit takes 21.3 times less than 64 bits and 10.7 times less than 32",
        (of_64 - 64.0 / 3.0).abs() < 0.05 && (of_32 - 32.0 / 3.0).abs() < 0.05,
        format!("{of_64:.2} and {of_32:.2} times"),
    )
}

fn best_widths() -> Finding {
    let hundredths = |from: u32, to: u32| (from..=to).map(|step| f64::from(step) / 100.0);
    let above = hundredths(34, 99).all(|similarity| best_bits(similarity) == 1);
    let below = hundredths(24, 33).all(|similarity| best_bits(similarity) == 2);
    let widths = [0.05, 0.1, 0.2, 0.3, 0.4].map(|similarity| best_bits(similarity).to_string());
    Finding::new(
        "1 bit has the least variance a byte above similarity 1/3, 2 bits from there down to .24",
        above && below,
        format!("best bits at .05, .1, .2, .3, .4: {}", widths.join(", ")),
    )
}

fn bytes_at_the_threshold() -> Finding {
    let bytes = [1, 2, 4].map(|bits| bytes_for_error_of_today(bits, DEFAULT_THRESHOLD));
    let lanes = [1, 2, 4].map(lanes_for_error_of_today);
    Finding::new(
        format!("1, 2 and 4 bits reach the error of {TODAY} bits at {DEFAULT_THRESHOLD} with less"),
        bytes.is_sorted() && bytes[2] < f64::from(TODAY.bytes()),
        format!(
            "{:.0}, {:.0} and {:.0} bytes: {}, {} and {} lanes",
            bytes[0], bytes[1], bytes[2], lanes[0], lanes[1], lanes[2]
        ),
    )
}

fn unbiased(results: &Results) -> Option<Finding> {
    let beyond = results.all().filter_map(Measured::bias_beyond);
    let (worst, count) = worst(beyond)?;
    Some(Finding::new(
        "estimates from any number of bits have no bias",
        worst < BEYOND_CHANCE,
        format!("{count} means differ from the similarity by at most {worst:.1} standard errors"),
    ))
}

fn errors_follow_the_law(results: &Results) -> Vec<Finding> {
    let of = |place: Place| {
        let all = results.all().filter(move |one| one.place == place);
        worst(all.filter_map(Measured::error_beyond))
    };
    let finding = |(expected, (worst, count)): (&str, (f64, usize))| {
        Finding::new(
            expected,
            worst < BEYOND_CHANCE,
            format!("{count} errors differ from the law by at most {worst:.1} standard errors"),
        )
    };
    let low = of(Place::Low).map(|worst| ("measured errors follow the law", worst));
    let high = of(Place::High).map(|worst| ("the high bits of a byte are as good", worst));
    low.into_iter().chain(high).map(finding).collect()
}

/// The greatest of some numbers, and their count; `None` if there are none.
fn worst(numbers: impl Iterator<Item = f64>) -> Option<(f64, usize)> {
    let (worst, count) = numbers.fold((0.0, 0), |(worst, n), x| (f64::max(worst, x), n + 1));
    (count > 0).then_some((worst, count))
}

fn words_need_their_bits() -> Finding {
    let of = |bits| Word { depth: DEPTH, bits };
    let now = of(8).candidates(1e8, BACKGROUND) * of(8).bands() as f64;
    let four = of(4).candidates(1e8, BACKGROUND) * of(4).bands() as f64;
    let as_long = Word { depth: 12, bits: 4 };
    Finding::new(
        "the lanes of bands cannot be cut: buckets grow, or bands need more lanes than there are",
        four > 20.0 * now && as_long.bands() * 12 > 512,
        format!(
            "of 10^8 documents of similarity {BACKGROUND}, {now:.0} share a bucket with a \
             document, and {four:.0} with 4 bits; twelve lanes of 4 bits need {} bands of {} \
             lanes in all, not {} of {}",
            as_long.bands(),
            as_long.bands() * 12,
            of(8).bands(),
            of(8).bands() * DEPTH as usize
        ),
    )
}

/// What signatures that keep the lanes of bands save, and where they err more.
fn mixed_signatures() -> Result<Vec<Finding>> {
    let bands = band_lanes()?;
    let mixed: Vec<Layout> =
        layouts()?.into_iter().filter(|layout| layout.others.count > 0).collect();
    let reaching = mixed
        .iter()
        .filter(|layout| layout.error(DEFAULT_THRESHOLD) <= TODAY.error(DEFAULT_THRESHOLD))
        .collect::<Vec<_>>();
    let mut told = Vec::new();
    let mut fits = !reaching.is_empty();
    for layout in &reaching {
        let document = bytes_of_document(**layout)?;
        fits &= document < BUDGET;
        told.push(format!("{layout}: {document:.0}"));
    }
    let now = bytes_of_document(TODAY)?;
    let relative = |similarity: f64| {
        let of = |layout: &&Layout| layout.error(similarity) / TODAY.error(similarity);
        reaching.iter().copied().map(|layout| of(&layout)).fold(f64::INFINITY, f64::min)
    };
    let [at_1, at_3, at_5, at_9] = [0.1, 0.3, 0.5, 0.9].map(relative);
    Ok(vec![
        Finding::new(
            format!(
                "beside the {} lanes of the bands, narrow lanes reach today's error at \
                 {DEFAULT_THRESHOLD} below {BUDGET} bytes a document",
                bands.count
            ),
            fits,
            format!("bytes without record and text: {}; now {now:.0}", told.join(", ")),
        ),
        Finding::new(
            "their estimates are no worse above the threshold and worse at low similarities",
            at_9 <= 1.001 && at_5 > 1.04 && at_3 > 1.1 && at_1 > 1.25,
            format!(
                "least error relative to now: {at_9:.3} at .9, {at_5:.3} at .5, {at_3:.3} at .3, \
                 {at_1:.3} at .1"
            ),
        ),
    ])
}

/// Documents that share nothing, and are reported by a scan at a low threshold.
fn reports_in_vain() -> Result<Finding> {
    let [low, ..] = LOW_THRESHOLDS;
    let narrow = Layout::of_bytes(64, 1);
    let [now, of_one] = [TODAY, narrow].map(|layout| layout.reported(0.0, low));
    let (now, of_one) = (UNRELATED * now?, UNRELATED * of_one?);
    Ok(Finding::new(
        format!("a scan at {low} of documents that share nothing finds none now, many with 1 bit"),
        now < 1e-3 && of_one > 100.0,
        format!("of a million: {now:.1e} with {TODAY} bits, {of_one:.0} with {narrow}"),
    ))
}

/// Whether small sets, whose lanes draw without replacement, turn the comparison of layouts.
fn short_texts(results: &Results) -> Result<Option<Finding>> {
    let pairs = f64::from(results.settings.pairs);
    // Four standard errors of a ratio of two errors, if they were independent.
    let chance = 4.0 / pairs.sqrt();
    if chance > TELLING_CHANCE {
        return Ok(None);
    }
    let mut ratios = Vec::new();
    for layout in layouts()?.into_iter().skip(1) {
        let law = layout.error(DEFAULT_THRESHOLD) / TODAY.error(DEFAULT_THRESHOLD);
        for elements in SMALL {
            let error = |layout| results.error_at_threshold(layout, elements);
            if let (Some(error), Some(now)) = (error(layout), error(TODAY)) {
                ratios.push((error / now / law, elements, layout));
            }
        }
    }
    let distance = |ratio: f64| (ratio - 1.0).abs();
    let Some((worst, elements, layout)) =
        ratios.into_iter().max_by(|a, b| distance(a.0).total_cmp(&distance(b.0)))
    else {
        return Ok(None);
    };
    Ok(Some(Finding::new(
        "small sets change little: errors relative to now are those of the law, within a tenth",
        distance(worst) < 0.1 + chance,
        format!(
            "{layout} with {elements} elements in all is farthest, {worst:.3} times the law; \
             chance gives {chance:.3}"
        ),
    )))
}
