//! The options of `twindex-lab study functions`.

use super::outputs::Outputs;
use crate::study::functions::FunctionsSettings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each row of the table is for one error E. Its columns are the fewest hash functions
  standard_error     whose standard error is at most E at every similarity: 1 / (4 E^2)
  mean_error         whose expected error is at most E at similarity .5, by exact summation
  within_95          whose error is at most E 19 times in 20, at every similarity
  reciprocal_square  by 1 / E^2, the number that is often printed
  lanes              of an index whose lanes have one byte: its standard error

Examples:
  twindex-lab study functions --svg functions.svg
  twindex-lab study functions --error 0.03")]
pub(super) struct FunctionsArgs {
    /// An error to add to the table, from .002 to below .5
    #[arg(long, value_name = "E", default_value_t = FunctionsSettings::default().error)]
    error: f64,
    /// Number of times each estimate is simulated
    #[arg(long, value_name = "R", default_value_t = FunctionsSettings::default().runs,
          value_parser = clap::value_parser!(u32).range(50..=100_000))]
    runs: u32,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl FunctionsArgs {
    pub(super) fn settings(&self) -> FunctionsSettings {
        FunctionsSettings { error: self.error, runs: self.runs }
    }
}
