//! Precision and recall of SimHash and MinHash at equal size.

mod curves;
mod edited;
mod experiment;
mod kept;

pub(crate) use experiment::{Settings, run};
