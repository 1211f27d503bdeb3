//! The similarity of the four Gospels by every method (Dembele, Lo 2015, section 6).

mod findings;
mod pair_measurements;
mod paper_count;
mod paper_values;
mod tables;
mod text_size;

use super::gospel_texts::{NAMES, PAIRS, Translation, embedded, in_folder};
use super::{Report, StudyContext};
use pair_measurements::{MeasuredPair, measure};
use std::path::PathBuf;
use text_size::TextSize;
use twindex::Result;
use twindex::internals::SplitMix;

#[derive(Clone, Debug)]
pub(crate) struct GospelsSettings {
    /// The folder of the texts; `None` for the built-in texts.
    pub(crate) folder: Option<PathBuf>,
    /// The number of samples to draw, at least 2.
    pub(crate) runs: u32,
    /// The number of shingles to draw from each text, at least 1.
    pub(crate) sample: usize,
}

impl Default for GospelsSettings {
    /// The settings of the paper.
    fn default() -> Self {
        Self { folder: None, runs: 50, sample: 10_000 }
    }
}

/// A translation with the measurements of its pairs, in the order of [`PAIRS`].
struct MeasuredTranslation {
    translation: Translation,
    /// The sizes of its texts, in the order of [`NAMES`].
    sizes: Vec<TextSize>,
    pairs: Vec<MeasuredPair>,
}

/// The name of a pair.
fn name(pair: usize) -> String {
    let (a, b) = PAIRS[pair];
    format!("{}-{}", NAMES[a], NAMES[b])
}

pub(crate) fn run(settings: &GospelsSettings, context: &StudyContext<'_>) -> Result<Report> {
    let translations = match &settings.folder {
        Some(folder) => in_folder(folder)?,
        None => embedded(),
    };
    let total = (translations.len() * PAIRS.len()) as u64;
    let mut seeds = SplitMix::new(context.seed);
    let mut done = 0;
    let mut all = Vec::new();
    for translation in translations {
        let shingles = translation.shingles()?;
        let mut pairs = Vec::new();
        for (a, b) in PAIRS {
            let texts = (translation.texts[a].as_ref(), translation.texts[b].as_ref());
            let (of_pair, go_on) = ((&shingles[a], &shingles[b]), || context.at(done, total));
            pairs.push(measure(settings, texts, of_pair, seeds.next(), &go_on)?);
            done += 1;
        }
        let sizes = translation.texts.iter().map(|text| TextSize::of(text)).collect();
        all.push(MeasuredTranslation { translation, sizes, pairs });
    }
    context.at(done, total)?;
    let title = "Similarity of the four Gospels, by every method";
    Ok(Report {
        title: title.to_owned(),
        table: tables::table(&all),
        further: vec![
            ("Rows and letters of the texts".to_owned(), paper_count::sizes(&all)),
            ("Similarity from the count of common shingles".to_owned(), paper_count::counts(&all)),
        ],
        data: tables::data(&all),
        figure: tables::figure(&all, title),
        findings: findings::all(settings, &all),
    })
}
