//! The laboratory of twindex: the literature's methods of comparing texts, and its experiments.
//!
//! No index needs this package. [`methods`] has the methods; `docs/methods.md` has a section for
//! each, with its source and the errors in print. `docs/studies.md` shows what the command
//! `twindex-lab` measures with them.

mod command;
mod estimate;
pub mod methods;
mod sketch;
mod study;

pub use command::main;
