//! The report of a run of `dedup`: gathered from its audit, its index and its input.

use crate::commands::dedup::counts::{Counts, RunResults};
use crate::commands::dedup::options::Dedup;
use crate::commands::dedup::removal::Remove;
use crate::commands::dedup::request::Request;
use crate::commands::dedup::summary::Summary;
use crate::commands::outputs::audit::Audit;
use crate::commands::outputs::partial_file::partial_path;
use crate::report;
use crate::report::{
    AuditLines, Facts, Findings, Gathering, InputReading, Kind, ReadLines, RemovedRecords, gather,
    percent,
};
use crate::run::failure::Failure;
use crate::run::input_options::{can_be_read_again, shown};
use crate::terminal::messages::message;
use crate::terminal::numbers::grouped;
use crate::terminal::output::bytes;
use anyhow::anyhow;
use std::path::PathBuf;
use twindex::Index;

/// Refuses a report of what has no similarities.
pub(super) fn check(args: &Dedup) -> Result<(), Failure> {
    if args.report.is_some() && args.removal.remove.is_by_passages() {
        Err(anyhow!("--report shows similar documents: --remove similar or contained").into())
    } else {
        Ok(())
    }
}

/// Gathers what the report tells from the audit of this run, which is synced. `None` if no report
/// is asked for.
pub(super) fn of_audit(
    request: &Request<'_>,
    index: &Index,
    audit: &mut Audit,
    counts: &Counts,
) -> Result<Option<Findings>, Failure> {
    let mut removed = AuditLines(|read: &mut ReadLines<'_>| audit.read(read));
    gathered(request, index, &mut removed, counts)
}

/// Gathers what the report tells from the file that keeps the audit of an earlier run. Says so if
/// there is none. A copy of a printed audit is that of this run only if the run `is_unfinished`.
pub(super) fn of_file(
    request: &Request<'_>,
    index: &Index,
    counts: &Counts,
    is_unfinished: bool,
) -> Result<Option<Findings>, Failure> {
    let Request { args, written_targets: targets, .. } = *request;
    let (Some(spool), Some(report)) = (targets.spool(), &args.report) else {
        return Ok(None);
    };
    // The audit that was asked for has its name.
    let place = match (targets.audit_is_file(), is_unfinished) {
        (true, _) => Some(spool.clone()),
        (false, true) => Some(partial_path(&spool)),
        (false, false) => None,
    };
    let Some(place) = place.filter(|place| place.is_file()) else {
        message(&format!(
            "{}: not written, as the run has finished before and its audit was not kept; --removed \
             FILE keeps it, --restart judges the records again",
            report.display()
        ));
        return Ok(None);
    };
    let read = |read: &mut ReadLines<'_>| Audit::read_file(&place, &spool, read);
    gathered(request, index, &mut AuditLines(read), counts)
}

fn gathered(
    request: &Request<'_>,
    index: &Index,
    removed: &mut dyn RemovedRecords,
    counts: &Counts,
) -> Result<Option<Findings>, Failure> {
    let Request { args, global, named_targets, settings, .. } = *request;
    if args.report.is_none() {
        return Ok(None);
    }
    let is_there = args.paths.iter().all(|path| can_be_read_again(path));
    if let Some(field) = args.group_field.as_ref().filter(|_| !is_there) {
        message(&format!("the report tells no sources by `{field}`: a stream is not read again"));
    }
    let input = is_there.then(|| {
        let mut inputs = args.inputs(named_targets, &settings);
        args.naming.apply(&mut inputs, true);
        InputReading { inputs, settings, group_field: args.group_field.clone() }
    });
    let names = args.against.iter().map(|path| path.display().to_string());
    let others: Vec<_> = names.zip(request.against.iter().copied()).collect();
    let gathering = Gathering {
        global,
        removed,
        has_removed: false,
        snapshot: &index.snapshot()?,
        others: &others,
        newest: counts.added + counts.replaced,
        threshold: request.threshold,
        simple: args.removal.remove == Remove::Similar,
        estimate: args.estimate,
        input,
    };
    gather(gathering).map(Some)
}

/// Writes the report.
pub(super) fn write(
    request: &Request<'_>,
    summary: &Summary,
    results: &RunResults,
    findings: &Findings,
) -> Result<(), Failure> {
    let Request { args, settings, threshold, .. } = *request;
    let Some(path) = &args.report else { return Ok(()) };
    let RunResults { counts, failed } = *results;
    let Counts { added, replaced, unchanged, duplicates, empty, bytes: read, spared, .. } = counts;
    let all = added + replaced + unchanged + duplicates;
    let share = match all {
        0 => String::new(),
        _ => format!(" ({})", percent(duplicates as f64 / all as f64)),
    };
    let known = if args.skip_known { unchanged } else { 0 };
    let mut numbers = vec![
        ("documents", grouped(all)),
        (if args.dry_run { "would be removed" } else { "removed" }, grouped(duplicates) + &share),
        ("kept", grouped(all - duplicates - known)),
        ("of text", bytes(read)),
    ];
    let some =
        [(known, "known and left out"), (spared, "spared"), (empty, "empty"), (failed, "failed")];
    let some = some.into_iter().filter(|(count, _)| *count > 0);
    numbers.extend(some.map(|(count, name)| (name, grouped(count))));
    let list =
        |paths: &[PathBuf]| paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ");
    let mut circumstances = vec![
        ("input", list(&args.paths)),
        ("index", args.index.display().to_string()),
        ("threshold", threshold.to_string()),
    ];
    if !args.against.is_empty() {
        circumstances.push(("also compared with", list(&args.against)));
    }
    if args.removal.remove == Remove::Contained {
        let share = args.removal.min_contained.unwrap_or(1.0);
        circumstances.push(("removed only if contained to", share.to_string()));
    }
    if args.keep.is_ordered() {
        circumstances.push(("kept of similar records", args.keep.to_string()));
    }
    if let Some(recall) = &summary.recall {
        circumstances.push(("recall at the threshold", recall.to_string()));
    }
    circumstances.extend(report::circumstances(&settings, args.estimate));
    let title = if args.dry_run {
        format!("Duplicates that would be removed from {}", list(&args.paths))
    } else {
        format!("Duplicates removed from {}", list(&args.paths))
    };
    let facts = Facts {
        kind: Kind::Dedup,
        title,
        sentence: summary.sentence.clone(),
        numbers,
        settings: circumstances,
        failed,
        by_chains: false,
    };
    report::write(path, &facts, findings, &settings)
}
