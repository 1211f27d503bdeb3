//! What users of other tools ask for and complain about, each as a test: twelve points, in the
//! order of `docs/reliability.md`, section "What others' users asked for". Some have more tests
//! elsewhere.

use crate::command::{Shell, alike, jsonl};
use crate::support::text;

/// This many documents, each similar to none of the others.
fn distinct(from: u64, count: u64) -> String {
    let records: Vec<(String, String)> =
        (from..from + count).map(|n| (format!("d{n}"), text(n, 0, 12))).collect();
    let records: Vec<_> = records.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    jsonl(&records)
}

fn info(shell: &Shell, field: &str) -> u64 {
    let info = shell.run("info i.twx --json").succeeds().json();
    info[0][field].as_u64().unwrap_or_else(|| panic!("no number {field}"))
}

/// 1. "6 GB of pickles become a 31 GB index"; "100 k documents re-hashed at every start".
#[test]
fn an_index_is_on_disk_small_and_open_at_once() {
    let shell = Shell::new();
    shell.pipe("add i.twx -q --format jsonl -", distinct(0, 20_000)).succeeds();
    shell.run("compact i.twx -q").succeeds();
    let bytes = info(&shell, "file_bytes") / 20_000;
    assert!(bytes < 600, "{bytes} bytes a document, its id and the empty file included");
    // It answers after it has read a small part of the file, so it hashes nothing again.
    let mut query = shell.start("query i.twx -q --threshold 0.5 -");
    query.send(&(text(7, 0, 12) + "\n"));
    assert!(query.read_a_line().contains("\td7\t1.0\t"));
    #[cfg(target_os = "linux")]
    assert!(query.bytes_read() < bytes * 20_000 / 10, "{} bytes", query.bytes_read());
    query.finish().succeeds();
}

/// 2. "Deleting 77 keys takes 50 minutes"; "forever growing index"; "stale postings".
#[test]
fn documents_can_be_deleted_replaced_and_expire() {
    let shell = Shell::new();
    let (first, like_first, other) = alike();
    shell.pipe("add i.twx -q --format jsonl -", distinct(0, 5_000)).succeeds();
    shell.pipe("add i.twx -q -", jsonl(&[("x", &first)])).succeeds();
    shell.pipe("add i.twx -q -", jsonl(&[("x", &other)])).succeeds();
    let stale = shell.args(&["query", "i.twx", "--text", &like_first], "");
    assert_eq!((stale.status, stale.stdout.as_str()), (1, ""), "the former text is forgotten");
    let ids: String = (0..2_500).map(|n| format!("d{n}\n")).collect();
    let removed = shell.pipe("remove i.twx --json --ids-from -", ids).succeeds();
    assert_eq!(removed.counted("removed"), 2_500);
    assert_eq!(shell.run("remove i.twx --json --older-than 1d").succeeds().counted("removed"), 0);
    let shell = shell.aged(2 * 24 * 3_600);
    let expired = shell.run("remove i.twx --json --older-than 1d").succeeds();
    assert_eq!(expired.counted("removed"), 2_501);
    let before = info(&shell, "file_bytes");
    shell.run("compact i.twx -q").succeeds();
    assert!(info(&shell, "file_bytes") < before / 2, "and space returns");
}

/// 3. "Want the similarity in the answer"; "meaningless distances".
#[test]
fn every_match_has_its_similarity_and_how_sure_it_is() {
    let (first, like_first, other) = alike();
    let shell = Shell::with(&[("a", &first), ("b", &like_first), ("c", &other)]);
    let found = shell.run("query i.twx --id a --json").succeeds().json();
    let number = |field: &str| found[0][field].as_f64().expect("a number");
    shell.write("a", &first);
    shell.write("b", &like_first);
    let exact = shell.run("compare a b --json").succeeds().json();
    let exact = exact[0]["similarity"].as_f64().expect("a number");
    assert!(number("low") <= exact && exact <= number("high"), "{found:?}, exactly {exact}");
    assert!(number("low") < number("similarity") && number("similarity") < number("high"));
}

/// 4. "859,092 documents became 2"; "similarity is not transitive".
#[test]
fn a_chain_is_not_merged_into_one_cluster() {
    // Each text shares most of its words with the next, and nothing with the one far from it.
    let words: Vec<String> = (0..400).map(|n| text(n, 0, 1)).collect();
    let link = |at: usize| words[12 * at..12 * at + 200].join(" ");
    let links: Vec<(String, String)> = (0..16).map(|at| (format!("{at:02}"), link(at))).collect();
    let links: Vec<_> = links.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let shell = Shell::with(&links);
    let connected = shell.run("clusters i.twx --json --linkage connected").succeeds().json();
    assert_eq!((connected.len(), &connected[0]["size"]), (1, &16.into()));
    let verified = shell.run("clusters i.twx --json").succeeds().json();
    assert!(verified.len() >= 4, "{verified:?}");
    for cluster in &verified {
        let representative = cluster["representative"].as_str().expect("an id");
        let near = shell.run(&format!("query i.twx --scan --json --id {representative}"));
        let near: Vec<serde_json::Value> =
            near.json().iter().map(|found| found["id"].clone()).collect();
        for member in cluster["members"].as_array().expect("ids") {
            assert!(member == representative || near.contains(member), "{cluster}");
        }
    }
}

/// 5. "All Arabic removed"; short and empty texts collapse into one.
#[test]
fn short_empty_and_foreign_texts_stay_apart() {
    let shell = Shell::new();
    let texts = ["", " ", "好", "你", "مرحبا", "سلام", "hi", "ok", "да", "нет"];
    let ids: Vec<String> = (0..texts.len()).map(|at| at.to_string()).collect();
    let records: Vec<_> = ids.iter().zip(texts).map(|(id, text)| (id.as_str(), text)).collect();
    for shingle in ["char:9", "word:3", "line:2", "token"] {
        let words = format!("dedup {}.twx --json -o out --shingle {shingle} -", &shingle[..4]);
        let done = shell.pipe(&words, jsonl(&records)).succeeds();
        assert_eq!((done.counted("added"), done.counted("duplicates")), (10, 0), "{shingle}");
    }
}

/// 6. "Build and query hold a whole duplicate cluster in memory"; "caps at 200 silently".
#[test]
fn a_large_cluster_is_whole_and_what_is_left_out_is_said() {
    let shell = Shell::new();
    let copy = text(1, 0, 20) + "\n";
    shell.pipe("add i.twx -q --format lines -", copy.repeat(3_000)).succeeds();
    let query = shell.run("query i.twx --json --id #1").succeeds();
    assert_eq!(query.json().len(), 2_999, "nothing is cut in silence");
    let cluster = shell.run("clusters i.twx --json").succeeds().json();
    assert_eq!(cluster[0]["size"], 3_000);
    let pairs = shell.run("pairs i.twx --json --max-per-document 2").succeeds();
    let all = 3_000 * 2_999 / 2;
    assert_eq!(pairs.json().len() as u64 + pairs.counted("left_out"), all);
    assert_eq!(pairs.summary()["limited"], true);
}

/// 7. "Different seed or hash, no error."
#[test]
fn settings_that_do_not_match_are_refused() {
    let shell = Shell::with(&[("a", "a text of some length")]);
    for (option, name) in
        [("--seed 1", "seed"), ("--shingle word:3", "shingle"), ("--lanes 64", "lanes")]
    {
        let other = format!("{name}.twx");
        shell.run(&format!("create -q {other} {option}")).succeeds();
        let add = shell.pipe(&format!("add i.twx {option} -"), "{\"id\":\"b\",\"text\":\"x\"}");
        add.fails_with(name);
        shell.run(&format!("merge i.twx {other}")).fails_with(name);
        shell.pipe(&format!("dedup i.twx -o out --against {other}"), "").fails_with(name);
    }
    assert_eq!(shell.ids(), ["a"]);
}

/// 8. "Nobody understands false-positive and false-negative weights."
#[test]
fn what_a_threshold_finds_and_costs_is_told_beforehand() {
    let shell = Shell::new();
    let plan = shell.run("plan --threshold 0.8 --docs 1000000 --textbook --json").succeeds().json();
    let number =
        |field: &str| plan[0][field].as_f64().unwrap_or_else(|| panic!("{field}: {plan:?}"));
    assert!(number("recall_at_threshold") >= 0.99);
    assert!(number("textbook_recall_at_threshold") < 0.5);
    assert_eq!((number("bands"), number("depth")), (16.0, 6.0));
}

/// 9. Which document was removed, because of which, how similar.
#[test]
fn what_was_removed_can_be_audited() {
    let shell = Shell::new();
    let (first, like_first, _) = alike();
    let input = jsonl(&[("kept", &first), ("gone", &like_first)]);
    shell.pipe("dedup i.twx -q -o out --removed audit.jsonl -", input).succeeds();
    let audit: serde_json::Value =
        serde_json::from_slice(&shell.read("audit.jsonl")).expect("a line of JSON");
    assert_eq!((&audit["id"], &audit["duplicate_of"]), (&"gone".into(), &"kept".into()));
    assert!(audit["similarity"].as_f64().is_some_and(|similarity| similarity >= 0.8));
}

/// 10. "Deduplicate new data against chosen existing indexes"; merge.
#[test]
fn indexes_are_merged_and_checked_against_each_other() {
    let (first, like_first, other) = alike();
    let shell = Shell::with(&[("a", &first)]);
    shell.pipe("add test.twx -q -", jsonl(&[("t", &other)])).succeeds();
    let input = jsonl(&[("b", &like_first), ("c", &other), ("d", "neither this nor that")]);
    let done =
        shell.pipe("dedup new.twx --json -o out --against i.twx --against test.twx -", input);
    assert_eq!(done.succeeds().counted("duplicates"), 2);
    shell.run("merge i.twx test.twx new.twx -q").succeeds();
    assert_eq!(shell.ids(), ["a", "t", "d"]);
    shell.assert_clean();
}

/// 11. "Results differ by run"; "accepts a truncated file".
#[test]
fn the_same_input_gives_the_same_result_and_a_cut_one_is_an_error() {
    let shell = Shell::new();
    let input: String = (0..300).map(|n| text(n / 3, n % 3, 40) + "\n").collect();
    let mut results = Vec::new();
    for (name, how) in [("one", "--threads 1"), ("two", "--threads 3"), ("three", "--batch 17")] {
        let words = format!("dedup {name}.twx -q --format lines --id-prefix p {how} -o {name} -");
        let audit = shell.pipe(&words, input.as_str()).succeeds().stdout;
        results.push((audit, shell.read(name)));
    }
    assert!(results.windows(2).all(|two| two[0] == two[1]));
    let whole = zstd::encode_all(input.as_bytes(), 3).expect("compressed");
    shell.write("cut.zst", &whole[..whole.len() - 5]);
    let cut = shell.run("add i.twx --format lines cut.zst");
    assert_eq!(cut.status, 2, "{cut:?}");
    assert!(cut.stderr.contains("cut.zst"), "{cut:?}");
}
