//! Estimate, error and time over the size of shingles and the number of functions.
//!
//! Vilaseca, Lacasa, Martín 2018, section 7.1: figures 3 to 15, for modular hashing and Jenkins'
//! mix, and the time of the exact similarity (figures 1 and 2), by merging and by a hash set.

mod draw;
mod measure;

use super::gospel_texts;
use super::text_file::text_of;
use super::{Report, StudyContext};
use crate::study::timing::PartTimes;
use measure::{Pair, measure};
use std::path::PathBuf;
use twindex::{Error, Result};

const TITLE: &str = "Estimate, error and time over the size of shingles";

/// The settings of the study.
#[derive(Clone, Debug)]
pub(crate) struct WidthsSettings {
    /// The text files, at least two; by default the four Gospels in English.
    pub(crate) texts: Vec<PathBuf>,
    /// The characters at the beginning of each text that are compared, at least 100.
    pub(crate) characters: usize,
    /// The greatest number of characters of a shingle, at least 1.
    pub(crate) widest: u16,
    /// The greatest number of functions, at least 1.
    pub(crate) functions: usize,
    /// The number of times the functions are drawn anew and everything is timed, at least 1.
    pub(crate) runs: usize,
}

impl Default for WidthsSettings {
    fn default() -> Self {
        Self { texts: Vec::new(), characters: 10_000, widest: 15, functions: 300, runs: 3 }
    }
}

/// The most texts, because all pairs are compared.
const MOST_TEXTS: usize = 20;

impl WidthsSettings {
    /// The numbers of functions: those of the figures, up to the greatest.
    fn grid(&self) -> Vec<usize> {
        let mut grid: Vec<usize> = [1, 25, 50, 100, 200, 300].into();
        grid.retain(|functions| *functions < self.functions);
        grid.push(self.functions);
        grid
    }

    /// The texts in lower case with single spaces, cut to their first characters.
    fn texts(&self) -> Result<Vec<String>> {
        let invalid =
            |setting, got: String, expected| Err(Error::InvalidSetting { setting, got, expected });
        for (setting, got, least, expected) in [
            ("characters", self.characters, 100, "at least 100"),
            ("widest", self.widest.into(), 1, "at least 1"),
            ("functions", self.functions, 1, "at least 1"),
            ("runs", self.runs, 1, "at least 1"),
        ] {
            if got < least {
                return invalid(setting, got.to_string(), expected);
            }
        }
        let folded = |text: &str| {
            let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
            words.join(" ").chars().take(self.characters).collect::<String>()
        };
        let texts: Vec<String> = match &self.texts[..] {
            [] => {
                let [_, english] = gospel_texts::embedded();
                english.texts.iter().map(|text| folded(text)).collect()
            }
            files if files.len() == 1 || files.len() > MOST_TEXTS => {
                return invalid("texts", files.len().to_string(), "2 to 20 files");
            }
            files => {
                let read = |path: &PathBuf| text_of(path, "reading a text to compare");
                let read = files.iter().map(|path| Ok(folded(&read(path)?)));
                read.collect::<Result<_>>()?
            }
        };
        match texts.iter().position(|text| text.chars().count() < usize::from(self.widest)) {
            None => Ok(texts),
            Some(at) => invalid(
                "texts",
                format!("number {} of {} characters", at + 1, texts[at].chars().count()),
                "at least the characters of the longest shingle",
            ),
        }
    }
}

/// The families of functions that are compared. Keys are row numbers: shingles are numbered from 1
/// as they first appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Functions {
    /// (k p + m) mod z, as printed.
    Printed,
    /// (a x + b) mod p, with p a prime above the number of rows.
    Modular,
    Jenkins,
}

impl Functions {
    const ALL: [Self; 3] = [Self::Printed, Self::Modular, Self::Jenkins];

    const fn name(self) -> &'static str {
        match self {
            Self::Printed => "modular as printed",
            Self::Modular => "modular",
            Self::Jenkins => "jenkins",
        }
    }
}

/// What is measured at one size of shingles.
struct Width {
    size: u16,
    /// The exact similarities of all pairs.
    pairs: Vec<Pair>,
    /// The times of the exact similarity by a merge of sorted sets and by a hash set, in seconds.
    exact: [PartTimes; 2],
    /// For each family, for each number of functions.
    estimated: Vec<Vec<Estimated>>,
}

/// The estimates of one family with one number of functions.
struct Estimated {
    /// The estimates of all pairs, run after run.
    values: Vec<f64>,
    /// The time of the signatures of all texts and of the estimates, in seconds.
    time: PartTimes,
}

impl Width {
    fn mean_exact(&self) -> f64 {
        self.pairs.iter().map(|pair| pair.similarity).sum::<f64>() / self.pairs.len() as f64
    }

    fn estimated(&self, functions: Functions, at: usize) -> &Estimated {
        let family = Functions::ALL.iter().position(|other| *other == functions);
        &self.estimated[family.unwrap_or(0)][at]
    }

    /// The mean of the estimates.
    fn mean(&self, functions: Functions, at: usize) -> f64 {
        let values = &self.estimated(functions, at).values;
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// The mean absolute error of the estimates.
    fn error(&self, functions: Functions, at: usize) -> f64 {
        let errors = self.errors(functions, at).map(|(error, _)| error.abs());
        errors.sum::<f64>() / self.estimated(functions, at).values.len() as f64
    }

    /// Each estimate's error, and its exact similarity.
    fn errors(&self, functions: Functions, at: usize) -> impl Iterator<Item = (f64, f64)> {
        let values = self.estimated(functions, at).values.iter();
        values.zip(self.pairs.iter().cycle()).map(|(value, pair)| {
            let exact = pair.similarity;
            (value - exact, exact)
        })
    }
}

pub(crate) fn run(settings: &WidthsSettings, context: &StudyContext<'_>) -> Result<Report> {
    let texts = settings.texts()?;
    let grid = settings.grid();
    let total = u64::from(settings.widest);
    let mut widths = Vec::new();
    for size in 1..=settings.widest {
        let done = (u64::from(size) - 1, total);
        widths.push(measure(&texts, size, &grid, settings.runs, (context, done))?);
    }
    context.at(total, total)?;
    Ok(draw::report(&widths, &grid, texts.len()))
}

#[cfg(test)]
#[path = "widths_tests.rs"]
mod tests;
