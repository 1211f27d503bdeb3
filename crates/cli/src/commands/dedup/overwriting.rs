//! Refuses to replace what another run has left unfinished, or has finished if this run would leave
//! out what is known: records that it has kept are in its index, so no later run would keep them.

use crate::commands::dedup::begun::Plan;
use crate::commands::dedup::deduplication::{Counts, stored_outputs};
use crate::commands::outputs::choices::choices_path;
use crate::commands::outputs::partial_file::{PartialFile, partial_path};
use crate::commands::outputs::rows_spool::spool_path;
use crate::run::failure::Failure;
use crate::run::resume_key::ResumeKey;
use crate::terminal::output::count;
use anyhow::anyhow;
use std::path::{Path, PathBuf};
use twindex::{DedupInput, DedupRun, Index, WriteTxn};

/// Fails if a partial file of the output or of the audit is that of an interrupted run: of one with
/// this index that has kept records, or of any run with another index. `--restart` allows both,
/// unless `--skip-known` would leave out what was kept.
///
/// A run begins with a commit to its index. So a partial file is of another index if no run with
/// this one was interrupted.
pub(crate) fn check(plan: &Plan<'_>, index: Option<&Index>) -> Result<(), Failure> {
    let Plan { args, targets, .. } = *plan;
    let (Some(out), Some(spool)) = (targets.output_file(), targets.spool()) else {
        return Ok(());
    };
    let outputs = [spool_path(&out), choices_path(&out), out];
    let is_left = |place: &&PathBuf| partial_path(place).metadata().is_ok_and(|it| it.len() > 0);
    let left: Vec<&PathBuf> = outputs.iter().chain([&spool]).filter(is_left).collect();
    let Some(first) = left.first() else { return Ok(()) };
    let runs = match index {
        Some(index) => DedupRun::interrupted(&index.begin_write()?)?,
        None => Vec::new(),
    };
    for run in &runs {
        let (kept, audit) = stored_outputs(run);
        for place in &left {
            let content = if **place == spool { audit } else { kept };
            if content.0 == 0 || !PartialFile::begins_with(place, content)? {
                continue;
            }
            let (place, records) =
                (partial_path(place), count(run.judged().len(), "judged record"));
            let place = place.display();
            if !args.restart {
                return Err(anyhow!(
                    "{place}: belongs to an interrupted run of another command; run that command \
                     again to go on after its {records}, or add --restart to replace it"
                )
                .into());
            }
            if args.skip_known {
                return Err(anyhow!(
                    "{place}: belongs to an interrupted run; what it has kept of its {records} is \
                     known, so --skip-known would leave it out; leave out --skip-known"
                )
                .into());
            }
        }
    }
    if runs.is_empty() && !args.restart {
        PartialFile::check_free(first)?;
        return Err(anyhow!(
            "{}: was left by a run that this index does not know, which may still go on with it; \
             delete it, or add --restart to replace it",
            partial_path(first).display()
        )
        .into());
    }
    Ok(())
}

/// The key under which a run with `--skip-known` is remembered beside its own, which a later run of
/// the same command takes when it begins.
fn key_of_kept(plan: &Plan<'_>) -> ResumeKey {
    plan.key.clone().with("finished", "")
}

/// What an earlier run of this command has kept, which the output still holds.
#[derive(Clone, Copy)]
pub(crate) struct KeptBefore {
    /// The input of that run.
    pub(crate) input: DedupInput,
    /// The records that it has kept.
    pub(crate) records: u64,
}

/// What an earlier run of this command has kept; `None` if the output is not there, or if this run
/// does not leave out what is known.
pub(crate) fn kept_before(plan: &Plan<'_>, index: &Index) -> Result<Option<KeptBefore>, Failure> {
    let Plan { args, targets, .. } = *plan;
    if !args.skip_known || args.restart || !targets.is_there() {
        return Ok(None);
    }
    let run = DedupRun::last_finished(&index.begin_write()?, key_of_kept(plan))?;
    Ok(run.map(|run| KeptBefore { input: run.judged(), records: Counts::of(&run).inserted() }))
}

/// Remembers for [`kept_before`] what a run has judged whose output is complete.
pub(crate) fn remember_kept(
    plan: &Plan<'_>,
    txn: &mut WriteTxn,
    run: &DedupRun,
) -> Result<(), Failure> {
    if plan.args.skip_known {
        run.clone().with_key(key_of_kept(plan)).remember(txn, "")?;
    }
    Ok(())
}

/// Forgets what an earlier run has kept, as its output is not there any more or will be replaced.
pub(crate) fn forget_kept(plan: &Plan<'_>, txn: &mut WriteTxn) -> Result<(), Failure> {
    if plan.args.skip_known
        && let Some(run) = DedupRun::last_finished(txn, key_of_kept(plan))?
    {
        run.finish(txn)?;
    }
    Ok(())
}

/// The error for a run whose output would hold fewer records than it does, of the same input.
pub(crate) fn would_lose(plan: &Plan<'_>, before: KeptBefore, counts: &Counts) -> Failure {
    let out = plan.args.output.as_deref().unwrap_or(Path::new(""));
    anyhow!(
        "{}: holds {} that an earlier run of this command has kept of the same input; with \
         --skip-known it would hold {}, so it stays as it is; leave out --skip-known, name another \
         output, or add --restart to replace this one",
        out.display(),
        count(before.records, "record"),
        counts.inserted()
    )
    .into()
}
