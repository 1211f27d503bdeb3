//! What clients share of Arrow: columns of texts, ids and signatures, whatever their type, and
//! tables of pairs.

mod pairs;
mod signatures;
mod texts;

pub use pairs::{pair_batch, pair_schema};
pub use signatures::{NoSignature, SignatureColumn};
pub use texts::{IdColumn, NoText, TextColumn, Value};
