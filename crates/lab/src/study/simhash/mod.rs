//! Precision and recall of SimHash and MinHash at equal size.

mod curves;
mod edited_pairs;
mod experiment;
mod sketch_kinds;

pub(crate) use experiment::{SimhashSettings, run};
