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
        ValueRef::Real(number) => Ok(Some(digits(number).into())),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Some(text.into())),
            Err(error) => {
                let at = error.valid_up_to() + 1;
                Err(failure(format!("{what} is not valid UTF-8 at byte {at}")))
            }
        },
    }
}

/// A number as SQLite prints it: 15 significant digits, of which at least one is a decimal.
fn digits(number: f64) -> String {
    if number.is_infinite() {
        return if number < 0.0 { "-Inf" } else { "Inf" }.to_owned();
    }
    let scientific = format!("{number:.14e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..15).contains(&exponent) {
        let decimals = usize::try_from(14 - exponent).unwrap_or(0);
        return with_a_decimal(&format!("{number:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", with_a_decimal(mantissa), exponent.abs())
}

/// A number without zeros at its end, but with at least one decimal.
fn with_a_decimal(number: &str) -> String {
    let trimmed = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    };
    if trimmed.contains('.') { trimmed.to_owned() } else { format!("{trimmed}.0") }
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
