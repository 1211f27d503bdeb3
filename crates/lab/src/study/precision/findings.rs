//! The findings of the study of precision.

use super::{DrawnFunctions, FamilyEstimates, four_errors, law, slope_error, sloped, truth};
use crate::methods::Family;
use crate::study::Finding;
use crate::study::shingle_matrix::RowKeys;
use std::f64::consts::PI;

/// The slope is a finding only if four of its standard errors are at most this, half of the
/// expected slope.
const TELLING_SLOPE: f64 = 0.25;

/// The bias on rows is a finding only if a bias by chance is at most this, half of the bias of
/// modular hashing.
const TELLING_BIAS: f64 = 0.04;

pub(super) fn all(measured: &[FamilyEstimates], grid: &[usize]) -> Vec<Finding> {
    let last = grid.len() - 1;
    let of = |keys: RowKeys| measured.iter().filter(move |one| one.keys == keys);
    let one =
        |keys: RowKeys, family| of(keys).find(|one| one.functions == DrawnFunctions::Of(family));
    let mut findings = Vec::new();
    findings.extend(falls(&of(RowKeys::Hashed).collect::<Vec<_>>(), grid));
    findings.extend(little_gained(&of(RowKeys::Hashed).collect::<Vec<_>>(), grid));

    if let (Some(modular), Some(jenkins)) =
        (one(RowKeys::TextOrder, Family::Modular), one(RowKeys::TextOrder, Family::Jenkins))
    {
        let chance = four_errors(modular.estimates[last].len(), grid[last]);
        let (modular, jenkins) = (modular.summary(last), jenkins.summary(last));
        // With fewer runs it cannot be distinguished from chance.
        let telling = (chance <= TELLING_BIAS).then_some(());
        findings.extend(telling.map(|()| Finding::new(
            "modular is worse than Jenkins on row numbers in the order of the text",
            modular.root_mean_square > jenkins.root_mean_square
                && (modular.mean - truth()).abs() > chance,
            format!(
                "{} functions: bias {:+.4}, root mean square error {:.4}; Jenkins {:+.4}, {:.4}; \
                 by chance a bias is at most {chance:.4}",
                grid[last],
                modular.mean - truth(),
                modular.root_mean_square,
                jenkins.mean - truth(),
                jenkins.root_mean_square,
            ),
        )));
    }

    if let Some(modular) = one(RowKeys::Hashed, Family::Modular) {
        let chance = four_errors(modular.estimates[last].len(), grid[last]);
        let bias = modular.summary(last).mean - truth();
        findings.push(Finding::new(
            "modular has no bias beyond chance if keys are hashes",
            bias.abs() < chance,
            format!("bias {bias:+.4}; by chance it is at most {chance:.4}"),
        ));
    }
    findings
}

/// The finding that the error falls as 1 over the root, by the mean slope. `None` if there are too
/// few runs or functions.
pub(super) fn falls(measured: &[&FamilyEstimates], grid: &[usize]) -> Option<Finding> {
    let from = sloped(grid)?;
    let slopes: Option<Vec<f64>> = measured.iter().map(|one| one.slope(grid)).collect();
    let slopes = slopes?;
    let runs: usize = measured.iter().map(|one| one.estimates[from].len()).sum();
    let chance = 4.0 * slope_error(&grid[from..], runs);
    let mean = slopes.iter().sum::<f64>() / slopes.len() as f64;
    let (least, most) =
        slopes.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), s| (a.min(*s), b.max(*s)));
    // For small k the estimates, whole numbers over k, are not normal, which changes the slope by
    // some hundredths.
    let finding = Finding::new(
        "the error falls as 1 over the root of the number of functions: a slope of about -.5",
        (mean + 0.5).abs() < chance.max(0.1),
        format!(
            "hashed shingles: {mean:.3} on average, {least:.3} to {most:.3} by family; by chance \
             it deviates by at most {chance:.3}"
        ),
    );
    (chance <= TELLING_SLOPE).then_some(finding)
}

/// The finding that little is gained from 200 to 400 functions. `None` with at most 200 functions,
/// or with so few runs that chance exceeds the bound.
pub(super) fn little_gained(measured: &[&FamilyEstimates], grid: &[usize]) -> Option<Finding> {
    const LITTLE: f64 = 0.015;
    let at = |hashes: usize| grid.iter().position(|k| *k == hashes);
    let (from, to) = (at(200)?, at(400).unwrap_or(grid.len() - 1));
    let runs: usize = measured.iter().map(|one| one.estimates[from].len()).sum();
    // The standard deviation of an absolute normal value is √(π/2 - 1) of its mean. Errors with
    // more functions deviate less and are correlated with these.
    let chance = 4.0 * law(200) * ((PI / 2.0 - 1.0) / runs as f64).sqrt();
    if to <= from || law(200) - law(400) + chance > LITTLE {
        return None;
    }
    let errors = |at: usize| {
        measured.iter().map(|one| one.summary(at).mean_error).sum::<f64>() / measured.len() as f64
    };
    let percent = |from: f64, to: f64| 100.0 * (1.0 - to / from);
    Some(Finding::new(
        "little is gained past 200 functions, where errors are small: less than .015 up to 400",
        errors(from) - errors(to) < LITTLE,
        format!(
            "hashed shingles, all families: {:.4} with 10 functions, {:.4} with 200, {:.4} with \
             {}; that is {:.0} % less than with 200, by the law of 1 over the root {:.0} %",
            errors(at(10).unwrap_or(0)),
            errors(from),
            errors(to),
            grid[to],
            percent(errors(from), errors(to)),
            percent(law(200), law(grid[to])),
        ),
    ))
}
