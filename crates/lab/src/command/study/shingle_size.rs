//! The options of `twindex-lab study shingle-size`.

use super::outputs::Outputs;
use crate::study::shingle_size::ShingleSizeSettings;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Puts the words of a text into random orders and computes the similarity of all pairs of them, by
shingles of 1 character and more, with and without white space. The default text is fifty words of
lorem ipsum.

Columns: shingle (characters); with_spaces (the mean with white space), its least and greatest
value; without_spaces (the mean without white space); case_kept (the mean with white space and
with case).

Examples:
  twindex-lab study shingle-size --svg shingle-size.svg
  twindex-lab study shingle-size --text chapter.txt --orders 50 --csv shingle-size.csv --seed 7")]
pub(super) struct ShingleSizeArgs {
    /// File whose words are put into random orders
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
    /// Number of random orders; the pairs are about half its square
    #[arg(long, value_name = "N", default_value_t = ShingleSizeSettings::default().orders as u64,
          value_parser = clap::value_parser!(u64).range(2..=10_000))]
    orders: u64,
    /// Most characters of a shingle
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
