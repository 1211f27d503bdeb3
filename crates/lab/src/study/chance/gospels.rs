//! Compares the similarity of the Gospels with that of random texts of their sizes.

use super::{ChanceRow, ChanceSettings, RandomSimilarity};
use crate::study::gospel_texts::{NAMES, PAIRS, TextShingles, embedded};
use crate::study::{Axis, Finding, Panel, Point, Series, SeriesKind, StudyContext};
use rustc_hash::FxHashMap;
use twindex::{Error, Result};
use twindex::{Overlap, RandomSubsets};
use twindex_cli::terminal::numbers::grouped;

/// The panels, rows and findings about the Gospels.
pub(super) struct GospelResults {
    pub(super) panels: Vec<Panel>,
    pub(super) rows: Vec<ChanceRow>,
    pub(super) findings: Vec<Finding>,
}

pub(super) fn run(settings: &ChanceSettings, context: &StudyContext<'_>) -> Result<GospelResults> {
    let (mut panels, mut rows) = (Vec::new(), Vec::new());
    let mut done = 5;
    for translation in embedded() {
        let shingles = translation.shingles()?;
        for multisets in [true, false] {
            context.at(done, 10)?;
            done += 1;
            let universe = settings.universe.unwrap_or_else(|| used(&shingles, multisets));
            let kind = if multisets { "multisets" } else { "sets" };
            let what = |(a, b): (usize, usize)| {
                format!("{} {kind} {}-{}", translation.name, NAMES[a], NAMES[b])
            };
            let pairs = PAIRS.iter().map(|pair| {
                row(what(*pair), (&shingles[pair.0], &shingles[pair.1]), multisets, universe)
            });
            let pairs = pairs.collect::<Result<Vec<ChanceRow>>>()?;
            panels.push(panel(&format!("{}, {kind}", translation.name), universe, &pairs));
            rows.extend(pairs);
        }
    }
    let findings = findings(&rows, settings);
    Ok(GospelResults { panels, rows, findings })
}

/// The number of elements that the four texts use: distinct shingles, or for multisets each as
/// often as in the text with most of it.
fn used(shingles: &[TextShingles], multisets: bool) -> u64 {
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
    (a, b): (&TextShingles, &TextShingles),
    multisets: bool,
    universe: u64,
) -> Result<ChanceRow> {
    let overlap = if multisets {
        Overlap::of_multisets(&a.occurrences, &b.occurrences)
    } else {
        Overlap::of_sets(&a.distinct, &b.distinct)
    };
    let (a, b) = (overlap.a, overlap.b);
    let papers = RandomSubsets::new(a, b, a + b)?.tail_log10(overlap.shared);
    // If two texts have more elements than the universe, there is no such law.
    let (given, there) = match RandomSubsets::with_sizes_of(overlap, universe) {
        Ok(law) => (Some(RandomSimilarity::of(a, b, universe)?), law.tail_log10(overlap.shared)),
        Err(Error::InvalidSetting { .. }) => (None, f64::NAN),
        Err(error) => return Err(error),
    };
    let seen = Some((overlap.similarity(), papers, there));
    Ok(ChanceRow {
        what,
        sizes: (a, b),
        papers: RandomSimilarity::of_the_papers(a, b)?,
        given,
        seen,
    })
}

fn panel(title: &str, universe: u64, pairs: &[ChanceRow]) -> Panel {
    let names = PAIRS.iter().map(|(a, b)| format!("{}-{}", NAMES[*a], NAMES[*b]));
    let at = |of: &dyn Fn(&ChanceRow) -> Option<Point>| -> Vec<Point> {
        let placed = pairs.iter().enumerate();
        placed.filter_map(|(x, row)| of(row).map(|p| Point { x: x as f64, ..p })).collect()
    };
    let chance = |c: RandomSimilarity| Point::spread(0.0, c.mean, c.spread.0, c.spread.1);
    Panel {
        title: format!("{title}; all there are: {}", grouped(universe)),
        x: Axis::of_names("pair of Gospels", names),
        y: Axis::linear("similarity").within(0.0, 1.0),
        series: vec![
            Series::new(
                "seen",
                SeriesKind::Dots,
                at(&|row| row.seen.map(|seen| Point::new(0.0, seen.0))),
            ),
            Series::new(
                "by chance, papers' universe",
                SeriesKind::Dots,
                at(&|row| Some(chance(row.papers))),
            ),
            Series::new(
                "by chance, of all there are",
                SeriesKind::Dots,
                at(&|row| row.given.map(chance)),
            ),
        ],
    }
}

/// log10 of the probability below which a pair is more similar than by chance.
const BEYOND_CHANCE: f64 = -6.0;

/// Whether every pair is more similar than by chance, in the papers' universe and in the other one.
/// A universe too small for every pair has no finding.
fn findings(rows: &[ChanceRow], settings: &ChanceSettings) -> Vec<Finding> {
    // The actual similarity, the mean by chance, and log10 of the probability of the former.
    let papers = |row: &ChanceRow| row.seen.map(|seen| (seen.0, row.papers.mean, seen.1));
    let there = |row: &ChanceRow| {
        let (seen, given) = (row.seen?, row.given?);
        Some((seen.0, given.mean, seen.2))
    };
    let which = match settings.universe {
        Some(_) => "the universe given",
        None => "the universe of all shingles of the four",
    };
    let papers = beyond(rows, &papers, "the papers' universe");
    papers.into_iter().chain(beyond(rows, &there, which)).collect()
}

/// For a row that fits the universe: the actual similarity, the mean by chance, and log10 of the
/// probability.
type SeenAndChance = dyn Fn(&ChanceRow) -> Option<(f64, f64, f64)>;

fn beyond(rows: &[ChanceRow], compared: &SeenAndChance, which: &str) -> Option<Finding> {
    let pairs: Vec<(f64, f64, f64)> = rows.iter().filter_map(compared).collect();
    let range = |of: fn(&(f64, f64, f64)) -> f64| {
        let least = pairs.iter().map(of).min_by(f64::total_cmp)?;
        let most = pairs.iter().map(of).max_by(f64::total_cmp)?;
        Some((least, most))
    };
    let (seen, chance, (_, likeliest)) =
        (range(|pair| pair.0)?, range(|pair| pair.1)?, range(|pair| pair.2)?);
    let less = match pairs.iter().filter(|pair| pair.0 < pair.1).count() {
        0 => String::new(),
        less => format!("; {less} are less similar than the mean by chance"),
    };
    Some(Finding::new(
        format!("all pairs of Gospels that fit are more similar than by chance, in {which}"),
        likeliest < BEYOND_CHANCE,
        format!(
            "{} of {} pairs fit; similarity {:.3} to {:.3}, by chance {:.3} to {:.3}, or as high \
             with a probability {}{less}",
            pairs.len(),
            rows.len(),
            seen.0,
            seen.1,
            chance.0,
            chance.1,
            told(likeliest)
        ),
    ))
}

/// Formats a probability, given log10 of it; a small one as a power of ten.
fn told(log: f64) -> String {
    match log < -3.0 {
        // Rounded up, so that the probability is below.
        true => format!("below 10^{:.0}", log.ceil()),
        false => format!("of up to {:.4}", 10_f64.powf(log)),
    }
}
