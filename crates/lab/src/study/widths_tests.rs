//! Compares the exact similarities with sets of strings, and runs the study on small texts.

use super::measure::{by_hash_set, merged};
use super::*;
use std::collections::HashSet;

fn small() -> WidthsSettings {
    WidthsSettings { characters: 3_000, widest: 6, functions: 100, runs: 2, ..Default::default() }
}

#[test]
fn merge_and_hash_set_agree_with_sets_of_strings() {
    let texts = small().texts().expect("texts");
    let shingler = |width: u16| {
        let shingle = twindex::Shingle::chars(width);
        twindex::Shingler::new(shingle, twindex::Normalization::NONE, false, 0).expect("valid")
    };
    for width in [1, 3, 7] {
        let strings = |text: &str| {
            let all: Vec<char> = text.chars().collect();
            let windows = all.windows(width.into()).map(|window| window.iter().collect());
            windows.collect::<HashSet<String>>()
        };
        let (a, b) = (strings(&texts[0]), strings(&texts[1]));
        let expected = a.intersection(&b).count() as f64 / a.union(&b).count() as f64;
        let [a, b] = [0, 1].map(|at: usize| shingler(width).hashes(&texts[at]));
        assert_eq!((merged(&a, &b), by_hash_set(&a, &b)), (expected, expected));
    }
    assert_eq!((merged(&[], &[]), by_hash_set(&[], &[])), (0.0, 0.0));
}

#[test]
fn the_study_has_a_line_for_each_size_and_number_of_functions_and_its_findings_hold() {
    let report = run(&small(), &StudyContext::unwatched(3)).expect("valid settings");
    assert_eq!(report.table.rows.len(), 6);
    // Four numbers of functions (1, 25, 50, 100) of three families, and two exact methods.
    assert_eq!(report.data.rows.len(), 6 * (3 * 4 + 2));
    let estimates = &report.figure.panels[0].series;
    assert_eq!(estimates.len(), 4 + 1, "a line for each number of functions, and the exact one");
    assert!(estimates.iter().all(|series| series.points.len() == 6));
    assert_eq!(report.findings.len(), 5);
    for finding in report.findings.iter().filter(|finding| !finding.expected.contains("time")) {
        assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
    }
}

#[test]
fn a_corpus_of_the_user_replaces_the_gospels() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    };
    let words = |from: usize| (from..from + 300).map(|n| format!("w{n} ")).collect::<String>();
    let texts = vec![write("a", words(0)), write("b", words(50)), write("c", words(0))];
    let settings = WidthsSettings { texts, ..small() };
    let report = run(&settings, &StudyContext::unwatched(0)).expect("valid settings");
    assert!(report.title.contains("3 pairs of 3 texts"), "{}", report.title);
    let one = WidthsSettings { texts: settings.texts[..1].to_vec(), ..small() };
    let short = write("short", "abc".to_owned());
    let too_short = WidthsSettings { texts: vec![short, settings.texts[0].clone()], ..small() };
    for (settings, message) in
        [(one, "texts 1: expected 2 to 20 files"), (too_short, "number 1 of 3 characters")]
    {
        let error = run(&settings, &StudyContext::unwatched(0)).err().expect("refused").to_string();
        assert!(error.contains(message), "{error}");
    }
}
