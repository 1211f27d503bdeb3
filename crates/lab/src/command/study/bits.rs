//! The options of `twindex-lab study bits`.

use super::outputs::Outputs;
use crate::study::bits::BitsSettings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Compares signatures that keep 1, 2, 4, 8 or 16 bits of each lane. Pairs of random sets of known
similarity are sketched, and estimates from their lanes are compared with the law.

Columns of the first table: bytes of a signature; bits of a lane; lanes; standard error at each
similarity J, by the law; the probability that a pair of .75 is estimated at .8 or more, and that
one of .85 is estimated below. Further tables:
  bytes for the error of 256 lanes of 8 bits
  bias and error of measured estimates, the bias that chance allows, and the error by the law
  words of the bands: the documents of an index of 10^6 and 10^8 that share one band's bucket with
    a document, if they share nothing (random) and if they have J = .05 (language); the bands that
    find pairs of .8 with probability .99, and the lanes of all these
  signatures, some of which keep 8 bits of the lanes of bands: bytes of the signature; bytes of a
    document in an index of a million, without record and text; standard error at each J, divided
    by that of today; of a million documents that share nothing, those that a scan reports (vain)
  error at J = .8 in small sets

Examples:
  twindex-lab study bits --svg bits.svg
  twindex-lab study bits --pairs 500 --elements 3000 --csv bits.csv")]
pub(super) struct BitsArgs {
    /// Number of pairs that are drawn of each similarity
    #[arg(long, value_name = "N", default_value_t = BitsSettings::default().pairs,
          value_parser = clap::value_parser!(u32).range(50..=100_000))]
    pairs: u32,
    /// Number of distinct elements that both sets of a pair have together
    #[arg(long, value_name = "N", default_value_t = BitsSettings::default().elements,
          value_parser = clap::value_parser!(u32).range(1_000..=1_000_000))]
    elements: u32,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl BitsArgs {
    pub(super) fn settings(&self) -> BitsSettings {
        BitsSettings { pairs: self.pairs, elements: self.elements }
    }
}
