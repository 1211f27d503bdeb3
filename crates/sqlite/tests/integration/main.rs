//! The extension in the stock shell of SQLite, which `.ci/run` installs. Without it, the tests
//! fail.

mod arguments;
mod functions;
mod guide;
mod large;
mod shell;
mod sync;
