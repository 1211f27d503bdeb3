//! All integration tests in one binary, so that it is linked once.

#[cfg(feature = "cli")]
mod bad_input;
mod bottom;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod cli_add;
#[cfg(feature = "cli")]
mod cli_clusters;
#[cfg(feature = "cli")]
mod cli_compare;
#[cfg(feature = "cli")]
mod cli_compare_file;
#[cfg(feature = "cli")]
mod cli_containment;
#[cfg(all(unix, feature = "cli"))]
mod cli_dedup;
#[cfg(all(unix, feature = "cli"))]
mod cli_dedup_again;
#[cfg(all(unix, feature = "cli"))]
mod cli_docs;
#[cfg(feature = "cli")]
mod cli_explain;
#[cfg(feature = "cli")]
mod cli_families;
#[cfg(all(unix, feature = "cli"))]
mod cli_kill;
#[cfg(feature = "cli")]
mod cli_large;
#[cfg(feature = "cli")]
mod cli_law;
#[cfg(feature = "cli")]
mod cli_methods;
#[cfg(feature = "cli")]
mod cli_plan;
#[cfg(feature = "cli")]
mod cli_query;
#[cfg(feature = "cli")]
mod cli_repair;
#[cfg(all(unix, feature = "cli"))]
mod cli_signals;
#[cfg(all(unix, feature = "cli"))]
mod cli_terminal;
#[cfg(feature = "cli")]
mod cli_texts;
#[cfg(feature = "cli")]
mod cli_weights;
mod clusters;
#[cfg(feature = "cli")]
mod command;
#[cfg(feature = "cli")]
mod compressed;
mod containment;
#[cfg(feature = "cli")]
mod copies;
mod dedup;
#[cfg(feature = "cli")]
mod directories;
#[cfg(all(target_os = "linux", feature = "cli"))]
mod disk_full;
mod exact;
mod expiry;
mod fixtures;
#[cfg(feature = "cli")]
mod formats;
#[cfg(feature = "cli")]
mod genomes;
mod history;
#[cfg(feature = "cli")]
mod hostile_input;
mod inputs;
mod intervals;
mod isolation;
mod layering;
#[cfg(feature = "cli")]
mod marked;
mod merging;
mod model;
mod multisets;
#[cfg(feature = "cli")]
mod packing;
#[cfg(all(unix, feature = "cli"))]
mod phases;
#[cfg(all(unix, feature = "cli"))]
mod processes;
mod rebuilding;
mod recall;
mod send_sync;
mod sketch;
mod space;
mod stored_texts;
#[cfg(feature = "cli")]
mod study_gospels;
#[cfg(feature = "cli")]
mod study_papers;
mod support;
#[cfg(feature = "cli")]
mod tables;
mod threads;
mod top;
mod weights;
#[cfg(feature = "cli")]
mod wishes;
