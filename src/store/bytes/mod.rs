//! Encodes and decodes every stored row, as `docs/format.md` describes it.

pub(crate) mod chunk;
pub(crate) mod clusters;
pub(crate) mod codec;
pub(crate) mod fingerprints;
pub(crate) mod record;
pub(crate) mod schema;
pub(crate) mod settings_row;
pub(crate) mod texts;
pub(crate) mod time;
#[cfg(test)]
mod worked_example_tests;
