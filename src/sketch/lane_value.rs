//! What the value of a lane is made of.

/// The number of bits of a lane that hold the value. The two bits above hold the round.
pub(super) const VALUE_BITS: u32 = 30;

/// The value of an empty lane. No other value equals it, as those of the fallback are limited.
pub(super) const EMPTY: u32 = u32::MAX;
