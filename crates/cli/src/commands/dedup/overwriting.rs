//! Refuses to replace what another run has left unfinished: records that it has kept are in its
//! index, so no later run would keep them.

use crate::commands::dedup::begun::Plan;
use crate::commands::dedup::deduplication::stored_outputs;
use crate::commands::outputs::choices::choices_path;
use crate::commands::outputs::partial_file::{PartialFile, partial_path};
use crate::commands::outputs::rows_spool::spool_path;
use crate::run::failure::Failure;
use crate::terminal::output::count;
use anyhow::anyhow;
use std::path::PathBuf;
use twindex::{DedupRun, Index};

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
