//! All integration tests in one binary, so that it is linked once.

mod bad_input;
mod cli;
mod cli_add;
mod cli_clusters;
mod cli_compare;
mod cli_containment;
#[cfg(unix)]
mod cli_dedup;
#[cfg(unix)]
mod cli_dedup_again;
#[cfg(unix)]
mod cli_dedup_finished;
#[cfg(target_os = "linux")]
mod cli_dedup_killed;
#[cfg(unix)]
mod cli_dedup_replaced;
#[cfg(unix)]
mod cli_docs;
mod cli_expiry;
mod cli_explain;
#[cfg(unix)]
mod cli_keep;
mod cli_kill;
mod cli_known;
mod cli_large;
mod cli_passages;
mod cli_plan;
mod cli_query;
mod cli_repair;
#[cfg(unix)]
mod cli_report;
#[cfg(unix)]
mod cli_signals;
#[cfg(unix)]
mod cli_terminal;
mod cli_texts;
mod cli_track;
mod cli_weights;
mod column_types;
mod columns;
#[allow(dead_code, reason = "the tests of the laboratory use the rest")]
mod command;
mod compressed;
mod compressed_output;
mod copies;
mod directories;
#[cfg(target_os = "linux")]
mod disk_full;
#[cfg(target_os = "linux")]
mod durable_names;
mod encodings;
mod escapes;
#[cfg(unix)]
mod file_names;
mod first_hour;
mod formats;
mod genomes;
mod hostile_input;
mod identity;
mod marked;
mod merge_similar;
mod names_of_outputs;
mod nothing_made;
mod packing;
#[cfg(unix)]
mod pages;
#[cfg(unix)]
mod phases;
#[cfg(unix)]
mod processes;
#[cfg(feature = "remote")]
mod remote;
mod replacing;
mod results_csv;
mod shards;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../../../tests/integration/support.rs"]
mod support;
mod tables;
mod unread_formats;
mod wishes;

/// The command under test.
const BINARY: &str = env!("CARGO_BIN_EXE_twindex");

/// Its name.
const PROGRAM: &str = "twindex";
