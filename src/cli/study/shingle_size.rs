//! The options of `twindex study shingle-size`.

use super::Outputs;
use crate::study::shingle_size::Settings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A text of 50 words is put into 20 random orders; the similarity of all 190 pairs, by shingles of 1
to 20 characters, with white space and without.

Examples:
  twindex study shingle-size --svg shingle-size.svg
  twindex study shingle-size --csv shingle-size.csv --seed 7")]
pub(super) struct ShingleSize {
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl ShingleSize {
    pub(super) fn settings(&self) -> Settings {
        Settings {}
    }
}
