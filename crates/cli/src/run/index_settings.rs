//! The options that set the settings of a new index.

use crate::run::failure::Failure;
use crate::terminal::output::{count, grouped};
use anyhow::anyhow;
use clap::Args;
use std::path::Path;
use twindex::IndexOptions;
use twindex::{Normalization, Settings, Shingle};

/// Settings of a new index. An existing index must have been created with the same ones.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings of a new index")]
pub struct IndexSettings {
    /// Least Jaccard similarity that counts as similar, above 0, at most 1 [default: 0.8]
    #[arg(long, value_name = "T")]
    threshold: Option<f64>,
    /// Least probability that a pair at the threshold becomes a candidate [default: 0.99]
    #[arg(long, value_name = "P")]
    recall: Option<f64>,
    /// What a shingle is: char:N, word:N, line:N, token or kmer:N (DNA) [default: char:9]
    #[arg(long, value_name = "KIND")]
    shingle: Option<Shingle>,
    /// Lanes of a signature, a byte each: 64, 128, 256 or 512 [default: 256]
    #[arg(long, value_name = "K")]
    lanes: Option<usize>,
    /// A list of lower, nfc or nfkc, space or nospace, minword=N; or none
    /// [default: lower,nfc,space; none for token and kmer:N]
    #[arg(long, value_name = "LIST")]
    normalize: Option<Normalization>,
    /// Count repeated shingles as often as they occur
    #[arg(long)]
    multiset: bool,
    /// Documents are weighted sets: JSON Lines with `weights`, an object with a number for each
    /// token. Implies --shingle token
    #[arg(long)]
    weighted: bool,
    /// Keep the texts, compressed, so that answers are exact and `explain` and `rebuild` work
    #[arg(long)]
    store_text: bool,
    /// Find every passage of at least N units that texts share: characters, words, lines or tokens,
    /// as the shingle has. Alone: 100 characters, 20 words or tokens, 5 lines, but at least two
    /// shingles. 0: none [default: 0]
    ///
    /// At 100, it takes some .25 bytes for each character. `add` takes 1.2 times as long for texts
    /// of a kilobyte, and twice as long for texts of 12 KB.
    #[arg(long, value_name = "N", num_args = 0..=1, value_parser = passages)]
    passages: Option<Option<usize>>,
    /// Seed of all hashes: a number, or `random` for one that nobody can guess, if strangers send
    /// the documents [default: 0]
    #[arg(long, value_name = "N", value_parser = seed)]
    seed: Option<Seed>,
}

/// The settings of an index in words.
pub fn described(settings: &Settings) -> String {
    let passages = settings.winnowing.map_or(String::new(), |winnowing| {
        format!(", passages of {}", grouped(winnowing.length() as u64))
    });
    format!(
        "threshold {}, recall {}, {} of {} lanes in signatures of {}, {}, {}{passages}",
        settings.threshold(),
        settings.recall(),
        count(settings.plan.bands() as u64, "band"),
        settings.plan.depth(),
        settings.lanes(),
        settings.shingle,
        settings.normalization
    )
}

impl IndexSettings {
    /// The shingle of a new index.
    pub fn shingle(&self) -> Shingle {
        self.shingle.unwrap_or(if self.weighted { Shingle::Tokens } else { Shingle::default() })
    }

    /// Whether a new index holds weighted sets.
    pub fn weighted(&self) -> bool {
        self.weighted
    }

    /// The options of the library for a new index.
    pub fn options(&self) -> IndexOptions {
        let options = self.options_but_threshold();
        match self.threshold {
            Some(threshold) => options.threshold(threshold),
            None => options,
        }
    }

    /// The least similarity that counts as similar, if it was given.
    pub fn threshold(&self) -> Option<f64> {
        self.threshold
    }

    /// Fails if a random seed was asked for, and the index has the seed that everybody knows.
    pub fn check_seed(&self, settings: &Settings, index: &Path) -> Result<(), Failure> {
        match self.seed {
            Some(Seed::Random) if settings.seed == 0 => Err(anyhow!(
                "{}: was created with the seed 0, which anybody can guess; --seed random is for a \
                 new index",
                index.display()
            )
            .into()),
            _ => Ok(()),
        }
    }

    /// Whether it was said which passages a new index finds.
    pub fn has_passages_option(&self) -> bool {
        self.passages.is_some()
    }

    /// The same without the threshold, for an index that may have another one.
    pub fn options_but_threshold(&self) -> IndexOptions {
        let mut options = IndexOptions::new();
        if let Some(recall) = self.recall {
            options = options.recall(recall);
        }
        if let Some(shingle) = self.shingle {
            options = options.shingle(shingle);
        }
        if let Some(lanes) = self.lanes {
            options = options.lanes(lanes);
        }
        if let Some(normalization) = self.normalize {
            options = options.normalization(normalization);
        }
        if self.multiset {
            options = options.multiset(true);
        }
        if self.weighted {
            options = options.weighted(true);
        }
        if self.store_text {
            options = options.store_text(true);
        }
        options = match self.passages {
            Some(Some(length)) => options.passages(length),
            Some(None) => options.usual_passages(),
            None => options,
        };
        match self.seed {
            Some(Seed::Fixed(seed)) => options.seed(seed),
            Some(Seed::Random) => options.random_seed(),
            None => options,
        }
    }
}

/// Parses the length of passages.
fn passages(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(
        |_| "expected a number of units; without a number, put --passages behind all file names",
    )
}

/// The seed that a person asks for.
#[derive(Clone, Copy, Debug)]
enum Seed {
    Fixed(u64),
    Random,
}

/// Parses a seed.
fn seed(text: &str) -> Result<Seed, &'static str> {
    match text {
        "random" => Ok(Seed::Random),
        number => match number.parse() {
            Ok(seed) => Ok(Seed::Fixed(seed)),
            Err(_) => Err("expected a whole number from 0 to 18446744073709551615, or random"),
        },
    }
}
