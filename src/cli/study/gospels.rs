//! The options of `twindex study gospels`.

use super::Outputs;
use crate::study::gospels::Settings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  twindex study gospels --svg gospels.svg")]
pub(super) struct Gospels {
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl Gospels {
    pub(super) fn settings(&self) -> Settings {
        Settings {}
    }
}
