//! Starts merges of runs, and advances all that are in progress.

use crate::error::Result;
use crate::store::bytes::schema::{BandNo, POSTINGS, RunNo, Table, posting_owner};
use crate::store::read::fixed::Fixed;
use crate::store::read::tables::Rows;
use crate::store::runs::merge::{BandStep, MergeContext, MergeTask};
use crate::store::runs::run::Run;
use crate::store::state::State;
use crate::store::storage_error::{Doing, damaged};
use redb::{ReadableTable, WriteTransaction};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Starts a merge for every tier that has enough neighbouring runs, unless one is in progress.
/// Returns `None` if run numbers are used up.
pub(crate) fn start_due(state: &mut State, merge_runs: usize) -> Option<()> {
    let tiers: BTreeSet<u8> = state.manifest.runs().iter().map(|run| run.tier).collect();
    for tier in tiers {
        let next = tier.saturating_add(1);
        if state.merges.iter().any(|task| task.tier() == next) {
            continue;
        }
        let is_free = |run: &Arc<Run>| {
            run.tier == tier
                && run.is_complete()
                && !state.merges.iter().any(|task| task.reads(run.number))
        };
        // The target covers the whole range of its sources, so no other run may lie between them.
        let groups = state.manifest.runs().chunk_by(|a, b| is_free(a) == is_free(b));
        let due = groups
            .filter(|runs| runs.first().is_some_and(is_free))
            .find_map(|runs| runs.get(..merge_runs))
            .map(<[_]>::to_vec);
        if let Some(due) = due {
            start(state, next, &due)?;
        }
    }
    Some(())
}

/// Starts a merge of these runs. Returns `None` if run numbers are used up.
pub(crate) fn start(state: &mut State, tier: u8, runs: &[Arc<Run>]) -> Option<()> {
    let target = state.counters.take_run()?;
    state.merges.push(MergeTask::new(target, tier, runs, &state.tombstones));
    Some(())
}

/// Prepared steps, by the target of their merge.
pub(crate) type PreparedSteps = Vec<(RunNo, Vec<BandStep>)>;

/// Prepares the next step of every merge in progress.
pub(crate) fn prepare_all(
    fixed: Fixed<'_>,
    postings: &dyn Rows<u64>,
    state: &State,
    budget: u64,
) -> Result<PreparedSteps> {
    let prepare = |task: &MergeTask| {
        Ok((task.target(), task.prepare(fixed, postings, &state.manifest, budget)?))
    };
    state.merges.iter().map(prepare).collect()
}

/// Advances every merge in progress: by its prepared steps, or by `budget` entries.
pub(crate) fn step_all(
    context: MergeContext<'_>,
    state: &mut State,
    mut prepared: PreparedSteps,
    budget: u64,
) -> Result<()> {
    let mut unfinished = Vec::new();
    for mut task in std::mem::take(&mut state.merges) {
        let of_task = prepared.iter_mut().find(|(target, _)| *target == task.target());
        let steps = of_task.map(|(_, steps)| std::mem::take(steps)).unwrap_or_default();
        if !task.step(context, (&mut state.manifest, &mut state.tombstones), steps, budget)? {
            unfinished.push(task);
        }
    }
    state.merges = unfinished;
    Ok(())
}

/// Finds unlisted chunks that no merge is writing, by run and band. A process that ended during a
/// merge left them.
pub(crate) fn abandoned(
    txn: &WriteTransaction,
    path: &Path,
    state: &State,
) -> Result<Vec<(RunNo, BandNo)>> {
    let postings = txn.open_table(POSTINGS).doing(path, "looking for unfinished merges")?;
    let mut found = Vec::new();
    let mut from = Some(0_u64);
    while let Some(key) = from {
        let next = postings
            .range(key..)
            .doing(path, "looking for unfinished merges")?
            .next()
            .transpose()
            .doing(path, "looking for unfinished merges")?;
        let Some((found_key, _)) = next else { break };
        if found_key.value() < key {
            return Err(damaged(
                path,
                Table::Postings,
                format!("{key:#018x}"),
                "its keys are out of order",
            ));
        }
        let (run, band) = posting_owner(found_key.value());
        let listed = state.manifest.get(run).is_some_and(|run| run.band(band).is_some());
        let being_written = state.merges.iter().any(|task| task.target() == run);
        if !listed && !being_written {
            found.push((run, band));
        }
        from = (found_key.value() | 0xFF_FFFF).checked_add(1);
    }
    Ok(found)
}

#[cfg(test)]
#[path = "merges_tests.rs"]
mod tests;
