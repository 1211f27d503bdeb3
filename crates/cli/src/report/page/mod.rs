//! The page of a report: one HTML file without scripts, styles or pictures from elsewhere.
//!
//! Texts and ids of others become part of the page as text only. A policy in its head forbids every
//! request and every script but the page's own.

mod charts;
mod differences;
mod shown;
mod tables;

use super::findings::{Findings, LargeCluster};
use super::id_hash;
use super::reading::LONGEST_TEXT;
use super::removed::Removed;
use super::sample::Stratum;
use crate::run::failure::Failure;
use crate::run::whole_file;
use crate::terminal::numbers::grouped;
use crate::terminal::output::count;
use anyhow::Context;
use differences::{differences, unmarked};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use shown::{id, name, preview};
use std::path::Path;
use twindex::{Overlap, Settings, Shingler};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The hashes of its style and its script. The policy of the page allows no others.
const STYLE_HASH: &str = "sha256-3gGpA2mIYco+8B1220W28eNVo2262WQNs9eEWjtNamQ=";
const SCRIPT_HASH: &str = "sha256-0ST3UjabOHFixVDSzq4xEXEffomeSKNRTpJ1eHxWEgA=";

/// What a report is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Records that a run of `dedup` has removed, or would remove.
    Dedup,
    /// Documents of an index that its clusters could do without.
    Clusters,
}

impl Kind {
    /// What the records are called that a report is about.
    fn removed(self) -> &'static str {
        match self {
            Self::Dedup => "removed",
            Self::Clusters => "duplicates",
        }
    }

    /// What one of them is called.
    fn record(self) -> &'static str {
        match self {
            Self::Dedup => "removed record",
            Self::Clusters => "duplicate",
        }
    }
}

/// What a page tells besides its findings.
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) title: String,
    /// The summary that the command prints.
    pub(crate) sentence: String,
    /// Counts, with what they count.
    pub(crate) numbers: Vec<(&'static str, String)>,
    /// Settings and circumstances, with their names.
    pub(crate) settings: Vec<(&'static str, String)>,
    /// The number of records that failed.
    pub(crate) failed: u64,
    /// Whether clusters are formed by chains of similar pairs.
    pub(crate) by_chains: bool,
}

/// Writes a report to a file, which gets its name when it is complete.
pub(crate) fn write(
    path: &Path,
    facts: &Facts,
    findings: &Findings,
    settings: &Settings,
) -> Result<(), Failure> {
    let page = page(facts, findings, settings)?.into_string();
    let written = whole_file::write(path, page.as_bytes());
    Ok(written.with_context(|| path.display().to_string())?)
}

fn page(facts: &Facts, findings: &Findings, settings: &Settings) -> Result<Markup, Failure> {
    let policy = format!(
        "default-src 'none'; style-src '{STYLE_HASH}'; script-src '{SCRIPT_HASH}'; \
         base-uri 'none'; form-action 'none'"
    );
    let Settings { shingle, normalization, multiset, seed, .. } = *settings;
    let shingler = Shingler::new(shingle, normalization, multiset, seed)?;
    let what = facts.kind.removed();
    let sections: [(&str, &str, Markup); 6] = [
        ("similarities", "How similar", similarities(facts, findings)),
        ("clusters", "Clusters", clusters(findings)),
        ("pairs", "Pairs to judge", pairs(facts.kind, findings, &shingler)),
        ("sources", "Where duplicates come from", tables::sources(findings, what)),
        ("failed", "Records that failed", tables::failures(facts.failed, findings)),
        ("settings", "Settings", tables::settings(facts)),
    ];
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "twindex " (env!("CARGO_PKG_VERSION")) };
                title { (name(&facts.title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (name(&facts.title)) }
                    p.lead { (shown::shown(&facts.sentence)) }
                    dl.numbers {
                        @for (label, value) in &facts.numbers {
                            div { dt { (label) } dd { (value) } }
                        }
                    }
                    nav aria-label="Sections" {
                        @for (id, title, content) in &sections {
                            @if !content.0.is_empty() { a href={ "#" (id) } { (title) } }
                        }
                    }
                }
                main {
                    @for (id, title, content) in &sections {
                        @if !content.0.is_empty() {
                            section id=(id) aria-labelledby={ (id) "-title" } {
                                h2 id={ (id) "-title" } { (title) }
                                (content)
                            }
                        }
                    }
                }
                footer { p { "Written by twindex " (env!("CARGO_PKG_VERSION")) "." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    })
}

/// The histogram, and what another threshold would have removed.
fn similarities(facts: &Facts, findings: &Findings) -> Markup {
    let Facts { kind, by_chains, .. } = *facts;
    let Findings { removed, threshold, nearest, simple, .. } = findings;
    let caption = html! {
        @if *removed > 0 { "Solid bars count " (kind.record()) "s. " }
        @if nearest.sampled > 0 {
            "Pale bars, below the threshold, count documents that are kept although another one "
            "is nearly as similar: estimated from a sample of " (grouped(nearest.sampled)) " of "
            (count(nearest.documents, "document")) ". "
        }
        "The scale is logarithmic."
    };
    html! {
        p {
            @if *removed == 0 {
                (match (kind, simple) {
                    (Kind::Dedup, true) => {
                        format!(
                            "Nothing was removed: no two documents reach the threshold of \
                             {threshold}. "
                        )
                    }
                    (Kind::Dedup, false) => "Nothing was removed. ".to_owned(),
                    (Kind::Clusters, _) => {
                        format!("No two documents reach the threshold of {threshold}. ")
                    }
                })
            } @else if by_chains {
                "Each " (kind.record())
                " is linked to a document that is kept by a chain of similar pairs. "
            } @else {
                "Each " (kind.record()) " is similar to a document that is kept. "
            }
            "Similarity is the share of pieces that two texts have in common: 1 if they have the "
            "same pieces, 0 if they share none. Similarities from the threshold on count as "
            "duplicates."
        }
        (charts::similarities(findings, kind, &caption))
        @if *simple { (tables::thresholds(findings, kind.removed())) }
    }
}

/// The sizes of clusters, and the largest of them.
fn clusters(findings: &Findings) -> Markup {
    if findings.clusters.is_empty() {
        return html! {};
    }
    let member = |member: &Removed| {
        html! {
            tr {
                td.id { (id(&member.id)) }
                td.number { (four_digits(member.similarity)) }
                td.preview {
                    @if let Some(text) = findings.texts.removed(&member.id) {
                        bdi { (preview(text)) }
                    }
                }
            }
        }
    };
    let cluster = |cluster: &LargeCluster| {
        let LargeCluster { representative, size, members } = cluster;
        let kept = members.first();
        let text = kept.and_then(|member| findings.texts.kept(member.kept_hash()));
        let index = kept.and_then(|member| member.against.as_deref());
        let left_out = size - 1 - members.len() as u64;
        html! {
            details.cluster {
                summary {
                    span.size { (grouped(*size)) " documents" }
                    " " span.id { (id(representative)) (of_index(index)) }
                    @if let Some(text) = text {
                        " " span.preview { bdi { (preview(text)) } }
                    }
                }
                table.sortable {
                    thead { tr {
                        th scope="col" { "member" }
                        th.number scope="col" { "similarity to the kept one" }
                        th scope="col" { "text" }
                    } }
                    tbody { @for one in members { (member(one)) } }
                }
                @if left_out > 0 { p.note { "and " (grouped(left_out)) " more" } }
            }
        }
    };
    let all: u64 = findings.sizes.values().sum();
    html! {
        p {
            "A cluster is a kept document with the documents that are similar to it. "
            @match all {
                1 => "There is one.",
                _ => { "There are " (grouped(all)) "." }
            }
        }
        (charts::cluster_sizes(findings, &html! { "The scale is logarithmic." }))
        h3 { "The largest clusters" }
        div.tools hidden {
            label { "Filter by id or text " input type="search" data-filter=".cluster"; }
            button type="button" data-open=".cluster" { "Open all" }
            output data-count=".cluster" {}
        }
        p.filtered data-filtered="clusters" {}
        div { @for one in &findings.clusters { (cluster(one)) } }
        @if all > findings.clusters.len() as u64 {
            p.note { "Smaller clusters are not shown." }
        }
    }
}

/// The sample of pairs, side by side.
fn pairs(kind: Kind, findings: &Findings, shingler: &Shingler) -> Markup {
    // Ranges of a threshold near 1 need more places to differ.
    let places = if findings.threshold > 0.9 { 4 } else { 2 };
    let named = |stratum: &Stratum| {
        let Stratum { from, to, kept, .. } = stratum;
        match (*kept, to.is_finite()) {
            (true, _) => {
                format!("Below the threshold, both kept: {from:.places$} to {to:.places$}")
            }
            (false, true) => format!("Above the threshold: {from:.places$} to {to:.places$}"),
            (false, false) => "Similarity 1".to_owned(),
        }
    };
    let filled: Vec<_> = findings.sample.iter().filter(|(_, pairs)| !pairs.is_empty()).collect();
    if filled.is_empty() {
        return html! {};
    }
    html! {
        p {
            "A sample, with most pairs near the threshold, where judgement is needed. What the "
            "other text lacks is marked; long equal parts are folded. If you would keep both texts "
            "of a pair above the threshold, raise it. If pairs below it are duplicates, lower it."
        }
        div.tools hidden {
            label { "Show "
                select data-filter-by="stratum" {
                    option value="" { "all" }
                    @for (stratum, _) in &filled {
                        option { (named(stratum)) }
                    }
                }
            }
            label { "Filter by id or text " input type="search" data-filter=".pair"; }
            output data-count=".pair" {}
        }
        p.filtered data-filtered="pairs" {}
        @for (stratum, pairs) in &filled {
            div.stratum data-stratum=(named(stratum)) {
                h3 { (named(stratum)) }
                @for one in pairs { (pair(kind, one, stratum.kept, findings, shingler)) }
            }
        }
    }
}

/// What is said in place of a text that is not known, or of a weighted set.
const NO_TEXT: &str = "Its text is neither in the index nor in the input, or is none.";

/// Two texts side by side.
fn pair(
    kind: Kind,
    pair: &Removed,
    kept: bool,
    findings: &Findings,
    shingler: &Shingler,
) -> Markup {
    let texts = &findings.texts;
    let left = if kept { texts.kept(id_hash(&pair.id)) } else { texts.removed(&pair.id) };
    let right = texts.kept(pair.kept_hash());
    let compared = left.zip(right).and_then(|(a, b)| differences(shingler, a, b));
    let is_cut = |text: &str| text.chars().count() >= LONGEST_TEXT;
    let is_cut = [left, right].into_iter().flatten().any(is_cut);
    let shares = compared.as_ref().map(|compared| compared.shares).filter(|_| !is_cut);
    let both = left.zip(right).filter(|_| !is_cut);
    let is_another = both.is_some_and(|both| contradict(shingler, both, pair.similarity));
    let column = |fate: &str, id: Markup, share: Option<f64>, content: Option<Markup>| {
        html! {
            div {
                h5 { span.fate { (fate) } " " (id) }
                @if let Some(share) = share {
                    p.note { (percent(share)) " of it is in the other text" }
                }
                @match content {
                    Some(content) => pre tabindex="0" dir="auto" { (content) },
                    None => p.note { (NO_TEXT) },
                }
            }
        }
    };
    let fate = match (kind, kept) {
        (_, true) => "kept",
        (Kind::Dedup, false) => "removed",
        (Kind::Clusters, false) => "duplicate",
    };
    let kept_id = html! { (id(&pair.of)) (of_index(pair.against.as_deref())) };
    let (a, b) = match compared {
        Some(compared) => (Some(compared.removed), Some(compared.kept)),
        None => (left.map(unmarked), right.map(unmarked)),
    };
    html! {
        article.pair {
            h4 { "similarity " (four_digits(pair.similarity)) }
            @if is_cut {
                p.note {
                    "Only the first " (grouped(LONGEST_TEXT as u64)) " characters are compared "
                    "here, so their ends may seem to differ."
                }
            }
            @if is_another {
                p.note {
                    "These are not the texts that were compared: one of their ids has, or had, "
                    "another text."
                }
            }
            div.sides {
                (column(fate, id(&pair.id), shares.map(|it| it[0]), a))
                (column("kept", kept_id, shares.map(|it| it[1]), b))
            }
        }
    }
}

/// Where a document is, if it is in another index.
fn of_index(index: Option<&str>) -> Markup {
    html! { @if let Some(index) = index { " in " (id(index)) } }
}

/// Whether two texts are not those that have this similarity. An estimate may differ by much.
fn contradict(shingler: &Shingler, (a, b): (&str, &str), similarity: f64) -> bool {
    const MUCH: f64 = 0.25;
    let found = Overlap::of_sets(&shingler.set(a), &shingler.set(b)).similarity();
    (found - similarity).abs() > MUCH
}

/// A share in per cent. A share below 1 is not rounded up to 100 %.
pub(crate) fn percent(share: f64) -> String {
    let most = if share < 1.0 { 99.9 } else { 100.0 };
    format!("{:.1} %", (100.0 * share).min(most))
}

/// A similarity with four digits. Only equal sets have 1.
fn four_digits(similarity: f64) -> String {
    if similarity < 1.0 { format!("{:.4}", similarity.min(0.9999)) } else { "1.0000".to_owned() }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
