//! All integration tests in one binary, so that it is linked once.

#[cfg(feature = "cli")]
mod bad_input;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod cli_add;
#[cfg(feature = "cli")]
mod cli_clusters;
#[cfg(all(unix, feature = "cli"))]
mod cli_kill;
#[cfg(feature = "cli")]
mod cli_query;
#[cfg(feature = "cli")]
mod cli_repair;
#[cfg(all(unix, feature = "cli"))]
mod cli_signals;
mod clusters;
#[cfg(feature = "cli")]
mod command;
#[cfg(all(target_os = "linux", feature = "cli"))]
mod disk_full;
mod fixtures;
mod history;
#[cfg(feature = "cli")]
mod hostile_input;
mod inputs;
mod isolation;
mod layering;
mod model;
#[cfg(all(unix, feature = "cli"))]
mod phases;
#[cfg(all(unix, feature = "cli"))]
mod processes;
mod recall;
mod sketch;
mod support;
mod threads;
mod top;
