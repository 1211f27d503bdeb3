//! The options of `twindex-lab study rules`.

use super::outputs::Outputs;
use crate::study::rules::RulesSettings;
use crate::study::transactions::TransactionLayout;
use clap::ValueEnum;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each line of the file is a transaction, a list of items. The column of an item is the set of
transactions that have it. The study finds similar columns by sketches and bands, however rare
they are, and compares them exactly:
  similarity   Jaccard similarity of both columns
  support      number of transactions with both items; share is their share of all
  a_to_b       share of the transactions with a that also have b; b_to_a is the reverse
  lift         factor by which one item makes the other more likely
Then brute force looks for the same pairs, with as many columns as it can compare in about a
second. Without a file, transactions are the verses of the Gospels, and items their words. The
file may be compressed (gzip, zstd); - is standard input. Items in quotation marks may contain the
separator.

Examples:
  twindex-lab study rules --threshold 0.4 --svg rules.svg
  twindex-lab study rules baskets.txt --support 10 --csv rules.csv
  twindex-lab study rules groceries.csv --separator comma
  twindex-lab study rules survey.csv --matrix --threshold 0.7")]
pub(super) struct RulesArgs {
    /// File with one transaction per line
    file: Option<PathBuf>,
    /// Least similarity of two columns
    #[arg(long, value_name = "T", default_value_t = RulesSettings::default().threshold)]
    threshold: f64,
    /// Least probability of finding a pair at the threshold
    #[arg(long, value_name = "P", default_value_t = RulesSettings::default().recall)]
    recall: f64,
    /// Least number of transactions with both items
    #[arg(long, value_name = "N", default_value_t = RulesSettings::default().support,
          value_parser = clap::value_parser!(u64).range(1..=u64::from(u32::MAX)))]
    support: u64,
    /// Most pairs to print; --csv always gets all of them
    #[arg(long, value_name = "K", default_value_t = RulesSettings::default().top)]
    top: usize,
    /// Separator of items, which may then contain other separators [default: white space, commas]
    #[arg(long, value_enum, value_name = "NAME", requires = "file")]
    separator: Option<Separator>,
    /// Read a matrix: the first line names the items, other lines have a 1 or a 0 for each
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
