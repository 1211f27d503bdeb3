//! How a command ended that ran to its end.

/// How a command ended that ran to its end. Errors are a [`Failure`](super::failure::Failure).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Done, or something was found.
    Done,
    /// Nothing was found, a check found violations, or a similarity is below a threshold.
    Nothing,
    /// Some records were bad. Each of them was reported.
    SomeFailed,
}
