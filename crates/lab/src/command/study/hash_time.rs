//! The options of `twindex-lab study hash-time`.

use super::outputs::Outputs;
use crate::study::hash_time::HashTimeSettings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Times the signature matrix of 10 passages of 1,000 characters (Mark, in English), for shingles
of 2 to 20 characters: 200 hash functions of each family on row numbers, on one thread. Then
bands of 2 to 8 rows: the hash by shifts and exclusive or, and the index's own word.

Output, a line for each family and some sizes: what, size (characters of a shingle; rows of a
band), milliseconds (median), nanoseconds_each (for each shingle and function; for each band),
distinct_of_65536 (hashes of so many bands that differ in two rows).

Examples:
  twindex-lab study hash-time --svg hash-time.svg
  twindex-lab study hash-time --runs 21 --hashes 400 --csv hash-time.csv")]
pub(super) struct HashTimeArgs {
    #[command(flatten)]
    pub(super) outputs: Outputs,
    /// How often everything is timed
    #[arg(long, value_name = "N", default_value_t = HashTimeSettings::default().runs as u64,
          value_parser = clap::value_parser!(u64).range(1..=100_000))]
    runs: u64,
    /// Hash functions of a signature
    #[arg(long, value_name = "K", default_value_t = HashTimeSettings::default().hashes)]
    hashes: usize,
}

impl HashTimeArgs {
    pub(super) fn settings(&self) -> HashTimeSettings {
        HashTimeSettings {
            runs: self.runs as usize,
            hashes: self.hashes,
            ..HashTimeSettings::default()
        }
    }
}
