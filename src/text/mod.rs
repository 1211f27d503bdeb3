//! What is a document made of? Its text is normalised and cut into shingles, and each shingle is
//! hashed.

mod align;
mod ascii;
mod ascii_wide;
mod chunked;
mod compose;
mod content;
mod cuts;
mod fold;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod kind;
mod kmer;
mod normalize;
mod positions;
mod ranks;
mod sequence;
mod shingle;
mod sourced;
mod stream;
mod stretches;
mod tokens;
mod units;
mod versions;
mod weights;
mod width;

pub use content::Content;
pub use kind::Shingle;
pub use normalize::{Form, Normalization, Whitespace};
pub use shingle::Shingler;
pub use stream::ShingleStream;
pub use tokens::Tokens;
pub use versions::UnicodeVersions;
pub use weights::Weights;

pub(crate) use positions::{CharOffsets, Located, UnitPlaces};
pub(crate) use sequence::{UnitNumbers, UnitSequence};
pub(crate) use shingle::Scratch;
pub(crate) use units::ELEMENT_END;
pub(crate) use weights::add_equal;
