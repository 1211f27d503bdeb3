//! All integration tests in one binary, so that it is linked once.

#[cfg(feature = "cli")]
mod bad_input;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod cli_add;
#[cfg(all(unix, feature = "cli"))]
mod cli_kill;
#[cfg(feature = "cli")]
mod cli_query;
#[cfg(feature = "cli")]
mod cli_repair;
#[cfg(all(unix, feature = "cli"))]
mod cli_signals;
#[cfg(feature = "cli")]
mod command;
#[cfg(feature = "cli")]
mod compressed;
#[cfg(feature = "cli")]
mod directories;
#[cfg(all(target_os = "linux", feature = "cli"))]
mod disk_full;
mod fixtures;
#[cfg(feature = "cli")]
mod formats;
mod history;
#[cfg(feature = "cli")]
mod hostile_input;
mod inputs;
mod isolation;
mod layering;
mod model;
#[cfg(feature = "cli")]
mod packing;
#[cfg(all(unix, feature = "cli"))]
mod phases;
#[cfg(all(unix, feature = "cli"))]
mod processes;
mod recall;
mod sketch;
mod support;
#[cfg(feature = "cli")]
mod tables;
mod threads;
