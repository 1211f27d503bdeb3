//! How a command ended that ran to its end.

/// How a command ended that ran to its end; errors are [`Failure`](super::failure::Failure).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Done, or something was found.
    Done,
    /// Nothing was found, a check found violations, or two texts are below a threshold.
    Nothing,
    /// Some records were bad; they were reported one by one.
    SomeFailed,
}
