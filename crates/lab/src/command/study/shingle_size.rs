//! The options of `twindex-lab study shingle-size`.

use super::outputs::Outputs;
use crate::study::shingle_size::ShingleSizeSettings;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The words of a text are put into random orders; of all pairs of these the similarity, by
shingles of 1 character and more, with white space and without. Without a text they are fifty
words of lorem ipsum.

Columns: shingle (characters); of similarities with white space the mean with_spaces, least
and greatest; the means without_spaces, and with_spaces again where case_kept.

Examples:
  twindex-lab study shingle-size --svg shingle-size.svg
  twindex-lab study shingle-size --text chapter.txt --orders 50 --csv shingle-size.csv --seed 7")]
pub(super) struct ShingleSizeArgs {
    /// Put the words of this file into random orders
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
    /// Random orders: pairs are half their square
    #[arg(long, value_name = "N", default_value_t = ShingleSizeSettings::default().orders as u64,
          value_parser = clap::value_parser!(u64).range(2..=10_000))]
    orders: u64,
    /// The most characters of a shingle
    #[arg(long, value_name = "N", default_value_t = ShingleSizeSettings::default().widest,
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    widest: u16,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl ShingleSizeArgs {
    pub(super) fn settings(&self) -> ShingleSizeSettings {
        let orders = self.orders as usize;
        ShingleSizeSettings { text: self.text.clone(), orders, widest: self.widest }
    }
}
