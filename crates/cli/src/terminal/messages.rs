//! Messages on standard error, one line each, that begin with the name of the program.

use super::color::{PREFIX, is_on, paint};
use super::escape::for_stream;
use std::io::{self, Write};
use std::sync::OnceLock;

/// The name that messages begin with.
static PROGRAM: OnceLock<&str> = OnceLock::new();

/// Sets the name that messages begin with.
pub fn name_program(name: &'static str) {
    let _ = PROGRAM.set(name);
}

/// Prints one line about an error. A closed standard error is ignored.
pub fn message(text: &str) {
    print(text, is_on(&io::stderr()));
}

/// Prints one line about progress. A closed standard error is ignored.
pub fn note(text: &str) {
    print(text, false);
}

fn print(text: &str, color: bool) {
    let name = format!("{}:", PROGRAM.get().unwrap_or(&"twindex"));
    let prefix = if color { paint(PREFIX, &name) } else { name };
    let _ = writeln!(io::stderr().lock(), "{prefix} {}", for_stream(&io::stderr(), text));
}
