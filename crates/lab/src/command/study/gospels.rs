//! The options of `twindex-lab study gospels`.

use super::outputs::Outputs;
use crate::study::gospels::GospelsSettings;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The six pairs of the four Gospels, in French (Segond 1910) and English (King James Version),
words of fewer than three letters dropped, by shingles of three characters: exact, by file, by
chance, by samples, and by RUM on samples. Both texts are part of the command; a directory with
files of the same names as in data/gospels can stand in for them.

Columns: exact of multisets, with what the paper has and the common shingles; sets; chance; the
means of independent samples, what these tend to, and of coordinated samples; RUM's simM and sim
with 20 functions. What is random has its standard deviation over the runs beside it, in a column
whose name ends in _sd. The last line has the times, and the paper's. --csv has all, with their
extremes and times.

Examples:
  twindex-lab study gospels
  twindex-lab study gospels --svg gospels.svg --csv gospels.csv
  twindex-lab study gospels --runs 10 --sample 1000 --seed 7 --json")]
pub(super) struct GospelsArgs {
    /// Directory of the eight texts, instead of those that are built in
    directory: Option<PathBuf>,
    /// How often samples are drawn
    #[arg(long, value_name = "R", default_value_t = GospelsSettings::default().runs,
          value_parser = clap::value_parser!(u32).range(2..=100_000))]
    runs: u32,
    /// How many shingles are drawn of each text
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
