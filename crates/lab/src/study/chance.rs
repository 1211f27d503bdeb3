//! How similar random sets of the sizes of real texts are by chance.
//!
//! Dembele, Lo 2017, "The exact probability law for the approximated similarity from the minhashing
//! method", section 3 II; Dembele, Lo 2015, "Probabilistic, statistical and algorithmic aspects of
//! the similarity of texts", sections 2.4 and 3.2.

mod gospels;
mod paper_claims;
mod random_sets;
mod universe_curves;

use super::{Cell, Figure, Report, StudyContext, Table};
use twindex::RandomSubsets;
use twindex::Result;

#[derive(Clone, Debug, Default)]
pub(crate) struct ChanceSettings {
    /// The sizes of two more sets to examine. The time grows with their square root.
    pub(crate) sizes: Option<(u64, u64)>,
    /// The size of the universe; by default the number of elements that the four Gospels use.
    pub(crate) universe: Option<u64>,
}

/// The similarity of two random subsets of a universe.
#[derive(Clone, Copy)]
struct RandomSimilarity {
    universe: u64,
    mean: f64,
    /// A range that holds at least 95 % of all similarities.
    spread: (f64, f64),
}

impl RandomSimilarity {
    fn of(a: u64, b: u64, universe: u64) -> Result<Self> {
        Self::watched(a, b, universe, &|| Ok(()))
    }

    /// The same for sets of any size. It calls `go_on` before each tail, because one takes some 20
    /// ms for 10^12 elements.
    fn watched(a: u64, b: u64, universe: u64, go_on: &dyn Fn() -> Result<()>) -> Result<Self> {
        let law = RandomSubsets::new(a, b, universe)?;
        let similarity = |shared: u64| match u128::from(a) + u128::from(b) - u128::from(shared) {
            0 => 0.0,
            union => shared as f64 / union as f64,
        };
        // The greatest number n such that at least n elements are shared with this probability or a
        // greater one.
        let quantile = |tail: f64| -> Result<f64> {
            let (mut low, mut high) = (0, a.min(b));
            while low < high {
                go_on()?;
                let middle = high - (high - low) / 2;
                if law.tail_log10(middle) >= tail.log10() {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            Ok(similarity(low))
        };
        let (mean, spread) = (law.expected_similarity(), (quantile(0.975)?, quantile(0.025)?));
        Ok(Self { universe, mean, spread })
    }

    /// In the universe of the papers, which has as many elements as both sets together.
    fn of_the_papers(a: u64, b: u64) -> Result<Self> {
        Self::of(a, b, a.saturating_add(b))
    }
}

/// The row of two sets, with their similarity by chance in the papers' universe and in another one.
struct ChanceRow {
    what: String,
    sizes: (u64, u64),
    papers: RandomSimilarity,
    given: Option<RandomSimilarity>,
    /// The actual similarity, and log10 of the probability of one as high, in the papers' universe
    /// and in the other.
    seen: Option<(f64, f64, f64)>,
}

impl ChanceRow {
    fn cells(&self) -> Vec<Cell> {
        let given = |of: fn(RandomSimilarity) -> Cell| self.given.map_or(Cell::Empty, of);
        let seen = |of: fn((f64, f64, f64)) -> Cell| self.seen.map_or(Cell::Empty, of);
        vec![
            self.what.as_str().into(),
            self.sizes.0.into(),
            self.sizes.1.into(),
            self.papers.universe.into(),
            Cell::Share(self.papers.mean),
            Cell::Share(self.papers.spread.0),
            Cell::Share(self.papers.spread.1),
            given(|chance| chance.universe.into()),
            given(|chance| Cell::Share(chance.mean)),
            seen(|seen| Cell::Share(seen.0)),
            seen(|seen| seen.1.into()),
            seen(|seen| seen.2.into()),
        ]
    }
}

const COLUMNS: [&str; 12] = [
    "sets",
    "a",
    "b",
    "a_plus_b",
    "chance",
    "low",
    "high",
    "universe",
    "chance_there",
    "seen",
    "log10_tail",
    "log10_tail_there",
];

/// The sizes of the texts of Dembele, Lo 2015, section 3.2, from the smallest to the greatest.
const SIZES: [(u64, u64); 3] = [(50_000, 50_000), (50_000, 110_000), (110_000, 110_000)];

pub(crate) fn run(settings: &ChanceSettings, context: &StudyContext<'_>) -> Result<Report> {
    let go_on = || context.at(0, 10);
    let mut rows = Vec::new();
    for (a, b) in SIZES.into_iter().chain(settings.sizes) {
        rows.push(ChanceRow {
            what: "by their sizes".to_owned(),
            sizes: (a, b),
            papers: RandomSimilarity::watched(a, b, a.saturating_add(b), &go_on)?,
            // A universe for the sets of the Gospels may be too small for these sizes.
            given: match settings.universe {
                Some(universe) if Some((a, b)) == settings.sizes || universe >= a.max(b) => {
                    Some(RandomSimilarity::watched(a, b, universe, &go_on)?)
                }
                _ => None,
            },
            seen: None,
        });
    }
    let mut findings = paper_claims::findings(&rows)?;
    findings.push(random_sets::run(context)?);
    let (mut panels, of_curves) = universe_curves::run(context)?;
    let of_texts = gospels::run(settings, context)?;
    panels.extend(of_texts.panels);
    rows.extend(of_texts.rows);
    findings.extend(of_curves.into_iter().chain(of_texts.findings));
    context.at(10, 10)?;
    let mut table = Table::new(&COLUMNS);
    rows.iter().for_each(|row| table.push(row.cells()));
    let title = "Similarity of random sets of the sizes of real texts";
    let figure = Figure { title: title.to_owned(), panels };
    Ok(Report {
        title: title.to_owned(),
        table,
        further: Vec::new(),
        data: Table::of_points(&figure),
        figure,
        findings,
    })
}

#[cfg(test)]
#[path = "chance_tests.rs"]
mod tests;
