//! The rows of `compare --method` for two texts, and the verdict on chance.

mod chance;
mod method_row;
mod text_methods;
mod text_pair;
mod weighted_methods;

pub(crate) use chance::ChanceComparison;
pub(crate) use method_row::{MethodRow, SetKind, mean_and_spread};
pub(crate) use text_methods::{MethodSettings, TextMethod};
pub(crate) use text_pair::TextPair;
pub(crate) use weighted_methods::{WeightedMethod, weighted_rows};
