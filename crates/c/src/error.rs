//! Errors: what a failed call says about itself.

use crate::status::{
    Status, TWINDEX_BUSY, TWINDEX_CLOSED, TWINDEX_DEFECT, TWINDEX_INVALID_INPUT, TWINDEX_MISUSE,
    TWINDEX_OK, of_kind,
};
use crate::view::{View, nul_terminated};
use std::fmt::Display;
use std::path::Path;
use twindex::Error;

/// What went wrong in a call: its status, a message for people, and the path of the file.
///
/// The caller makes one and gives it to calls, which fill it when they fail. It belongs to the
/// caller: use one for each thread, or one for each call.
pub struct ErrorHandle {
    status: Status,
    message: Vec<u8>,
    path: Vec<u8>,
}

/// Why a call fails.
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) message: String,
    path: Vec<u8>,
}

impl Failure {
    fn new(status: Status, message: impl Display) -> Self {
        Self { status, message: message.to_string(), path: Vec::new() }
    }

    /// A mistake of the calling program.
    pub(crate) fn misuse(message: impl Display) -> Self {
        Self::new(TWINDEX_MISUSE, message)
    }

    /// A null pointer for an argument that is needed.
    pub(crate) fn null(argument: &str) -> Self {
        Self::misuse(format_args!("{argument} is a null pointer"))
    }

    /// An argument that is outside its range.
    pub(crate) fn invalid(message: impl Display) -> Self {
        Self::new(TWINDEX_INVALID_INPUT, message)
    }

    /// Another call is in the way.
    pub(crate) fn busy(message: impl Display) -> Self {
        Self::new(TWINDEX_BUSY, message)
    }

    /// The handle has ended.
    pub(crate) fn closed(message: impl Display) -> Self {
        Self::new(TWINDEX_CLOSED, message)
    }

    /// A panic of the library.
    pub(crate) fn defect(message: impl Display) -> Self {
        Self::new(TWINDEX_DEFECT, format_args!("twindex failed by a defect of its own: {message}"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let path = error.path().map(path_bytes).unwrap_or_default();
        Self { status: of_kind(error.kind()), message: error.with_causes(), path }
    }
}

fn path_bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_encoded_bytes().to_vec()
}

/// A message as one line of C, which a NUL would end.
fn on_one_line(message: &str) -> String {
    let character = |character: char| match character {
        '\0' => "\\0".to_owned(),
        character if character.is_control() => character.escape_default().to_string(),
        character => character.to_string(),
    };
    message.chars().map(character).collect()
}

impl ErrorHandle {
    pub(crate) fn set(&mut self, failure: Failure) {
        let Failure { status, message, path } = failure;
        *self = Self {
            status,
            message: nul_terminated(on_one_line(&message).into_bytes()),
            path: nul_terminated(path),
        };
    }
}

/// Makes an error, which says TWINDEX_OK until a call fills it. Never fails.
///
/// Ownership: the caller frees it with twindex_error_free.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_error_new() -> Box<ErrorHandle> {
    let (message, path) = (nul_terminated(Vec::new()), nul_terminated(Vec::new()));
    Box::new(ErrorHandle { status: TWINDEX_OK, message, path })
}

/// The status of the last failed call that was given this error; TWINDEX_OK if there was none, or
/// if the error is null.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_error_status(error: Option<&ErrorHandle>) -> Status {
    error.map_or(TWINDEX_OK, |error| error.status)
}

/// The message of the last failed call: one line that says what is wrong and what to do. Empty if
/// there was none, or if the error is null.
///
/// Ownership: the text belongs to the error, until the next call that is given it.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_error_message(error: Option<&ErrorHandle>) -> View {
    error.map_or(View::EMPTY, |error| View::of_terminated(&error.message))
}

/// The path of the file that the last failed call was about. Empty if it was about no file, or if
/// the error is null.
///
/// Ownership: the text belongs to the error, until the next call that is given it.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_error_path(error: Option<&ErrorHandle>) -> View {
    error.map_or(View::EMPTY, |error| View::of_terminated(&error.path))
}

/// Frees an error. Null is fine.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_error_free(error: Option<Box<ErrorHandle>>) {
    drop(error);
}
