//! What a person sees: results, summaries, colours, progress, plots.

pub mod color;
pub mod column;
pub mod escape;
pub mod numbers;
pub mod output;
pub mod plot;
pub mod progress;
pub mod side_by_side;
