//! The options of `twindex-lab study precision`.

use super::outputs::Outputs;
use crate::study::precision::PrecisionSettings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Two overlapping passages of Mark, in English and of shingles of 9 characters, are similar to .6
exactly. Each family estimates that, drawn anew in each run, from keys that are row numbers (in
the order of the text, and in alphabetical order) or hashes of the shingles.

Output, a line for each kind of keys and family, with the most functions: keys, family, hashes,
mean, bias (of the mean), bias_by_chance (what an unbiased one stays below), mean_absolute_error,
root_mean_square_error, slope (of the logarithm of the mean absolute error over that of the number
of functions, from 10 on; none of fewer than five numbers). What must be seen is told where runs
and functions are enough to tell it from chance. The picture has bands for modular and jenkins
only: standard error of the mean absolute error, standard deviation of the estimate.

Examples:
  twindex-lab study precision --svg precision.svg
  twindex-lab study precision --runs 200 --hashes 1000 --csv precision.csv")]
pub(super) struct PrecisionArgs {
    #[command(flatten)]
    pub(super) outputs: Outputs,
    /// How often each family is drawn anew
    #[arg(long, value_name = "N", default_value_t = PrecisionSettings::default().runs,
          value_parser = clap::value_parser!(u64).range(2..=100_000))]
    runs: u64,
    /// The most hash functions
    #[arg(long, value_name = "K", default_value_t = PrecisionSettings::default().hashes)]
    hashes: usize,
}

impl PrecisionArgs {
    pub(super) fn settings(&self) -> PrecisionSettings {
        PrecisionSettings { runs: self.runs, hashes: self.hashes, ..PrecisionSettings::default() }
    }
}
