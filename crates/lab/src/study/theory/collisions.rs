//! What equal minima mean where rows collide, and what equation 18 and case D say of them.
//!
//! Dembele, Lo 2017, section 3.IV, points C and D.

use super::{TheoryPart, TheorySettings};
use crate::estimate::{RowCounts, UniformMaps};
use crate::study::{Axis, Finding, Panel, Point, Series, SeriesKind, StudyContext};
use twindex::Result;
use twindex::internals::SplitMix;

/// Two sets with J = 1/2.
const ROWS: RowCounts = RowCounts { first: 25, both: 50, second: 25 };

/// The values of a map, as multiples of the rows.
const MULTIPLES: [u64; 13] = [1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1_000];

/// The rows of the matrix whose orders are all looked at, and the sets among them: some rows are in
/// neither.
const FEW: u32 = 8;
const FEW_ROWS: RowCounts = RowCounts { first: 2, both: 3, second: 1 };

pub(super) fn run(settings: &TheorySettings, context: &StudyContext<'_>) -> Result<TheoryPart> {
    let (similarity, union) = (ROWS.similarity(), ROWS.union());
    let mut random = SplitMix::new(!context.seed);
    let [mut agreement, mut first, mut case_d, mut drawn] = [const { Vec::new() }; 4];
    let mut most = 0.0_f64;
    let maps = settings.maps * settings.runs;
    for multiple in MULTIPLES {
        let (x, values) = (multiple as f64, multiple * union);
        let uniform = UniformMaps::new(values)?;
        let law = uniform.agreement(ROWS);
        agreement.push(Point::new(x, law - similarity));
        first.push(Point::new(x, uniform.common_first(ROWS) - similarity));
        // One to one, the common rows hold the least of N values with probability |I2|/N.
        case_d.push(Point::new(x, f64::from(ROWS.both) / values as f64 - similarity));
        let seen = agreeing(values, maps, &mut random, context)?;
        let error = (law * (1.0 - law) / f64::from(maps)).sqrt();
        most = most.max((seen - law).abs() / error);
        drawn.push(Point::new(x, seen - similarity));
    }
    let findings = vec![
        orders(),
        Finding::new(
            "where rows collide, minima are equal more often than J, and equation 18 less often",
            agreement.iter().all(|p| p.y > 0.0) && first.iter().all(|p| p.y < 0.0) && most < 4.5,
            format!(
                "{:+.4} and {:+.4} for as many values as rows, {:+.5} and {:+.5} for {} times as \
                 many; {maps} drawn maps at most {most:.1} standard errors off",
                agreement[0].y,
                first[0].y,
                agreement[MULTIPLES.len() - 1].y,
                first[MULTIPLES.len() - 1].y,
                MULTIPLES[MULTIPLES.len() - 1]
            ),
        ),
        least_value(),
        condition(settings, union)?,
    ];
    let line = SeriesKind::Line;
    let none = [1.0, 1_000.0].map(|x| Point::new(x, 0.0));
    let panel = Panel {
        title: format!("{union} rows, J = {similarity}: probability less J"),
        x: Axis::log("values of a map for each row"),
        y: Axis::linear("probability - J"),
        series: vec![
            Series::new("equal minima", line, agreement),
            Series::new("equal minima", SeriesKind::Dots, drawn),
            Series::new("common rows first (eq. 18)", line, first),
            Series::new("case D: the least of all values is common", line, case_d),
            Series::new("J, given disjoint rows", SeriesKind::Dashed, none),
        ],
    };
    Ok(TheoryPart { panel, findings })
}

/// The share of uniform maps under which both sets have the same least value.
fn agreeing(
    values: u64,
    maps: u32,
    random: &mut SplitMix,
    context: &StudyContext<'_>,
) -> Result<f64> {
    let mut least = |rows: u32| (0..rows).map(|_| random.below(values)).min().unwrap_or(u64::MAX);
    let mut agrees = || {
        let (first, both, second) = (least(ROWS.first), least(ROWS.both), least(ROWS.second));
        first.min(both) == second.min(both)
    };
    let mut agreeing = 0;
    for map in 0..maps {
        if map % 1024 == 0 {
            context.at(1, 3)?;
        }
        agreeing += u32::from(agrees());
    }
    Ok(f64::from(agreeing) / f64::from(maps))
}

/// Calls `visit` with every order of the numbers below `count`.
fn each_order(count: u32, visit: &mut dyn FnMut(&[u32])) {
    fn place(order: &mut Vec<u32>, from: usize, visit: &mut dyn FnMut(&[u32])) {
        if from == order.len() {
            return visit(order);
        }
        for at in from..order.len() {
            order.swap(from, at);
            place(order, from + 1, visit);
            order.swap(from, at);
        }
    }
    place(&mut (0..count).collect(), 0, visit);
}

/// The shares of all orders in which the common rows come before the others of the union, and in
/// which they hold the first place of all.
fn first_of_all_orders() -> (f64, f64) {
    let (first, both) = (FEW_ROWS.first as usize, FEW_ROWS.both as usize);
    let (mut all, mut before, mut least) = (0.0, 0.0, 0.0);
    each_order(FEW, &mut |order| {
        let of = |rows: &[u32]| rows.iter().min().copied().unwrap_or(u32::MAX);
        let union = &order[..FEW_ROWS.union() as usize];
        let common = of(&union[first..first + both]);
        let others = of(&union[..first]).min(of(&union[first + both..]));
        all += 1.0;
        before += f64::from(u8::from(common < others));
        least += f64::from(u8::from(common == 0));
    });
    (before / all, least / all)
}

fn orders() -> Finding {
    let (before, _) = first_of_all_orders();
    let similarity = FEW_ROWS.similarity();
    let printed = f64::from(FEW_ROWS.both) / f64::from(FEW);
    Finding::new(
        "equation 18 holds for exactly J of all permutations: |I2| over the rows of the union, not \
         over all n rows as printed",
        (before - similarity).abs() < 1e-12 && (before - printed).abs() > 0.01,
        format!("{before:.4} of all {FEW}! orders; J = {similarity:.4}, as printed {printed:.4}"),
    )
}

fn least_value() -> Finding {
    let (_, least) = first_of_all_orders();
    let similarity = FEW_ROWS.similarity();
    Finding::new(
        "case D takes the least of all values for that of the union: too little where rows are in \
         neither set, or values are unused",
        (least - f64::from(FEW_ROWS.both) / f64::from(FEW)).abs() < 1e-12 && least < similarity,
        format!("{least:.4} of all {FEW}! orders, where J = {similarity:.4}"),
    )
}

/// P(D_n) falls with k, while the estimate converges with k whether or not rows are disjoint.
fn condition(settings: &TheorySettings, union: u64) -> Result<Finding> {
    let values = union * union;
    let uniform = UniformMaps::new(values)?;
    let one = uniform.distinct(union);
    let [few, k, many] = [1, settings.maps, 1_000].map(|k| one.powi(k as i32));
    let excess = uniform.agreement(ROWS) - ROWS.similarity();
    Ok(Finding::new(
        "P(D_n) falls to 0 as k grows, so convergence given D_n says nothing; equal minima have a \
         probability near J all the same",
        one < 1.0 && many < 1e-6 && excess.abs() < 0.01,
        format!(
            "n² values: P(D_n) = {few:.4} with 1 map, {k:.1e} with {}, {many:.1e} with 1000; the \
             share of equal minima exceeds J by {excess:.5}",
            settings.maps
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_order_is_visited_once() {
        let mut seen = BTreeSet::new();
        each_order(5, &mut |order| assert!(seen.insert(order.to_vec()), "{order:?}"));
        assert_eq!(seen.len(), 120);
    }

    #[test]
    fn the_shares_of_orders_are_those_of_the_union_and_of_all_rows() {
        let (before, least) = first_of_all_orders();
        assert!((before - 0.5).abs() < 1e-12 && (least - 0.375).abs() < 1e-12, "{before} {least}");
    }
}
