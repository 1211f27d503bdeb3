//! Panics as text.

use std::any::Any;

/// The message of a panic.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given")
}
