//! The similarity by chance over the size of the universe.

use super::RandomSimilarity;
use crate::study::{Axis, Finding, Panel, Point, Series, SeriesKind, StudyContext};
use twindex::RandomSubsets;
use twindex::Result;

/// The size of the second set in tenths of the first, with the name of its series.
const RATIOS: [(u64, &str); 4] =
    [(10, "equal sizes"), (15, "1 to 1.5"), (22, "1 to 2.2"), (50, "1 to 5")];

/// The least similarity on the axis, below the means in the greatest universe.
const LEAST: f64 = 0.002;

/// The number of points of each curve.
const POINTS: u32 = 40;

/// Universes from the least possible one to 50 (a + b), evenly spaced on a logarithmic axis, with
/// their multiples of a + b.
fn universes(a: u64, b: u64) -> impl Iterator<Item = (f64, u64)> {
    let both = (a + b) as f64;
    let least = a.max(b) as f64 / both;
    (0..=POINTS).map(move |step| {
        let share = f64::from(step) / f64::from(POINTS);
        let universe = (both * least * (50.0 / least).powf(share)).round() as u64;
        (universe as f64 / both, universe.max(a).max(b))
    })
}

pub(super) fn run(context: &StudyContext<'_>) -> Result<(Vec<Panel>, Vec<Finding>)> {
    let mut by_ratio = Vec::new();
    for (done, (tenths, name)) in (1..).zip(RATIOS) {
        context.at(done, 10)?;
        let (a, b) = (50_000, 5_000 * tenths);
        let points = universes(a, b).map(|(x, universe)| {
            let chance = RandomSimilarity::of(a, b, universe)?;
            Ok(Point::spread(x, chance.mean, chance.spread.0, chance.spread.1))
        });
        by_ratio.push(Series::new(name, SeriesKind::Line, points.collect::<Result<Vec<Point>>>()?));
    }
    // The widest band comes first, below the others. The means differ by less than the width of a
    // line.
    let mut by_size = Vec::new();
    let mut means = Vec::new();
    for (size, name) in [(20, "95 % of two sets of 20"), (200, "of 200"), (2_000, "of 2,000")] {
        let points = universes(size, size).map(|(x, universe)| {
            let chance = RandomSimilarity::of(size, size, universe)?;
            Ok(Point::spread(x, chance.mean, chance.spread.0, chance.spread.1))
        });
        let points = points.collect::<Result<Vec<Point>>>()?;
        means = points.iter().map(|point| Point::new(point.x, point.y)).collect();
        by_size.push(Series::new(name, SeriesKind::Band, points));
    }
    by_size.push(Series::new("mean of these", SeriesKind::Dashed, means));
    let panel = |title: &str, mut series: Vec<Series>| {
        let ends = [Point::new(1.0, LEAST), Point::new(1.0, 1.0)];
        series.push(Series::new("the papers' universe", SeriesKind::Dashed, ends));
        Panel {
            title: title.to_owned(),
            x: Axis::log("universe, in multiples of the sum of both sizes"),
            y: Axis::log("similarity by chance").within(LEAST, 1.0),
            series,
        }
    };
    let panels = vec![
        panel("Mean similarity by chance, the smaller set of 50,000", by_ratio),
        panel("Equal sizes: mean, and where 95 % of all pairs are", by_size),
    ];
    Ok((panels, vec![falls()?]))
}

/// The finding that in a universe much larger than both sets almost nothing is shared by chance.
fn falls() -> Result<Finding> {
    let (a, b) = (50_000, 110_000);
    let mean = |times: u64| Ok(RandomSubsets::new(a, b, times * (a + b))?.expected_similarity());
    let means = [1, 10, 100, 1_000].map(mean).into_iter().collect::<Result<Vec<f64>>>()?;
    // On average ab/n elements are common, and the union has nearly a + b.
    let limit = |times: f64| a as f64 * b as f64 / (a + b) as f64 / ((a + b) as f64 * times);
    let far = (means[3] / limit(1_000.0) - 1.0).abs();
    Ok(Finding::new(
        "the similarity by chance falls as ab/((a + b) n) in a large universe of n elements",
        means.is_sorted_by(|x, y| x > y) && far < 0.01,
        format!(
            "sizes 50,000 and 110,000: {:.4} at n = a + b, {:.4} at 10 times that, {:.5} at 100 \
             times, {:.6} at 1,000 times",
            means[0], means[1], means[2], means[3]
        ),
    ))
}
