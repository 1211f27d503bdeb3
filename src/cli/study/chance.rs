//! The options of `twindex study chance`.

use super::Outputs;
use crate::study::chance::Settings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  twindex study chance --svg chance.svg")]
pub(super) struct Chance {
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl Chance {
    pub(super) fn settings(&self) -> Settings {
        Settings {}
    }
}
