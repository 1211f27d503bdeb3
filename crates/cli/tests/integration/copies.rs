//! Copies of indexes with the real command: `backup`, `merge`, `export`, `import`.

use crate::command::{Done, Shell, alike, jsonl};
use crate::support::text;
use serde_json::Value;

/// Documents `a:0`, ... in families of three that are similar.
fn documents(prefix: &str, count: u64) -> Vec<(String, String)> {
    (0..count).map(|n| (format!("{prefix}:{n}"), text(n / 3, n % 3, 20))).collect()
}

fn json(documents: &[(String, String)]) -> String {
    let documents: Vec<(&str, &str)> =
        documents.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    jsonl(&documents)
}

/// A folder with an index of 60 documents in three runs of the command, some removed since.
fn filled() -> Shell {
    let shell = Shell::new();
    for part in documents("a", 60).chunks(20) {
        shell.pipe("add i.twx -q -", json(part)).succeeds();
    }
    shell.run("remove i.twx -q a:3 a:44").succeeds();
    shell
}

/// Everything that an export says of an index.
fn exported(shell: &Shell, name: &str) -> String {
    shell.run(&format!("export {name} -q")).succeeds().stdout
}

/// What a command prints for an index of this name, whatever that is.
fn answers(shell: &Shell, name: &str) -> Vec<Done> {
    let ask = |words: &str| {
        let mut done = shell.run(&words.replace("INDEX", name));
        done.stderr.clear();
        done
    };
    ["list INDEX", "pairs INDEX -q", "query INDEX -q --id a:7", "get INDEX a:8", "check INDEX -q"]
        .map(ask)
        .to_vec()
}

#[track_caller]
fn assert_same(shell: &Shell, one: &str, other: &str) {
    assert_eq!(answers(shell, one), answers(shell, other));
    assert_eq!(exported(shell, one), exported(shell, other));
    let again = shell.pipe(&format!("add {other} --json -"), json(&documents("a", 60)));
    assert_eq!((again.counted("unchanged"), again.counted("added")), (58, 2));
}

#[test]
fn a_backup_answers_as_the_index_does() {
    let shell = filled();
    let done = shell.run("backup i.twx copy.twx --json").succeeds();
    assert_eq!(done.counted("documents"), 58);
    assert_eq!(done.counted("bytes"), shell.read("copy.twx").len() as u64);
    assert_same(&shell, "i.twx", "copy.twx");
}

#[test]
fn a_backup_goes_to_a_new_file_in_a_folder_that_is_there() {
    let shell = filled();
    shell.write("taken", "something");
    shell.run("backup i.twx taken").fails_with("taken: already exists");
    shell.run("backup i.twx i.twx").fails_with("i.twx: already exists");
    shell.run("backup i.twx no/copy.twx").fails_with("no: creating the index in this folder");
    shell.run("backup no.twx copy.twx").fails_with("no.twx: no such index");
    assert_eq!(shell.read("taken"), b"something");
    assert!(!shell.path("copy.twx").exists());
}

#[test]
fn damage_is_not_backed_up_in_silence() {
    let shell = filled();
    shell.run("compact i.twx -q").succeeds();
    let whole = shell.read("i.twx");
    let mut found = 0;
    for page in 1..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096 + 100] ^= 16;
        shell.write("i.twx", bytes);
        let check = shell.run("check i.twx");
        // A backup does not read the pages in which redb keeps what is free.
        if check.status != 0 && !check.stderr.contains("damaged: storage page") {
            let done = shell.run("backup i.twx copy.twx");
            assert_eq!(done.status, 2, "page {page}: {done:?}");
            assert!(!shell.path("copy.twx").exists());
            found += 1;
        }
    }
    assert!(found > 0);
}

#[test]
fn a_merged_index_answers_as_one_of_all_documents() {
    let shell = filled();
    let all = documents("a", 60);
    for (name, part) in [("x.twx", &all[..25]), ("y.twx", &all[20..])] {
        shell.pipe(&format!("add {name} -q -"), json(part)).succeeds();
    }
    shell.run("remove x.twx -q a:3").succeeds();
    shell.run("remove y.twx -q a:44").succeeds();
    for (new, option) in [("merged.twx", "--batch 7"), ("attached.twx", "--attach")] {
        let words = format!("merge {new} x.twx y.twx {option} --json");
        let done = shell.run(&words).succeeds();
        assert_eq!((done.counted("added"), done.counted("unchanged")), (58, 5), "{option}");
        assert_eq!(answers(&shell, new)[..3], answers(&shell, "i.twx")[..3], "{option}");
        let again = shell.run(&words).succeeds();
        assert_eq!((again.counted("added"), again.counted("unchanged")), (0, 63), "{option}");
        for field in ["bytes", "empty"] {
            assert_eq!(done.counted(field), again.counted(field), "{option}");
        }
        assert_eq!(shell.run(&format!("check {new}")).status, 0);
        shell.run(&format!("compact {new}")).succeeds();
        assert_eq!(answers(&shell, new)[..3], answers(&shell, "i.twx")[..3], "{option}");
    }
    let both = shell.run("merge new.twx x.twx --attach --batch 7");
    assert!(both.status == 2 && both.stderr.contains("--batch"), "{both:?}");
}

#[test]
fn a_merge_into_a_new_index_keeps_everything() {
    let shell = filled();
    shell.run("merge new.twx i.twx -q").succeeds();
    assert_same(&shell, "i.twx", "new.twx");
    shell.run("merge attached.twx i.twx -q --attach").succeeds();
    assert_same(&shell, "i.twx", "attached.twx");
}

/// Two indexes that have another text under one id each, and one document of their own.
fn conflicting() -> Shell {
    let shell = Shell::with(&[("same", &text(1, 0, 20)), ("x", &text(2, 0, 20))]);
    let other = [("same", text(9, 0, 20)), ("y", text(3, 0, 20))];
    shell
        .pipe("add other.twx -q -", json(&other.map(|(id, text)| (id.to_owned(), text))))
        .succeeds();
    shell.run("export other.twx -q -o other.jsonl").succeeds();
    shell
}

#[test]
fn conflicts_are_decided_as_in_add() {
    for command in
        ["merge i.twx other.twx", "merge i.twx other.twx --attach", "import i.twx other.jsonl"]
    {
        for (policy, counted, status, order) in [
            ("replace", "replaced", 0, ["x", "same", "y"]),
            ("skip", "skipped", 0, ["same", "x", "y"]),
            ("error", "failed", 2, ["same", "x", "y"]),
        ] {
            let shell = conflicting();
            let done = shell.run(&format!("{command} --on-conflict {policy} --json"));
            assert_eq!(done.status, status, "{command} {policy}: {done:?}");
            assert_eq!(
                (done.counted("added"), done.counted(counted)),
                (1, 1),
                "{command} {policy}"
            );
            assert_eq!(done.stderr.contains("with another text"), status == 2, "{done:?}");
            assert_eq!(shell.ids(), order);
            shell.assert_clean();
        }
    }
}

#[test]
fn unequal_settings_are_refused_before_anything_is_written() {
    for (setting, words, found, expected) in [
        ("threshold", "--threshold 0.9", "0.9", "0.8"),
        ("recall", "--recall 0.9", "0.9", "0.99"),
        ("lanes", "--lanes 128", "128", "256"),
        ("shingle", "--shingle char:5", "char:5", "char:9"),
        ("normalize", "--normalize nfkc,space", "nfkc,space", "lower,nfc,space"),
        ("multiset", "--multiset", "true", "false"),
        ("seed", "--seed 18446744073709551615", "18446744073709551615", "0"),
    ] {
        let shell = filled();
        shell.run(&format!("create other.twx -q {words}")).succeeds();
        shell.run("export other.twx -q -o other.jsonl").succeeds();
        let before = exported(&shell, "i.twx");
        std::fs::copy(shell.path("i.twx"), shell.path("i2.twx")).expect("copied");
        shell.run("merge new.twx i.twx other.twx").fails_with("both must have the same");
        assert!(!shell.path("new.twx").exists());
        for words in ["merge i.twx i2.twx other.twx", "import i.twx other.jsonl"] {
            let done = shell.run(words);
            done.fails_with(&format!("its {setting} is {found}, that of i.twx is {expected};"));
        }
        assert_eq!(exported(&shell, "i.twx"), before);
    }
}

#[test]
fn an_index_is_not_merged_into_itself_nor_with_what_cannot_be_opened() {
    let shell = filled();
    shell.write("text.twx", "some text");
    shell.run("merge new.twx i.twx no.twx").fails_with("no.twx: no such index");
    shell.run("merge new.twx i.twx text.twx").fails_with("text.twx: not a twindex index");
    assert!(!shell.path("new.twx").exists());
    shell.run("merge text.twx i.twx").fails_with("text.twx: not a twindex index");
    shell.run("merge i.twx ./i.twx").fails_with("cannot be merged into itself");
    std::fs::hard_link(shell.path("i.twx"), shell.path("hard.twx")).expect("a link");
    shell.run("merge i.twx hard.twx").fails_with("cannot be merged into itself");
    assert_eq!(shell.run("merge i.twx").status, 2, "no source");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("i.twx", shell.path("soft.twx")).expect("a link");
        shell.run("merge i.twx soft.twx").fails_with("cannot be merged into itself");
        shell.run("merge soft.twx i.twx").fails_with("cannot be merged into itself");
    }
    assert_eq!(shell.ids().len(), 58);
}

#[test]
fn an_automatic_id_is_never_one_that_was_merged_in() {
    let shell = Shell::new();
    let lines =
        |from: u64, to: u64| -> String { (from..to).map(|n| text(n, 0, 20) + "\n").collect() };
    shell.pipe("add i.twx -q -", lines(0, 3)).succeeds();
    shell.pipe("add other.twx -q -", lines(10, 15)).succeeds();
    shell.run("merge i.twx other.twx -q --on-conflict skip").succeeds();
    assert_eq!(shell.ids(), ["#1", "#2", "#3", "#4", "#5"]);
    shell.pipe("add i.twx -q -", lines(20, 22)).succeeds();
    assert_eq!(shell.ids(), ["#1", "#2", "#3", "#4", "#5", "#6", "#7"]);
}

#[test]
fn an_import_of_an_export_answers_as_the_index_does() {
    let shell = filled();
    let done = shell.run("export i.twx -o out.jsonl --json").succeeds();
    assert_eq!(done.counted("documents"), 58);
    let out = shell.read("out.jsonl");
    assert_eq!(done.counted("bytes"), out.len() as u64);
    assert_eq!(exported(&shell, "i.twx").as_bytes(), out);
    let done = shell.run("import file.twx out.jsonl --batch 10 --json").succeeds();
    assert_eq!(done.counted("added"), 58);
    assert_same(&shell, "i.twx", "file.twx");
    shell.pipe("import stream.twx -q", out).succeeds();
    assert_eq!(exported(&shell, "stream.twx").as_bytes(), shell.read("out.jsonl"));
    let done = shell.run("import stream.twx out.jsonl --json").succeeds();
    assert_eq!(done.counted("unchanged"), 58);
}

#[test]
fn settings_of_any_kind_survive_an_export() {
    for settings in [
        "--threshold 0.7000000000000001 --recall 0.9512345678901234 --shingle word:2",
        "--lanes 64 --shingle token --seed 18446744073709551615",
        "--shingle line:2 --normalize nfkc,nospace,minword=2 --multiset",
    ] {
        let shell = Shell::new();
        shell.run(&format!("create i.twx -q {settings}")).succeeds();
        let export = exported(&shell, "i.twx");
        shell.pipe("import new.twx -q", export.clone()).succeeds();
        assert_eq!(exported(&shell, "new.twx"), export);
        shell.pipe("import i.twx -q", export).succeeds();
    }
}

#[test]
fn an_export_that_is_cut_short_is_an_error_at_the_end() {
    let shell = filled();
    let export = exported(&shell, "i.twx");
    let lines: Vec<&str> = export.split_inclusive('\n').collect();
    let done = shell.pipe("import new.twx -q", lines[..40].concat());
    done.fails_with("its header names 58 documents, it has 39: it was cut short");
    assert_eq!(shell.run("list new.twx").stdout.lines().count(), 39);
    let within = lines[..40].concat() + &lines[40][..100];
    let done = shell.pipe("import new.twx -q", within);
    assert_eq!((done.status, done.stderr.lines().count()), (2, 2), "{done:?}");
    assert!(done.stderr.contains("standard input:41: EOF"), "{done:?}");
    let done = shell.pipe("import new.twx -q", export.clone() + lines[2]);
    done.fails_with("names 58 documents, it has 59");
    let longest = lines[1..].iter().map(|line| line.len() - 1).max().expect("a line");
    let import = format!("import exact.twx -q --max-record {longest}");
    shell.pipe(&import, export.clone()).succeeds();
    let done =
        shell.pipe(&import.replace(&longest.to_string(), &(longest - 1).to_string()), export);
    assert!(done.status == 2 && done.stderr.contains("longer than"), "{done:?}");
}

#[test]
fn bad_lines_are_reported_and_the_rest_goes_on() {
    let shell = filled();
    let export = exported(&shell, "i.twx");
    let mut lines: Vec<String> = export.lines().map(str::to_owned).collect();
    lines[5] = "{\"id\":\"bad\"}".into();
    lines[7] = "no JSON".into();
    lines[9] = lines[9].replace("\"signature\":\"", "\"signature\":\"0");
    lines[11] = format!("{{\"id\":\"{}\"}}", "x".repeat(200_000));
    shell.write("bad.jsonl", lines.join("\n"));
    let done = shell.run("import new.twx bad.jsonl --json");
    assert_eq!(done.status, 2, "{done:?}");
    assert_eq!((done.counted("added"), done.counted("failed")), (54, 4), "{done:?}");
    let said: Vec<&str> = done.stderr.lines().collect();
    for (line, at) in said.iter().zip([6, 8, 10, 12]) {
        assert!(line.starts_with(&format!("twindex: bad.jsonl:{at}: ")), "{line}");
    }
}

#[test]
fn input_that_is_no_export_is_one_clear_error() {
    let shell = filled();
    let export = exported(&shell, "i.twx");
    let header = export.lines().next().expect("a header");
    let changed = |field: &str, value: &str| {
        let mut header: Value = serde_json::from_str(header).expect("JSON");
        let value = serde_json::from_str(value).expect("JSON");
        *header.pointer_mut(field).expect("a field") = value;
        header.to_string()
    };
    for (input, words) in [
        (String::new(), "no export of twindex: it is empty"),
        ("\n\n".into(), "no export of twindex"),
        ("some text\n".into(), "no export of twindex"),
        (jsonl(&[("a", "a text")]), "no export of twindex"),
        ("x".repeat(1 << 20), "no export of twindex"),
        (changed("/twindex_export", "2"), "version 2, this twindex reads up to 1"),
        (changed("/format", "9"), "format 9, this twindex reads up to 5"),
        (changed("/documents", "-1"), "its header is wrong"),
        (changed("/settings/lanes", "100"), "its header is wrong: lanes 100"),
        (changed("/settings/threshold", "7"), "its header is wrong: threshold 7"),
        (changed("/settings/threshold", "\"0.8\""), "its header is wrong: `threshold`"),
        (changed("/settings/shingle", "\"char:0\""), "its header is wrong"),
        (changed("/settings/normalize", "\"upper\""), "its header is wrong"),
        (changed("/settings", "{}"), "its header is wrong: missing field"),
    ] {
        for index in ["new.twx", "i.twx"] {
            shell.pipe(&format!("import {index} -q"), input.clone()).fails_with(words);
        }
        assert!(!shell.path("new.twx").exists(), "{input}");
    }
    shell.run("import new.twx no.jsonl").fails_with("no.jsonl: ");
    shell.run("import new.twx .").fails_with(".: ");
}

#[test]
fn sizes_of_texts_that_are_too_large_together_are_no_error() {
    let shell =
        Shell::with(&[("a", "a text of some length"), ("b", "another text of some length")]);
    let export = exported(&shell, "i.twx");
    let largest = export.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        if let Some(bytes) = line.get_mut("text_bytes") {
            *bytes = u64::MAX.into();
        }
        line.to_string() + "\n"
    });
    shell.write("largest.jsonl", largest.collect::<String>());
    for words in ["import j.twx largest.jsonl", "merge k.twx j.twx", "merge l.twx j.twx --attach"] {
        let done = shell.run(&format!("{words} --json")).succeeds();
        assert_eq!((done.counted("added"), done.counted("bytes")), (2, u64::MAX), "{words}");
    }
}

#[test]
fn what_another_program_writes_can_be_imported() {
    let shell = Shell::with(&[("old", "a text that is long enough to be cut")]);
    let export = exported(&shell, "i.twx");
    let mut lines: Vec<Value> =
        export.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for field in ["set_code", "text_hash", "text_bytes", "inserted"] {
        lines[1].as_object_mut().expect("an object").remove(field);
    }
    lines[1]["id"] = "new".into();
    lines[1]["whatever"] = true.into();
    let input = lines.iter().map(|line| line.to_string() + "\n").collect::<String>();
    let done = shell.pipe("import i.twx --json", input.clone()).succeeds();
    assert_eq!(done.counted("added"), 1);
    let again = shell.pipe("import i.twx --json", input).succeeds();
    assert_eq!(again.counted("unchanged"), 1);
    let pairs = shell.run("pairs i.twx -q").succeeds();
    assert_eq!((pairs.column(0), pairs.column(1)), (vec!["new"], vec!["old"]));
}

#[test]
fn an_export_to_a_file_replaces_it_whole_or_not_at_all() {
    let shell = filled();
    shell.write("out.jsonl", "old");
    shell.run("export no.twx -o out.jsonl").fails_with("no.twx: no such index");
    assert_eq!(shell.read("out.jsonl"), b"old");
    shell.run("export i.twx -q -o out.jsonl").succeeds();
    assert_eq!(shell.read("out.jsonl"), exported(&shell, "i.twx").as_bytes());
    shell.run("export i.twx -o i.twx").fails_with("it is the index itself");
    shell.run("export i.twx -o .").fails_with(".: ");
    shell.run("export i.twx -o no/out.jsonl").fails_with("no/out.jsonl: ");
    let mut names = shell.names();
    names.sort();
    assert_eq!(names, ["i.twx", "out.jsonl"]);
}

#[cfg(target_os = "linux")]
#[test]
fn an_export_says_when_nobody_takes_it() {
    let shell = filled();
    for words in ["-o /dev/full", "> /dev/full"] {
        let done = shell.sh(&format!("$TWINDEX export i.twx -q {words}"));
        done.fails_with("No space left on device");
    }
    assert!(std::path::Path::new("/dev/full").exists());
    let mut running = shell.start("export i.twx");
    assert!(running.read_a_line_and_close().starts_with("{\"twindex_export\":1,"));
    let done = running.finish();
    assert_eq!(done.status, 0, "{done:?}");
}

#[test]
fn an_empty_text_is_copied_as_one() {
    let (one, _, _) = alike();
    let shell = Shell::with(&[("empty", ""), ("one", &one)]);
    shell.run("export i.twx -q -o out.jsonl").succeeds();
    shell.run("import a:8.twx out.jsonl -q").succeeds();
    shell.run("merge merged.twx i.twx -q").succeeds();
    for name in ["a:8.twx", "merged.twx"] {
        assert_eq!(exported(&shell, name).as_bytes(), shell.read("out.jsonl"));
        let done = shell.pipe(&format!("add {name} --json -"), jsonl(&[("empty", "")])).succeeds();
        assert_eq!(done.counted("unchanged"), 1);
        assert_eq!(shell.run(&format!("check {name} -q")).status, 0);
    }
}
