//! The experiment: pairs of all similarities, judged by each kind of sketch.

use super::curves::report;
use super::edited::{EditedPairs, Pair};
use super::kept::{Kept, Sketches};
use crate::study::{Report, Work};
use twindex::DEFAULT_THRESHOLD;
use twindex::internals::{SplitMix, fmix64};
use twindex::{Error, Result};

/// What is compared, and on how much.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Bytes of each sketch: 32, 64 or 128.
    pub(crate) bytes: usize,
    /// From which similarity on two texts are to be found.
    pub(crate) threshold: f64,
    /// Pairs of each run.
    pub(crate) pairs: usize,
    /// Runs, each with other texts and other hash functions.
    pub(crate) runs: u32,
    /// Words of each text.
    pub(crate) words: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { bytes: 64, threshold: DEFAULT_THRESHOLD, pairs: 500, runs: 20, words: 200 }
    }
}

/// The similarity of a pair, and what each kind makes of it.
pub(super) struct Judged {
    pub(super) similarity: f64,
    pub(super) estimates: Vec<f64>,
}

pub(crate) fn run(settings: &Settings, work: &Work<'_>) -> Result<Report> {
    check(settings)?;
    let kinds = Kept::all(settings.bytes);
    let texts = EditedPairs::new(settings.words)?;
    let mut runs: Vec<Vec<Judged>> = Vec::new();
    for number in 0..settings.runs {
        work.at(number.into(), settings.runs.into())?;
        let mut random = SplitMix::new(fmix64(work.seed ^ fmix64(number.into())));
        let sketches = Sketches::new(settings.bytes, random.next())?;
        let judge = |pair: Pair| Judged {
            similarity: pair.similarity,
            estimates: kinds.iter().map(|kept| sketches.estimate(*kept, &pair)).collect(),
        };
        runs.push((0..settings.pairs).map(|_| judge(texts.draw(&mut random))).collect());
    }
    Ok(report(settings, &kinds, &runs))
}

fn check(settings: &Settings) -> Result<()> {
    let invalid = |setting, got: usize, expected| {
        Err(Error::InvalidSetting { setting, got: got.to_string(), expected })
    };
    match settings {
        Settings { bytes, .. } if ![32, 64, 128].contains(bytes) => {
            invalid("bytes", *bytes, "32, 64 or 128")
        }
        Settings { words, .. } if !(16..=10_000).contains(words) => {
            invalid("words", *words, "a whole number from 16 to 10000")
        }
        Settings { pairs, .. } if *pairs < 100 => {
            invalid("pairs", *pairs, "at least 100, so that there are some of every similarity")
        }
        Settings { runs: 0 | 1, .. } => invalid("runs", settings.runs as usize, "at least 2"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_that_of_its_seed_and_has_the_sketches_that_fit() {
        let settings = Settings { pairs: 100, runs: 2, words: 60, ..Settings::default() };
        let data = |seed| run(&settings, &Work::unwatched(seed)).expect("valid settings").data.rows;
        assert_eq!(data(1), data(1));
        assert_ne!(data(1), data(2));
        for (bytes, sketches) in [(32, 3), (64, 3), (128, 2)] {
            let settings = Settings { bytes, ..settings.clone() };
            let report = run(&settings, &Work::unwatched(1)).expect("valid settings");
            assert_eq!(report.table.rows.len(), sketches, "{bytes} bytes");
        }
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        for bad in [
            Settings { bytes: 60, ..Settings::default() },
            Settings { words: 3, ..Settings::default() },
            Settings { pairs: 99, ..Settings::default() },
            Settings { runs: 1, ..Settings::default() },
        ] {
            assert!(run(&bad, &Work::unwatched(0)).is_err(), "{bad:?}");
        }
    }
}
