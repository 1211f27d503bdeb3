//! The options of `twindex-lab study law`.

use super::outputs::Outputs;
use crate::study::law::LawSettings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Computes how often 95 % intervals hold J, by exact summation. Columns: the coverage at four
similarities; its least and greatest value over J = 0.01, 0.05, 0.1, ... 0.95, 0.99; the same over
all thousandths. \"as printed\" is the interval of Dembele and Lo, which has k outside the root.

The figure compares estimates of a known J with the binomial law, and shows the coverage of these
intervals, the bias of affine maps, and RUM's bias and variance.

Examples:
  twindex-lab study law --svg law.svg
  twindex-lab study law --similarity 0.95 --functions 256 --csv law.csv")]
pub(super) struct LawArgs {
    /// Similarity J of the two sets, from 0 to 1
    #[arg(long, value_name = "J", default_value_t = LawSettings::default().similarity)]
    similarity: f64,
    /// Number of hash functions, k
    #[arg(long, value_name = "K", default_value_t = LawSettings::default().functions,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    functions: u32,
    /// Number of distinct elements that both sets have together
    #[arg(long, value_name = "N", default_value_t = LawSettings::default().rows,
          value_parser = clap::value_parser!(u32).range(2..=10_000))]
    rows: u32,
    /// Number of times each estimate is simulated
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
