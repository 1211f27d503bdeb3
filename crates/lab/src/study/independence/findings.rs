//! The findings on the bias of polynomials.

use super::drawn_polynomials::{DrawnBias, KeyKind};
use super::{EXACT, PRIMES, Results, WorstSet};
use crate::study::Finding;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let mut findings = vec![few_keys(results)];
    findings.extend(PRIMES.map(|(prime, _)| worst_falls(results, prime)));
    findings.extend(neighbours(results));
    findings.push(random(results));
    findings
}

fn few_keys(results: &Results) -> Finding {
    let most = results.worst.iter().map(|set| set.bias_of_few).fold(0.0, f64::max);
    Finding::new(
        "sets of at most K keys have no bias under polynomials of degree below K, by enumeration",
        most < EXACT,
        format!("at most {most:.0e} over all sets of {} fields and degrees", results.worst.len()),
    )
}

fn worst_falls(results: &Results, prime: usize) -> Finding {
    let of_prime: Vec<&WorstSet> = results.worst.iter().filter(|set| set.prime == prime).collect();
    let each = of_prime.iter().map(|set| {
        let keys = set.set.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        if set.bias < EXACT {
            format!("none at K = {}", set.independence)
        } else {
            format!("{:.4} at K = {} ({{{keys}}})", set.bias, set.independence)
        }
    });
    Finding::new(
        format!("the greatest relative bias over all sets falls with K, or is none, p = {prime}"),
        of_prime.is_sorted_by(|x, y| x.bias > y.bias || x.bias.max(y.bias) < EXACT),
        each.collect::<Vec<_>>().join(", "),
    )
}

/// Biases that cannot be told from 0 say nothing, so they are only compared with that of K = 2.
fn neighbours(results: &Results) -> Vec<Finding> {
    let drawn: Vec<&DrawnBias> = results.drawn(KeyKind::Neighbours).collect();
    let Some((affine, rest)) = drawn.split_first() else { return Vec::new() };
    let told = |one: &DrawnBias| format!("{:+.5} at K = {}", one.bias, one.degree);
    let few: Vec<&&DrawnBias> = rest.iter().filter(|one| one.degree >= 5).collect();
    vec![
        Finding::new(
            "neighbouring keys: affine maps (K = 2) miss the middle of the run",
            affine.bias < -affine.four_errors && affine.ends() > 1.0,
            format!(
                "bias {} +- {:.5}; an end is the least {:.2} times as often as it should be",
                told(affine),
                affine.four_errors,
                affine.ends()
            ),
        ),
        Finding::new(
            "neighbouring keys: from K = 5 on the bias is at most a tenth of that of affine maps",
            !few.is_empty()
                && few
                    .iter()
                    .all(|one| one.bias.abs() < affine.bias.abs() / 10.0 + one.four_errors),
            rest.iter().map(|one| told(one)).collect::<Vec<_>>().join(", "),
        ),
    ]
}

fn random(results: &Results) -> Finding {
    let inside = |one: &DrawnBias| one.bias.abs() < one.four_errors;
    let ratio = |one: &DrawnBias| 4.0 * one.bias.abs() / one.four_errors;
    let most = results.drawn(KeyKind::Random).map(ratio).fold(0.0, f64::max);
    Finding::new(
        "random keys: no polynomials have a bias, not even affine maps",
        results.drawn(KeyKind::Random).all(inside),
        format!("at most {most:.1} standard errors"),
    )
}
