//! What do redb's pages say? Reads the file beneath redb, and verifies every page that redb reads.

mod gathered;
pub(crate) mod header;
pub(crate) mod page;
pub(crate) mod page_file;
pub(crate) mod size;
pub(crate) mod verifier;
pub(crate) mod walk;
