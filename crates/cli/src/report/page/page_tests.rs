//! Tests of the page: it is one file, and what others wrote stays text.

use super::*;
use crate::report::histogram::Histogram;
use crate::report::id_hash;
use crate::report::nearest::Nearest;
use crate::report::sample::strata;
use crate::report::sources::{Source, SourceTable};
use crate::report::stricter::Stricter;
use crate::report::texts::Texts;
use std::collections::BTreeMap;
use twindex::Index;

const HOSTILE: &str =
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}&amp;\"'";

fn findings(id: &str, text: &str, pairs: usize) -> Findings {
    let of = format!("{id} kept");
    let pair = Removed { id: id.into(), of, against: None, similarity: 0.9, text: None };
    let mut histogram = Histogram::new();
    histogram.add(0.9);
    Findings {
        threshold: 0.8,
        simple: true,
        removed: 1,
        histogram,
        nearest: Nearest::none(0.8),
        stricter: Stricter::none(),
        sizes: BTreeMap::from([(2, 1), (700, 1)]),
        clusters: (0..40)
            .map(|_| LargeCluster {
                representative: pair.of.clone(),
                size: 100,
                members: vec![pair.clone(); 20],
            })
            .collect(),
        sample: vec![(strata(0.8)[1], vec![pair.clone(); pairs])],
        texts: Texts {
            removed: [(id_hash(&pair.id), text.to_owned())].into(),
            kept: [(id_hash(&pair.of), text.to_owned())].into(),
        },
        sources: Some(SourceTable {
            sources: vec![Source { name: id.into(), records: 10, removed: 1, kept_for: 0 }; 13],
            matrix: vec![vec![1; 13]; 13],
        }),
        failures: vec![id.to_owned(); 100],
    }
}

fn drawn(findings: &Findings, title: &str) -> String {
    let facts = Facts {
        kind: Kind::Dedup,
        title: title.to_owned(),
        sentence: title.to_owned(),
        numbers: vec![("removed", "1".to_owned())],
        settings: vec![("index", title.to_owned())],
        failed: 1,
        by_chains: false,
    };
    let settings = Index::options().settings().expect("settings");
    page(&facts, findings, &settings).ok().expect("a page").into_string()
}

#[test]
fn what_others_wrote_stays_text() {
    let page = drawn(&findings(HOSTILE, HOSTILE, 1), HOSTILE);
    assert_eq!(page.matches("<script").count(), 1, "the page's own script");
    assert!(!page.contains("<img") && !page.contains('\u{202e}'));
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"));
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let page = drawn(&findings("id", "a text", 1), "A report");
    let without_namespace = page.replace("http://www.w3.org/2000/svg", "");
    for part in ["http:", "https:", "//", "url(", "@import", " src=", "<link"] {
        let rest = without_namespace.replace(SCRIPT, "").replace(STYLE, "");
        assert!(!rest.contains(part), "{part}");
    }
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    assert!(!page.contains(" style=\""), "a style that the policy forbids");
}

#[test]
fn a_page_is_below_five_megabytes_whatever_it_shows() {
    let (id, text) = ("\u{202e}".repeat(4096), "\u{202e}\"".repeat(100_000));
    let pairs = strata(0.8).iter().map(|stratum| stratum.most).sum();
    let page = drawn(&findings(&id, &text, pairs), &id);
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
}

#[test]
fn the_policy_names_the_style_and_the_script() {
    use base64::Engine;
    use sha2::{Digest, Sha256};
    for (content, hash) in [(STYLE, STYLE_HASH), (SCRIPT, SCRIPT_HASH)] {
        let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(content));
        assert_eq!(hash, format!("sha256-{digest}"));
    }
}

#[test]
fn an_empty_report_has_no_empty_sections() {
    let mut findings = findings("id", "text", 0);
    findings.removed = 0;
    findings.histogram = Histogram::new();
    (findings.clusters, findings.texts) = (Vec::new(), Texts::default());
    (findings.sources, findings.failures) = (None, Vec::new());
    let page = drawn(&findings, "Nothing");
    for id in ["clusters", "pairs", "sources"] {
        assert!(!page.contains(&format!("id=\"{id}\"")), "{id}");
    }
    assert!(page.contains("id=\"similarities\""));
}

#[test]
fn a_report_of_nothing_says_so() {
    let mut findings = findings("id", "text", 0);
    (findings.removed, findings.histogram) = (0, Histogram::new());
    let page = drawn(&findings, "Nothing");
    let similarities = page.split("id=\"similarities\"").nth(1).expect("a section");
    let similarities = similarities.split("</section>").next().expect("its end");
    let first =
        "<p>Nothing was removed: no two documents reach the threshold of 0.8. Similarity is";
    assert!(similarities.contains(first), "{similarities}");
    assert!(!similarities.contains("<svg") && !similarities.contains("Solid bars"));
    assert!(!similarities.contains("Each removed record"));
}

#[test]
fn one_is_not_many() {
    let mut findings = findings("id", "text", 1);
    findings.sizes = BTreeMap::from([(2, 1)]);
    let page = drawn(&findings, "One");
    assert!(page.contains("similar to it. There is one.</p>"));
    assert!(page.contains("<title>2 documents: 1 cluster</title>"));
    assert!(page.contains("\"How large the clusters are: 1 in all\""));
    assert!(page.contains("Histogram of the similarities of 1 removed record, with the threshold"));
    findings.sizes = BTreeMap::from([(2, 30_000)]);
    let page = drawn(&findings, "Many");
    assert!(page.contains("similar to it. There are 30,000.</p>"));
    assert!(page.contains("<title>2 documents: 30,000 clusters</title>"));
}

/// The texts below a chart with the places where they stand, from left to right.
fn marks(chart: &str) -> Vec<(f64, &str)> {
    let parts = chart.split("<text class=\"x\" x=\"").skip(1);
    let all = parts.filter_map(|part| {
        let (place, rest) = part.split_once("\" y=\"")?;
        let (_, rest) = rest.split_once("\">")?;
        Some((place.parse().expect("a number"), rest.split("</text>").next()?))
    });
    all.collect()
}

#[test]
fn marks_of_cluster_sizes_do_not_meet() {
    for bars in 1..=24 {
        let mut findings = findings("id", "text", 1);
        findings.sizes = BTreeMap::from([(2, 5), (1 << bars, 1)]);
        let page = drawn(&findings, "Sizes");
        let chart = page.split("How large the clusters are").nth(1).expect("a chart");
        let mut marks = marks(chart.split("</svg>").next().expect("its end"));
        assert_eq!(marks.pop().expect("an axis").1, "documents in a cluster, up to");
        assert_eq!((marks[0].1, marks.len() >= bars / 4), ("2", true), "{marks:?}");
        for two in marks.windows(2) {
            let widths = (two[0].1.len() + two[1].1.len()) as f64 / 2.0 * 10.0;
            assert!(two[1].0 - two[0].0 > widths, "{two:?} of {bars} bars");
        }
    }
}

#[test]
fn the_numbers_of_a_chart_are_in_a_table() {
    let page = drawn(&findings("id", "text", 1), "Numbers");
    let tables: Vec<&str> = page.split("<summary>The numbers</summary>").skip(1).collect();
    assert_eq!(tables.len(), 2);
    for (table, row) in [
        (tables[0], "<th scope=\"row\">0.90 to 0.91</th><td class=\"number\">1</td></tr>"),
        (tables[1], "<th scope=\"row\">513\u{2013}1,024</th><td class=\"number\">1</td></tr>"),
    ] {
        let table = table.split("</table>").next().expect("its end");
        assert!(table.contains(row), "{table}");
    }
}
