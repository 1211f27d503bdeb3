//! The Gospels: similarity that was seen, beside what chance makes of texts of their sizes.

use super::{Chance, Row, Settings};
use crate::error::{Error, Result};
use crate::estimate::{Overlap, RandomSubsets};
use crate::study::texts::{NAMES, PAIRS, Shingles, embedded};
use crate::study::{Axis, Finding, Kind, Panel, Point, Series, Work, grouped};
use rustc_hash::FxHashMap;

/// What was found of the texts.
pub(super) struct Texts {
    pub(super) panels: Vec<Panel>,
    pub(super) rows: Vec<Row>,
    pub(super) findings: Vec<Finding>,
}

pub(super) fn run(settings: &Settings, work: &Work<'_>) -> Result<Texts> {
    let (mut panels, mut rows) = (Vec::new(), Vec::new());
    let mut done = 5;
    for translation in embedded() {
        let shingles = translation.shingles()?;
        for multisets in [true, false] {
            work.at(done, 10)?;
            done += 1;
            let universe = settings.universe.unwrap_or_else(|| used(&shingles, multisets));
            let kind = if multisets { "multisets" } else { "sets" };
            let what = |(a, b): (usize, usize)| {
                format!("{} {kind} {}-{}", translation.name, NAMES[a], NAMES[b])
            };
            let pairs = PAIRS.iter().map(|pair| {
                row(what(*pair), (&shingles[pair.0], &shingles[pair.1]), multisets, universe)
            });
            let pairs = pairs.collect::<Result<Vec<Row>>>()?;
            panels.push(panel(&format!("{}, {kind}", translation.name), universe, &pairs));
            rows.extend(pairs);
        }
    }
    let findings = vec![beyond(&rows, settings)];
    Ok(Texts { panels, rows, findings })
}

/// How many elements the four texts use: different shingles; of multisets each as often as in that text that has
/// most of it.
fn used(shingles: &[Shingles], multisets: bool) -> u64 {
    let mut most: FxHashMap<u64, u64> = FxHashMap::default();
    for text in shingles {
        for equals in text.occurrences.chunk_by(|a, b| a == b) {
            let count = if multisets { equals.len() as u64 } else { 1 };
            let most = most.entry(equals[0]).or_insert(0);
            *most = count.max(*most);
        }
    }
    most.into_values().sum()
}

fn row(
    what: String,
    (a, b): (&Shingles, &Shingles),
    multisets: bool,
    universe: u64,
) -> Result<Row> {
    let overlap = match multisets {
        true => Overlap::of_multisets(&a.occurrences, &b.occurrences),
        false => Overlap::of_sets(&a.distinct, &b.distinct),
    };
    let (a, b) = (overlap.a, overlap.b);
    let papers = RandomSubsets::new(a, b, a + b)?.tail_log10(overlap.shared);
    // Two texts of more elements than are said to be there: nothing can be told of chance in such a universe.
    let (given, there) = match RandomSubsets::like(overlap, universe) {
        Ok(law) => (Some(Chance::of(a, b, universe)?), law.tail_log10(overlap.shared)),
        Err(Error::InvalidSetting { .. }) => (None, f64::NAN),
        Err(error) => return Err(error),
    };
    let seen = Some((overlap.similarity(), papers, there));
    Ok(Row { what, sizes: (a, b), papers: Chance::of_the_papers(a, b)?, given, seen })
}

fn panel(title: &str, universe: u64, pairs: &[Row]) -> Panel {
    let names = PAIRS.iter().map(|(a, b)| format!("{}-{}", NAMES[*a], NAMES[*b]));
    let at = |of: &dyn Fn(&Row) -> Option<Point>| -> Vec<Point> {
        let placed = pairs.iter().enumerate();
        placed.filter_map(|(x, row)| of(row).map(|p| Point { x: x as f64, ..p })).collect()
    };
    let chance = |c: Chance| Point::spread(0.0, c.mean, c.spread.0, c.spread.1);
    Panel {
        title: format!("{title}; all there are: {}", grouped(universe)),
        x: Axis::of_names("", names),
        y: Axis::linear("similarity").within(0.0, 1.0),
        series: vec![
            Series::new(
                "seen",
                Kind::Dots,
                at(&|row| row.seen.map(|seen| Point::new(0.0, seen.0))),
            ),
            Series::new(
                "by chance, papers' universe",
                Kind::Dots,
                at(&|row| Some(chance(row.papers))),
            ),
            Series::new(
                "by chance, of all there are",
                Kind::Dots,
                at(&|row| row.given.map(chance)),
            ),
        ],
    }
}

/// Whether every pair is more similar than chance makes it, in either universe.
fn beyond(rows: &[Row], settings: &Settings) -> Finding {
    let seen: Vec<(f64, f64, f64)> = rows.iter().filter_map(|row| row.seen).collect();
    // The likeliest of all, by the logarithm of its probability.
    let likeliest = |of: fn(&(f64, f64, f64)) -> f64| {
        seen.iter().map(of).filter(|log| !log.is_nan()).fold(f64::NEG_INFINITY, f64::max)
    };
    let (papers, there) = (likeliest(|seen| seen.1), likeliest(|seen| seen.2));
    let means = |of: &dyn Fn(&Row) -> Option<f64>| {
        let all: Vec<f64> = rows.iter().filter_map(of).collect();
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        (low, all.iter().copied().fold(0.0, f64::max))
    };
    let (low, high) = means(&|row| Some(row.papers.mean));
    let (low_there, high_there) = means(&|row| row.given.map(|given| given.mean));
    let (low_seen, high_seen) = means(&|row| row.seen.map(|seen| seen.0));
    let which = match settings.universe {
        Some(_) => "the one given",
        None => "that of all shingles which the four use",
    };
    Finding::new(
        "all pairs of Gospels are more alike than chance makes them, in the papers' universe",
        papers < -6.0,
        format!(
            "seen {low_seen:.3} to {high_seen:.3}; by chance {low:.3} to {high:.3} in the papers' universe (as high \
             with a probability below 10^{papers:.0}), {low_there:.3} to {high_there:.3} in {which} (below \
             10^{there:.0})"
        ),
    )
}
