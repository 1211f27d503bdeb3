//! How commands fail, and how messages look.

use crate::terminal::color::{PREFIX, is_on, paint};
use crate::terminal::escape::for_stream;
use std::io;
use std::sync::OnceLock;
use twindex::internals::panic_text;

/// Why a command ended early.
pub enum Failure {
    /// Nobody reads the output any more, which is no error.
    BrokenPipe,
    /// Anything else.
    Error(anyhow::Error),
}

impl From<twindex::Error> for Failure {
    fn from(error: twindex::Error) -> Self {
        // Its message has the cause already.
        Self::Error(anyhow::anyhow!("{error}"))
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Error(error)
    }
}

/// An error of writing results.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Error(anyhow::anyhow!("standard output: {error}")),
        }
    }
}

/// The name that messages begin with.
static PROGRAM: OnceLock<&str> = OnceLock::new();

/// Sets the name that messages begin with.
pub fn name_program(name: &'static str) {
    let _ = PROGRAM.set(name);
}

/// What the first panic said, and where.
static PANIC: OnceLock<String> = OnceLock::new();

/// Keeps panics for the one line that ends the command.
pub fn hush_panics() {
    std::panic::set_hook(Box::new(|info| {
        let said = panic_text(info.payload());
        let place = info
            .location()
            .map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
        let _ = PANIC.set(format!("{said}{place}"));
    }));
}

/// The failure that a panic is for a person. The storage library panics on some damage.
pub fn panicked() -> Failure {
    let said = PANIC.get().map_or("no reason given", String::as_str);
    Failure::Error(anyhow::anyhow!(
        "internal error: {said}; if `twindex check` finds the index damaged, restore a copy or repair it, otherwise please report it"
    ))
}

/// Prints one line about what is wrong. Standard error that is closed is no reason to fail.
pub fn message(text: &str) {
    print(text, is_on(&io::stderr()));
}

/// Prints one line about what goes well.
pub fn note(text: &str) {
    print(text, false);
}

fn print(text: &str, color: bool) {
    use io::Write;
    let name = format!("{}:", PROGRAM.get().unwrap_or(&"twindex"));
    let prefix = if color { paint(PREFIX, &name) } else { name };
    let _ = writeln!(io::stderr().lock(), "{prefix} {}", for_stream(&io::stderr(), text));
}
