//! The options of `twindex study hash-time`.

use super::Outputs;
use crate::study::hash_time::Settings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  twindex study hash-time --svg hash-time.svg")]
pub(super) struct HashTime {
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl HashTime {
    pub(super) fn settings(&self) -> Settings {
        Settings {}
    }
}
