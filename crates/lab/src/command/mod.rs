//! The command `twindex-lab`: methods and studies from a shell.

mod args;
mod compare;
mod compare_file;
mod method;
mod study;

pub use args::main;
