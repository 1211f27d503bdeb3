//! The command as a whole: settings, streams, exit statuses, and what is in an index.

use crate::command::{Shell, alike, jsonl, lines};
use crate::support::text;

#[test]
fn create_keeps_every_setting() {
    let shell = Shell::new();
    shell
        .run(
            "create i.twx --threshold 0.7 --recall 0.95 --shingle word:3 --lanes 128 \
             --normalize lower,nfkc,space,minword=2 --multiset --seed 17",
        )
        .succeeds();
    let info = shell.run("info i.twx --json").succeeds().json().remove(0);
    for (field, value) in [
        ("threshold", "0.7"),
        ("recall", "0.95"),
        ("lanes", "128"),
        ("shingle", "\"word:3\""),
        ("normalize", "\"lower,nfkc,space,minword=2\""),
        ("multiset", "true"),
        ("seed", "17"),
    ] {
        assert_eq!(info[field].to_string(), value, "{field}");
    }
}

#[test]
fn create_never_touches_what_is_there() {
    let shell = Shell::with(&[("a", "some text")]);
    let before = shell.read("i.twx");
    shell.run("create i.twx").fails_with("i.twx: already exists");
    assert!(shell.read("i.twx") == before);
}

#[test]
fn create_leaves_nothing_but_the_index() {
    let shell = Shell::new();
    shell.write(".twindex-Ab12cD.new", "left by a creation that was killed the day before");
    let left = std::fs::File::options().append(true).open(shell.path(".twindex-Ab12cD.new"));
    let day = std::time::Duration::from_secs(25 * 3600);
    let then = std::time::SystemTime::now() - day;
    left.and_then(|file| file.set_modified(then)).expect("its time is set");
    shell.run("create i.twx").succeeds();
    assert_eq!(shell.names(), ["i.twx"]);
}

#[test]
fn a_new_index_is_empty_and_clean() {
    let shell = Shell::new();
    let created = shell.run("create i.twx").succeeds();
    assert_eq!(created.stdout, "");
    assert!(shell.ids().is_empty());
    shell.assert_clean();
}

#[test]
fn add_creates_a_missing_index_with_the_options_given() {
    let shell = Shell::new();
    shell.pipe("add i.twx --threshold 0.7 --lanes 128 -", "some text\n").succeeds();
    let info = shell.run("info i.twx --json").json().remove(0);
    assert_eq!((&info["threshold"], &info["lanes"]), (&0.7.into(), &128.into()));
}

#[test]
fn settings_that_are_those_of_the_index_may_be_repeated() {
    let shell = Shell::new();
    for _ in 0..2 {
        shell.pipe("add i.twx --threshold 0.7 --shingle line:2 -", "some text\n").succeeds();
    }
}

#[test]
fn only_result_lines_go_to_standard_output() {
    let (a, b, c) = alike();
    let shell = Shell::new();
    let input = jsonl(&[("a", &a), ("b", &b), ("c", &c)]);
    for (words, lines) in [
        ("add i.twx -", 0),
        ("list i.twx", 3),
        ("query i.twx --id a", 1),
        ("pairs i.twx", 1),
        ("check i.twx", 0),
        ("compact i.twx", 0),
        ("remove i.twx a", 0),
    ] {
        let done = shell.pipe(words, input.as_str()).succeeds();
        assert_eq!(done.stdout.lines().count(), lines, "{words}: {done:?}");
    }
}

#[test]
fn every_summary_is_one_json_object_on_standard_error() {
    let (a, b, _) = alike();
    let shell = Shell::new();
    let input = jsonl(&[("a", &a), ("b", &b)]);
    for words in [
        "create new.twx --json",
        "add i.twx --json -",
        "query i.twx --json --id a",
        "pairs i.twx --json",
        "compact i.twx --json",
        "remove i.twx --json a",
    ] {
        let done = shell.pipe(words, input.as_str()).succeeds();
        assert_eq!(done.stderr.lines().count(), 1, "{words}: {done:?}");
        assert!(done.summary().is_object(), "{words}");
    }
}

#[test]
fn quiet_leaves_results_and_errors() {
    let (a, b, _) = alike();
    let shell = Shell::new();
    let input = jsonl(&[("a", &a), ("b", &b)]) + "no JSON\n";
    let added = shell.pipe("add i.twx --quiet -", input);
    assert_eq!((added.status, added.stderr.lines().count()), (2, 1), "{added:?}");
    for words in ["list i.twx -q", "pairs i.twx -q", "query i.twx -q --id a", "info i.twx -q"] {
        let done = shell.run(words).succeeds();
        assert!(!done.stdout.is_empty() && done.stderr.is_empty(), "{words}: {done:?}");
    }
    for words in ["check i.twx -q", "compact i.twx -q", "remove i.twx -q a", "create j.twx -q"] {
        let done = shell.run(words).succeeds();
        assert_eq!((done.stdout, done.stderr), (String::new(), String::new()), "{words}");
    }
}

#[test]
fn the_exit_status_says_whether_anything_was_found() {
    let (a, b, c) = alike();
    let shell = Shell::with(&[("a", &a), ("b", &b)]);
    let apart = Shell::with(&[("a", &a), ("c", &c)]);
    for (shell, words, status) in [
        (&shell, "query i.twx --id a", 0),
        (&apart, "query i.twx --id a", 1),
        (&shell, "pairs i.twx", 0),
        (&apart, "pairs i.twx", 1),
        (&shell, "get i.twx a", 0),
        (&shell, "get i.twx c", 1),
        (&shell, "list i.twx", 0),
        (&shell, "check i.twx", 0),
        (&shell, "remove i.twx unknown", 0),
    ] {
        assert_eq!(shell.run(words).status, status, "{words}");
    }
}

#[test]
fn wrong_usage_is_an_error() {
    let shell = Shell::with(&[("a", "some text")]);
    for words in [
        "add",
        "frobnicate i.twx",
        "list i.twx --no-such-flag",
        "query i.twx",
        "remove i.twx",
        "add i.twx --format xml -",
        "add i.twx --batch 0 -",
        "list i.twx --threads 0",
        "create j.twx --shingle char:0",
        "create j.twx --shingle letter:3",
        "create j.twx --normalize upper",
        "create j.twx --lanes 100",
        "create j.twx --recall 1",
    ] {
        assert_eq!(shell.run(words).status, 2, "{words}");
    }
    assert!(!shell.path("j.twx").exists());
}

#[test]
fn help_and_version_are_no_errors() {
    let shell = Shell::new();
    for words in ["--help", "--version", "add --help", "query --help"] {
        assert!(!shell.run(words).succeeds().stdout.is_empty(), "{words}");
    }
}

#[test]
fn list_prints_ids_in_order_of_insertion() {
    let shell = Shell::with(&[("z", "one"), ("a", "two"), ("m", "three")]);
    assert_eq!(shell.run("list i.twx").stdout, "z\na\nm\n");
    assert_eq!(
        shell.run("list i.twx --json").stdout,
        "{\"id\":\"z\"}\n{\"id\":\"a\"}\n{\"id\":\"m\"}\n"
    );
}

#[test]
fn a_line_end_in_an_id_does_not_break_the_output() {
    let shell = Shell::with(&[("a\tb\nc", "some text")]);
    assert_eq!(shell.run("list i.twx").stdout.lines().count(), 1);
    assert_eq!(shell.run("list i.twx --json").json()[0]["id"], "a\tb\nc");
}

#[test]
fn get_tells_what_is_known_of_a_document() {
    let shell = Shell::with(&[("a", "the quick brown fox"), ("b", "")]);
    let got = shell.run("get i.twx a --json").succeeds().json().remove(0);
    assert_eq!(
        (&got["id"], &got["bytes"], &got["shingles"]),
        (&"a".into(), &19.into(), &11.into())
    );
    assert_eq!(got["signature"].as_str().map(str::len), Some(512));
    assert!(shell.run("get i.twx a").succeeds().stdout.contains("bytes\t19\n"));
    let empty = shell.run("get i.twx b --json").succeeds().json().remove(0);
    assert_eq!((&empty["bytes"], &empty["shingles"]), (&0.into(), &0.into()));
}

#[test]
fn info_is_one_object_with_the_counts() {
    let shell = Shell::with(&[("a", "one text"), ("b", "two texts"), ("c", "three texts")]);
    shell.run("remove i.twx b").succeeds();
    let info = shell.run("info i.twx --json").succeeds().json();
    assert_eq!((info.len(), &info[0]["documents"]), (1, &2.into()));
    assert_eq!(info[0]["file_bytes"], shell.read("i.twx").len());
    assert!(shell.run("info i.twx").stdout.contains("documents\t2\n"));
}

#[test]
fn check_prints_one_object_of_json() {
    let shell = Shell::with(&[("a", "one text"), ("b", "two texts")]);
    let check = shell.run("check i.twx --json").succeeds().json();
    assert_eq!((check.len(), &check[0]["clean"]), (1, &true.into()));
    assert_eq!((&check[0]["documents"], &check[0]["violation_count"]), (&2.into(), &0.into()));
}

#[test]
fn remove_counts_what_was_there_and_what_was_not() {
    let shell = Shell::with(&[("a", "one"), ("b", "two"), ("c", "three")]);
    let removed = shell.run("remove i.twx a unknown c a --json").succeeds();
    assert_eq!((removed.counted("removed"), removed.counted("missing")), (2, 2));
    assert_eq!(shell.ids(), ["b"]);
}

#[test]
fn ids_to_remove_come_from_a_file_or_from_standard_input() {
    let shell = Shell::with(&[("a", "1"), ("b b", "2"), ("c", "3"), ("d", "4"), ("e", "5")]);
    shell.write("ids", "a\r\nb b\n\nunknown");
    let removed = shell.run("remove i.twx --ids-from ids --json").succeeds();
    assert_eq!((removed.counted("removed"), removed.counted("missing")), (2, 1));
    shell.pipe("remove i.twx c --ids-from -", "d\n").succeeds();
    assert_eq!(shell.ids(), ["e"]);
}

#[test]
fn a_removed_document_is_never_found_again() {
    let (a, b, c) = alike();
    let shell = Shell::with(&[("a", &a), ("b", &b), ("c", &c)]);
    shell.run("remove i.twx b").succeeds();
    for compacted in [false, true] {
        if compacted {
            shell.run("compact i.twx").succeeds();
        }
        assert_eq!(shell.ids(), ["a", "c"], "compacted: {compacted}");
        for words in
            ["get i.twx b", "query i.twx --id a", "query i.twx --id a --scan", "pairs i.twx"]
        {
            let done = shell.run(words);
            assert_eq!((done.status, done.stdout.as_str()), (1, ""), "{words}: {compacted}");
        }
        shell.assert_clean();
    }
    let again = shell.pipe("add i.twx --json -", jsonl(&[("b", &b)])).succeeds();
    assert_eq!(again.counted("added"), 1);
    assert_eq!(shell.run("pairs i.twx").succeeds().stdout.lines().count(), 1);
}

#[test]
fn compacting_shrinks_the_file_and_changes_no_answer() {
    let shell = Shell::new();
    let family =
        |variant: u64| (0..400).map(move |n| text(n, variant, 40) + "\n").collect::<String>();
    shell.pipe("add i.twx --batch 100 --id-prefix a -", family(1)).succeeds();
    shell.pipe("add i.twx --batch 100 --id-prefix b -", family(2)).succeeds();
    let ids: String = (1..=400).step_by(2).map(|n| format!("a:{n}\n")).collect();
    shell.pipe("remove i.twx --ids-from -", ids).succeeds();
    let (list, pairs) = (shell.run("list i.twx"), shell.run("pairs i.twx"));
    let compacted = shell.run("compact i.twx --json").succeeds();
    assert!(compacted.counted("bytes") < compacted.counted("before_bytes"));
    assert_eq!(compacted.counted("bytes"), shell.read("i.twx").len() as u64);
    assert_eq!(shell.run("list i.twx").stdout, list.stdout);
    assert_eq!(shell.run("pairs i.twx").stdout, pairs.stdout);
    assert_eq!(shell.run("info i.twx --json").json()[0]["dead"], 0);
    shell.assert_clean();
}

#[test]
fn compacting_twice_leaves_the_size() {
    let shell = Shell::new();
    shell.pipe("add i.twx -", lines(500)).succeeds();
    shell.run("compact i.twx").succeeds();
    let size = shell.read("i.twx").len();
    shell.run("compact i.twx").succeeds();
    assert_eq!(shell.read("i.twx").len(), size);
}

#[test]
fn ids_with_control_characters_break_no_line_and_no_column() {
    let (a, b, _) = alike();
    let odd = "one\ttwo\nthree\u{1b}[2J";
    let shown = "one\\ttwo\\nthree\\u001b[2J";
    let shell = Shell::with(&[(odd, &a), ("b\\n", &b)]);
    assert_eq!(shell.ids(), [shown, "b\\\\n"]);
    assert_eq!(shell.run("pairs i.twx").column(1), [shown]);
    assert_eq!(shell.args(&["query", "i.twx", "--id", odd], "").column(0), [shown]);
    assert_eq!(shell.args(&["get", "i.twx", odd, "--json"], "").json()[0]["id"], odd);
    assert_eq!(shell.run("list i.twx --json").json()[0]["id"], odd);
    let missing = shell.args(&["get", "i.twx", "no\nsuch"], "");
    assert_eq!(missing.stderr, "twindex: i.twx: no document has the id no\\nsuch\n");
    shell.args(&["remove", "i.twx", odd], "").succeeds();
    assert_eq!(shell.ids(), ["b\\\\n"]);
}

#[cfg(unix)]
#[test]
fn paths_with_line_ends_are_shown_in_one_line() {
    let shell = Shell::new();
    shell.write("d/b\nad", b"\xff");
    shell.write("d/good", "text");
    let added = shell.run("add i.twx -q d");
    added.fails_with("twindex: d/b\\nad: not valid UTF-8");
    shell.write("broken\n.twx", "no index");
    shell.args(&["list", "broken\n.twx"], "").fails_with("twindex: broken\\n.twx: not a twindex");
    let created = shell.args(&["create", "new\n.twx"], "").succeeds();
    assert_eq!(created.stderr.lines().count(), 1, "{created:?}");
}

#[test]
fn a_summary_of_no_text_has_no_rate() {
    let shell = Shell::new();
    let none = shell.run("add i.twx -").succeeds();
    assert!(none.stderr.starts_with("added 0 documents in "), "{none:?}");
    assert!(none.stderr.ends_with(" s\n") && !none.stderr.contains(':'), "{none:?}");
    let some = shell.pipe("add i.twx -", "some text\n").succeeds();
    assert!(some.stderr.contains(" s: 9 B of text, "), "{some:?}");
}

#[test]
fn reading_leaves_the_file_untouched() {
    let shell = Shell::new();
    shell.pipe("add i.twx -", lines(50)).succeeds();
    let before = shell.read("i.twx");
    for words in ["list i.twx", "get i.twx #1", "query i.twx --id #1", "pairs i.twx", "check i.twx"]
    {
        shell.run(words);
        assert!(shell.read("i.twx") == before, "{words}");
    }
}

#[test]
fn an_output_that_is_closed_early_is_no_error() {
    let shell = Shell::new();
    let same = "the same text again and again\n".repeat(300);
    let prefix = "a-long-prefix-to-fill-the-pipe-sooner".repeat(20);
    shell.pipe(&format!("add i.twx -q --id-prefix {prefix} -"), same).succeeds();
    for words in ["list i.twx", "list i.twx --json", "pairs i.twx", "pairs i.twx --json"] {
        let mut running = shell.start(words);
        assert!(running.read_a_line_and_close().contains(&prefix), "{words}");
        let done = running.finish();
        assert_eq!((done.status, done.stderr.as_str()), (0, ""), "{words}");
    }
}

#[test]
fn a_query_whose_output_is_closed_early_ends_well() {
    let shell = Shell::new();
    let same = "the same text again and again\n".repeat(300);
    shell.pipe("add i.twx -q -", same.as_str()).succeeds();
    shell.write("same.txt", same);
    let mut running = shell.start("query i.twx --format lines same.txt");
    assert!(running.read_a_line_and_close().starts_with("same.txt:1\t"));
    assert_eq!(running.finish().status, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_an_error() {
    let shell = Shell::with(&[("a", "some text")]);
    for words in ["list i.twx", "--help", "--version"] {
        let full = shell.sh(&format!("$TWINDEX {words} >/dev/full"));
        full.fails_with("standard output: ");
    }
}

#[test]
fn answers_do_not_depend_on_threads_or_batches() {
    let texts: String = (0..300).map(|n| text(n % 40, n / 40, 60) + "\n").collect();
    let mut answers = Vec::new();
    for how in ["--threads 1", "--threads 4 --batch 7", "--threads 2 --batch 64"] {
        let shell = Shell::new();
        shell.pipe(&format!("add i.twx {how} --id-prefix p -"), texts.as_str()).succeeds();
        let pairs = shell.run(&format!("pairs i.twx -q {}", &how[..11])).succeeds();
        let queries = shell.pipe("query i.twx -q --id-prefix q -", texts.as_str()).succeeds();
        answers.push((shell.ids(), pairs, queries));
    }
    assert!(answers.windows(2).all(|two| two[0] == two[1]));
}
