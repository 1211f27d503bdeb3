//! The command `twindex-lab`, which runs methods and studies.

mod args;
mod compare;
mod compare_file;
mod family_choice;
mod method_name;
mod study;

pub use args::main;
