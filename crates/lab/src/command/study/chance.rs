//! The options of `twindex-lab study chance`.

use super::outputs::Outputs;
use crate::study::chance::ChanceSettings;

/// The greatest size. It takes some seconds; the time grows with its square root.
const GREATEST: u64 = 1_000_000_000_000;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Computes how similar random sets are, for the sizes of the texts of Dembele and Lo (50,000 to
110,000 shingles), and for the Gospels in French and English as multisets and as sets.

Columns: both sizes a and b; the mean similarity of random sets of these sizes from a universe of
a + b elements, as in the papers, with a range that holds 95 % of all pairs; the same for the
universe of --universe; the actual similarity, and log10 of the probability of one as high, in
either universe. By default --universe is the number of shingles that all four Gospels use.

Examples:
  twindex-lab study chance
  twindex-lab study chance --sizes 3000 5000 --universe 19683
  twindex-lab study chance --svg chance.svg --csv chance.csv")]
pub(super) struct ChanceArgs {
    /// Sizes of two more sets to examine, up to 10^12
    #[arg(long, value_names = ["A", "B"], num_args = 2,
          value_parser = clap::value_parser!(u64).range(..=GREATEST))]
    sizes: Option<Vec<u64>>,
    /// Size of the universe from which sets are drawn, such as the 19683 = 27³ shingles of three
    /// characters that are letters or spaces
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    universe: Option<u64>,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl ChanceArgs {
    pub(super) fn settings(&self) -> ChanceSettings {
        let sizes = match self.sizes.as_deref() {
            Some(&[a, b]) => Some((a, b)),
            _ => None,
        };
        ChanceSettings { sizes, universe: self.universe }
    }
}
