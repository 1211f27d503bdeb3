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
