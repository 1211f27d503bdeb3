//! The in-memory state that a commit publishes beside the tables: counters, runs, tail,
//! tombstones. A published state never changes.

use crate::store::bytes::record::Counters;
use crate::store::bytes::texts::Dictionary;
use crate::store::runs::merge::MergeTask;
use crate::store::runs::run::Manifest;
use crate::store::runs::segment::Tail;
use crate::store::runs::tombstones::Tombstones;
use std::sync::Arc;

/// The in-memory state of an index as of one commit. A clone shares its contents.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// The version of the file's format.
    pub(crate) format: u32,
    pub(crate) counters: Counters,
    pub(crate) manifest: Manifest,
    pub(crate) tail: Tail,
    pub(crate) tombstones: Tombstones,
    /// The dictionary that compresses texts, once one was trained.
    pub(crate) dictionary: Option<Arc<Dictionary>>,
    /// Merges in progress, at most one per tier.
    pub(crate) merges: Vec<MergeTask>,
    /// Entries that were added and that no merge step has accounted for yet.
    pub(crate) merge_credit: u64,
    /// The entries that the last commit with additions added to the credit.
    pub(crate) merge_pace: u64,
}
