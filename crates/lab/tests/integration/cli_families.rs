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
        ("hash-time --runs 0", "runs"),
        ("hash-time --hashes 0", "hash functions"),
    ] {
        let done = Shell::new().run(&format!("study {arguments}"));
        assert_eq!(done.status, 2, "{arguments}");
        assert!(done.stderr.contains(name), "{arguments}: {}", done.stderr);
    }
}
