//! The laboratory of twindex: the literature's methods of comparing texts, and its experiments.
//!
//! No index needs any of this. [`methods`] has the methods, each to be tried on any texts;
//! `docs/methods.md` has a section for each, with its source and what is wrong in print.
//! `docs/studies.md` shows what is measured with them, by the command `twindex-lab`.

mod command;
mod estimate;
pub mod methods;
mod sketch;
mod study;

pub use command::main;
