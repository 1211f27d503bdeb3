//! The options of `twindex-lab study rules`.

use super::outputs::Outputs;
use crate::study::rules::RulesSettings;
use crate::study::transactions::TransactionLayout;
use clap::ValueEnum;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A transaction is a line of items, and an item a column: the set of transactions that have it.
Pairs of columns that are similar are found by sketches and bands, however rare they are, and
compared exactly:
  similarity   transactions with both among those with either
  support      transactions with both, and their share of all
  a_to_b       share of those with b among those with a; b_to_a the other way
  lift         how much likelier one is where the other is
Brute force then looks for the same pairs, with as many columns as it can compare in about a
second. Without a file, transactions are the verses of the Gospels, and items their words. A file
may be compressed (gzip, zstd), and - is standard input. Items in quotation marks may hold what
--separator names.

Examples:
  twindex-lab study rules --threshold 0.4 --svg rules.svg
  twindex-lab study rules baskets.txt --support 10 --csv rules.csv
  twindex-lab study rules groceries.csv --separator comma
  twindex-lab study rules survey.csv --matrix --threshold 0.7")]
pub(super) struct RulesArgs {
    /// File with a transaction a line
    file: Option<PathBuf>,
    /// Least similarity of two columns
    #[arg(long, value_name = "T", default_value_t = RulesSettings::default().threshold)]
    threshold: f64,
    /// Least probability that a pair at the threshold is found
    #[arg(long, value_name = "P", default_value_t = RulesSettings::default().recall)]
    recall: f64,
    /// Least number of transactions with both
    #[arg(long, value_name = "N", default_value_t = RulesSettings::default().support,
          value_parser = clap::value_parser!(u64).range(1..=u64::from(u32::MAX)))]
    support: u64,
    /// Pairs that are printed; all are written to --csv
    #[arg(long, value_name = "K", default_value_t = RulesSettings::default().top)]
    top: usize,
    /// What stands between two items, which may hold what does not [default: white space, commas]
    #[arg(long, value_enum, value_name = "NAME", requires = "file")]
    separator: Option<Separator>,
    /// The first line names the items; others have a 1 or a 0 for each
    #[arg(long, requires = "file")]
    matrix: bool,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Separator {
    Comma,
    Semicolon,
    Tab,
    Space,
}

impl Separator {
    const fn mark(self) -> char {
        match self {
            Self::Comma => ',',
            Self::Semicolon => ';',
            Self::Tab => '\t',
            Self::Space => ' ',
        }
    }
}

impl RulesArgs {
    pub(super) fn settings(&self) -> RulesSettings {
        RulesSettings {
            file: self.file.clone(),
            layout: TransactionLayout {
                separator: self.separator.map(Separator::mark),
                matrix: self.matrix,
            },
            threshold: self.threshold,
            recall: self.recall,
            support: self.support,
            top: self.top,
        }
    }
}
