//! The report of a run of `dedup`: gathered from its audit, its index and its input.

use crate::commands::dedup::begun::Plan;
use crate::commands::dedup::command::Dedup;
use crate::commands::dedup::deduplication::Counts;
use crate::commands::dedup::removal::Remove;
use crate::commands::dedup::summary::Summary;
use crate::commands::outputs::audit::Audit;
use crate::commands::outputs::partial_file::partial_path;
use crate::input::STANDARD_INPUT;
use crate::remote::is_remote;
use crate::report::{
    AuditLines, Facts, Findings, Gathering, InputReading, Kind, ReadLines, RemovedRecords,
    circumstances, gather,
};
use crate::run::failure::Failure;
use crate::terminal::numbers::grouped;
use crate::terminal::output::bytes;
use anyhow::anyhow;
use std::path::{Path, PathBuf};
use twindex::{Index, Settings};

/// Refuses a report of what has no similarities.
pub(super) fn check(args: &Dedup) -> Result<(), Failure> {
    match args.report.is_some() && args.removal.remove.is_by_passages() {
        true => {
            Err(anyhow!("--report shows similar documents: --remove similar or contained").into())
        }
        false => Ok(()),
    }
}

/// Gathers what the report tells from the audit of this run, which is synced. `None` if no report
/// is asked for.
pub(super) fn of_audit(
    plan: &Plan<'_>,
    index: &Index,
    audit: &mut Audit,
) -> Result<Option<Findings>, Failure> {
    gathered(plan, index, &mut AuditLines(|read: &mut ReadLines<'_>| audit.read(read)))
}

/// Gathers what the report tells from the file that keeps the audit of an earlier run.
pub(super) fn of_file(plan: &Plan<'_>, index: &Index) -> Result<Option<Findings>, Failure> {
    let Some(spool) = plan.targets.spool().filter(|_| plan.args.report.is_some()) else {
        return Ok(None);
    };
    let places = [spool.clone(), partial_path(&spool)];
    let Some(place) = places.into_iter().find(|place| place.is_file()) else {
        return Err(anyhow!(
            "{}: the run has finished before and its audit was not kept, so there is nothing to \
             report; --restart judges the records again, --removed FILE keeps the audit",
            plan.args.index.display()
        )
        .into());
    };
    let read = |read: &mut ReadLines<'_>| Audit::read_file(&place, &spool, read);
    gathered(plan, index, &mut AuditLines(read))
}

fn gathered(
    plan: &Plan<'_>,
    index: &Index,
    removed: &mut dyn RemovedRecords,
) -> Result<Option<Findings>, Failure> {
    let Plan { args, global, targets, settings, .. } = *plan;
    if args.report.is_none() {
        return Ok(None);
    }
    let input = args.paths.iter().all(|path| can_be_read_again(path)).then(|| {
        let mut inputs = args.inputs(targets, &settings);
        args.naming.apply(&mut inputs, true);
        InputReading { inputs, settings, group_field: args.group_field.clone() }
    });
    let gathering = Gathering {
        global,
        removed,
        snapshot: &index.snapshot()?,
        threshold: plan.threshold,
        estimate: args.estimate,
        input,
    };
    gather(gathering).map(Some)
}

/// Whether a path is there for a second reading: no pipe and no device.
fn can_be_read_again(path: &Path) -> bool {
    let is_there = || path.metadata().is_ok_and(|found| found.is_file() || found.is_dir());
    path.as_os_str() != STANDARD_INPUT && (is_remote(path) || is_there())
}

/// Writes the report.
pub(super) fn write(
    args: &Dedup,
    settings: &Settings,
    threshold: f64,
    summary: &Summary,
    (counts, failed): (&Counts, u64),
    findings: &Findings,
) -> Result<(), Failure> {
    let Some(path) = &args.report else { return Ok(()) };
    let Counts { added, replaced, unchanged, duplicates, empty, bytes: read, spared, .. } = *counts;
    let all = added + replaced + unchanged + duplicates;
    let share = match all {
        0 => String::new(),
        _ => format!(" ({:.1} %)", 100.0 * duplicates as f64 / all as f64),
    };
    let mut numbers = vec![
        ("documents", grouped(all)),
        (if args.dry_run { "would be removed" } else { "removed" }, grouped(duplicates) + &share),
        ("kept", grouped(all - duplicates)),
        ("of text", bytes(read)),
    ];
    let some = [(spared, "spared"), (empty, "empty"), (failed, "failed")];
    let some = some.into_iter().filter(|(count, _)| *count > 0);
    numbers.extend(some.map(|(count, name)| (name, grouped(count))));
    let list = |paths: &[PathBuf]| {
        let paths = paths.iter().map(|path| match path.as_os_str() == STANDARD_INPUT {
            true => "standard input".to_owned(),
            false => path.display().to_string(),
        });
        paths.collect::<Vec<_>>().join(", ")
    };
    let mut facts = vec![
        ("input", list(&args.paths)),
        ("index", args.index.display().to_string()),
        ("threshold", threshold.to_string()),
    ];
    if !args.against.is_empty() {
        facts.push(("also compared with", list(&args.against)));
    }
    if args.removal.remove == Remove::Contained {
        let share = args.removal.min_contained.unwrap_or(1.0);
        facts.push(("removed only if contained to", share.to_string()));
    }
    if let Some(recall) = &summary.recall {
        facts.push(("recall at the threshold", recall.to_string()));
    }
    facts.extend(circumstances(settings, args.estimate));
    let title = match args.dry_run {
        true => format!("Duplicates that would be removed from {}", list(&args.paths)),
        false => format!("Duplicates removed from {}", list(&args.paths)),
    };
    let facts = Facts {
        kind: Kind::Dedup,
        title,
        sentence: summary.sentence.clone(),
        numbers,
        settings: facts,
        failed,
    };
    crate::report::write(path, &facts, findings, settings)
}
