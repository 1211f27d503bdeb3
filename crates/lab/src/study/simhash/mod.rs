//! Precision and recall of SimHash and MinHash at equal size, and tables that find bit strings.

mod bands;
mod curves;
mod edited_pairs;
mod experiment;
mod hamming;
mod met_bands;
mod sketch_kinds;

pub(crate) use experiment::{SimhashSettings, run};
