//! All integration tests in one binary, so that only one is linked.

mod cli_compare_file;
mod cli_families;
mod cli_law;
mod cli_methods;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../../cli/tests/integration/command.rs"]
mod command;
mod findings;
#[cfg(unix)]
mod lab_docs;
#[cfg(unix)]
#[path = "../../../cli/tests/integration/pages.rs"]
mod pages;
mod study_gospels;
mod study_papers;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../../../tests/integration/support.rs"]
mod support;

/// The command under test.
const BINARY: &str = env!("CARGO_BIN_EXE_twindex-lab");

/// Its name.
const PROGRAM: &str = "twindex-lab";
