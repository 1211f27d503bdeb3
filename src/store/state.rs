//! What a commit publishes beside the tables: counters, runs, tail and dead set, all immutable.

use crate::store::bytes::record::Counters;
use crate::store::bytes::texts::Dictionary;
use crate::store::runs::merge::MergeTask;
use crate::store::runs::run::Manifest;
use crate::store::runs::segment::Tail;
use crate::store::runs::tombstones::DeadSet;
use std::sync::Arc;

/// The part of an index that is held in memory, as of one commit. Cloning it copies pointers.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) counters: Counters,
    pub(crate) manifest: Manifest,
    pub(crate) tail: Tail,
    pub(crate) dead: DeadSet,
    /// What texts are compressed with, if any are stored.
    pub(crate) dictionary: Option<Arc<Dictionary>>,
    /// Merges under way, one a tier at most.
    pub(crate) merges: Vec<MergeTask>,
    /// Entries that were added and not yet paid for by merging.
    pub(crate) merge_credit: u64,
    /// What the last commit that added anything added to it.
    pub(crate) merge_pace: u64,
}
