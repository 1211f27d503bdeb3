//! Checks of numbers in options, so that a wrong one is refused before any work.

use twindex::{Error, Result};

/// A similarity: above 0, at most 1.
pub fn threshold(value: f64) -> Result<f64> {
    if value > 0.0 && value <= 1.0 {
        Ok(value)
    } else {
        Err(out_of_range("threshold", value, "a number above 0, at most 1"))
    }
}

/// A probability that is neither 0 nor 1.
pub fn recall(value: f64) -> Result<f64> {
    if value > 0.0 && value < 1.0 {
        Ok(value)
    } else {
        Err(out_of_range("recall", value, "a number above 0 and below 1"))
    }
}

fn out_of_range(setting: &'static str, value: f64, expected: &'static str) -> Error {
    Error::InvalidSetting { setting, got: value.to_string(), expected }
}
