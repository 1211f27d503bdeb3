//! What the command and the laboratory share with the library and nobody else should use: it may
//! change or go without notice.

pub use crate::error::panic_text;
pub use crate::estimate::{deviance, stirling_rest};
pub use crate::hash::{GOLDEN, ShingleHasher, SplitMix, StreamHash, fmix64, text_hash};
pub use crate::lsh::{needed_bands, word};
pub use crate::sketch::{LaneHasher, LaneTable};
