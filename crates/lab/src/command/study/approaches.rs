//! The options of `twindex-lab study approaches`.

use super::outputs::Outputs;
use crate::sketch::Family;
use crate::study::approaches::ApproachesSettings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Times four ways to find all similar pairs, with growing numbers of documents: the exact similarity
of every pair; the estimate from 200 hash functions for every pair; the same for pairs with an
equal band among 20 bands of 10; and an index in a temporary directory. The documents are random
orders of one text, up to 410, and then texts of which one in ten is a near copy of another. A
slope is that of log(time) over log(documents), from an eighth of the greatest number on: 2 is
quadratic, 1 is linear.

Columns: texts; approach; the most documents timed; seconds in total and of the comparison alone,
with their slopes; pairs compared; pairs found; recall (the share of similar pairs that were
found).

Examples:
  twindex-lab study approaches --svg approaches.svg
  twindex-lab study approaches --docs 20000 --budget 2
  twindex-lab study approaches --family murmur3 --csv approaches.csv --threads 1")]
pub(super) struct ApproachesArgs {
    /// Most documents; the study also measures half as many, a quarter, and so on
    #[arg(long, value_name = "N", default_value_t = ApproachesSettings::default().docs as u64,
          value_parser = clap::value_parser!(u64).range(8..=10_000_000))]
    docs: u64,
    /// Stop an approach when one measurement would take longer; the three smallest always run
    #[arg(long, value_name = "SECONDS", default_value_t = ApproachesSettings::default().budget,
          value_parser = budget)]
    budget: f64,
    /// Family of the 200 hash functions
    #[arg(long, value_name = "NAME", default_value_t = ApproachesSettings::default().family)]
    family: Family,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl ApproachesArgs {
    pub(super) fn settings(&self) -> ApproachesSettings {
        ApproachesSettings { docs: self.docs as usize, budget: self.budget, family: self.family }
    }
}

fn budget(text: &str) -> Result<f64, &'static str> {
    let seconds = text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
    seconds.ok_or("expected a number of seconds, such as 10 or 0.5")
}
