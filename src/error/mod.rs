//! The error type of the library, and its `Result`.

mod kind;
mod panic;
mod variants;

pub use kind::ErrorKind;
pub(crate) use panic::panic_text;
pub use variants::{Error, Result};
