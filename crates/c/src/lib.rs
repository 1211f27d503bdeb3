//! libtwindex: the index for C, and for all languages that call C.
//!
//! `include/twindex.h` is its public face, made from these files by cbindgen, and
//! `docs/embedding.md` its guide. Every function is a thin border around one of the library:
//! pointers become references, errors become a status and a message, and panics stay inside.

#![expect(unsafe_code, reason = "the border to C is made of pointers and exported names")]
#![deny(missing_docs)]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("libtwindex lays out its structures for 64-bit systems");

// The order is that of the header.
mod status;

mod view;

mod border;

mod error;

mod settings;

mod index;

mod care;

mod transaction;

mod insertion;

mod snapshot;

mod document;

mod query;

mod matches;

mod passages;

mod pairs;

mod ids;

mod clusters;

mod arrow;

mod sketcher;

mod structs;

pub use arrow::*;
pub use care::*;
pub use clusters::*;
pub use document::*;
pub use error::*;
pub use ids::*;
pub use index::*;
pub use insertion::*;
pub use matches::*;
pub use pairs::*;
pub use passages::*;
pub use query::*;
pub use settings::*;
pub use sketcher::*;
pub use snapshot::*;
pub use status::*;
pub use transaction::*;
pub use view::*;
