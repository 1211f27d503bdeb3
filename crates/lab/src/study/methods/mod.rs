//! What does each method say of two texts? The rows of `compare --method`, and the verdict on chance.

mod chance;
mod pair;
mod row;
mod sets;
mod weights;

pub(crate) use chance::Chance;
pub(crate) use pair::Pair;
pub(crate) use row::{Of, Row, mean_and_spread};
pub(crate) use sets::{Settings, TextMethod};
pub(crate) use weights::{WeightedMethod, weighted_rows};
