//! How a command prints.

/// How a command prints. The global options of the command convert into it.
#[derive(Clone, Copy, Debug)]
pub struct OutputOptions {
    /// Print results and the summary as JSON objects, one a line.
    pub json: bool,
    /// Print no summary and no progress bar.
    pub quiet: bool,
    /// Print no progress bar.
    pub no_progress: bool,
}
