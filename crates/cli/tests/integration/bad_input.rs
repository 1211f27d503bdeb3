//! Bad input gets a clear error and loses nothing.

use crate::command::{Done, Shell, alike, jsonl, lines};
use crate::support::Random;
use std::fs;

/// Adds a file with one bad record between two good ones.
#[track_caller]
fn one_bad_of_three(shell: &Shell, words: &str, place: &str, cause: &str) {
    let added = shell.run(&format!("add i.twx --json {words}"));
    assert_eq!((added.status, added.counted("failed")), (2, 1), "{added:?}");
    assert_eq!(added.counted("added"), 2, "{added:?}");
    let message = added.stderr.lines().next().unwrap_or_default();
    assert!(message.starts_with(&format!("twindex: {place}: ")), "{message}");
    assert!(message.contains(cause), "{message}");
    assert_eq!(shell.ids().len(), 2);
    shell.assert_clean();
}

fn good(id: &str) -> Vec<u8> {
    jsonl(&[(id, &format!("the text of {id}"))]).into_bytes()
}

fn between_good_records(bad: &[u8]) -> Shell {
    let shell = Shell::new();
    shell.write("in.jsonl", [&good("a"), bad, b"\n", &good("b")].concat());
    shell
}

#[test]
fn a_line_that_is_not_json_is_reported() {
    for bad in
        ["hello", "{\"id\":\"x\",\"text\":\"t\"", "[1, 2]", "{\"id\":\"x\" \"text\":1}", "17"]
    {
        let shell = between_good_records(bad.as_bytes());
        one_bad_of_three(&shell, "in.jsonl", "in.jsonl:2", "not valid JSON");
    }
}

#[test]
fn a_missing_field_is_named() {
    let shell = between_good_records(b"{\"id\":\"x\"}");
    one_bad_of_three(&shell, "in.jsonl", "in.jsonl:2", "no field `text`");
    let shell = between_good_records(b"{\"text\":\"t\"}");
    one_bad_of_three(&shell, "--id-field id in.jsonl", "in.jsonl:2", "no field `id`");
    let done = shell.pipe("add piped.twx --id-field id -", shell.read("in.jsonl"));
    assert!(done.status == 2 && done.stderr.contains("no field `id`"), "{done:?}");
}

#[test]
fn a_field_of_the_wrong_kind_is_named() {
    let shell = between_good_records(b"{\"id\":\"x\",\"text\":17}");
    one_bad_of_three(&shell, "in.jsonl", "in.jsonl:2", "field `text` is not a string");
    let shell = between_good_records(b"{\"id\":[1],\"text\":\"t\"}");
    one_bad_of_three(&shell, "in.jsonl", "in.jsonl:2", "field `id` is not a string or a number");
}

#[test]
fn json_that_is_not_utf8_is_reported() {
    let shell = between_good_records(b"{\"id\":\"x\",\"text\":\"a \xff b\"}");
    let cause =
        "not valid UTF-8 at byte 21; if it is Latin-1, give it alone, with --encoding latin1";
    one_bad_of_three(&shell, "in.jsonl", "in.jsonl:2", cause);
}

#[test]
fn half_a_surrogate_pair_is_reported() {
    for bad in [r"\ud800 alone", r"\ud800", r"\ud800\u0041", r"\udc00"] {
        let line = format!("{{\"id\":\"x\",\"text\":\"{bad}\"}}");
        let shell = between_good_records(line.as_bytes());
        let cause = "not valid JSON: \\ud800 to \\udfff are half a character each at column";
        one_bad_of_three(&shell, "in.jsonl", "in.jsonl:2", cause);
    }
}

#[test]
fn json_nested_too_deeply_is_reported() {
    let bad = format!("{{\"id\":\"x\",\"text\":\"t\",\"more\":{}", "[".repeat(200_000));
    let shell = between_good_records(bad.as_bytes());
    one_bad_of_three(&shell, "in.jsonl", "in.jsonl:2", "not valid JSON");
    let bad = format!("{{\"id\":\"x\",\"text\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
    let shell = between_good_records(bad.as_bytes());
    one_bad_of_three(&shell, "in.jsonl", "in.jsonl:2", "field `text`");
}

#[test]
fn a_line_that_is_not_utf8_is_reported() {
    let shell = Shell::new();
    shell.write("in.txt", b"good\nb\xe4d\ngood too\n");
    one_bad_of_three(&shell, "--format lines in.txt", "in.txt:2", "not valid UTF-8 at byte 2");
}

#[test]
fn a_text_file_that_is_not_utf8_is_reported() {
    let shell = Shell::new();
    for (name, text) in [("d/a", &b"good"[..]), ("d/b", b"\xff\xfe"), ("d/c", b"good too")] {
        shell.write(name, text);
    }
    one_bad_of_three(&shell, "d", "d/b", "not valid UTF-8 at byte 1");
}

#[test]
fn a_file_that_is_missing_does_not_stop_the_others() {
    let shell = Shell::new();
    shell.write("a.txt", "good");
    shell.write("c.txt", "good too");
    one_bad_of_three(&shell, "a.txt b.txt c.txt", "b.txt", "No such file");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_name_that_is_not_utf8_is_reported() {
    use std::os::unix::ffi::OsStrExt;
    let shell = Shell::new();
    shell.write("d/a", "good");
    shell.write("d/z", "good too");
    let name = std::ffi::OsStr::from_bytes(b"b\xff");
    fs::write(shell.path("d").join(name), "text").expect("written");
    one_bad_of_three(&shell, "d", "d/b\u{fffd}", "not valid UTF-8");
}

#[test]
fn an_id_of_no_bytes_or_too_many_is_reported() {
    for length in [0, 4_097, 100_000] {
        let shell = between_good_records(&good(&"x".repeat(length))[..]);
        let cause = format!("id of {length} bytes");
        one_bad_of_three(&shell, "in.jsonl", "in.jsonl:2", &cause);
    }
}

#[test]
fn an_id_of_4096_bytes_is_taken() {
    let id = "é".repeat(2_048);
    let shell = Shell::with(&[(&id, "some text")]);
    assert_eq!(shell.ids(), [id.as_str()]);
    assert_eq!(shell.run(&format!("get i.twx {id}")).status, 0);
}

#[test]
fn a_list_of_ids_that_is_not_utf8_is_reported_and_the_rest_removed() {
    let shell = Shell::with(&[("a", "1"), ("b", "2"), ("c", "3")]);
    shell.write("ids", b"a\n\xff\nc\n");
    let removed = shell.run("remove i.twx --ids-from ids -q");
    removed.fails_with("ids:2: ");
    assert_eq!(shell.ids(), ["b"]);
    let removed = shell.pipe("remove i.twx b --ids-from -", b"\xff\n");
    let told =
        "twindex: standard input:1: not valid UTF-8 at byte 1\nremoved 1 document, 1 failed\n";
    assert_eq!((removed.status, &*removed.stderr), (2, told));
}

#[test]
fn a_list_of_ids_that_is_missing_is_an_error() {
    let shell = Shell::with(&[("a", "1")]);
    shell.run("remove i.twx --ids-from no-such-file").fails_with("no-such-file: ");
    assert_eq!(shell.ids(), ["a"]);
}

#[test]
fn a_document_of_100_megabytes_is_taken() {
    let shell = Shell::new();
    let large = "The quick brown fox jumps over the lazy dog. ".repeat(2_222_223);
    let bytes = large.len() as u64;
    assert!(bytes > 100_000_000);
    shell.write("large.txt", large);
    let added = shell.run("add i.twx large.txt --json").succeeds();
    assert_eq!((added.counted("added"), added.counted("bytes")), (1, bytes));
    let small = "the quick brown fox jumps over the lazy dog. ".repeat(3);
    let found = shell.args(&["query", "i.twx", "--text", &small], "").succeeds();
    assert_eq!(found.column(1), ["large.txt"]);
}

#[test]
fn a_nul_is_a_character_like_any_other() {
    let text = "some text with a \0 in its very middle";
    let shell = Shell::with(&[("json", text)]);
    shell.write("raw.txt", text);
    shell.run("add i.twx raw.txt").succeeds();
    shell.pipe("add i.twx --id-prefix line -", text).succeeds();
    let pairs = shell.run("pairs i.twx --threshold 1").succeeds();
    assert_eq!(pairs.stdout.lines().count(), 3, "{pairs:?}");
    assert_eq!(shell.run("get i.twx json --json").json()[0]["bytes"], text.len());
}

#[test]
fn a_threshold_out_of_range_is_an_error() {
    let shell = Shell::with(&[("a", "some text")]);
    shell.write("q.txt", "some text\n".repeat(3));
    for bad in ["0", "1.5", "NaN", "inf", "-0.5"] {
        for words in [
            "create j.twx",
            "add j.twx -",
            "query i.twx --id a",
            "query i.twx --format lines q.txt",
            "pairs i.twx",
        ] {
            shell.run(&format!("{words} --threshold={bad}")).fails_with("threshold ");
        }
    }
    assert!(!shell.path("j.twx").exists());
}

#[test]
fn a_threshold_that_is_no_number_is_an_error() {
    let shell = Shell::with(&[("a", "some text")]);
    let done = shell.run("pairs i.twx --threshold high");
    assert_eq!((done.status, done.stdout.as_str()), (2, ""), "{done:?}");
    assert!(done.stderr.contains("--threshold") && done.stderr.contains("'high'"), "{done:?}");
}

#[test]
fn a_recall_that_cannot_be_reached_says_what_to_do() {
    let shell = Shell::new();
    shell.run("create i.twx --threshold 0.05 --lanes 64").fails_with("raise the threshold");
    assert!(!shell.path("i.twx").exists());
}

#[test]
fn other_settings_than_those_of_the_index_are_named() {
    let shell = Shell::with(&[("a", "some text")]);
    let before = shell.read("i.twx");
    for (option, value) in [
        ("threshold", "0.7"),
        ("recall", "0.9"),
        ("shingle", "word:3"),
        ("lanes", "128"),
        ("normalize", "none"),
        ("seed", "5"),
    ] {
        let done = shell.pipe(&format!("add i.twx --{option} {value} -"), "more\n");
        done.fails_with("i.twx: created with ");
        assert!(done.stderr.contains(option) && done.stderr.contains(value), "{done:?}");
    }
    shell.pipe("add i.twx --multiset -", "more\n").fails_with("multiset");
    assert!(shell.read("i.twx") == before);
}

/// Every command that opens an index.
const COMMANDS: [&str; 9] = [
    "add i.twx -q -",
    "remove i.twx -q a",
    "list i.twx",
    "get i.twx a",
    "query i.twx -q --id a",
    "pairs i.twx -q",
    "info i.twx",
    "check i.twx -q",
    "compact i.twx -q",
];

#[track_caller]
fn all_fail_with(shell: &Shell, words: &str) {
    for command in COMMANDS {
        let done = shell.pipe(command, jsonl(&[("b", "more text")]));
        assert_eq!(done.stderr.lines().count(), 1, "{command}: {done:?}");
        done.fails_with(words);
        assert!(done.stderr.starts_with("twindex: i.twx: "), "{command}: {done:?}");
    }
}

#[test]
fn a_directory_is_not_an_index() {
    let shell = Shell::new();
    fs::create_dir(shell.path("i.twx")).expect("a directory");
    all_fail_with(&shell, "not a twindex index");
}

#[test]
fn an_index_that_is_missing_is_named_and_not_created() {
    let shell = Shell::new();
    for command in COMMANDS.iter().filter(|command| !command.starts_with("add")) {
        shell.run(command).fails_with("i.twx: no such index");
        assert!(!shell.path("i.twx").exists(), "{command}");
    }
}

#[test]
fn an_index_in_a_missing_folder_is_named_once() {
    let shell = Shell::new();
    for words in ["create no/i.twx", "add no/i.twx -"] {
        let done = shell.run(words);
        done.fails_with("no: creating the index in this folder, which does not exist; make it");
        assert_eq!(done.stderr.matches("No such file").count(), 1, "{done:?}");
    }
}

#[test]
fn a_foreign_file_is_refused_and_left_alone() {
    for content in ["", "x", "just some text\n", &"random words ".repeat(10_000)] {
        let shell = Shell::new();
        shell.write("i.twx", content);
        all_fail_with(&shell, "not a twindex index");
        assert!(shell.read("i.twx") == content.as_bytes());
    }
}

#[test]
fn a_foreign_database_is_refused_and_left_alone() {
    let shell = Shell::new();
    let foreign = redb::Database::create(shell.path("i.twx")).expect("a database");
    let txn = foreign.begin_write().expect("begun");
    let table: redb::TableDefinition<'_, &str, u64> = redb::TableDefinition::new("meta");
    txn.open_table(table).expect("a table").insert("version", 7).expect("inserted");
    txn.commit().expect("committed");
    drop(foreign);
    let before = shell.read("i.twx");
    all_fail_with(&shell, "not a twindex index");
    assert!(shell.read("i.twx") == before);
}

/// An index with a compacted part and a tail, and the right answers of some commands.
fn whole() -> (Shell, Vec<(&'static str, Done)>) {
    let (a, b, c) = alike();
    let shell = Shell::new();
    shell.pipe("add i.twx -q --id-prefix p -", lines(301)).succeeds();
    // Compaction writes so few documents to a run only if one was removed.
    shell.run("remove i.twx -q p:301").succeeds();
    shell.run("compact i.twx -q").succeeds();
    shell.pipe("add i.twx -q -", jsonl(&[("a", &a), ("b", &b), ("c", &c)])).succeeds();
    shell.write("q.lines", [&*a, "\n", &*b, "\n", &*c, "\n"].concat());
    let commands = [
        "list i.twx",
        "get i.twx p:17",
        "query i.twx -q --id a",
        "query i.twx -q --format lines q.lines",
        "pairs i.twx -q",
    ];
    let answers = commands.map(|words| (words, shell.run(words).succeeds()));
    (shell, answers.into())
}

/// A question to a damaged index gives the right answer or a clear error.
#[track_caller]
fn right_or_refused(shell: &Shell, words: &str, right: &Done, what: &str) {
    let done = shell.run(words);
    if done.status == 2 {
        let clear = |line: &str| line.starts_with("twindex: ") && line.contains("i.twx: ");
        let all_clear = !done.stderr.is_empty() && done.stderr.lines().all(clear);
        assert!(all_clear, "{what}, {words}: {done:?}");
    } else {
        assert_eq!(&done, right, "{what}, {words}");
    }
}

/// A damaged index is never quietly wrong, and no command panics or hangs.
#[track_caller]
fn never_wrong(shell: &Shell, answers: &[(&str, Done)], damaged: &[u8], what: &str) {
    for (words, right) in answers {
        shell.write("i.twx", damaged);
        right_or_refused(shell, words, right, what);
    }
    shell.write("i.twx", damaged);
    shell.run("check i.twx");
    shell.pipe("add i.twx -", "more text to add\n");
    shell.run("compact i.twx");
}

#[test]
fn an_index_cut_short_is_never_quietly_wrong() {
    let (shell, answers) = whole();
    let index = shell.read("i.twx");
    let length = index.len();
    let cuts =
        [1, 64, 320, 4_095, 4_096, 8_192, length / 3, length / 2, length - 4_096, length - 1];
    for cut in cuts {
        never_wrong(&shell, &answers, &index[..cut], &format!("cut at {cut} of {length}"));
    }
}

#[test]
fn an_index_with_flipped_bits_is_never_quietly_wrong() {
    let (shell, answers) = whole();
    let index = shell.read("i.twx");
    let mut random = Random(2_026);
    let places = (0..320).step_by(16).chain((0..40).map(|_| random.below(index.len() as u64)));
    for at in places.collect::<Vec<_>>() {
        let mut damaged = index.clone();
        damaged[at as usize] ^= 1 << random.below(8);
        never_wrong(&shell, &answers, &damaged, &format!("a bit flipped at {at}"));
    }
}

#[test]
fn an_index_with_a_page_of_zeros_is_never_quietly_wrong() {
    let (shell, answers) = whole();
    let index = shell.read("i.twx");
    for page in (0..index.len() / 4_096).step_by(7) {
        let mut damaged = index.clone();
        damaged[4_096 * page..4_096 * (page + 1)].fill(0);
        never_wrong(&shell, &answers, &damaged, &format!("page {page} zeroed"));
    }
}

#[test]
fn a_page_in_the_wrong_place_is_refused_or_seen_by_check() {
    let (shell, answers) = whole();
    let index = shell.read("i.twx");
    let pages = index.len() / 4_096;
    let mut random = Random(7);
    let (mut refused, mut answered) = (0, 0);
    for page in 1..pages {
        let other = random.below(pages as u64) as usize;
        let mut damaged = index.clone();
        damaged.copy_within(4_096 * other..4_096 * (other + 1), 4_096 * page);
        shell.write("i.twx", &damaged);
        // Such a page is valid in itself: what only a walk of everything can see, `check` sees.
        if shell.run("check i.twx -q").status != 0 {
            refused += 1;
            continue;
        }
        answered += 1;
        for (words, right) in &answers {
            right_or_refused(&shell, words, right, &format!("page {page} holds page {other}"));
        }
    }
    assert!(refused > 0 && answered > 0, "{refused} refused by check, {answered} not");
}

#[test]
fn an_index_whose_keys_are_out_of_order_does_not_hang() {
    let (shell, answers) = whole();
    let mut damaged = shell.read("i.twx");
    // The keys of the first chunks of bands 7 and 8 in run 0, one after the other.
    let keys = [0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0];
    let places: Vec<usize> =
        (0..damaged.len() - 16).filter(|at| damaged[*at..*at + 16] == keys).collect();
    assert!(!places.is_empty(), "the keys are stored in another way now");
    places.iter().for_each(|at| damaged[at + 3] = 5);
    never_wrong(&shell, &answers, &damaged, "keys out of order");
}

#[cfg(unix)]
mod read_only {
    use crate::command::{Shell, alike, lines, report};
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    fn skipped() {
        report("SKIPPED: nobody here whom permissions bind can run the command");
    }

    fn protect(shell: &Shell) {
        set_permissions(shell.path("i.twx"), Permissions::from_mode(0o444)).expect("permissions");
    }

    #[test]
    fn an_index_that_may_not_be_written_answers_questions_and_refuses_changes() {
        let (a, b, _) = alike();
        let shell = Shell::with(&[("a", &a), ("b", &b)]);
        protect(&shell);
        let Some(found) = shell.run_bound("query i.twx -q --id a") else { return skipped() };
        assert_eq!((found.status, found.column(1)), (0, vec!["b"]), "{found:?}");
        let words = ["add i.twx -", "remove i.twx a", "compact i.twx"];
        for words in words {
            let done = shell.run_bound(words).expect("it ran as this user before");
            done.fails_with("i.twx: ");
            assert!(done.stderr.to_lowercase().contains("permission denied"), "{done:?}");
        }
    }

    #[test]
    fn a_killed_index_that_may_not_be_written_can_be_read() {
        let shell = Shell::new();
        let mut running = shell.start("add i.twx -v --batch 1 -");
        running.send(&lines(20));
        running.wait_for("committed 10 documents");
        running.kill();
        protect(&shell);
        let Some(listed) = shell.run_bound("list i.twx") else { return skipped() };
        // It may have committed more before it was killed.
        assert!((10..=20).contains(&listed.succeeds().stdout.lines().count()));
        assert!(shell.run_bound("check i.twx").is_some_and(|done| done.status == 0));
    }
}

#[cfg(not(feature = "remote"))]
#[test]
fn a_build_without_remote_files_says_so() {
    let shell = Shell::with(&[("a", "some text of some words")]);
    shell.write("a.jsonl", "");
    for words in [
        "add i.twx s3://bucket/a.jsonl",
        "query i.twx https://example.com/a.jsonl",
        "dedup i.twx https://example.com/a.jsonl -o o.jsonl",
        "dedup i.twx a.jsonl -o s3://bucket/o.jsonl",
        "list i.twx -o gs://bucket/ids.jsonl",
    ] {
        let done = shell.run(words);
        assert_eq!(done.status, 2, "{words}: {done:?}");
        assert!(done.stderr.contains("--features remote"), "{words}: {done:?}");
    }
    let mut names = shell.names();
    names.sort();
    assert_eq!(names, ["a.jsonl", "i.twx"]);
}
