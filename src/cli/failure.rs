//! How commands fail, and how messages look.

use std::io;

/// Why a command ended early.
pub(super) enum Failure {
    /// Nobody reads the output any more, which is no error.
    BrokenPipe,
    /// Anything else.
    Error(anyhow::Error),
}

impl From<crate::Error> for Failure {
    fn from(error: crate::Error) -> Self {
        Self::Error(error.into())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Error(error)
    }
}

/// An error of writing results.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Error(anyhow::anyhow!("standard output: {error}")),
        }
    }
}

/// Prints one line for people. Standard error that is closed is no reason to fail.
pub(super) fn message(text: &str) {
    use io::Write;
    let _ = writeln!(io::stderr().lock(), "twindex: {text}");
}
