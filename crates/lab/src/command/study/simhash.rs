//! The options of `twindex-lab study simhash`.

use super::outputs::Outputs;
use crate::study::simhash::SimhashSettings;
use twindex_cli::run::ranges;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Compares texts of the English Gospels with edited copies of all similarities, by SimHash, by
MinHash with one-byte lanes, and by MinHash with one-bit lanes. All sketches have the same size.

Columns: sketch; its root mean square error at four similarities; its precision (the share of
reported pairs that are similar) at three values of recall (the share of similar pairs that are
reported).

Examples:
  twindex-lab study simhash --svg simhash.svg
  twindex-lab study simhash --bytes 32 --threshold 0.9 --csv simhash.csv")]
pub(super) struct SimhashArgs {
    /// Bytes of each sketch: 32, 64, or 128 without one-bit lanes
    #[arg(long, value_name = "N", default_value_t = 64)]
    bytes: usize,
    /// Least similarity of the pairs to find
    #[arg(long, value_name = "T", default_value = "0.8", value_parser = threshold)]
    threshold: f64,
    /// Pairs in each run
    #[arg(long, value_name = "N", default_value_t = 500)]
    pairs: usize,
    /// Runs, each with new texts and new hash functions
    #[arg(long, value_name = "R", default_value_t = 20)]
    runs: u32,
    /// Words in each text
    #[arg(long, value_name = "N", default_value_t = 200)]
    words: usize,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl SimhashArgs {
    pub(super) fn settings(&self) -> SimhashSettings {
        SimhashSettings {
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
