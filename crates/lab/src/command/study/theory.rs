//! The options of `twindex-lab study theory`.

use super::outputs::Outputs;
use crate::study::theory::TheorySettings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Computes what Dembele and Lo 2017 leave open: the probability that no rows of the matrix collide
(their equation 19), the share of equal minima where rows do collide (equation 18 and case D), and
the error of random samples over their size (theorem 2). Exact for few rows, simulated for many.

Columns: elements (of both samples); share (of each set that is drawn); rate (the error by theorem
2, up to a constant); independent and coordinated (the root mean square errors of the similarity
of such samples of two sets of 12,000 elements with J = .5).

Examples:
  twindex-lab study theory --svg theory.svg
  twindex-lab study theory --maps 128 --runs 2000 --csv theory.csv")]
pub(super) struct TheoryArgs {
    /// Maps of a matrix, k
    #[arg(long, value_name = "K", default_value_t = TheorySettings::default().maps)]
    maps: u32,
    /// Runs of each simulation; a quarter as many for the samples
    #[arg(long, value_name = "R", default_value_t = TheorySettings::default().runs)]
    runs: u32,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl TheoryArgs {
    pub(super) fn settings(&self) -> TheorySettings {
        TheorySettings { maps: self.maps, runs: self.runs }
    }
}
