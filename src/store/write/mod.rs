//! The write transaction, and the upkeep that its commits do.

pub(crate) mod dedup_row;
pub(crate) mod encode;
pub(crate) mod expiry;
pub(crate) mod lookup;
pub(crate) mod maintenance;
pub(crate) mod writer;
