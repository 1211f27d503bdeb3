//! The command `twindex`, as a library: what it reads, runs and prints.
//!
//! The command is a client of the library [`twindex`] and uses its public API alone. This crate is
//! a library so that the laboratory, which has a command of its own, reads the same inputs and
//! prints in the same way. Programs should embed [`twindex`] itself: nothing here is stable.

mod args;
pub mod commands;
mod dispatch;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod input;
pub mod run;
pub mod terminal;

pub use dispatch::main;
