//! The studies of hash functions as commands: their output, files and errors.

use crate::command::Shell;
use crate::findings::{assert_status_follows_from_findings, findings};
use serde_json::Value;

fn table(lines: &[Value]) -> impl Iterator<Item = &Value> {
    lines.iter().filter(|line| line["expected"].is_null())
}

#[test]
fn precision_prints_writes_and_draws_every_family() {
    let shell = Shell::new();
    let done =
        shell.run("study precision --runs 4 --hashes 16 --seed 7 --csv p.csv --svg p.svg --json");
    let lines = done.json();
    let [points, picture] =
        ["p.csv", "p.svg"].map(|name| String::from_utf8(shell.read(name)).expect("UTF-8"));
    for family in
        ["modular", "jenkins", "multiplicative", "murmur3", "tabulation", "xxh3", "default"]
    {
        assert_eq!(table(&lines).filter(|line| line["family"] == family).count(), 3, "{family}");
        assert!(picture.contains(family), "{family}");
        assert!(points.contains(&format!("hashed shingles,{family},16,")), "{family}");
    }
    assert!(table(&lines).all(|line| line["hashes"] == 16 && line["mean"].is_number()));
    // Only one of four findings is possible: 200 functions are not reached, and the runs are too
    // few for a slope and for a bias.
    assert_eq!(findings(&done).len(), 1);
    assert_status_follows_from_findings(&done);
}

#[test]
fn independence_prints_every_degree_and_the_sets_of_small_fields() {
    let shell = Shell::new();
    let words = "study independence --functions 20000 --seed 2 --csv i.csv --svg i.svg --json";
    let done = shell.run(words).succeeds();
    let lines = done.json();
    let bias = |keys: &str, degree: u64| {
        let fits = |line: &&Value| line["keys"] == keys && line["independence"] == degree;
        let row = table(&lines).find(fits).expect("a row");
        row["estimate_bias"].as_f64().expect("a number")
    };
    assert!(bias("neighbouring keys", 2) < -0.07 && bias("neighbouring keys", 5).abs() < 0.01);
    assert!(bias("random keys", 2).abs() < 0.01);
    assert_eq!(findings(&done).len(), 6);
    let [points, picture] =
        ["i.csv", "i.svg"].map(|name| String::from_utf8(shell.read(name)).expect("UTF-8"));
    // K = 2 to 4, from which on the field of 7 has no bias, and K = 2 to 5.
    assert_eq!(points.matches(",\"worst set, p = ").count(), 7, "{points}");
    assert!(picture.contains("place of the key in the run"));
}

#[test]
fn polynomials_are_a_family_of_any_degree() {
    let shell = Shell::new();
    shell.write("a.txt", "one text of some words that are much the same");
    shell.write("b.txt", "one text of some words that are quite the same");
    let words = "compare a.txt b.txt --method minhash --family polynomial:6 --runs 9 --json";
    let rows = shell.run(words).succeeds().json();
    assert_eq!(rows[0]["method"], "minhash:polynomial:6");
    for wrong in ["polynomial", "polynomial:1", "polynomial:65", "sha1"] {
        let words = format!("compare a.txt b.txt --method minhash --family {wrong}");
        let done = shell.run(&words);
        let said = done.stderr.contains("from 2 to 64");
        assert!(done.status == 2 && said, "{wrong}: {}", done.stderr);
    }
    let help = shell.run("compare --help").succeeds().stdout;
    assert!(help.contains("polynomial:K"), "{help}");
}

#[test]
fn the_seed_determines_the_output() {
    let shell = Shell::new();
    let print = |seed: u32| {
        let words = format!("study precision --runs 2 --hashes 10 --json --seed {seed}");
        let done = shell.run(&words);
        assert_status_follows_from_findings(&done);
        done.stdout
    };
    assert_eq!(print(3), print(3));
    assert_ne!(print(3), print(4));
}

#[test]
fn hash_time_prints_each_size_and_the_distinct_hashes_of_bands() {
    let shell = Shell::new();
    let done = shell.run("study hash-time --runs 1 --hashes 2 --csv h.csv --json");
    // Which findings hold depends on the machine; the status must follow from them.
    assert_status_follows_from_findings(&done);
    let lines = done.json();
    for size in [2, 9, 20] {
        let timed = table(&lines).filter(|line| line["size"] == size && line["what"] == "default");
        assert_eq!(timed.count(), 1, "{size}");
    }
    let told = |what: &str| {
        let bands = table(&lines).filter(|line| line["what"] == what && line["size"] == 2);
        bands.map(|line| line["distinct_of_65536"].as_u64()).collect::<Vec<_>>()
    };
    assert_eq!(told("shift and xor"), [Some(16_711)]);
    assert_eq!(told("the index's word"), [Some(65_536)]);
    assert_eq!(
        shell.read("h.csv").iter().filter(|byte| **byte == b'\n').count(),
        1 + 19 * 9 + 7 * 2
    );
}

#[test]
fn invalid_settings_are_refused_by_name() {
    for (arguments, name) in [
        ("precision --runs 1", "runs"),
        ("precision --hashes 5", "hashes"),
        ("precision --hashes 5000", "hashes"),
        ("independence --keys 9", "keys"),
        ("independence --functions 99", "functions"),
        ("hash-time --runs 0", "runs"),
        ("hash-time --hashes 0", "hash functions"),
    ] {
        let done = Shell::new().run(&format!("study {arguments}"));
        assert_eq!(done.status, 2, "{arguments}");
        assert!(done.stderr.contains(name), "{arguments}: {}", done.stderr);
    }
}
