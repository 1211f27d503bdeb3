//! P(D_n): the probability that no two rows of the matrix share a value under any of k maps.
//!
//! Dembele, Lo 2017, section 3.IV, equation 19. The maps are independent, so it is the k-th power
//! of the probability that one map is one to one.

use super::{TheoryPart, TheorySettings};
use crate::estimate::UniformMaps;
use crate::sketch::{Prime, greatest_divisor};
use crate::study::{Axis, Finding, Panel, Point, Series, SeriesKind, StudyContext};
use std::collections::HashSet;
use twindex::Result;
use twindex::internals::SplitMix;

/// The numbers of rows: powers of two, primes, and numbers with many divisors.
const ROWS: [u64; 16] = [2, 3, 4, 6, 8, 13, 16, 24, 32, 61, 64, 120, 128, 251, 256, 512];

/// The values of uniform maps.
const VALUES: u64 = 1 << 16;

/// The share of the n² maps x i + y mod n that are one to one: x must have no divisor in common
/// with n.
fn one_to_one(rows: u64) -> f64 {
    let units = (1..=rows).filter(|x| greatest_divisor(*x, rows) == 1).count();
    units as f64 / rows as f64
}

/// The share of the p² maps x i + y mod p that are one to one on the rows below p: x must not be 0.
fn one_to_one_below_prime(rows: u64) -> Result<f64> {
    Ok(1.0 - 1.0 / f64::from(Prime::at_least(rows)?.get()))
}

/// The share of runs in which no two rows share a value under any of the maps.
fn drawn(
    rows: u64,
    settings: &TheorySettings,
    random: &mut SplitMix,
    context: &StudyContext<'_>,
) -> Result<f64> {
    let (mut seen, mut disjoint) = (HashSet::new(), 0);
    for _ in 0..settings.runs {
        context.at(0, 3)?;
        let is_disjoint = (0..settings.maps).all(|_| {
            seen.clear();
            (0..rows).all(|_| seen.insert(random.below(VALUES)))
        });
        disjoint += u32::from(is_disjoint);
    }
    Ok(f64::from(disjoint) / f64::from(settings.runs))
}

pub(super) fn run(settings: &TheorySettings, context: &StudyContext<'_>) -> Result<TheoryPart> {
    let (maps, k) = (settings.maps, settings.maps as i32);
    let uniform = UniformMaps::new(VALUES)?;
    let mut random = SplitMix::new(context.seed);
    let [mut printed, mut prime, mut exact, mut formula, mut simulated] = [const { Vec::new() }; 5];
    let (mut most, mut gap) = (0.0_f64, 0.0_f64);
    for rows in ROWS {
        let x = rows as f64;
        printed.push(Point::new(x, one_to_one(rows).powi(k)));
        prime.push(Point::new(x, one_to_one_below_prime(rows)?.powi(k)));
        let law = uniform.distinct(rows).powi(k);
        exact.push(Point::new(x, law));
        let bound = uniform.formula_19(rows, maps);
        gap = gap.max(law - bound);
        formula.push(Point::new(x, bound));
        let seen = drawn(rows, settings, &mut random, context)?;
        let error = (law * (1.0 - law) / f64::from(settings.runs)).sqrt();
        let beyond = ((seen - law).abs() - 0.5 / f64::from(settings.runs)).max(0.0);
        most = most.max(if beyond > 0.0 { beyond / error.max(1e-12) } else { 0.0 });
        simulated.push(Point::new(x, seen));
    }
    let below = formula.iter().filter(|point| point.y < 0.0).map(|point| point.x).reduce(f64::min);
    let is_below = |point: &Point| point.y <= (1.0 - 1.0 / point.x).powi(k) + 1e-12;
    let bounded = printed.iter().all(is_below);
    let findings = findings(settings, most, bounded, gap, below);
    let line = SeriesKind::Line;
    let panel = Panel {
        title: format!("No two rows share a value under any of {maps} maps: P(D_n)"),
        x: Axis::log("rows n").whole(),
        y: Axis::linear("probability").within(0.0, 1.0),
        series: vec![
            Series::new("x i + y mod n, as printed", SeriesKind::Dots, printed),
            Series::new("x i + y mod the next prime", line, prime),
            Series::new("65,536 uniform values", line, exact),
            Series::new("65,536 uniform values", SeriesKind::Dots, simulated),
            Series::new("equation 19", SeriesKind::Dashed, formula),
            Series::new("permutations", line, [2.0, 512.0].map(|x| Point::new(x, 1.0))),
        ],
    };
    Ok(TheoryPart { panel, findings })
}

fn findings(
    settings: &TheorySettings,
    most: f64,
    bounded: bool,
    gap: f64,
    below: Option<f64>,
) -> Vec<Finding> {
    let k = settings.maps;
    vec![
        Finding::new(
            "uniform maps have disjoint rows as often as the k-th power of the birthday product",
            most < 4.5,
            format!("at most {most:.1} standard errors off, {} runs each", settings.runs),
        ),
        Finding::new(
            "equation 19 is a lower bound of P(D_n), not its value",
            gap > 0.0,
            format!(
                "up to {gap:.4} too low with {k} maps; {}",
                below.map_or("never below 0".to_owned(), |n| format!("below 0 from n = {n} on"))
            ),
        ),
        Finding::new(
            "maps as printed are one to one with probability φ(n)/n, so P(D_n) is no more than \
             (1 - 1/n)^k",
            bounded,
            format!(
                "{:.4} at n = 251, {:.1e} at 256, {:.1e} at 120",
                one_to_one(251).powi(k as i32),
                one_to_one(256).powi(k as i32),
                one_to_one(120).powi(k as i32)
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::AffineMaps;

    /// All maps, and all pairs of maps for k = 2.
    #[test]
    fn shares_of_affine_maps_are_those_of_all_maps() {
        for n in 2..=9_u64 {
            let pairs: Vec<(u64, u64)> =
                (1..=n).flat_map(|x| (1..=n).map(move |y| (x, y))).collect();
            let maps = AffineMaps::new(n, pairs).expect("maps");
            let is_one_to_one = |map: usize| {
                let values: HashSet<u64> = (1..=n).map(|row| maps.value(map, row)).collect();
                values.len() as u64 == n
            };
            let good: Vec<bool> = (0..maps.len()).map(is_one_to_one).collect();
            let count = good.iter().filter(|good| **good).count() as f64;
            let share = count / maps.len() as f64;
            assert!((one_to_one(n) - share).abs() < 1e-12, "{n}: {share}");
            let both =
                good.iter().map(|a| good.iter().filter(|b| *a && **b).count()).sum::<usize>();
            let of_two = both as f64 / (maps.len() * maps.len()) as f64;
            assert!((one_to_one(n).powi(2) - of_two).abs() < 1e-12, "{n}: {of_two}");
        }
    }
}
