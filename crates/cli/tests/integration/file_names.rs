//! Files that lose their names, names that are links, and two commands that write one file.

use crate::command::{Running, Shell, jsonl, lines};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::thread::sleep;
use std::time::Duration;

#[test]
fn adding_to_an_index_that_is_deleted_or_moved_meanwhile_is_an_error() {
    for change in ["rm i.twx", "mv i.twx moved.twx", "cp i.twx c.twx && mv c.twx i.twx"] {
        let shell = Shell::with(&[("a", "a first text")]);
        let mut add = shell.start("add i.twx --wait 60 --format lines --id-prefix p -");
        add.send("a second text\n");
        // It has opened the index when nobody else can write.
        while !shell.run("remove i.twx none").stderr.contains("in use by another process") {
            assert!(add.is_running());
            sleep(Duration::from_millis(5));
        }
        shell.sh(change).succeeds();
        let done = add.finish();
        assert_eq!(done.status, 2, "{change}: {done:?}");
        assert!(done.stderr.contains("was moved, deleted or replaced while"), "{done:?}");
        assert!(!done.stderr.contains("added 1"), "{change}: {done:?}");
        if change.starts_with("mv") {
            let listed = shell.run("list moved.twx").succeeds().stdout;
            // It may lose the name while it still opens the file, before the first document.
            let went = done.stderr.contains("what was committed went to that file");
            assert!(went || done.stderr.contains("nothing was written"), "{done:?}");
            assert_eq!(listed, if went { "a\np:1\n" } else { "a\n" }, "{done:?}");
        }
    }
}

#[test]
fn every_command_tells_of_a_link_to_no_file_in_the_same_words() {
    let shell = Shell::new();
    symlink("nowhere.twx", shell.path("link.twx")).expect("a link");
    shell.write("in", "a text\n");
    for words in ["create link.twx", "add link.twx in", "info link.twx", "dedup link.twx in -o out"]
    {
        shell.run(words).fails_with("link.twx: not a twindex index: it is a link to nowhere.twx");
    }
    assert!(!shell.path("nowhere.twx").exists() && !shell.path("out").exists());
}

#[test]
fn the_partial_output_of_dedup_is_never_a_link() {
    for link in ["out.part", "out.removed.part"] {
        let shell = Shell::new();
        shell.write("in", lines(3));
        shell.write("precious", "of somebody else");
        symlink("precious", shell.path(link)).expect("a link");
        let done = shell.run("dedup i.twx --format lines in -o out");
        done.fails_with(&format!("{link}: is a link"));
        assert_eq!(shell.read("precious"), b"of somebody else");
        assert!(!shell.path("out").exists());
    }
}

#[test]
fn a_second_run_of_dedup_to_the_same_output_is_refused() {
    let shell = Shell::new();
    shell.write("in", lines(3));
    let mut first = shell.start("dedup 1.twx --format lines --batch 1 -v - -o out --id-prefix p");
    first.send(&lines(2));
    first.wait_for("committed");
    let second = shell.run("dedup 2.twx --format lines in -o out");
    assert_eq!(second.status, 2, "{second:?}");
    assert!(second.stderr.contains("out.part: another run is writing it"), "{second:?}");
    first.finish().succeeds();
    assert_eq!(shell.read("out"), lines(2).as_bytes());
    shell.run("dedup 2.twx -q --format lines in -o out").succeeds();
    assert_eq!(shell.read("out"), lines(3).as_bytes());
}

/// The folders of dry runs.
fn dry_runs(shell: &Shell) -> Vec<String> {
    let entries = fs::read_dir(shell.path("tmp")).expect("a folder");
    entries.map(|entry| entry.expect("one").file_name().into_string().expect("UTF-8")).collect()
}

/// A dry run that has copied the index and waits for its input.
fn begun_dry_run(shell: &Shell) -> (Running, String) {
    let before = dry_runs(shell);
    let tmp = shell.path("tmp");
    let words = "dedup i.twx --dry-run --format lines -";
    let run = shell.start_in_environment(words, &[("TMPDIR", tmp.to_str().expect("UTF-8"))]);
    loop {
        let new = dry_runs(shell).into_iter().find(|name| !before.contains(name));
        if let Some(name) = new.filter(|name| tmp.join(name).join("trial.twx").exists()) {
            return (run, name);
        }
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn nobody_else_can_read_the_copy_of_a_dry_run_and_the_next_run_removes_what_a_killed_one_left() {
    let shell = Shell::with(&[("a", "a text")]);
    fs::create_dir(shell.path("tmp")).expect("a folder");
    fs::set_permissions(shell.path("i.twx"), fs::Permissions::from_mode(0o666)).expect("set");
    let (first, folder) = begun_dry_run(&shell);
    let mode = |name: &str| {
        let found = fs::metadata(shell.path("tmp").join(&folder).join(name)).expect("there");
        found.permissions().mode() & 0o777
    };
    assert_eq!((mode("."), mode("trial.twx")), (0o700, 0o600));
    assert!(first.kill_on_the_way());
    assert_eq!(dry_runs(&shell), [folder]);

    fs::create_dir(shell.path("tmp/mine")).expect("a folder");
    symlink("mine", shell.path("tmp/twindex-dry-run-link")).expect("a link");
    let (second, second_folder) = begun_dry_run(&shell);
    let (third, third_folder) = begun_dry_run(&shell);
    let mut left = dry_runs(&shell);
    left.sort();
    let mut expected =
        vec!["mine".to_owned(), "twindex-dry-run-link".into(), second_folder, third_folder];
    expected.sort();
    assert_eq!(left, expected, "what is in use stays");
    second.finish().succeeds();
    third.finish().succeeds();
    assert_eq!(dry_runs(&shell).len(), 2);
}

#[test]
fn pages_and_pictures_replace_a_link_and_leave_alone_what_it_leads_to() {
    let shell = Shell::new();
    shell.write("precious", "of somebody else");
    fs::create_dir(shell.path("man1")).expect("a folder");
    for link in ["man1/twindex.1", "curve.svg"] {
        symlink(shell.path("precious"), shell.path(link)).expect("a link");
    }
    shell.run("man man1").succeeds();
    shell.run("plan --svg curve.svg -q").succeeds();
    assert_eq!(shell.read("precious"), b"of somebody else");
    assert!(shell.read("man1/twindex.1").starts_with(b".ie"));
    assert!(shell.read("curve.svg").starts_with(b"<svg"));
}

#[test]
fn the_limit_of_the_size_of_files_is_an_error_of_writing() {
    let shell = Shell::new();
    shell.write("in", lines(20_000));
    let created = shell.sh("ulimit -f 10; $TWINDEX create i.twx");
    created.fails_with("File too large");
    assert_eq!(shell.names(), ["in"]);
    shell.pipe("add i.twx -q --format jsonl -", jsonl(&[("a", "a text")])).succeeds();
    let blocks = shell.read("i.twx").len() / 512 + 100;
    let added = shell.sh(&format!("ulimit -f {blocks}; $TWINDEX add i.twx --format lines in -q"));
    added.fails_with("File too large");
    assert_eq!(shell.ids().first().map(String::as_str), Some("a"));
    shell.assert_clean();
}

#[test]
fn a_signature_that_is_not_that_of_the_text_beside_it_is_a_bad_record() {
    let shell = Shell::new();
    let documents = jsonl(&[("a", "one text of some length"), ("b", "quite another text")]);
    shell.pipe("add i.twx -q --store-text --format jsonl -", documents).succeeds();
    let export = shell.run("export i.twx -q").succeeds().stdout;
    let signature = |line: &str| {
        let fields: serde_json::Value = serde_json::from_str(line).expect("JSON");
        fields["signature"].as_str().expect("a signature").to_owned()
    };
    let all: Vec<&str> = export.lines().collect();
    let forged = all[1].replace(&signature(all[1]), &signature(all[2]));
    let forged = [all[0], &forged, all[2]].join("\n") + "\n";
    for (index, header) in [("kept.twx", "true"), ("plain.twx", "false")] {
        let store = "\"store_text\":";
        let lines = forged.replace(&format!("{store}true"), &format!("{store}{header}"));
        let done = shell.pipe(&format!("import {index} --json -"), lines);
        assert_eq!((done.status, done.counted("added"), done.counted("failed")), (2, 1, 1));
        assert!(done.stderr.contains(":2: `signature` is not that of `text`"), "{done:?}");
        assert_eq!(shell.run(&format!("list {index}")).succeeds().stdout, "b\n");
    }
}
