//! The options of a comparison of two texts or weighted sets without an index.

use super::failure::Failure;
use super::input_options::{LONGEST, size};
use super::ranges;
use crate::input::{Body, STANDARD_INPUT, no_sequence, too_long_normalized, weights, whole_text};
use anyhow::anyhow;
use clap::Args;
use std::path::{Path, PathBuf};
use twindex::{DEFAULT_CONFIDENCE, Normalization, Shingle, Shingler, normal_quantile};

/// Two texts to compare, and how to cut them into shingles.
#[derive(Debug, Args)]
pub struct TwoTexts {
    /// A file, or - for standard input
    pub a: PathBuf,
    /// Another file, or - for standard input
    pub b: PathBuf,
    /// Exit with 1 if the exact similarity is below T [default: none]
    #[arg(long, value_name = "T")]
    pub threshold: Option<f64>,
    /// What a shingle is: char:N, word:N, line:N, token or kmer:N (of DNA, bare or FASTA)
    /// [default: char:9; token with --weighted]
    #[arg(long, value_name = "KIND")]
    pub shingle: Option<Shingle>,
    /// A list of lower, nfc or nfkc, space or nospace, minword=N; or none
    /// [default: lower,nfc,space; none for token and kmer:N]
    #[arg(long, value_name = "LIST")]
    pub normalize: Option<Normalization>,
    /// Probability that the true similarity lies between low and high
    #[arg(long, value_name = "P", default_value_t = DEFAULT_CONFIDENCE)]
    pub confidence: f64,
    /// Seed of all hashes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Count repeated shingles as often as they occur
    #[arg(long, conflicts_with = "weighted")]
    pub multiset: bool,
    /// Compare weighted sets: each file holds a JSON object with a number for each token
    #[arg(long)]
    pub weighted: bool,
    /// The most bytes of a text; a longer text is an error
    #[arg(long, value_name = "SIZE", default_value = LONGEST, value_parser = size)]
    pub max_record: usize,
}

impl TwoTexts {
    /// Refuses standard input for both texts, and numbers out of range.
    pub fn check(&self) -> Result<(), Failure> {
        let is_input = |path: &Path| path.as_os_str() == STANDARD_INPUT;
        if is_input(&self.a) && is_input(&self.b) {
            return Err(anyhow!("only one of the two texts can be standard input").into());
        }
        normal_quantile(self.confidence)?;
        self.threshold.map(ranges::threshold).transpose()?;
        Ok(())
    }

    /// The shingle of the texts.
    pub fn shingle(&self) -> Shingle {
        self.shingle.unwrap_or(if self.weighted { Shingle::Tokens } else { Shingle::default() })
    }

    /// The shingler of the texts. In a multiset, each repetition of a shingle is an element.
    pub fn shingler(&self, multiset: bool) -> Result<Shingler, Failure> {
        let shingle = self.shingle();
        let normalization = self.normalize.unwrap_or(shingle.default_normalization());
        Ok(Shingler::new(shingle, normalization, multiset, self.seed)?)
    }

    /// Reads one of the texts. FASTQ is refused if the shingle is a k-mer.
    pub fn read(&self, path: &Path) -> Result<String, Failure> {
        let text = whole_text(path, self.max_record).map_err(|bad| anyhow!("{bad}"))?;
        if let Some(cause) = self.shingle().kmer_width().and_then(|_| no_sequence(&text)) {
            return Err(anyhow!("{}: {cause}", path.display()).into());
        }
        let normalization = self.normalize.unwrap_or(self.shingle().default_normalization());
        if Body::Text((&*text).into()).exceeds(normalization.form, self.max_record) {
            let cause = too_long_normalized(self.max_record);
            return Err(anyhow!("{}: {cause}", path.display()).into());
        }
        Ok(text)
    }

    /// Reads one of the weighted sets. The tokens are sorted by hash.
    pub fn read_weights(&self, path: &Path) -> Result<Vec<(u64, f64)>, Failure> {
        let object = whole_text(path, self.max_record).map_err(|bad| anyhow!("{bad}"))?;
        let weights = weights(&object).map_err(|cause| anyhow!("{}: {cause}", path.display()))?;
        drop(object);
        Ok(self.shingler(false)?.weights(&weights))
    }

    /// Whether there is a threshold and the similarity is below it.
    pub fn is_below(&self, similarity: f64) -> bool {
        self.threshold.is_some_and(|threshold| similarity < threshold)
    }
}
