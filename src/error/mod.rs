//! The error type of the library, and its `Result`.

mod batch;
mod kind;
mod panic;
mod variants;
mod wording;

pub use kind::ErrorKind;
pub(crate) use panic::panic_text;
pub use variants::{Error, Result};
