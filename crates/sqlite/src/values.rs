//! Values of SQL as texts and numbers.

use crate::error::failure;
use rusqlite::Result;
use rusqlite::types::ValueRef;
use std::borrow::Cow;

/// A value as a text: numbers become their decimal digits. `None` for NULL.
pub(crate) fn text<'v>(value: ValueRef<'v>, what: &str) -> Result<Option<Cow<'v, str>>> {
    match value {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(number) => Ok(Some(number.to_string().into())),
        ValueRef::Real(number) => Ok(Some(format!("{number:?}").into())),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Some(text.into())),
            Err(error) => {
                let at = error.valid_up_to() + 1;
                Err(failure(format!("{what} is not valid UTF-8 at byte {at}")))
            }
        },
    }
}

/// A value as a number. `None` for NULL.
pub(crate) fn number(value: ValueRef<'_>, what: &str) -> Result<Option<f64>> {
    match value {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(number) => Ok(Some(number as f64)),
        ValueRef::Real(number) => Ok(Some(number)),
        ValueRef::Text(_) | ValueRef::Blob(_) => {
            Err(failure(format!("{what} is a {}: expected a number", value.data_type())))
        }
    }
}
