//! Passages that texts share: `--passages`, `query --passages`, `passages`.

use crate::command::{Done, Shell, jsonl};
use serde_json::Value;

const SHARED: &str = "a passage that was copied from one text into another, word by word";

/// An index `i.twx` of texts that share a passage, with these settings.
fn shell(settings: &str) -> Shell {
    let shell = Shell::new();
    let texts = [
        ("one", format!("In the first text there is {SHARED}, and more.")),
        ("two", format!("{} IS ALSO IN THE SECOND.", SHARED.to_uppercase().replace(' ', "\n"))),
        ("three", "nothing that any of the other two texts would have".to_owned()),
    ];
    let texts: Vec<(&str, &str)> = texts.iter().map(|(id, text)| (*id, text.as_str())).collect();
    shell.pipe(&format!("add i.twx -q {settings} -"), jsonl(&texts)).succeeds();
    shell
}

/// A wrong command line, which clap reports in several lines.
fn is_misused(done: &Done, words: &str) {
    assert!(done.status == 2 && done.stderr.contains(words), "{words:?} is not in {done:?}");
}

#[test]
fn a_copied_passage_is_found_with_its_places() {
    let shell = shell("--passages 40 --store-text");
    let query = format!("See: {SHARED}!");
    shell.write("query.txt", &query);
    let done = shell.run("query i.twx --passages query.txt --json").succeeds();
    let lines = done.json();
    let ids: Vec<&str> = lines.iter().filter_map(|line| line["id"].as_str()).collect();
    assert_eq!(ids, ["one", "two"]);
    let number = |line: &Value, name: &str| line[name].as_u64().expect("a number") as usize;
    // The first text has a space before the passage, as the query has.
    for (line, (before, start)) in lines.iter().zip([(1, 26), (0, 0)]) {
        let units = before + SHARED.len();
        assert_eq!((number(line, "units"), number(line, "units_high")), (units, units));
        assert_eq!(
            (number(line, "query_start"), number(line, "query_end")),
            (5 - before, 5 + SHARED.len())
        );
        assert_eq!((number(line, "start"), number(line, "end")), (start, start + units));
        assert_eq!(line["text"], query[5 - before..5 + SHARED.len()]);
        assert_eq!(line["query"], "query.txt");
    }
    assert_eq!(done.counted("passages"), 2);
    let by_id = shell.run("query i.twx --passages --id one -q --top 1").succeeds();
    assert_eq!(by_id.column(1), ["two"]);
    assert_eq!(shell.run("query i.twx --passages --text nothing").status, 1);
    let none = shell.run("query i.twx --passages --threshold 0.99 query.txt -q");
    assert_eq!(none.status, 1, "{none:?}");
    shell.run("query i.twx --passages --threshold 2 query.txt").fails_with("threshold 2");
    for option in ["--scan", "--confidence 0.9"] {
        let done = shell.run(&format!("query i.twx --passages {option} query.txt"));
        is_misused(&done, "cannot be used with");
    }
}

#[test]
fn without_texts_fingerprints_give_bounds() {
    let shell = shell("--passages 40");
    let done = shell.args(&["query", "i.twx", "--passages", "--json", "--text", SHARED], "");
    let done = done.succeeds();
    let first = &done.json()[0];
    let [units, most] = ["units", "units_high"].map(|name| first[name].as_u64().expect("a number"));
    assert!(units >= 10 && units <= SHARED.len() as u64 && most >= SHARED.len() as u64, "{first}");
    assert!(first["start"].is_null());
    shell.run("passages i.twx").fails_with("stores no texts");
}

#[test]
fn all_repeated_passages_are_printed_the_longest_first() {
    let shell = shell("--passages 20 --store-text");
    let other = "Another passage, shorter than the first one. ";
    let texts = [("four", format!("{other}{other}")), ("five", format!("{other}End."))];
    let texts: Vec<(&str, &str)> = texts.iter().map(|(id, text)| (*id, text.as_str())).collect();
    shell.pipe("add i.twx -q -", jsonl(&texts)).succeeds();
    let done = shell.run("passages i.twx").succeeds();
    let units: Vec<usize> = done.column(0).iter().map(|n| n.parse().expect("a number")).collect();
    assert!(units.is_sorted_by(|a, b| a >= b) && units[0] >= SHARED.len(), "{units:?}");
    assert_eq!(done.column(7)[0], "two");
    let top = shell.run("passages i.twx --top 1 --json").succeeds();
    assert_eq!((top.json().len(), top.counted("left_out")), (1, units.len() as u64 - 1));
    let each = shell.run("passages i.twx --by-document -q").succeeds();
    assert!(each.column(2).contains(&"one") && each.column(2).contains(&"two"));
    let several = shell.run("passages i.twx --min-count 2 -q").succeeds();
    assert!(several.column(1).iter().all(|count| *count == "2"));
    let followed = shell.run("passages i.twx --max-per-passage 1 --json");
    assert!(followed.counted("limited") > 0);
    is_misused(&shell.run("passages i.twx --top 1 --by-document"), "cannot be used with");
}

#[test]
fn fingerprints_go_with_rebuild_export_import_and_merge() {
    let shell = shell("--store-text");
    shell.run("passages i.twx").fails_with("twindex rebuild i.twx --passages");
    shell.run("rebuild i.twx -q --passages 40").succeeds();
    let info = shell.run("info i.twx --json").succeeds().json().remove(0);
    assert_eq!((info["passages"].as_u64(), info["format"].as_u64()), (Some(40), Some(5)));
    let found = shell.run("passages i.twx -q").succeeds();
    shell.run("export i.twx -q -o all.jsonl").succeeds();
    shell.run("import again.twx -q all.jsonl").succeeds();
    assert_eq!(shell.run("passages again.twx -q").succeeds(), found);
    shell.run("merge i.twx -q again.twx").succeeds();
    shell.run("create plain.twx -q --store-text").succeeds();
    shell.run("merge plain.twx i.twx").fails_with("its passages is 40");
    shell.run("rebuild i.twx -q --passages 0").succeeds();
    shell.run("passages i.twx").fails_with("has no fingerprints of passages");
}

#[test]
fn no_advice_is_given_for_what_has_no_passages() {
    let shell = Shell::new();
    shell.run("create weights.twx -q --weighted --store-text").succeeds();
    shell.run("create genomes.twx -q --shingle kmer:21 --store-text").succeeds();
    shell.write("in.jsonl", "");
    for (index, cause) in [("weights", "no passages"), ("genomes", "make no passages")] {
        for words in [
            "query INDEX --passages in.jsonl",
            "passages INDEX",
            "screen INDEX in.jsonl -o out",
            "dedup INDEX in.jsonl -o out --remove spans",
        ] {
            let done = shell.run(&words.replace("INDEX", &format!("{index}.twx")));
            done.fails_with(&format!("{index}.twx: holds "));
            assert!(done.stderr.ends_with(&format!("{cause}\n")), "{words}: {done:?}");
        }
    }
}

#[test]
fn an_export_without_texts_carries_fingerprints() {
    let shell = shell("--passages 40");
    let query =
        |index: &str| shell.args(&["query", index, "--passages", "-q", "--text", SHARED], "");
    shell.run("export i.twx -q -o all.jsonl").succeeds();
    shell.run("import again.twx -q all.jsonl").succeeds();
    assert_eq!(query("again.twx").succeeds(), query("i.twx").succeeds());
    let export = String::from_utf8(shell.read("all.jsonl")).expect("UTF-8");
    let lost: String = export.replacen("\"fingerprints\":\"", "\"other\":\"", 1);
    let done = shell.pipe("import lost.twx --json -", lost);
    assert!(done.stderr.contains("standard input:2: no field `fingerprints`"), "{done:?}");
    let documents = export.lines().count() as u64 - 1;
    assert_eq!((done.counted("added"), done.counted("failed")), (documents - 1, 1));
    let broken: String = export.replace("\"fingerprints\":\"", "\"fingerprints\":\"00");
    is_misused(&shell.pipe("import broken.twx -", broken), "fingerprints cannot be used");
    assert!(shell.run("check again.twx").succeeds().stdout.is_empty());
}

#[test]
fn a_length_that_cannot_be_is_refused() {
    let shell = Shell::new();
    for (options, words) in [
        ("--passages 3", "passages 3 with shingle char:9"),
        ("--passages 10001", "at most 10000"),
        ("--passages --shingle kmer:21", "passages 100 with shingle kmer:21"),
        ("--passages --weighted", "no order"),
        ("--passages all", "expected a number of units"),
    ] {
        is_misused(&shell.run(&format!("create i.twx {options}")), words);
        assert!(!shell.path("i.twx").exists(), "{options}");
    }
    let made = shell.run("create i.twx --shingle word:3 --passages").succeeds();
    assert!(made.stderr.contains("passages of 20"), "{}", made.stderr);
    shell.run("add i.twx --passages 30 -").fails_with("created with passages 20, not 30");
}
