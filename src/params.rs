//! Numbers that users set. The public API takes plain numbers. The library validates each once and
//! then carries it in a type of its own.

use crate::error::{Error, Result};
use std::fmt;

/// The longest id of a document, in bytes of UTF-8.
pub const MAX_ID_BYTES: usize = 4096;

/// The default threshold of an index: the least similarity with which documents count as similar.
pub const DEFAULT_THRESHOLD: f64 = 0.8;

/// The default recall of an index: the least probability with which a pair at the threshold becomes
/// a candidate.
pub const DEFAULT_RECALL: f64 = 0.99;

/// The default confidence of an interval: the probability that it holds the true value.
pub const DEFAULT_CONFIDENCE: f64 = 0.95;

/// The default number of lanes of a signature.
///
/// A signature has 64, 128, 256 or 512 lanes, which take one byte each on disk. The standard error
/// of an estimate falls with the square root of their number: at similarity 0.8, it is 0.050,
/// 0.035, 0.025 and 0.018.
pub const DEFAULT_LANES: usize = 256;

/// The greatest number of lanes of a signature.
pub const MAX_LANES: usize = 512;

/// The least Jaccard similarity, above 0 and at most 1, with which documents count as similar.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Threshold(f64);

impl Threshold {
    /// The default.
    pub(crate) const DEFAULT: Threshold = Threshold(DEFAULT_THRESHOLD);

    /// Checks that the value lies above 0 and is at most 1.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] otherwise, also for NaN.
    pub(crate) fn new(value: f64) -> Result<Self> {
        if value > 0.0 && value <= 1.0 {
            return Ok(Self(value));
        }
        Err(Error::InvalidSetting {
            setting: "threshold",
            got: value.to_string(),
            expected: "a number above 0, at most 1",
        })
    }

    /// The number itself.
    pub(crate) const fn get(self) -> f64 {
        self.0
    }
}

/// The least probability, between 0 and 1, with which a pair at the threshold becomes a candidate.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Recall(f64);

impl Recall {
    /// The default.
    pub(crate) const DEFAULT: Recall = Recall(DEFAULT_RECALL);

    /// The recall of a scan with stored texts. A text is passed over only if its signature would be
    /// as it is with a probability below 10⁻¹² if the document were similar.
    pub(crate) const CERTAIN: Recall = Recall(1.0 - 1e-12);

    /// Checks that the value lies strictly between 0 and 1.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] otherwise, also for NaN.
    pub(crate) fn new(value: f64) -> Result<Self> {
        if value > 0.0 && value < 1.0 {
            return Ok(Self(value));
        }
        Err(Error::InvalidSetting {
            setting: "recall",
            got: value.to_string(),
            expected: "a number above 0 and below 1",
        })
    }

    /// The number itself.
    pub(crate) const fn get(self) -> f64 {
        self.0
    }
}

/// The probability, strictly between 0 and 1, that an interval holds the true value.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Confidence(f64);

impl Confidence {
    /// The default.
    pub(crate) const DEFAULT: Confidence = Confidence(DEFAULT_CONFIDENCE);

    /// Checks that the value lies strictly between 0 and 1.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] otherwise, also for NaN.
    pub(crate) fn new(value: f64) -> Result<Self> {
        if value > 0.0 && value < 1.0 {
            return Ok(Self(value));
        }
        Err(Error::InvalidSetting {
            setting: "confidence",
            got: value.to_string(),
            expected: "a number above 0 and below 1",
        })
    }

    /// The number itself.
    pub(crate) const fn get(self) -> f64 {
        self.0
    }
}

/// The number of lanes of a signature: 64, 128, 256 or 512.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Lanes(u16);

impl Lanes {
    /// The default.
    pub(crate) const DEFAULT: Lanes = Lanes(DEFAULT_LANES as u16);

    /// Checks that the number is 64, 128, 256 or 512.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] otherwise.
    pub(crate) fn new(lanes: usize) -> Result<Self> {
        match lanes {
            64 | 128 | 256 | 512 => Ok(Self(lanes as u16)),
            _ => Err(Error::InvalidSetting {
                setting: "lanes",
                got: lanes.to_string(),
                expected: "64, 128, 256 or 512",
            }),
        }
    }

    /// The number itself.
    pub(crate) const fn get(self) -> usize {
        self.0 as usize
    }

    /// The binary logarithm of the number.
    pub(crate) const fn log2(self) -> u32 {
        self.0.trailing_zeros()
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Recall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_their_range_are_refused() {
        for bad in [0.0, -0.1, 1.5, f64::NAN, f64::INFINITY] {
            assert!(Threshold::new(bad).is_err(), "threshold {bad}");
            assert!(Recall::new(bad).is_err(), "recall {bad}");
            assert!(Confidence::new(bad).is_err(), "confidence {bad}");
        }
        assert!(Recall::new(1.0).is_err());
        assert!(Confidence::new(1.0).is_err());
        assert!(Threshold::new(1.0).is_ok());
        for bad in [0, 1, 63, 100, 1024] {
            assert!(Lanes::new(bad).is_err(), "{bad} lanes");
        }
    }
}
