//! The options of `twindex study approaches`.

use super::Outputs;
use crate::study::approaches::Settings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  twindex study approaches --svg approaches.svg")]
pub(super) struct Approaches {
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl Approaches {
    pub(super) fn settings(&self) -> Settings {
        Settings {}
    }
}
