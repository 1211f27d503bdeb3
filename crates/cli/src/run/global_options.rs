//! The options that every command has.

use crate::run::input_options::size;
use crate::terminal::color::ColorMode;
use crate::terminal::output_options::OutputOptions;
use clap::{ArgAction, Args};
use std::time::Duration;

/// The options that every command has.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct GlobalOptions {
    /// Print results and the summary as JSON objects, one a line
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only results and errors: no summary, no progress bar
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Show no progress bar
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// Threads that parse and sketch [default: all cores]
    #[arg(
        long,
        global = true,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024),
    )]
    pub threads: Option<u16>,
    /// Wait at most this long while another process writes to the index [default: 0]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub wait: Option<Duration>,
    /// Memory for pages of each open index [default: 64M]
    ///
    /// Filters, which let queries skip most pages, may take as much again, or 256M if that is more.
    /// Many queries of an index with more than 13 million documents are several times as fast if
    /// the filters have 20 bytes a document. Commands that compare all documents may take twice
    /// as much in addition, and 3.25 times if they compare texts. K, M and G are powers of 1,024.
    #[arg(long, global = true, value_name = "BYTES", value_parser = size)]
    pub cache: Option<usize>,
    /// When to use colour; auto: on a terminal, unless NO_COLOR is set or TERM is dumb
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorMode::Auto)]
    pub color: ColorMode,
    /// Print more on standard error: every commit, the settings of new indexes
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// Print help: a summary with -h, everything with --help
    #[arg(long, short, global = true, action = ArgAction::Help)]
    help: Option<bool>,
}

impl From<&GlobalOptions> for OutputOptions {
    fn from(global: &GlobalOptions) -> Self {
        Self { json: global.json, quiet: global.quiet, no_progress: global.no_progress }
    }
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or("expected a number of seconds, such as 10 or 0.5")
}
