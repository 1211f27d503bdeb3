//! The options of `twindex study precision`.

use super::Outputs;
use crate::study::precision::Settings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  twindex study precision --svg precision.svg")]
pub(super) struct Precision {
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl Precision {
    pub(super) fn settings(&self) -> Settings {
        Settings {}
    }
}
