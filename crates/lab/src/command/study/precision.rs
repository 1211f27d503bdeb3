//! The options of `twindex-lab study precision`.

use super::outputs::Outputs;
use crate::study::precision::PrecisionSettings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Two overlapping passages of Mark, in English with shingles of 9 characters, have a similarity of
exactly .6. Each family estimates it, drawn anew in each run, from keys that are row numbers (in
the order of the text, and in alphabetical order) or hashes of the shingles.

Output, one line for each kind of keys and family, with the greatest number of functions: keys,
family, hashes, mean, bias (of the mean), bias_by_chance (the bound for an unbiased family),
mean_absolute_error, root_mean_square_error, slope (of log(mean absolute error) over
log(functions), from 10 functions on; missing with fewer than five numbers of functions). A
finding is left out if the runs and functions are too few to distinguish it from chance. The
figure has bands only for modular and jenkins: the standard error of the mean absolute error, and
the standard deviation of the estimate.

Examples:
  twindex-lab study precision --svg precision.svg
  twindex-lab study precision --runs 200 --hashes 1000 --csv precision.csv")]
pub(super) struct PrecisionArgs {
    #[command(flatten)]
    pub(super) outputs: Outputs,
    /// Number of times each family is drawn anew
    #[arg(long, value_name = "N", default_value_t = PrecisionSettings::default().runs,
          value_parser = clap::value_parser!(u64).range(2..=100_000))]
    runs: u64,
    /// Most hash functions
    #[arg(long, value_name = "K", default_value_t = PrecisionSettings::default().hashes)]
    hashes: usize,
}

impl PrecisionArgs {
    pub(super) fn settings(&self) -> PrecisionSettings {
        PrecisionSettings { runs: self.runs, hashes: self.hashes, ..PrecisionSettings::default() }
    }
}
