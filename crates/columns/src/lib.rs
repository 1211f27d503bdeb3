//! What clients share of Arrow: columns of documents, ids and signatures, whatever their type, and
//! tables of pairs.

mod contents;
mod pairs;
mod signatures;
mod texts;

pub use contents::{ContentColumn, Lists, NoContent, RowContent};
pub use pairs::{pair_batch, pair_schema};
pub use signatures::{NoSignature, SignatureColumn};
pub use texts::{IdColumn, NoId, NoText, TextColumn, Value};
