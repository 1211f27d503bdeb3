//! The options that all studies share: where the results go, and the seed.

use std::path::PathBuf;

/// The files that a study writes, and the seed of its random numbers.
#[derive(Debug, clap::Args)]
pub(super) struct Outputs {
    /// Write every point to this file, as CSV
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
    /// Draw the figure into this file, as SVG
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,
}
