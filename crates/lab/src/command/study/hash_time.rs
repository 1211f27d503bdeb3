//! The options of `twindex-lab study hash-time`.

use super::outputs::Outputs;
use crate::study::hash_time::HashTimeSettings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Times how long it takes to fill the signature matrix of 10 passages of 1,000 characters (Mark, in
English), for shingles of 2 to 20 characters, with 200 hash functions of each family on row
numbers, on one thread. Then times hashing bands of 2 to 8 rows, by shifts and exclusive or and by
the word of an index.

Output, one line for each family and some sizes: what, size (characters of a shingle, or rows of a
band), milliseconds (median), nanoseconds_each (for each shingle and function, or for each band),
distinct_of_65536 (distinct hashes of 65,536 bands that differ in two rows).

Examples:
  twindex-lab study hash-time --svg hash-time.svg
  twindex-lab study hash-time --runs 21 --hashes 400 --csv hash-time.csv")]
pub(super) struct HashTimeArgs {
    #[command(flatten)]
    pub(super) outputs: Outputs,
    /// Number of times everything is timed
    #[arg(long, value_name = "N", default_value_t = HashTimeSettings::default().runs as u64,
          value_parser = clap::value_parser!(u64).range(1..=100_000))]
    runs: u64,
    /// Hash functions in a signature
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
