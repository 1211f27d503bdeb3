//! Questions about one document: what is similar to it, and what contains it.

pub(crate) mod bucket_sizes;
pub(crate) mod containment;
pub(crate) mod matches;
pub(crate) mod query;
pub(crate) mod search;
pub(crate) mod set_sizes;
pub(crate) mod top;
pub(crate) mod verify;
