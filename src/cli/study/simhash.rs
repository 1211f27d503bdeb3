//! The options of `twindex study simhash`.

use super::Outputs;
use crate::study::simhash::Settings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  twindex study simhash --svg simhash.svg")]
pub(super) struct Simhash {
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl Simhash {
    pub(super) fn settings(&self) -> Settings {
        Settings {}
    }
}
