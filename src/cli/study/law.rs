//! The options of `twindex study law`.

use super::Outputs;
use crate::study::law::Settings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  twindex study law --svg law.svg")]
pub(super) struct Law {
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl Law {
    pub(super) fn settings(&self) -> Settings {
        Settings {}
    }
}
