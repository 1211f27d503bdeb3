//! `study gospels`, compared with `compare` on the same texts.

use crate::command::Shell;
use serde_json::Value;
use std::path::Path;

fn gospel(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/gospels").join(name).display().to_string()
}

#[test]
fn the_study_agrees_with_compare_on_the_files() {
    let shell = Shell::new();
    let command = "study gospels --runs 2 --sample 500 --seed 3 --json --csv g.csv --svg g.svg";
    let lines = shell.run(command).succeeds().json();
    let row = |pair: &str| {
        let found = lines.iter().find(|line| line["text"] == "LSG 1910" && line["pair"] == pair);
        found.unwrap_or_else(|| panic!("no {pair}"))
    };
    for (pair, a, b, similarity) in [
        ("John-Luke", "fr_lsg1910_jean.txt", "fr_lsg1910_luc.txt", 0.6376),
        ("Mark-Matthew", "fr_lsg1910_marc.txt", "fr_lsg1910_matthieu.txt", 0.611),
    ] {
        let exact = row(pair)["exact"].as_f64().expect("a number");
        assert!((exact - similarity).abs() < 5e-5, "{pair}: {exact}");
        let compare = "compare --shingle char:3 --normalize lower,minword=3 --json";
        let compared = shell.run(&format!("{compare} {} {}", gospel(a), gospel(b))).succeeds();
        let compared = compared.json().remove(0)["multiset_similarity"].as_f64().expect("a number");
        assert!((compared - similarity).abs() < 5e-5, "{pair}: {compared}");
    }
    // Random values have their deviation, and the times are compared with the paper's.
    for name in ["independent", "coordinated", "simM", "sim"] {
        let deviation = row("John-Luke")[format!("{name}_sd")].as_f64().expect("a number");
        assert!(deviation > 0.0 && deviation < 0.5, "{name}: {deviation}");
    }
    let times = lines.last().and_then(|line| line["seen"].as_str()).expect("a finding");
    assert!(times.contains(" ms, the paper's 6 pairs in 78 minutes direct"), "{times}");
    assert_eq!(lines.iter().filter(|line| line["holds"] == true).count(), 9);
    // The texts and the counts of common shingles have tables of their own.
    let size = lines.iter().find(|line| line["gospel"] == "John" && line["text"] == "LSG 1910");
    let size = size.expect("a line of the text");
    assert_eq!((&size["shingles"], &size["paper_after"]), (&77_938.into(), &69_316.into()));
    let paper = |line: &&Value| line["text"] == "in the paper" && line["pair"] == "Mark-Matthew";
    let count = lines.iter().find(paper).expect("the paper's count");
    assert_eq!((&count["by_count"], &count["n_is_letters"]), (&0.4874.into(), &0.4873.into()));

    let csv = String::from_utf8(shell.read("g.csv")).expect("UTF-8");
    assert_eq!(csv.lines().count(), 1 + 12 * 14);
    let svg = String::from_utf8(shell.read("g.svg")).expect("UTF-8");
    assert!(svg.contains("LSG 1910 (French)") && svg.contains("John-Luke"));
}

#[test]
fn a_missing_text_is_named() {
    let shell = Shell::new();
    shell.write("fr_lsg1910_jean.txt", "Au commencement");
    let done = shell.run("study gospels .");
    done.fails_with("fr_lsg1910_luc.txt: reading one of the eight Gospels");
    assert_eq!(shell.run("study gospels --runs 1").status, 2);
}
