//! Everything that a person sees or presses: results, messages, colours, progress, plots, Ctrl-C.

mod aligned;
pub mod color;
pub mod column;
pub mod escape;
pub mod interrupt;
pub mod messages;
pub mod numbers;
pub mod output;
pub mod output_options;
pub mod plot;
pub mod progress_bar;
pub mod side_by_side;
