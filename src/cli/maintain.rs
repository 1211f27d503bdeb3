//! `twindex create`, `check` and `compact`: the file as a whole.

use super::Ending;
use super::args::{Create, Global, IndexPath};
use super::failure::Failure;
use super::output::{Results, bytes, count, summary};
use crate::index::{Index, ReadOnlyIndex};
use anyhow::Context;
use serde_json::Value;
use std::time::Instant;

pub(super) fn create(global: &Global, args: &Create) -> Result<Ending, Failure> {
    let index = args.settings.options().create(&args.index)?;
    let settings = index.settings();
    let fields = [
        ("threshold", settings.threshold.get().into()),
        ("recall", settings.recall.get().into()),
        ("lanes", settings.lanes.get().into()),
        ("bands", settings.plan.bands().into()),
        ("depth", settings.plan.depth().into()),
        ("shingle", settings.shingle.to_string().into()),
        ("normalize", settings.normalization.to_string().into()),
    ];
    let sentence = format!(
        "created {}: threshold {}, recall {}, {} of {} lanes in signatures of {}, {}, {}",
        args.index.display(),
        settings.threshold,
        settings.recall,
        count(settings.plan.bands() as u64, "band"),
        settings.plan.depth(),
        settings.lanes,
        settings.shingle,
        settings.normalization
    );
    summary(global, &fields, &sentence);
    Ok(Ending::Done)
}

pub(super) fn check(global: &Global, args: &IndexPath) -> Result<Ending, Failure> {
    let report = ReadOnlyIndex::open(&args.index)?.check()?;
    let mut results = Results::new(global);
    if global.json {
        let violations: Vec<Value> = report
            .violations
            .iter()
            .map(|violation| {
                serde_json::json!({
                    "invariant": violation.invariant.number(),
                    "place": violation.place,
                    "detail": violation.detail,
                })
            })
            .collect();
        results.object(&[
            ("clean", report.is_clean().into()),
            ("documents", report.documents.into()),
            ("entries", report.entries.into()),
            ("violation_count", report.violation_count.into()),
            ("violations", violations.into()),
        ])?;
    } else {
        for violation in &report.violations {
            results.line(&[
                ("invariant", violation.invariant.number().into()),
                ("place", violation.place.as_str().into()),
                ("detail", violation.detail.as_str().into()),
            ])?;
        }
        let verdict = match report.violation_count {
            0 => "all invariants hold".to_owned(),
            many => count(many, "violation"),
        };
        let (documents, entries) =
            (count(report.documents, "document"), super::output::grouped(report.entries));
        let sentence =
            format!("{}: {verdict}: {documents}, {entries} band entries", args.index.display());
        summary(global, &[], &sentence);
    }
    results.flush()?;
    Ok(if report.is_clean() { Ending::Done } else { Ending::Nothing })
}

pub(super) fn compact(global: &Global, args: &IndexPath) -> Result<Ending, Failure> {
    let start = Instant::now();
    let mut index = Index::open(&args.index)?;
    let before = index.snapshot()?.usage()?.file_bytes;
    index.compact()?;
    // Closing trims the file once more.
    index.close()?;
    let after =
        std::fs::metadata(&args.index).with_context(|| args.index.display().to_string())?.len();
    let seconds = start.elapsed().as_secs_f64();
    let fields = [
        ("before_bytes", before.into()),
        ("bytes", after.into()),
        ("seconds", ((seconds * 1000.0).round() / 1000.0).into()),
    ];
    let sentence =
        format!("{}: {} before, {} after", args.index.display(), bytes(before), bytes(after));
    summary(global, &fields, &sentence);
    Ok(Ending::Done)
}
