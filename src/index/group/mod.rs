//! Operations over all documents: similar pairs and clusters.

pub(crate) mod buckets;
pub(crate) mod clusters;
mod connected;
mod crowd;
pub(crate) mod groups;
mod leaders;
pub(crate) mod linkage;
mod neighbourhood;
pub(crate) mod order;
pub(crate) mod pair_block;
mod pair_candidates;
mod pair_texts;
pub(crate) mod pairs;
pub(crate) mod repeats;
mod shared_words;
pub(crate) mod signature_cache;
pub(crate) mod sort;
