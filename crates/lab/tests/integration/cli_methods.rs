//! `compare --method`: every method on the same texts, compared with the exact values.

use crate::command::{Done, Shell};
use serde_json::Value;
use std::path::Path;

/// The confidence of four standard errors of a normal variable.
const SURE: &str = "--confidence 0.99993666";

/// A folder with the texts of the documentation.
fn shell() -> Shell {
    let shell = Shell::new();
    for name in ["docs/examples/old.txt", "docs/examples/new.txt"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let text = std::fs::read(path).expect("an example");
        shell.write(name.trim_start_matches("docs/examples/"), text);
    }
    shell
}

fn is_chance(row: &Value) -> bool {
    row["method"] == "chance"
}

fn rows(done: &Done) -> Vec<Value> {
    done.json().into_iter().filter(|row| !is_chance(row)).collect()
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_else(|| panic!("no number {field}: {row}"))
}

/// The row with the exact value that a row estimates.
fn exact<'r>(rows: &'r [Value], row: &Value) -> &'r Value {
    let same = |other: &&Value| {
        ["exact", "multiset"].iter().any(|name| other["method"] == *name)
            && other["of"] == row["of"]
            && other["measure"] == row["measure"]
    };
    rows.iter().find(same).unwrap_or_else(|| panic!("nothing exact for {row}"))
}

/// Asserts that every interval holds the exact value, and returns the number of intervals.
fn hold(done: &Done) -> usize {
    let rows = rows(done);
    let mut held = 0;
    for row in rows.iter().filter(|row| !row["low"].is_null()) {
        let expected = number(exact(&rows, row), "estimate");
        // Values are printed with four digits.
        let (low, high) = (number(row, "low") - 1e-4, number(row, "high") + 1e-4);
        assert!(low <= expected && expected <= high, "{expected}: {row}");
        held += 1;
    }
    held
}

#[test]
fn every_interval_holds_the_exact_value() {
    let words = format!("compare old.txt new.txt --method all --family all --runs 1 --json {SURE}");
    assert_eq!(hold(&shell().run(&words).succeeds()), 42);
}

#[test]
fn every_interval_holds_the_exact_value_for_two_gospels() {
    let texts = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/gospels");
    let path = |name: &str| texts.join(name).to_str().expect("UTF-8").to_owned();
    let (a, b) = (path("en_kjv_john.txt"), path("en_kjv_mark.txt"));
    let options = "--method all --runs 1 --hashes 64 --shingle char:3 --normalize lower,minword=3";
    let words = format!("{options} --json {SURE}");
    let args = ["compare", &a, &b].into_iter().chain(words.split(' '));
    let done = Shell::new().args(&args.collect::<Vec<_>>(), "").succeeds();
    // SimHash of multisets has no interval: a few frequent shingles outweigh the others.
    assert_eq!(hold(&done), 26);
    // Computed independently of this project: see data/gospels.
    let rows = rows(&done);
    let multiset = rows.iter().find(|row| row["method"] == "multiset").expect("a row");
    assert!((number(multiset, "estimate") - 0.6534).abs() < 5e-5, "{multiset}");
    let file = rows.iter().rfind(|row| row["method"] == "file").expect("a row");
    assert_eq!(file["estimate"], multiset["estimate"]);
}

#[test]
fn the_mean_of_many_runs_is_near_the_exact_value() {
    let words = "compare old.txt new.txt --method all --runs 40 --json";
    let rows = rows(&shell().run(words).succeeds());
    let mut several = 0;
    for row in rows.iter().filter(|row| number(row, "runs") > 1.0) {
        let expected = number(exact(&rows, row), "estimate");
        let error = number(row, "spread") / 40.0_f64.sqrt();
        let mean = number(row, "mean");
        // RUM's similarity is a convex function of a share, which adds 0.002 with 128 maps.
        assert!((mean - expected).abs() < 4.0 * error + 0.002, "{expected} ± {error}: {row}");
        several += 1;
    }
    assert_eq!(several, 19);
}

#[test]
fn rows_of_methods_and_of_chance_have_their_fields_in_order() {
    let shell = shell();
    let text = shell.run("compare old.txt new.txt --method minhash --json").succeeds().stdout;
    let places = |fields: &[&str], text: &str| {
        let places: Vec<_> = fields.iter().map(|name| text.find(&format!("\"{name}\":"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    };
    let fields = ["method", "of", "measure", "estimate", "low", "high", "mean", "spread", "runs"];
    places(&fields, &text);
    places(&["runs", "seconds", "bytes"], &text);
    let all = shell.run("compare old.txt new.txt --method all --runs 2 --json").succeeds();
    let chance = all.json().into_iter().filter(is_chance).collect::<Vec<_>>();
    assert_eq!(chance.len(), 2);
    for (row, of) in chance.iter().zip(["sets", "multisets"]) {
        assert_eq!((&row["of"], &row["verdict"]), (&of.into(), &"beyond chance".into()));
        let union = number(row, "shingles_a") + number(row, "shingles_b");
        assert_eq!(number(row, "universe"), union);
    }
    let done = shell.run("compare old.txt new.txt --method all --runs 2").succeeds();
    let lines = done.column(0);
    assert_eq!(lines[..4], ["method", "chance", "chance", "method"]);
}

#[test]
fn chance_is_the_same_as_in_the_plain_comparison() {
    let shell = shell();
    for options in ["", " --multiset", " --universe 1000", " --multiset --universe 1000"] {
        let all = format!("compare old.txt new.txt --method all --runs 1 --json{options}");
        let plain = format!("compare old.txt new.txt --json{options}");
        let chance = shell.run(&all).succeeds().json().remove(0);
        let plain = shell.run(&plain).succeeds().json().remove(0);
        for field in ["expected_by_chance", "chance_log10", "universe", "shared"] {
            assert_eq!(chance[field], plain[field], "{options}: {field}");
        }
    }
}

#[test]
fn a_single_method_prints_only_its_rows() {
    let shell = shell();
    for (method, expected) in [
        ("exact", &["exact"; 3][..]),
        ("multiset", &["multiset"; 4]),
        ("sample", &["sample-independent", "sample-coordinated"]),
        ("ru", &["ru"]),
        // A sample of the whole greater text would repeat the same rows.
        ("rum --sample 133", &["rum", "rum", "rum-on-samples", "rum-on-samples"]),
        ("rum --sample 134", &["rum", "rum"]),
        ("minhash --family xxh3", &["minhash:xxh3"]),
        ("minhash --family polynomial:3", &["minhash:polynomial:3"]),
        ("bottom-k", &["bottom-k"]),
        ("weighted", &["weighted"]),
        ("p-minhash", &["p-minhash"]),
        ("simhash", &["simhash", "simhash"]),
    ] {
        let words = format!("compare old.txt new.txt --json --method {method}");
        let rows = rows(&shell.run(&words).succeeds());
        let names: Vec<&str> = rows.iter().filter_map(|row| row["method"].as_str()).collect();
        assert_eq!(names, expected);
        assert!(rows.iter().all(|row| row["runs"] == 1 && row["spread"].is_null()), "{rows:?}");
        let words = format!("{words} --multiset");
        let multisets = self::rows(&shell.run(&words).succeeds());
        assert!(multisets.iter().all(|row| row["of"] == "multisets"), "{multisets:?}");
    }
}

#[test]
fn the_cosine_of_multisets_is_that_of_equal_weights() {
    let shell = Shell::new();
    for (name, text) in [
        ("a", "x x x y"),
        ("b", "x y"),
        ("wa", r#"{"x": 3, "y": 1}"#),
        ("wb", r#"{"x": 1, "y": 1}"#),
    ] {
        shell.write(name, text);
    }
    for options in ["a b --shingle word:1 --multiset", "wa wb --weighted"] {
        let done = shell.run(&format!("compare {options} --method exact --json")).succeeds();
        let rows = rows(&done);
        let row = rows.iter().find(|row| row["measure"] == "cosine").expect("a row");
        assert!((number(row, "estimate") - 4.0 / 20.0_f64.sqrt()).abs() < 1e-6, "{row}");
    }
}

#[test]
fn simhash_has_no_interval_for_few_shingles() {
    let shell = shell();
    shell.write("few", "abcdefghij");
    shell.write("more", "abcdefghijk");
    let few = rows(&shell.run("compare few more --method simhash --json").succeeds());
    assert!(few.iter().all(|row| row["low"].is_null() && row["high"].is_null()), "{few:?}");
    let many = rows(&shell.run("compare old.txt new.txt --method simhash --json").succeeds());
    assert!(many.iter().all(|row| row["low"].is_number()), "{many:?}");
}

#[test]
fn the_seed_determines_the_estimates() {
    let shell = shell();
    let estimates = |options: &str| {
        let words = format!("compare old.txt new.txt --method all --hashes 64 --json {options}");
        let rows = rows(&shell.run(&words).succeeds());
        rows.into_iter().map(|row| (row["method"].clone(), row["mean"].clone())).collect::<Vec<_>>()
    };
    let first = estimates("--runs 3 --seed 5");
    assert_eq!(first, estimates("--runs 3 --seed 5 --threads 1"));
    assert_ne!(first, estimates("--runs 3 --seed 6"));
}

#[test]
fn empty_equal_and_disjoint_texts_have_finite_numbers() {
    let shell = Shell::new();
    shell.write("empty", "");
    shell.write("short", "a few words");
    shell.write("other", "MXQZ 0123 4567 89");
    for (a, b, expected) in [
        ("empty", "empty", 0.0),
        ("empty", "short", 0.0),
        ("short", "empty", 0.0),
        ("short", "short", 1.0),
        ("short", "other", 0.0),
    ] {
        let words = format!("compare {a} {b} --method all --family all --runs 3 --json");
        let done = shell.run(&words).succeeds();
        for row in rows(&done) {
            for field in ["estimate", "mean", "seconds", "bytes"] {
                assert!(number(&row, field).is_finite(), "{a} {b}: {row}");
            }
            // Estimates for disjoint sets may be above 0; those for equal sets are exactly 1.
            let estimate = number(&row, "estimate");
            let near = if (a, b) == ("short", "other") { 0.3 } else { 0.0 };
            assert!((estimate - expected).abs() <= near, "{a} {b}: {row}");
        }
        let verdict = done.json()[0]["verdict"].clone();
        let nothing = a == "empty" || b == "empty";
        assert_eq!(verdict == "nothing to compare", nothing, "{a} {b}: {verdict}");
        let below = format!("compare {a} {b} --method all --runs 1 --quiet --threshold 0.5");
        assert_eq!(shell.run(&below).status, i32::from(expected < 0.5), "{a} {b}");
    }
}

#[test]
fn standard_input_is_read_once() {
    let shell = shell();
    let done = shell.pipe("compare - new.txt --method all --runs 1 --json", "some text").succeeds();
    assert!(rows(&done).iter().all(|row| row["method"] != "file"));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_under_any_name() {
    let shell = shell();
    let options = "--method all --runs 1 --json";
    for (script, file) in [
        (format!("cat old.txt | \"$TWINDEX\" compare /dev/stdin new.txt {options}"), false),
        (format!("cat new.txt | \"$TWINDEX\" compare old.txt /dev/stdin {options}"), false),
        (format!("mkfifo p; cat old.txt > p & \"$TWINDEX\" compare p new.txt {options}"), false),
        (format!("ln -s old.txt link; \"$TWINDEX\" compare link new.txt {options}"), true),
    ] {
        let rows = rows(&shell.sh(&script).succeeds());
        assert_eq!(rows.iter().any(|row| row["method"] == "file"), file, "{script}");
        assert_eq!(rows[0]["estimate"], 0.751678, "{script}");
    }
}

#[test]
fn other_rows_are_printed_even_if_the_method_for_files_fails() {
    let shell = shell();
    shell.write("word", "w".repeat(40_000));
    let words = "compare old.txt word --method all --runs 1 --json --shingle word:2 --memory 1M";
    let done = shell.run(words);
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.contains("a word of more than 32768 bytes"), "{done:?}");
    assert!(rows(&done).iter().any(|row| row["method"] == "p-minhash"), "{done:?}");
}

#[test]
fn every_method_accepts_the_least_and_the_most_hashes() {
    let shell = shell();
    for hashes in [3, 4096] {
        let words = format!("compare old.txt new.txt --method all --family all --hashes {hashes}");
        let rows = rows(&shell.run(&format!("{words} --runs 1 --json")).succeeds());
        let named = |name: &str| rows.iter().find(|row| row["method"] == name).expect("a row");
        // simhash has 64 or 1,024 bits for each text and two sizes, weighted 64 or 512 lanes.
        let few = hashes == 3;
        assert_eq!(named("simhash")["bytes"], if few { 32 } else { 272 });
        assert_eq!(named("weighted")["bytes"], if few { 128 } else { 1024 });
    }
}

#[test]
fn weights_have_their_own_methods() {
    let shell = Shell::new();
    shell.write("a", r#"{"sea": 3, "ship": 1, "sand": 0.5}"#);
    shell.write("b", r#"{"sea": 2, "sand": 1, "shell": 0.25}"#);
    let rows = rows(&shell.run("compare a b --weighted --method all --json").succeeds());
    assert!(rows.iter().all(|row| row["of"] == "weights"), "{rows:?}");
    let exact = |measure: &str| {
        let row = rows.iter().find(|row| row["measure"] == measure).expect("a row");
        number(row, "estimate")
    };
    assert!((exact("jaccard") - 2.5 / 5.25).abs() < 1e-6);
    let lengths = (9.0 + 1.0 + 0.25_f64).sqrt() * (4.0 + 1.0 + 0.0625_f64).sqrt();
    assert!((exact("cosine") - 6.5 / lengths).abs() < 1e-6);
    // sea has 1 / (1 + 1/3 + 1/2 + 1/8), sand has 1 / (6 + 2 + 1 + 1/4).
    let expected = 1.0 / (1.0 + 1.0 / 3.0 + 0.5 + 0.125) + 1.0 / (6.0 + 2.0 + 1.0 + 0.25);
    assert!((exact("probability") - expected).abs() < 1e-6);
    for method in ["exact", "weighted", "p-minhash", "simhash"] {
        shell.run(&format!("compare a b --weighted --method {method}")).succeeds();
    }
}

#[test]
fn intervals_of_weights_hold_the_exact_value() {
    let shell = Shell::new();
    // SimHash needs many tokens, none of which outweighs the others.
    for (name, by) in [("a", 7), ("b", 11)] {
        let pairs =
            (1..200).map(|token| format!("\"t{token}\": {}", (token * by % 23) as f64 / 4.0));
        shell.write(name, format!("{{{}}}", pairs.collect::<Vec<_>>().join(", ")));
    }
    let words = format!("compare a b --weighted --method all --runs 1 --json {SURE}");
    // 3 exact values and 3 estimates.
    assert_eq!(hold(&shell.run(&words).succeeds()), 6);
}

#[test]
fn options_that_exclude_each_other_are_clear_errors() {
    let shell = shell();
    shell.write("w", "{}");
    for (words, error) in [
        ("compare w w --weighted --method minhash", "takes no weights; use exact, weighted"),
        ("compare w w --weighted --method file", "takes no weights; use exact, weighted"),
        ("compare old.txt new.txt --hashes 64", "--method <NAME>"),
        ("compare old.txt new.txt --runs 3", "--method <NAME>"),
        ("compare old.txt new.txt --family xxh3", "--method <NAME>"),
        ("compare old.txt new.txt --sample 3", "--method <NAME>"),
        ("compare old.txt new.txt --memory 1M", "--method <NAME>"),
        (
            "compare old.txt new.txt --method ru --universe 999",
            "no meaning for --method ru, only for all",
        ),
        ("compare old.txt new.txt --method file --universe 5", "for --method file, only for all"),
        ("compare old.txt new.txt --method file --confidence 9", "confidence 9: expected"),
        ("compare old.txt new.txt --method exact --confidence 9", "confidence 9: expected"),
        ("compare old.txt new.txt --method exact --family xxh3", "only for minhash, all"),
        (
            "compare old.txt new.txt --method exact --runs 5",
            "--runs has no meaning for --method exact",
        ),
        (
            "compare old.txt new.txt --method file --hashes 9",
            "--hashes has no meaning for --method file",
        ),
        ("compare old.txt new.txt --method ru --sample 9", "only for sample, rum, all"),
        ("compare old.txt new.txt --method ru --memory 1M", "only for file, all"),
        (
            "compare w w --weighted --method all --memory 1M",
            "--memory has no meaning with --weighted",
        ),
        (
            "compare w w --weighted --method exact --hashes 9",
            "for weighted, p-minhash, simhash, all",
        ),
        (
            "compare old.txt new.txt --method all --memory 9",
            "memory 9 bytes: expected 1 MiB or more",
        ),
        ("compare old.txt new.txt --method all --universe 9", "universe 9: expected"),
        ("compare old.txt new.txt --method minhash --hashes 0", "0 is not in 3..=4096"),
        ("compare old.txt new.txt --method simhash --hashes 2", "2 is not in 3..=4096"),
        ("compare old.txt new.txt --method weighted --hashes 4097", "4097 is not in 3..=4096"),
        ("compare old.txt new.txt --method all --hashes 18446744073709551615", "--hashes <K>"),
        ("compare old.txt new.txt --method sample --sample 0", "--sample <N>"),
        ("compare old.txt new.txt --method rum --sample 0", "--sample <N>"),
        ("compare old.txt new.txt --method minhash --runs 0", "--runs"),
        ("compare old.txt new.txt --method nothing", "possible values"),
        ("compare - - --method exact", "only one of the two texts can be standard input"),
    ] {
        let done = shell.run(words);
        assert_eq!(done.status, 2, "{words}: {done:?}");
        assert!(done.stderr.contains(error), "{words}: {}", done.stderr);
    }
}
