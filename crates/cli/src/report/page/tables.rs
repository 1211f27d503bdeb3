//! The tables of a report: thresholds, sources, failures and settings.

use super::shown::{end, id, message, name};
use super::{Facts, percent};
use crate::report::findings::Findings;
use crate::report::nearest::lowest;
use crate::report::sources::{Source, SourceTable};
use crate::terminal::numbers::grouped;
use crate::terminal::output::count;
use maud::{Markup, html};

/// What other thresholds would have removed.
pub(super) fn thresholds(findings: &Findings, removed: &str) -> Markup {
    let (own, stricter) = (findings.threshold, &findings.stricter);
    let mut all: Vec<f64> = (1..=20).map(|twentieth| f64::from(twentieth) / 20.0).collect();
    all.retain(|threshold| *threshold >= lowest(own) - 1e-9 && (threshold - own).abs() > 0.004);
    all.push(own);
    all.sort_by(f64::total_cmp);
    let row = |threshold: f64| {
        let removed_then = if threshold == own {
            findings.removed
        } else if threshold > own {
            stricter.removed_at(threshold).min(findings.removed)
        } else {
            findings.removed + findings.nearest.more_at(threshold)
        };
        let about = match threshold == own {
            true => "",
            false if threshold > own && !stricter.is_known() => "at least ",
            false => "about ",
        };
        let change = removed_then as i128 - i128::from(findings.removed);
        let sign = if change > 0 { "+" } else { "\u{2212}" };
        html! {
            tr.own[threshold == own] {
                th scope="row" { (threshold) @if threshold == own { " (this report)" } }
                td.number { (about) (grouped(removed_then)) }
                td.number {
                    @if change != 0 { (sign) (grouped(change.unsigned_abs() as u64)) }
                }
            }
        }
    };
    html! {
        div.wide {
            table.thresholds {
                caption { "What another threshold would have found" }
                thead { tr {
                    th scope="col" { "threshold" }
                    th.number scope="col" { (removed) }
                    th.number scope="col" { "difference" }
                } }
                tbody { @for threshold in all { (row(threshold)) } }
            }
        }
        p.note {
            "Other thresholds are estimated from samples of clusters and of kept documents. There, "
            "as in a run, a document goes only for one that stays."
        }
    }
}

/// How many records each source has and lost, and from where to where duplicates lead.
pub(super) fn sources(findings: &Findings, removed: &str) -> Markup {
    let Some(SourceTable { sources, matrix }) = &findings.sources else { return html! {} };
    let share = |source: &Source| match source.records {
        0 => String::new(),
        records => percent(source.removed as f64 / records as f64),
    };
    let most = matrix.iter().flatten().copied().max().unwrap_or(0).max(1);
    // Nine shades, by the logarithm.
    let shade = |count: u64| match count {
        0 => 0,
        _ => 1 + ((count as f64).ln_1p() / (most as f64).ln_1p() * 8.0).round() as usize,
    };
    html! {
        div.wide {
            table.sortable {
                caption { "Records by where they come from" }
                thead { tr {
                    th.number scope="col" { "no." }
                    th scope="col" { "source" }
                    th.number scope="col" { "records" }
                    th.number scope="col" { (removed) }
                    th.number scope="col" { "share" }
                    th.number scope="col" { "kept in their place" }
                } }
                tbody {
                    @for (number, source) in sources.iter().enumerate() {
                        tr {
                            td.number { (number + 1) }
                            th.id scope="row" { (id(&source.name)) }
                            td.number { (grouped(source.records)) }
                            td.number { (grouped(source.removed)) }
                            td.number { (share(source)) }
                            td.number { (grouped(source.kept_for)) }
                        }
                    }
                }
            }
        }
        div.wide {
            table.heat {
                // The table may be wider than the screen. Its caption is not.
                caption {
                    span {
                        "How many records of each source (rows) were removed for a document of "
                        "each source (columns, by the numbers of the rows). The darker, the more, "
                        "on a logarithmic scale."
                    }
                }
                thead { tr {
                    td.corner {}
                    @for (number, source) in sources.iter().enumerate() {
                        th.number scope="col" title=(name(&source.name)) { (number + 1) }
                    }
                } }
                tbody {
                    @for (number, (source, row)) in sources.iter().zip(matrix).enumerate() {
                        tr {
                            th.id scope="row" { (number + 1) " " (end(&source.name)) }
                            @for count in row {
                                td class={ "number h" (shade(*count)) } {
                                    @if *count > 0 { (grouped(*count)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What was said of records that failed.
pub(super) fn failures(failed: u64, findings: &Findings) -> Markup {
    if failed == 0 && findings.failures.is_empty() {
        return html! {};
    }
    html! {
        p { (count(failed, "record")) " could not be read and took no part." }
        @if !findings.failures.is_empty() {
            ul.failures { @for line in &findings.failures { li { bdi { (message(line)) } } } }
        }
    }
}

/// The settings, with what they mean.
pub(super) fn settings(facts: &Facts) -> Markup {
    html! {
        div.wide {
            table.settings {
                tbody {
                    @for (label, value) in &facts.settings {
                        tr { th scope="row" { (label) } td { (id(value)) } }
                    }
                }
            }
        }
    }
}
