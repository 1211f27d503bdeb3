//! Questions about all documents: similar pairs, and clusters of them.

pub(crate) mod block;
pub(crate) mod buckets;
pub(crate) mod by_number;
pub(crate) mod clusters;
pub(crate) mod groups;
pub(crate) mod linkage;
pub(crate) mod loaded;
pub(crate) mod order;
pub(crate) mod pairs;
