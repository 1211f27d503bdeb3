//! The course of a run of `dedup`: what earlier runs have left for it, judging, and its end.

use crate::commands::dedup::active_run::ActiveRun;
use crate::commands::dedup::completion;
use crate::commands::dedup::counts::{Counts, RunResults};
use crate::commands::dedup::intake::Intake;
use crate::commands::dedup::options::Purpose;
use crate::commands::dedup::overwriting;
use crate::commands::dedup::reporting;
use crate::commands::dedup::request::Request;
use crate::commands::dedup::run_notes::RunNotes;
use crate::commands::dedup::summary::{Ended, Replaced, Summary, sum_up};
use crate::commands::dedup::unfinished_outputs;
use crate::commands::outputs::targets::Targets;
use crate::report::Histogram;
use crate::run::ending::Ending;
use crate::run::failure::Failure;
use crate::run::input_options::announce_standard_input;
use crate::terminal::interrupt;
use crate::terminal::messages::message;
use crate::terminal::output::{count, drawing};
use crate::terminal::plot::bars;
use crate::terminal::progress_bar::ProgressBar;
use anyhow::anyhow;
use twindex::{DedupRun, Index};

/// What earlier runs of the same command have left for this one.
enum Earlier {
    /// Nothing.
    Nothing,
    /// A run that was interrupted, which this one goes on with.
    Interrupted(DedupRun),
    /// A run that has finished. The records are judged again only to renew times.
    Finished(RunResults),
    /// Nothing is left to do.
    Ended(Ending),
}

/// What was judged.
struct Judged {
    results: RunResults,
    summary: Summary,
    /// The similarities of what was removed.
    similarities: Option<Histogram>,
    replaced: Replaced,
    /// The records that were given.
    given: u64,
}

/// Runs from the beginning to the end. `silent` are targets that write no file.
pub(super) fn run<'a>(
    mut request: Request<'a>,
    silent: &'a Targets,
    index: Option<Index>,
) -> Result<Ending, Failure> {
    let (mut interrupted, mut finished) = (None, None);
    match earlier(&mut request, index.as_ref())? {
        Earlier::Ended(ending) => return Ok(ending),
        Earlier::Finished(results) => {
            request.written_targets = silent;
            finished = Some(results);
        }
        Earlier::Interrupted(run) => interrupted = Some(run),
        Earlier::Nothing => {}
    }
    if finished.is_none() {
        request.kept_before = overwriting::check(&request, index.as_ref(), interrupted.is_some())?;
    }
    judge(&request, index, interrupted, finished).map_err(|failure| match failure {
        // A dry run has told all that was asked for.
        Failure::BrokenPipe if !request.args.dry_run => anyhow!(
            "the reader of the output has left, so the run has stopped; what was committed before, \
             if anything, is in {}",
            request.args.index.display()
        )
        .into(),
        failure => failure,
    })
}

/// Finds what earlier runs have left. Completes a run that was interrupted after it had judged all
/// its records.
fn earlier(request: &mut Request<'_>, index: Option<&Index>) -> Result<Earlier, Failure> {
    let Some(index) = index else { return Ok(Earlier::Nothing) };
    let args = request.args;
    if request.written_targets.can_resume() && !args.restart {
        let run = DedupRun::resume(&index.begin_write()?, &request.key)?;
        request.may_replace = run.as_ref().is_some_and(|run| RunNotes::of(run).may_replace);
        if let Some(run) = &run {
            unfinished_outputs::check_others(request, index, run)?;
        }
        match run {
            Some(run) if run.is_judged() => {
                if let Some(ending) = complete(request, index, run)? {
                    return Ok(Earlier::Ended(ending));
                }
                request.may_replace = false;
            }
            // A run that was interrupted at its very beginning has left nothing to go on with.
            Some(run) if !run.judged().is_empty() => return Ok(Earlier::Interrupted(run)),
            _ => {}
        }
    }
    let Some(results) = completion::finished(request, index)? else {
        return Ok(Earlier::Nothing);
    };
    if args.touch {
        return Ok(Earlier::Finished(results));
    }
    let summary = summary_of(request, &results, Some(request.recall(index)?), Ended::Already);
    let findings = reporting::of_file(request, index, &results.counts, false)?;
    if let Some(findings) = &findings {
        reporting::write(request, &summary, &results, findings)?;
    }
    let ending = end(request, &results, &summary);
    let is_missing = args.report.is_some() && findings.is_none();
    Ok(Earlier::Ended(if is_missing { Ending::SomeFailed } else { ending }))
}

/// Completes a run that has judged all its records. Returns `None` if the input of this command is
/// another one.
fn complete(
    request: &Request<'_>,
    index: &Index,
    run: DedupRun,
) -> Result<Option<Ending>, Failure> {
    let recall = request.recall(index)?;
    let tell = |results: &RunResults| summary_of(request, results, Some(recall), Ended::Done);
    // The report has the summary that is printed.
    let mut summary = None;
    let report = |results: &RunResults, findings| {
        reporting::write(request, summary.insert(tell(results)), results, &findings)
    };
    let results = completion::complete(request, index, run, report)?;
    Ok(results.map(|results| {
        let summary = summary.unwrap_or_else(|| tell(&results));
        end(request, &results, &summary)
    }))
}

/// Judges the input, and ends the run. `finished` are the results of a run that has finished
/// before with this input.
fn judge(
    request: &Request<'_>,
    mut index: Option<Index>,
    interrupted: Option<DedupRun>,
    finished: Option<RunResults>,
) -> Result<Ending, Failure> {
    let Request { global, args, named_targets, settings, threshold, .. } = *request;
    let run = match interrupted {
        Some(run) => Some(ActiveRun::new(request, index.take(), Some(run))?),
        None => None,
    };
    announce_standard_input(global, &args.paths);
    let purpose = Purpose::Judge(settings.sketcher()?);
    let records = args.records(named_targets, &settings, purpose, global.quiet)?;
    let mut progress = ProgressBar::new(global, records.expected_bytes);
    let mut intake = Intake::new(request, index, run)?;
    intake.judge_all(records, &mut progress)?;
    let Intake { run, failed, mut short_texts, .. } = intake;
    let interrupted = interrupt::asked();
    let judged = finish(request, run, (failed, interrupted), finished, &progress)?;
    progress.finish();
    if interrupted {
        judged.summary.print(global);
        let again = match (args.dry_run, named_targets.can_resume()) {
            (true, _) => "nothing was changed",
            (false, true) => "run the same command again to go on",
            (false, false) => "what was kept of them is in the index",
        };
        let records = count(judged.given, "record");
        let place = args.index.display();
        return Err(anyhow!("{place}: interrupted after {records}; {again}").into());
    }
    if let Some(texts) = &mut short_texts {
        texts.tell(global);
    }
    judged.replaced.tell();
    let ending = end(request, &judged.results, &judged.summary);
    let has_removed = judged.results.counts.duplicates > 0;
    if let Some(similarities) = judged.similarities.filter(|_| has_removed) {
        let bars = bars(&similarities.above(threshold));
        drawing(global, &format!("similarities of what was removed: {threshold} {bars} 1"));
    }
    Ok(ending)
}

/// Finishes a run that has judged its input, or was interrupted. If no record was good, nothing has
/// begun.
fn finish(
    request: &Request<'_>,
    run: Option<ActiveRun<'_>>,
    (failed, interrupted): (u64, bool),
    finished: Option<RunResults>,
    progress: &ProgressBar,
) -> Result<Judged, Failure> {
    // Records that are judged again only to renew times have been counted before.
    let finished = finished.filter(|_| !interrupted);
    let ended = match (interrupted, &finished) {
        (true, _) => Ended::Interrupted,
        (false, Some(_)) => Ended::Already,
        (false, None) => Ended::Done,
    };
    let tell = |counts: &Counts, recall| {
        let results = finished.unwrap_or(RunResults { counts: *counts, failed });
        (results, summary_of(request, &results, recall, ended))
    };
    let Some(run) = run else {
        if request.args.report.is_some() && !interrupted {
            message("no report is written: no record could be read");
        }
        let (results, summary) = tell(&Counts::default(), None);
        let (similarities, replaced) = (None, Replaced::default());
        return Ok(Judged { results, summary, similarities, replaced, given: 0 });
    };
    let (recall, replaced) = (run.recall, run.deduplication.replaced());
    let given = run.deduplication.run.given().len();
    // The report has the summary that is printed.
    let mut told = None;
    let report = |counts: &Counts, findings| {
        let (results, summary) = told.insert(tell(counts, Some(recall)));
        reporting::write(request, summary, results, &findings)
    };
    let (counts, similarities) = run.finish(interrupted, progress, report)?;
    let (results, summary) = told.unwrap_or_else(|| tell(&counts, Some(recall)));
    Ok(Judged { results, summary, similarities, replaced, given })
}

fn summary_of(
    request: &Request<'_>,
    results: &RunResults,
    recall: Option<f64>,
    ended: Ended,
) -> Summary {
    sum_up(request.args, results, recall, request.start.elapsed().as_secs_f64(), ended)
}

/// Prints the summary, and says how the command ends.
fn end(request: &Request<'_>, results: &RunResults, summary: &Summary) -> Ending {
    summary.print(request.global);
    if results.failed > 0 { Ending::SomeFailed } else { Ending::Done }
}
