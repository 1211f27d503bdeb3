//! The options of `twindex-lab study widths`.

use super::outputs::Outputs;
use crate::study::widths::WidthsSettings;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Compares all pairs of texts by shingles of 1 character and more: exactly, by merging sorted sets
and by hash sets, and by estimate, with several numbers of functions of three families, which are
drawn anew in each run. Keys are row numbers. The default texts are the beginnings of the four
Gospels in English.

Columns: shingle (characters); exact, modular, jenkins (the mean over the pairs, estimates with
the most functions); the mean errors of modular as printed, modular and jenkins. A further table
has the median times in milliseconds of all pairs. --csv has all numbers of functions.

Examples:
  twindex-lab study widths --svg widths.svg
  twindex-lab study widths one.txt two.txt three.txt --widest 20 --csv widths.csv")]
pub(super) struct WidthsArgs {
    /// Text files to compare, 2 to 20, instead of the Gospels
    texts: Vec<PathBuf>,
    /// Characters at the beginning of each text that are compared
    #[arg(long, value_name = "N", default_value_t = WidthsSettings::default().characters as u64,
          value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    characters: u64,
    /// Most characters of a shingle
    #[arg(long, value_name = "N", default_value_t = WidthsSettings::default().widest,
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    widest: u16,
    /// Most functions of a signature
    #[arg(long, value_name = "K", default_value_t = WidthsSettings::default().functions as u64,
          value_parser = clap::value_parser!(u64).range(1..=10_000))]
    functions: u64,
    /// Number of times the functions are drawn
    #[arg(long, value_name = "R", default_value_t = WidthsSettings::default().runs as u64,
          value_parser = clap::value_parser!(u64).range(1..=1_000))]
    runs: u64,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl WidthsArgs {
    pub(super) fn settings(&self) -> WidthsSettings {
        WidthsSettings {
            texts: self.texts.clone(),
            characters: self.characters as usize,
            widest: self.widest,
            functions: self.functions as usize,
            runs: self.runs as usize,
        }
    }
}
