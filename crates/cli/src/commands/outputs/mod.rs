//! What a command makes of a stream of records: the kept ones, and an audit of the others.

pub(crate) mod audit;
pub(crate) mod choices;
pub(crate) mod delivery;
pub(crate) mod exclusive_file;
pub(crate) mod folder_state;
pub(crate) mod kept;
pub(crate) mod kept_file;
pub(crate) mod kept_folder;
pub(crate) mod kept_output;
#[cfg(feature = "tables")]
pub(crate) mod kept_rows;
#[cfg(not(feature = "tables"))]
#[path = "kept_rows_absent.rs"]
pub(crate) mod kept_rows;
pub(crate) mod partial_file;
#[cfg(feature = "tables")]
mod picked_rows;
pub(crate) mod request;
#[cfg(feature = "tables")]
mod rows_joined;
#[cfg(feature = "tables")]
mod rows_segments;
pub(crate) mod rows_spool;
pub(crate) mod shards;
pub(crate) mod targets;
#[cfg(feature = "tables")]
mod whole_dictionary;
mod write_behind;
