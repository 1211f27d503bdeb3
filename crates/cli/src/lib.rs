//! The command `twindex`, as a library: its inputs, its output and its subcommands.
//!
//! The command is a client of the library [`twindex`] and uses only its public API. This crate is a
//! library so that the laboratory, which has a command of its own, can read the same inputs and
//! print in the same way. Programs should embed [`twindex`] itself: nothing here is stable.
//!
//! The folders depend on each other in one direction: `input`, `terminal`, `run`, `report`,
//! `commands`. Each uses only those before it.

mod args;
pub mod commands;
mod dispatch;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod input;
mod near_misses;
pub mod remote;
mod report;
pub mod run;
pub mod terminal;

pub use dispatch::run;
