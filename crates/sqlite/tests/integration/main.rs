//! The extension in the stock shell of SQLite, which `.ci/run` installs. Without it, the tests
//! fail.

mod arguments;
#[cfg(unix)]
mod forked;
mod functions;
mod guide;
mod large;
mod shell;
mod sync;
