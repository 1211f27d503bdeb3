//! Refuses to replace what an interrupted run of another command has kept: its records are in the
//! index, so no later run would keep them.

use crate::commands::dedup::begun::Plan;
use crate::commands::dedup::deduplication::stored_outputs;
use crate::commands::outputs::choices::choices_path;
use crate::commands::outputs::partial_file::{PartialFile, partial_path};
use crate::commands::outputs::rows_spool::spool_path;
use crate::run::failure::Failure;
use crate::terminal::output::count;
use anyhow::anyhow;
use twindex::{DedupRun, Index};

/// Fails if a partial file of the output is that of an interrupted run.
pub(crate) fn check(plan: &Plan<'_>, index: &Index) -> Result<(), Failure> {
    let Some(out) = plan.targets.output_file() else { return Ok(()) };
    let places = [spool_path(&out), choices_path(&out), out];
    if !places.iter().any(|place| partial_path(place).exists()) {
        return Ok(());
    }
    for run in DedupRun::interrupted(&index.begin_write()?)? {
        let (kept, _) = stored_outputs(&run);
        for place in &places {
            if kept.0 > 0 && PartialFile::begins_with(place, kept)? {
                return Err(anyhow!(
                    "{}: holds what an interrupted run of another command has kept; run that \
                     command again to go on after its {}, or add --restart to replace it",
                    partial_path(place).display(),
                    count(run.judged().len(), "record")
                )
                .into());
            }
        }
    }
    Ok(())
}
