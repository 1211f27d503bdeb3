//! The options of `twindex-lab study law`.

use super::outputs::Outputs;
use crate::study::law::LawSettings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns: how often 95 % intervals hold J, by exact summation: at four similarities; then the least
and the greatest over each twentieth with 0.01 and 0.99, and over all thousandths. Printed is the
interval of Dembele and Lo, which has k outside the root.

The picture shows estimates of a known J beside the binomial law, these intervals, how far affine
maps are from J, and RUM's bias and variance.

Examples:
  twindex-lab study law --svg law.svg
  twindex-lab study law --similarity 0.95 --functions 256 --csv law.csv")]
pub(super) struct LawArgs {
    /// Similarity of the two sets, from 0 to 1
    #[arg(long, value_name = "J", default_value_t = LawSettings::default().similarity)]
    similarity: f64,
    /// How many hash functions: k
    #[arg(long, value_name = "K", default_value_t = LawSettings::default().functions,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    functions: u32,
    /// How many different elements both sets have together
    #[arg(long, value_name = "N", default_value_t = LawSettings::default().rows,
          value_parser = clap::value_parser!(u32).range(2..=10_000))]
    rows: u32,
    /// How often each estimate is made
    #[arg(long, value_name = "R", default_value_t = LawSettings::default().runs,
          value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    runs: u32,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl LawArgs {
    pub(super) fn settings(&self) -> LawSettings {
        let (similarity, functions) = (self.similarity, self.functions);
        LawSettings { similarity, functions, rows: self.rows, runs: self.runs }
    }
}
