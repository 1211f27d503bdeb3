//! The options of `twindex-lab study gospels`.

use super::outputs::Outputs;
use crate::study::gospels::GospelsSettings;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Compares the six pairs of the four Gospels, in French (Segond 1910) and English (King James
Version), without words of fewer than three letters, by shingles of three characters: exactly, by
file, by chance, by samples, and by RUM on samples. Both translations are part of the command. A
directory with files of the same names as in data/gospels can replace them.

Columns: the exact similarity of multisets, with the paper's value and the number of common
shingles; that of sets; that by chance; the mean of independent samples, its limit, and the mean
of coordinated samples; RUM's simM and sim with 20 functions. A column whose name ends in _sd has
the standard deviation over the runs. Two further tables have the rows and letters of each text,
before and after normalisation, and for each pair the similarity Kc / (n1 + n2 - Kc) from the
number of common shingles, with n = letters - 2 and with n = letters. The last line compares the
times with those of the paper. --csv writes all values, with their extremes and times.

Examples:
  twindex-lab study gospels
  twindex-lab study gospels --svg gospels.svg --csv gospels.csv
  twindex-lab study gospels --runs 10 --sample 1000 --seed 7 --json")]
pub(super) struct GospelsArgs {
    /// Directory with eight texts to use instead of the built-in ones
    directory: Option<PathBuf>,
    /// Number of samples to draw
    #[arg(long, value_name = "R", default_value_t = GospelsSettings::default().runs,
          value_parser = clap::value_parser!(u32).range(2..=100_000))]
    runs: u32,
    /// Shingles to draw from each text
    #[arg(long, value_name = "N", default_value_t = GospelsSettings::default().sample as u64,
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    sample: u64,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl GospelsArgs {
    pub(super) fn settings(&self) -> GospelsSettings {
        GospelsSettings {
            folder: self.directory.clone(),
            runs: self.runs,
            sample: self.sample as usize,
        }
    }
}
