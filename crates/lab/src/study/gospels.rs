//! Similarity of the four Gospels, by every method: Dembele, Lo 2015, section 6.

mod findings;
mod measured;
mod published;
mod shown;

use super::texts::{NAMES, PAIRS, Translation, embedded, in_folder};
use super::{Report, Work};
use measured::{Measured, measure};
use std::path::PathBuf;
use twindex::Result;
use twindex::internals::SplitMix;

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Where the texts are; `None` for those that are built in.
    pub(crate) folder: Option<PathBuf>,
    /// How often samples are drawn, at least 2.
    pub(crate) runs: u32,
    /// How many shingles are drawn of each text, at least 1.
    pub(crate) sample: usize,
}

impl Default for Settings {
    /// Those of the paper.
    fn default() -> Self {
        Self { folder: None, runs: 50, sample: 10_000 }
    }
}

/// One translation with its pairs, in the order of [`PAIRS`].
struct Compared {
    translation: Translation,
    pairs: Vec<Measured>,
}

/// What a pair is called.
fn name(pair: usize) -> String {
    let (a, b) = PAIRS[pair];
    format!("{}-{}", NAMES[a], NAMES[b])
}

pub(crate) fn run(settings: &Settings, work: &Work<'_>) -> Result<Report> {
    let translations = match &settings.folder {
        Some(folder) => in_folder(folder)?,
        None => embedded(),
    };
    let total = (translations.len() * PAIRS.len()) as u64;
    let mut seeds = SplitMix::new(work.seed);
    let mut done = 0;
    let mut all = Vec::new();
    for translation in translations {
        let shingles = translation.shingles()?;
        let mut pairs = Vec::new();
        for (a, b) in PAIRS {
            work.at(done, total)?;
            let texts = (translation.texts[a].as_ref(), translation.texts[b].as_ref());
            pairs.push(measure(settings, texts, (&shingles[a], &shingles[b]), seeds.next())?);
            done += 1;
        }
        all.push(Compared { translation, pairs });
    }
    work.at(done, total)?;
    let title = "Similarity of the four Gospels, by every method";
    Ok(Report {
        title: title.to_owned(),
        table: shown::table(&all),
        data: shown::data(&all),
        figure: shown::figure(&all, title),
        findings: findings::all(settings, &all),
    })
}
