//! The options of `twindex-lab study bands`.

use super::outputs::Outputs;
use crate::study::bands::{BandsSettings, Cut};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each row of the table is for signatures cut into bands of some rows. Its columns:
  rule, at_rule  the similarity (1/b)^(1/r), and the share of pairs that meet there
  half           the similarity at which every second pair meets
  recall         the share of pairs at the threshold that meet
  missed         the mean share of pairs above the threshold that do not meet
  extra          the mean share of pairs below the threshold that meet
The last two rows are --functions cut by the books' rule, and by --recall.

Examples:
  twindex-lab study bands --svg bands.svg
  twindex-lab study bands --cut 20x10 --cut 16x16 --cut 50x4 --threshold 0.5
  twindex-lab study bands --functions 90 --threshold 0.7")]
pub(super) struct BandsArgs {
    /// Bands and rows to compare (repeatable) [default: 20x10 and 16x16]
    #[arg(long, value_name = "BxR")]
    cut: Vec<Cut>,
    /// Number of functions to cut by both rules
    #[arg(long, value_name = "K", default_value_t = BandsSettings::default().functions,
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    functions: u32,
    /// Least similarity of a pair that should meet
    #[arg(long, value_name = "T", default_value_t = BandsSettings::default().threshold)]
    threshold: f64,
    /// Least share of the pairs at the threshold that should meet
    #[arg(long, value_name = "P", default_value_t = BandsSettings::default().recall)]
    recall: f64,
    /// Number of times each pair is sketched anew
    #[arg(long, value_name = "R", default_value_t = BandsSettings::default().runs,
          value_parser = clap::value_parser!(u32).range(20..=100_000))]
    runs: u32,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl BandsArgs {
    pub(super) fn settings(&self) -> BandsSettings {
        let BandsSettings { cuts, .. } = BandsSettings::default();
        BandsSettings {
            cuts: if self.cut.is_empty() { cuts } else { self.cut.clone() },
            functions: self.functions,
            threshold: self.threshold,
            recall: self.recall,
            runs: self.runs,
        }
    }
}
