//! The options of `twindex-lab study chance`.

use super::outputs::Outputs;
use crate::study::chance::ChanceSettings;

/// The greatest size: so many take some seconds, and their square root decides.
const GREATEST: u64 = 1_000_000_000_000;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
For the sizes of the texts of Dembele and Lo (50,000 to 110,000 shingles), and for the Gospels in
French and English as multisets and as sets. Columns: both sizes a and b; the mean similarity of
random sets of these sizes of a universe of a + b, as the papers have it, with where 95 % of them
are; the same of the universe given; the similarity seen, and the decimal logarithm of the
probability of one as high, in either universe. By default the universe given is what all four
Gospels use.

Examples:
  twindex-lab study chance
  twindex-lab study chance --sizes 3000 5000 --universe 19683
  twindex-lab study chance --svg chance.svg --csv chance.csv")]
pub(super) struct ChanceArgs {
    /// Sizes of two sets to look at besides, up to 10^12
    #[arg(long, value_names = ["A", "B"], num_args = 2,
          value_parser = clap::value_parser!(u64).range(..=GREATEST))]
    sizes: Option<Vec<u64>>,
    /// How many elements there are to be drawn, such as 19683 = 27³ shingles of three
    /// characters, each a letter or a space
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
