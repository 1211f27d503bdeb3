//! The options of `twindex study rules`.

use super::Outputs;
use crate::study::rules::Settings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  twindex study rules --svg rules.svg")]
pub(super) struct Rules {
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl Rules {
    pub(super) fn settings(&self) -> Settings {
        Settings {}
    }
}
