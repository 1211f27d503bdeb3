//! What a run of `dedup` may find that has judged all its records: one that was interrupted before
//! its output was complete, or one that has finished.

use crate::commands::dedup::circumstances::Circumstances;
use crate::commands::dedup::counts::{Counts, RunResults};
use crate::commands::dedup::overwriting;
use crate::commands::dedup::read_again::read_again;
use crate::commands::dedup::reporting;
use crate::commands::dedup::request::Request;
use crate::commands::dedup::run_notes::RunNotes;
use crate::commands::dedup::write_chosen;
use crate::commands::outputs::audit::Audit;
use crate::commands::outputs::choices::Choices;
use crate::commands::outputs::kept;
use crate::commands::outputs::partial_file::{
    LengthAndHash, PartialFile, changed_error, partial_path,
};
use crate::input::STANDARD_INPUT;
use crate::report::Findings;
use crate::run::failure::Failure;
use anyhow::anyhow;
use twindex::{DedupRun, Index};

/// Finds out whether this run has finished before: with the same input, and an output and an audit
/// that are still as it left them. Returns its results.
///
/// If it was killed before it could delete its copy of a printed audit, this prints the audit again
/// and deletes the copy.
pub(crate) fn finished(
    request: &Request<'_>,
    index: &Index,
) -> Result<Option<RunResults>, Failure> {
    let Request { args, written_targets: targets, .. } = *request;
    let Some(spool) = targets.spool() else { return Ok(None) };
    if args.restart || DedupRun::last_finished(&index.begin_write()?, &request.key)?.is_none() {
        return Ok(None);
    }
    let Some(circumstances) = Circumstances::gather(request).key else { return Ok(None) };
    let run = DedupRun::finished(&index.begin_write()?, &request.key, circumstances)?;
    let Some(run) = run else { return Ok(None) };
    let RunNotes { kept: kept_content, audit: audit_content, counts, .. } = RunNotes::of(&run);
    let audit = !targets.audit_is_file() || PartialFile::is_complete(&spool, audit_content)?;
    let kept = match &targets.delivery {
        Some(delivery) => delivery.is_there(kept_content)?,
        None => kept::is_complete(&targets.out, kept_content)?,
    };
    if !audit || !kept {
        return Ok(None);
    }
    let again = read_again(request)?;
    if !again.is_of(request, index, &run)? {
        return Ok(None);
    }
    // With --touch the records are judged again, which prints the audit.
    if overwriting::printed_audit_left(request, index, audit_content)?.is_some() {
        let spool = printed_spool(request, audit_content, !args.touch)?;
        spool.map_or(Ok(()), PartialFile::discard)?;
    }
    overwriting::forget_progress(request, index)?;
    Ok(Some(RunResults { counts, failed: again.failed }))
}

/// Returns the file that has kept a printed audit for an interrupted run, if it is there, and
/// prints it again if that is asked for: the run may have ended before it printed the audit.
fn printed_spool(
    request: &Request<'_>,
    audit: LengthAndHash,
    print: bool,
) -> Result<Option<PartialFile>, Failure> {
    let Request { global, args, written_targets: targets, .. } = *request;
    let Some(path) = targets.spool().filter(|_| !targets.audit_is_file()) else {
        return Ok(None);
    };
    match PartialFile::resume(&path, audit)? {
        Some(spool) if print => {
            Audit::begin(global, targets, args.audit_columns(), Some(spool), false)?.finish()
        }
        spool => Ok(spool),
    }
}

/// Completes an interrupted run that has judged all its records: gives its files their final names.
///
/// Returns the results if that run had the same input. Returns `None` if the input differs and must
/// still be judged. `report` takes the results, and what a report tells, before the run counts as
/// finished.
///
/// # Errors
///
/// Fails if a file of the interrupted run has changed, if the output is one now that has more of
/// the records, or if the input differs and standard input, which cannot be read again, is part of
/// it.
pub(crate) fn complete(
    request: &Request<'_>,
    index: &Index,
    run: DedupRun,
    report: impl FnOnce(&RunResults, Findings) -> Result<(), Failure>,
) -> Result<Option<RunResults>, Failure> {
    let Request { written_targets: targets, .. } = *request;
    let (Some(out), Some(spool)) = (targets.resume_file(), targets.spool()) else {
        return Ok(None);
    };
    let before = overwriting::more_before(request, index, &run)?;
    if let Some(before) = before {
        overwriting::check_completion(request, before, &run)?;
    }
    let RunNotes { kept: kept_content, audit: audit_content, counts, .. } = RunNotes::of(&run);
    let audit =
        if targets.audit_is_file() { PartialFile::complete(&spool, audit_content)? } else { true };
    let complete = || {
        if request.args.keep.is_ordered() {
            match Choices::resume(&out, kept_content)? {
                Some(choices) => write_chosen::write(request, choices, before),
                None => Ok(None),
            }
        } else {
            kept::complete(&targets.out, kept_content)
        }
    };
    if !audit {
        return Err(changed_error(&partial_path(&spool)));
    }
    let Some(content) = complete()? else {
        let partial = partial_path(&out);
        let is_named = out.is_file() && !partial.exists();
        return Err(changed_error(if is_named { &out } else { &partial }));
    };
    targets.deliver()?;
    let again = read_again(request)?;
    let same = again.is_of(request, index, &run)?;
    let results = RunResults { counts, failed: again.failed };
    if same && let Some(findings) = reporting::of_file(request, index, &counts, true)? {
        report(&results, findings)?;
    }
    let ends = if same { None } else { another_input(request, &counts) };
    // A run that goes on to judge its own input prints the audit of that.
    let spool = printed_spool(request, audit_content, same || ends.is_some())?;
    let key = Circumstances::gather(request).key.filter(|_| same);
    request.end(index, run, Some(content), key)?;
    spool.map_or(Ok(()), PartialFile::discard)?;
    targets.clean_up()?;
    match ends {
        Some(ends) => Err(ends),
        None => Ok(same.then_some(results)),
    }
}

/// The error for a run that cannot judge its own input after it has completed one with another
/// input, which has these counts.
fn another_input(request: &Request<'_>, counts: &Counts) -> Option<Failure> {
    let Request { args, written_targets: targets, .. } = *request;
    let out = targets.resume_file().unwrap_or_default();
    let out = out.display();
    let why = if args.paths.iter().any(|path| path.as_os_str() == STANDARD_INPUT) {
        "standard input was another one and has been read, so run the command again"
    } else if args.skip_known && counts.inserted() > 0 {
        "its input has changed since, and what is new would replace it; move it elsewhere, and run \
         the command again"
    } else {
        return None;
    };
    let done = "the run to it that was interrupted is complete now";
    Some(anyhow!("{out}: {done}; {why}").into())
}
