//! The options of `twindex-lab study approaches`.

use super::outputs::Outputs;
use crate::sketch::Family;
use crate::study::approaches::ApproachesSettings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Four ways to find all similar pairs, each with ever more documents: the exact similarity of
every pair; its estimate from 200 hash functions; the same of pairs that meet in one of 20 bands
of 10; and an index in a temporary directory. First with random orders of one text, up to 410,
then with texts of which one in ten is a near copy of another. Slopes are those of the logarithm
of time over that of documents, from an eighth of the greatest number on: 2 is quadratic, 1 is
linear.

Columns: texts; approach; the most documents it was timed with; seconds of all, and of comparing
without preparing, with their slopes; pairs compared; pairs found; recall (share of the pairs from
the threshold on that were found).

Examples:
  twindex-lab study approaches --svg approaches.svg
  twindex-lab study approaches --docs 20000 --budget 2
  twindex-lab study approaches --family murmur3 --csv approaches.csv --threads 1")]
pub(super) struct ApproachesArgs {
    /// The most documents; halves of it are measured too
    #[arg(long, value_name = "N", default_value_t = ApproachesSettings::default().docs as u64,
          value_parser = clap::value_parser!(u64).range(8..=10_000_000))]
    docs: u64,
    /// An approach stops where it would take longer than this for one number of documents, after
    /// three
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
    seconds.ok_or("expected a number of seconds, as 10 or 0.5")
}
