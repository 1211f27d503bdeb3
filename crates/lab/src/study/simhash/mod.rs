//! Precision and recall of SimHash and MinHash at equal size.

mod bands;
mod curves;
mod edited_pairs;
mod experiment;
mod sketch_kinds;

pub(crate) use experiment::{SimhashSettings, run};
