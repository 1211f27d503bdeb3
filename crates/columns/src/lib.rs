//! Columns of texts, ids and signatures, whatever their Arrow type.

mod signatures;
mod texts;

pub use signatures::{NoSignature, SignatureColumn};
pub use texts::{IdColumn, NoText, TextColumn, Value};
