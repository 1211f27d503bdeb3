//! The exact difference between J and the probability that affine maps have equal minima, over the
//! number of rows.

use super::LawPart;
use crate::estimate::AffineFamily::{self, Any, Units};
use crate::study::{Axis, Finding, Panel, Point, Series, SeriesKind};
use twindex::Result;
use twindex::internals::SplitMix;

/// The numbers of rows: primes, their neighbours, powers of two, and numbers with many divisors.
const ROWS: [u64; 20] =
    [16, 17, 24, 29, 32, 47, 48, 61, 64, 79, 80, 97, 101, 120, 127, 128, 180, 193, 240, 256];

/// The number of random pairs of sets for each number of rows.
const DRAWS: usize = 40;

/// The sizes of two sets that together have half of the rows: each has 3/8, and 1/4 is common.
struct SetSizes {
    rows: u64,
    each: u64,
    shared: u64,
}

impl SetSizes {
    fn of(rows: u64) -> Self {
        let each = 3 * rows / 8;
        Self { rows, each, shared: 2 * each - rows / 2 }
    }

    fn union(&self) -> u64 {
        2 * self.each - self.shared
    }

    fn similarity(&self) -> f64 {
        self.shared as f64 / self.union() as f64
    }

    /// The excess of the probability over J if the union of both sets has these rows: the first set
    /// has the first ones, the second set the last ones.
    fn bias(&self, family: AffineFamily, rows: &[u64]) -> Result<f64> {
        let from = (self.each - self.shared) as usize;
        let agreement = family.agreement(self.rows, &rows[..self.each as usize], &rows[from..])?;
        Ok(agreement - self.similarity())
    }
}

pub(super) fn run(seed: u64) -> Result<LawPart> {
    let mut random = SplitMix::new(seed);
    let [mut runs, mut drawn, mut printed, mut orders] = [const { Vec::new() }; 4];
    let (mut whole, mut mean_drawn) = (0.0_f64, 0.0_f64);
    for rows in ROWS {
        let (sizes, x) = (SetSizes::of(rows), rows as f64);
        let run: Vec<u64> = (1..=sizes.union()).collect();
        runs.push(Point::new(x, sizes.bias(Units, &run)?));
        printed.push(Point::new(x, sizes.bias(Any, &run)?));
        let mean = Any.mean_agreement(rows, sizes.each, sizes.each, sizes.shared)?;
        orders.push(Point::new(x, mean - sizes.similarity()));
        let mut biases = Vec::new();
        for _ in 0..DRAWS {
            biases.push(sizes.bias(Units, &some(rows, sizes.union(), &mut random))?);
        }
        biases.sort_by(f64::total_cmp);
        let mean = biases.iter().sum::<f64>() / DRAWS as f64;
        mean_drawn += mean / ROWS.len() as f64;
        drawn.push(Point::spread(x, mean, biases[0], biases[DRAWS - 1]));
        // The first 3/4 and the last 3/4 of all rows, so that every row is in a set.
        let (a, b): (Vec<u64>, Vec<u64>) =
            ((1..=rows * 3 / 4).collect(), (rows / 4 + 1..=rows).collect());
        let similarity = (rows * 3 / 4 - rows / 4) as f64 / x;
        whole = whole.max((Units.agreement(rows, &a, &b)? - similarity).abs());
    }
    let findings = findings(whole, mean_drawn, [&runs, &drawn, &printed, &orders]);
    let panel = Panel {
        title: "Affine maps: probability of equal minima less J".to_owned(),
        x: Axis::log("rows n of the matrix, half of them in a set").whole(),
        y: Axis::linear("probability - J"),
        series: vec![
            Series::new("permutations, runs of rows", SeriesKind::Line, runs),
            Series::new("permutations, random rows (40 draws)", SeriesKind::Line, drawn),
            Series::new("as printed, runs of rows", SeriesKind::Dots, printed),
            Series::new("as printed, mean of all orders (eq. 15)", SeriesKind::Dots, orders),
            Series::new("no bias", SeriesKind::Dashed, [16.0, 256.0].map(|x| Point::new(x, 0.0))),
        ],
    };
    Ok(LawPart { panels: vec![panel], findings })
}

/// Draws `count` rows without replacement, in random order.
fn some(rows: u64, count: u64, random: &mut SplitMix) -> Vec<u64> {
    let mut all: Vec<u64> = (1..=rows).collect();
    for at in 0..count as usize {
        let left = (all.len() - at) as u128;
        let other = at + ((u128::from(random.next()) * left) >> 64) as usize;
        all.swap(at, other);
    }
    all.truncate(count as usize);
    all
}

fn findings(whole: f64, mean_drawn: f64, series: [&Vec<Point>; 4]) -> Vec<Finding> {
    let [runs, drawn, printed, orders] = series;
    let greatest = |points: &[Point]| points.iter().map(|p| p.y.abs()).fold(0.0, f64::max);
    let least = |points: &[Point]| points.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let last = |points: &[Point]| {
        points.last().map_or((0.0, 0.0, 0.0), |p| {
            let (low, high) = p.spread.unwrap_or((p.y, p.y));
            (p.y, low, high)
        })
    };
    let (_, low, high) = last(drawn);
    vec![
        Finding::new(
            "affine permutations have no bias if every row of the matrix is in a set",
            whole < 1e-12,
            format!("at most {whole:.1e} over {} numbers of rows", ROWS.len()),
        ),
        Finding::new(
            "for runs of rows among other rows they have a bias that more rows do not remove",
            last(runs).0 < -0.04 && last(drawn).1.abs().max(high) < -last(runs).0 / 2.0,
            format!(
                "{:+.4} at n = 256; {low:+.4} to {high:+.4} for random rows, {mean_drawn:+.4} on \
                 average over all n",
                last(runs).0
            ),
        ),
        Finding::new(
            "maps as printed overestimate, because rows collide, and more so if n has more \
             divisors",
            least(orders) > 0.0 && greatest(printed) > 0.2,
            format!(
                "mean over all orders {:+.4} at n = 127, {:+.4} at 128, {:+.4} at 240; runs of \
                 rows up to {:+.4}",
                at(orders, 127.0),
                at(orders, 128.0),
                at(orders, 240.0),
                greatest(printed)
            ),
        ),
    ]
}

fn at(points: &[Point], x: f64) -> f64 {
    points.iter().find(|p| p.x == x).map_or(f64::NAN, |p| p.y)
}
