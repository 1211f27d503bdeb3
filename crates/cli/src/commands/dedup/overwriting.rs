//! Refuses to replace what another run has finished if this run would leave out what is known:
//! records that it has kept are in its index, so no later run would keep them.

use crate::commands::dedup::circumstances::Circumstances;
use crate::commands::dedup::kept_before::{
    self, KeptBefore, key_of_output, would_lose, would_lose_by_going_on,
};
use crate::commands::dedup::read_again::read_again;
use crate::commands::dedup::request::Request;
use crate::commands::dedup::run_notes::RunNotes;
use crate::commands::dedup::unfinished_outputs::check_interrupted;
use crate::commands::outputs::choices::choices_path;
use crate::commands::outputs::partial_file::{LengthAndHash, PartialFile, partial_path};
use crate::run::failure::Failure;
use crate::run::over_input::input_error;
use crate::run::resume_key::ResumeKey;
use anyhow::anyhow;
use std::path::{Path, PathBuf};
use twindex::{DedupRun, Index};

/// Fails if this run would replace what another one has left unfinished, or what one has finished
/// by less. `goes_on` says that it goes on with an interrupted run.
///
/// If the input cannot be read twice, the latter shows only when it has been judged; then this
/// returns what the earlier run has written.
pub(crate) fn check(
    request: &Request<'_>,
    index: Option<&Index>,
    goes_on: bool,
) -> Result<Option<KeptBefore>, Failure> {
    if !goes_on {
        check_inputs(request, index)?;
        index.map_or(Ok(()), |index| forget_progress(request, index))?;
        check_interrupted(request, index)?;
    }
    index.map_or(Ok(None), |index| check_finished(request, index, goes_on))
}

/// Fails if a run with this index, which another process has created since this run began, was the
/// same or had the same output.
pub(crate) fn check_created(request: &Request<'_>, index: &Index) -> Result<(), Failure> {
    let runs = |key: &ResumeKey| -> Result<bool, Failure> {
        let txn = index.begin_write()?;
        Ok(DedupRun::resume(&txn, key)?.or(DedupRun::last_finished(&txn, key)?).is_some())
    };
    if runs(&request.key)? || runs(&key_of_output(request.args))? {
        return Err(anyhow!(
            "{}: another process has run this command, or one with the same output, meanwhile; run \
             the command again",
            request.args.index.display()
        )
        .into());
    }
    check_interrupted(request, Some(index))
}

/// Fails if the output or the audit is a file in a folder of the input, and no run has written it:
/// such a file is left out of the input, and would be lost.
fn check_inputs(request: &Request<'_>, index: Option<&Index>) -> Result<(), Failure> {
    let Some(file) = request.written_targets.among(&request.args.paths) else { return Ok(()) };
    match index.map_or(Ok(None), |index| kept_before::stored(request.args, index))? {
        Some(_) => Ok(()),
        None => Err(input_error(&file)),
    }
}

/// Fails if this run would leave out what is known of the records that an earlier run has written
/// to the output, which would be lost. Returns what the earlier run has written if only the judged
/// records show whether this run would write less.
fn check_finished(
    request: &Request<'_>,
    index: &Index,
    goes_on: bool,
) -> Result<Option<KeptBefore>, Failure> {
    let Request { args, written_targets: targets, .. } = *request;
    // A run that goes on has written files of its folder itself.
    let is_own = goes_on && targets.folder().is_some() && !targets.would_replace();
    if request.may_replace || is_own {
        return Ok(None);
    }
    let Some(mut before) = kept_before::stored(request.args, index)? else { return Ok(None) };
    if !args.skip_known {
        // What is known is written again, unless the index has lost it or has another text by now.
        // Other indexes are given to write less.
        // A folder has the first shards of a run before it has judged all records.
        let may_lose = args.against.is_empty() && targets.folder().is_none() && before.records > 0;
        return Ok(Some(before).filter(|_| may_lose));
    }
    if before.records < before.most && !before.is_still_there(targets)? {
        before.records = before.most;
    }
    if before.records == 0 || !targets.is_there()? {
        return Ok(None);
    }
    let Some(lengths) = Circumstances::gather(request).lengths else { return Ok(Some(before)) };
    let is_file = targets.folder().is_none();
    if is_file && (before.failed > 0 || before.lengths.is_some_and(|before| before != lengths)) {
        // The same records may have come in other files, or others of them may be bad.
        return Ok(Some(before));
    }
    if before.failed > 0 && before.lengths == Some(lengths) {
        return Err(would_lose(args, before, false));
    }
    match read_again(request)?.input == before.input {
        true if goes_on => Err(would_lose_by_going_on(args, before)),
        true => Err(would_lose(args, before, false)),
        false => Ok(None),
    }
}

/// The records that an earlier run has written to the output, if there are more than those of this
/// run, which was interrupted after it had judged all records. The output may have been moved away
/// when this run began, and back when it was interrupted.
pub(crate) fn more_before(
    request: &Request<'_>,
    index: &Index,
    run: &DedupRun,
) -> Result<Option<KeptBefore>, Failure> {
    if !request.args.skip_known || request.may_replace {
        return Ok(None);
    }
    let inserted = RunNotes::of(run).counts.inserted();
    let before = kept_before::stored(request.args, index)?
        .map(|before| KeptBefore { records: before.most, ..before });
    Ok(before.filter(|before| before.input == run.judged() && before.records > inserted))
}

/// Fails if completing an interrupted run would replace such an output.
pub(crate) fn check_completion(
    request: &Request<'_>,
    before: KeptBefore,
    run: &DedupRun,
) -> Result<(), Failure> {
    let Request { args, written_targets: targets, .. } = *request;
    if args.keep.is_ordered() {
        // What is chosen is compared with the output when it is written.
        return Ok(());
    }
    let loses = match &targets.delivery {
        None => targets.would_replace(),
        Some(delivery) => targets.is_there()? && !delivery.is_there(RunNotes::of(run).kept)?,
    };
    if loses { Err(would_lose_by_going_on(args, before)) } else { Ok(()) }
}

/// Deletes what has told how far the output of a finished run was, and its copy of a printed audit,
/// if that run was killed before it could do so.
pub(crate) fn forget_progress(request: &Request<'_>, index: &Index) -> Result<(), Failure> {
    let targets = request.written_targets;
    let Some(out) = targets.resume_file() else { return Ok(()) };
    let Some(before) = kept_before::stored(request.args, index)? else { return Ok(()) };
    let is_left = |place: &Path| is_left(index, place, before.progress, |notes| notes.kept);
    let is_state_left = targets.folder().is_some() && is_left(&out)?;
    if is_state_left || is_left(&choices_path(&out))? {
        targets.forget_progress()?;
    }
    match printed_audit_left(request, index, before.audit)? {
        Some(spool) => PartialFile::forget(&spool),
        None => Ok(()),
    }
}

/// The file that has kept the printed audit of a run that has finished, if that run was killed
/// before it could delete it.
pub(crate) fn printed_audit_left(
    request: &Request<'_>,
    index: &Index,
    audit: LengthAndHash,
) -> Result<Option<PathBuf>, Failure> {
    let targets = request.written_targets;
    let Some(spool) = targets.spool().filter(|_| !targets.audit_is_file()) else {
        return Ok(None);
    };
    let is_left = is_left(index, &spool, audit, |notes| notes.audit)?;
    Ok(is_left.then_some(spool))
}

/// Whether there is a partial file with this content and no more that no interrupted run needs. One
/// that does has stored what the file begins with, which `of` tells.
fn is_left(
    index: &Index,
    place: &Path,
    content: LengthAndHash,
    of: impl Fn(RunNotes) -> LengthAndHash,
) -> Result<bool, Failure> {
    let length = partial_path(place).metadata().map(|found| found.len());
    if length.ok() != Some(content.0) || !PartialFile::begins_with(place, content)? {
        return Ok(false);
    }
    for run in DedupRun::interrupted(&index.begin_write()?)? {
        if PartialFile::begins_with(place, of(RunNotes::of(&run)))? {
            return Ok(false);
        }
    }
    Ok(true)
}
