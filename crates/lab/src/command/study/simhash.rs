//! The options of `twindex study simhash`.

use super::Outputs;
use crate::study::simhash::Settings;
use twindex_cli::run::ranges;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Texts of the English Gospels and edited copies of them, of all similarities, are compared by
SimHash, by MinHash in lanes of a byte, and by MinHash in lanes of a bit, all in as many bytes.

Columns: sketch; its root mean square error at four similarities; its precision (the share of the
pairs reported that are wanted) at three shares of the wanted that it reports.

Examples:
  twindex study simhash --svg simhash.svg
  twindex study simhash --bytes 32 --threshold 0.9 --csv simhash.csv")]
pub(super) struct Simhash {
    /// Bytes of each sketch: 32, 64 or 128 (without lanes of a bit, of which there are 512)
    #[arg(long, value_name = "N", default_value_t = 64)]
    bytes: usize,
    /// From which similarity on pairs are to be found
    #[arg(long, value_name = "T", default_value = "0.8", value_parser = threshold)]
    threshold: f64,
    /// Pairs of each run
    #[arg(long, value_name = "N", default_value_t = 500)]
    pairs: usize,
    /// Runs, each with other texts and other hash functions
    #[arg(long, value_name = "R", default_value_t = 20)]
    runs: u32,
    /// Words of each text
    #[arg(long, value_name = "N", default_value_t = 200)]
    words: usize,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl Simhash {
    pub(super) fn settings(&self) -> Settings {
        Settings {
            bytes: self.bytes,
            threshold: self.threshold,
            pairs: self.pairs,
            runs: self.runs,
            words: self.words,
        }
    }
}

fn threshold(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    ranges::threshold(number).map_err(|error| error.to_string())
}
