//! What a commit publishes beside the tables: counters, runs, tail and dead set, all immutable.

use super::dead::DeadSet;
use super::merge::MergeTask;
use super::record::Counters;
use super::run::Manifest;
use super::segment::Tail;
use super::texts::Dictionary;
use std::sync::Arc;

/// The part of an index that is held in memory, as of one commit. Cloning it copies pointers.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) counters: Counters,
    pub(super) manifest: Manifest,
    pub(super) tail: Tail,
    pub(super) dead: DeadSet,
    /// What texts are compressed with, if any are stored.
    pub(super) dictionary: Option<Arc<Dictionary>>,
    /// Merges under way, one a tier at most.
    pub(super) merges: Vec<MergeTask>,
    /// Entries that were added and not yet paid for by merging.
    pub(super) merge_credit: u64,
    /// What the last commit that added anything added to it.
    pub(super) merge_pace: u64,
}
