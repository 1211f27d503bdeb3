//! Refuses to replace what another run of `dedup` has left unfinished.

use crate::commands::dedup::request::Request;
use crate::commands::dedup::run_notes::RunNotes;
use crate::commands::outputs::choices::choices_path;
use crate::commands::outputs::partial_file::{LengthAndHash, PartialFile, partial_path};
use crate::commands::outputs::rows_spool::spool_path;
use crate::run::failure::Failure;
use crate::terminal::output::count;
use anyhow::anyhow;
use std::path::{Path, PathBuf};
use twindex::{DedupRun, Index};

/// Fails if a partial file of the output or of the audit is that of an interrupted run: of one with
/// this index that has judged records, or of any run with another index. `--restart` allows both,
/// unless `--skip-known` would leave out what was kept.
///
/// A run begins with a commit to its index. So a partial file is of another index if no run with
/// this one was interrupted that has stored what the file begins with, or nothing of it yet.
pub(super) fn check_interrupted(
    request: &Request<'_>,
    index: Option<&Index>,
) -> Result<(), Failure> {
    let args = request.args;
    let left = left_by_interrupted(request);
    if left.is_empty() {
        return Ok(());
    }
    let runs = match index {
        Some(index) => DedupRun::interrupted(&index.begin_write()?)?,
        None => Vec::new(),
    };
    // A run that was interrupted at its very beginning has left nothing to go on with, though its
    // files may hold the header of a table or the beginning of a compressed stream.
    for run in runs.iter().filter(|run| !run.judged().is_empty()) {
        let RunNotes { kept, .. } = RunNotes::of(run);
        for (place, is_audit) in &left {
            let content = stored_of(run, *is_audit);
            if content.0 == 0 || !PartialFile::begins_with(place, content)? {
                continue;
            }
            if !args.restart {
                return Err(of_another(place, run));
            }
            if args.skip_known && kept.0 > 0 {
                return Err(anyhow!(
                    "{}: belongs to an interrupted run; what it has kept of its {} is known, so \
                     --skip-known would leave it out; leave out --skip-known",
                    partial_path(place).display(),
                    count(run.judged().len(), "judged record"),
                )
                .into());
            }
        }
    }
    let may_have_left =
        |run: &DedupRun, is_audit| run.judged().is_empty() || stored_of(run, is_audit).0 == 0;
    let is_of_none =
        |(_, is_audit): &&(PathBuf, bool)| !runs.iter().any(|run| may_have_left(run, *is_audit));
    if let Some((first, _)) = left.iter().find(is_of_none).filter(|_| !args.restart) {
        PartialFile::check_free(first)?;
        return Err(anyhow!(
            "{}: was left by a run with another index, which may still go on with it, or by one to \
             a stream; delete it, or add --restart to replace it",
            partial_path(first).display()
        )
        .into());
    }
    Ok(())
}

/// What a run has stored of its output, or of its audit.
fn stored_of(run: &DedupRun, is_audit: bool) -> LengthAndHash {
    let RunNotes { kept, audit, .. } = RunNotes::of(run);
    if is_audit { audit } else { kept }
}

/// The partial files of the output and of the audit that are there and hold something, and whether
/// each is that of the audit.
fn left_by_interrupted(request: &Request<'_>) -> Vec<(PathBuf, bool)> {
    let targets = request.written_targets;
    let (Some(out), Some(spool)) = (targets.resume_file(), targets.spool()) else {
        return Vec::new();
    };
    let outputs = [spool_path(&out), choices_path(&out), out].map(|place| (place, false));
    let is_left =
        |(place, _): &(PathBuf, bool)| partial_path(place).metadata().is_ok_and(|it| it.len() > 0);
    outputs.into_iter().chain([(spool, true)]).filter(is_left).collect()
}

/// The error for a partial file of another run.
fn of_another(place: &Path, run: &DedupRun) -> Failure {
    anyhow!(
        "{}: belongs to an interrupted run of another command; run that command again to go on \
         after its {}, or add --restart to replace it",
        partial_path(place).display(),
        count(run.judged().len(), "judged record"),
    )
    .into()
}

/// Fails if another run was interrupted after this one had been, and has left more in the partial
/// files: a run that has kept nothing yet does not stop others from writing to its output.
pub(crate) fn check_others(
    request: &Request<'_>,
    index: &Index,
    own: &DedupRun,
) -> Result<(), Failure> {
    for run in DedupRun::interrupted(&index.begin_write()?)? {
        for (place, is_audit) in left_by_interrupted(request) {
            let (theirs, own) = (stored_of(&run, is_audit), stored_of(own, is_audit));
            if theirs.0 > own.0 && PartialFile::begins_with(&place, theirs)? {
                return Err(of_another(&place, &run));
            }
        }
    }
    Ok(())
}
