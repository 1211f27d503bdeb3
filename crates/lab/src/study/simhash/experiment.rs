//! The experiment: pairs of all similarities, estimated by each kind of sketch.

use super::curves::report;
use super::edited_pairs::{EditedPair, EditedPairs};
use super::sketch_kinds::{SketchKind, SketchMakers};
use super::{hamming, met_bands};
use crate::study::{Cell, Report, SeriesKind, StudyContext};
use twindex::DEFAULT_THRESHOLD;
use twindex::internals::{SplitMix, fmix64};
use twindex::{Error, Result};

/// The settings of the study.
#[derive(Clone, Debug)]
pub(crate) struct SimhashSettings {
    /// The bytes of each sketch: 32, 64 or 128.
    pub(crate) bytes: usize,
    /// The least similarity of the pairs to find.
    pub(crate) threshold: f64,
    /// The pairs in each run.
    pub(crate) pairs: usize,
    /// The runs, each with new texts and new hash functions.
    pub(crate) runs: u32,
    /// The words of each text.
    pub(crate) words: usize,
}

impl Default for SimhashSettings {
    fn default() -> Self {
        Self { bytes: 64, threshold: DEFAULT_THRESHOLD, pairs: 500, runs: 20, words: 200 }
    }
}

/// The similarity of a pair, and its estimates by each kind of sketch.
pub(super) struct JudgedPair {
    pub(super) similarity: f64,
    pub(super) estimates: Vec<f64>,
}

pub(crate) fn run(settings: &SimhashSettings, context: &StudyContext<'_>) -> Result<Report> {
    check(settings)?;
    let kinds = SketchKind::all(settings.bytes);
    let texts = EditedPairs::new(settings.words)?;
    let mut runs: Vec<Vec<JudgedPair>> = Vec::new();
    for number in 0..settings.runs {
        let mut random = SplitMix::new(fmix64(context.seed ^ fmix64(number.into())));
        let sketches = SketchMakers::new(settings.bytes, random.next())?;
        let judge = |pair: EditedPair| JudgedPair {
            similarity: pair.similarity,
            estimates: kinds.iter().map(|kept| sketches.estimate(*kept, &pair)).collect(),
        };
        let mut judged = Vec::new();
        for _ in 0..settings.pairs {
            context.at(number.into(), settings.runs.into())?;
            judged.push(judge(texts.draw(&mut random)));
        }
        runs.push(judged);
    }
    context.at(settings.runs.into(), settings.runs.into())?;
    let mut report = report(settings, &kinds, &runs);
    add_tables(&mut report, context.seed)?;
    Ok(report)
}

/// Adds the bands and tables of bits, which do not depend on the texts, to the panels, the points
/// and the findings.
fn add_tables(report: &mut Report, seed: u64) -> Result<()> {
    let (bands, mut findings) = met_bands::run(seed)?;
    let (tables, more) = hamming::run(seed)?;
    findings.extend(more);
    let of_bands = bands.iter().map(|series| ("met in a band at similarity", series));
    let of_tables = tables.series.iter().map(|series| ("met in a table at distance", series));
    for (what, series) in of_bands.chain(of_tables) {
        // A curve is the theory of its dots.
        let is_theory = series.kind == SeriesKind::Line;
        for point in &series.points {
            let (mean, theory) = if is_theory {
                (Cell::Empty, point.y.into())
            } else {
                (point.y.into(), Cell::Empty)
            };
            let (name, x) = (series.name.as_str().into(), point.x.into());
            report.data.push(vec![what.into(), name, x, mean, Cell::Empty, theory]);
        }
    }
    if let Some(panel) = report.figure.panels.last_mut() {
        panel.series.extend(bands);
    }
    report.figure.panels.push(tables);
    report.findings.extend(findings);
    Ok(())
}

fn check(settings: &SimhashSettings) -> Result<()> {
    let invalid = |setting, got: usize, expected| {
        Err(Error::InvalidSetting { setting, got: got.to_string(), expected })
    };
    match settings {
        SimhashSettings { bytes, .. } if ![32, 64, 128].contains(bytes) => {
            invalid("bytes", *bytes, "32, 64 or 128")
        }
        SimhashSettings { words, .. } if !(16..=10_000).contains(words) => {
            invalid("words", *words, "a whole number from 16 to 10000")
        }
        SimhashSettings { pairs, .. } if *pairs < 100 => {
            invalid("pairs", *pairs, "at least 100, so that there are some of every similarity")
        }
        SimhashSettings { runs: 0 | 1, .. } => {
            invalid("runs", settings.runs as usize, "at least 2")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_determines_the_run_and_the_size_determines_the_sketches() {
        let settings =
            SimhashSettings { pairs: 100, runs: 2, words: 60, ..SimhashSettings::default() };
        let data = |seed| {
            run(&settings, &StudyContext::unwatched(seed)).expect("valid settings").data.rows
        };
        assert_eq!(data(1), data(1));
        assert_ne!(data(1), data(2));
        for (bytes, sketches) in [(32, 3), (64, 3), (128, 2)] {
            let settings = SimhashSettings { bytes, ..settings.clone() };
            let report = run(&settings, &StudyContext::unwatched(1)).expect("valid settings");
            assert_eq!(report.table.rows.len(), sketches, "{bytes} bytes");
        }
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        for bad in [
            SimhashSettings { bytes: 60, ..SimhashSettings::default() },
            SimhashSettings { words: 3, ..SimhashSettings::default() },
            SimhashSettings { pairs: 99, ..SimhashSettings::default() },
            SimhashSettings { runs: 1, ..SimhashSettings::default() },
        ] {
            assert!(run(&bad, &StudyContext::unwatched(0)).is_err(), "{bad:?}");
        }
    }
}
