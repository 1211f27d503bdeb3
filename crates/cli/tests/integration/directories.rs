//! Which files of a directory are read.

use crate::command::Shell;
use crate::packing::Packing;

fn tree() -> Shell {
    let shell = Shell::new();
    for name in
        ["d/a.txt", "d/b.md", "d/.hidden.txt", "d/.git/c.txt", "d/sub/c.txt", "d/sub/skip.txt"]
    {
        shell.write(name, name);
    }
    shell.write("d/.gitignore", "skip.txt\n");
    shell
}

#[track_caller]
fn read(options: &[&str], ids: &[&str]) {
    let shell = tree();
    let args = [&["add", "i.twx", "d"], options].concat();
    shell.args(&args, "").succeeds();
    assert_eq!(shell.ids(), ids, "{options:?}");
}

#[test]
fn hidden_files_are_read_if_asked() {
    read(&[], &["d/a.txt", "d/b.md", "d/sub/c.txt"]);
    read(
        &["--hidden", "--glob", "!.git"],
        &["d/.gitignore", "d/.hidden.txt", "d/a.txt", "d/b.md", "d/sub/c.txt"],
    );
}

#[test]
fn marks_of_jobs_are_no_texts() {
    let shell = Shell::new();
    shell.write("d/part-0.jsonl", "{\"id\":\"a\",\"text\":\"a text\"}\n");
    shell.write("d/day=1/part-1.jsonl", "{\"id\":\"b\",\"text\":\"another text\"}\n");
    for mark in ["_SUCCESS", "_metadata", "day=1/_SUCCESS", "_committed_77", "_started_77"] {
        shell.write(&format!("d/{mark}"), "");
    }
    shell.write("d/_index.jsonl", "{\"id\":\"c\",\"text\":\"a third text\"}\n");
    // Names that only begin like marks are not.
    shell.write("d/_started_posts.jsonl", "{\"id\":\"d\",\"text\":\"a fourth text\"}\n");
    shell.write("d/_metadata_of/x.jsonl", "{\"id\":\"e\",\"text\":\"a fifth text\"}\n");
    shell.run("dedup i.twx d -q -o out/").succeeds();
    assert_eq!(shell.ids(), ["c", "e", "d", "b", "a"]);
    let all = shell.run("add all.twx --hidden --json d").succeeds();
    assert_eq!(all.counted("added"), 10);
    shell.write("d/_committed_vacuum42", "");
    let all = shell.args(&["add", "some.twx", "--json", "d", "-g", "d/**"], "").succeeds();
    assert_eq!(all.counted("added"), 5, "no glob selects them");
}

#[test]
fn what_tells_of_a_dataset_is_no_text() {
    let shell = Shell::new();
    shell.write("d/dataset_dict.json", "{\"splits\": [\"train\"]}");
    shell.write("d/train/data.jsonl", "{\"id\":\"a\",\"text\":\"a text\"}\n");
    shell.write("d/train/dataset_info.json", "{\n}");
    shell.write("d/train/state.json", "{\n}");
    // One of the two names alone may be anybody's.
    shell.write("d/other/state.json", "{\n}");
    shell.write("d/more/dataset_info.json", "{\n}");
    shell.run("add i.twx d").succeeds();
    assert_eq!(shell.ids(), ["d/more/dataset_info.json", "d/other/state.json", "a"]);
}

#[test]
fn globs_choose_and_exclude() {
    // What a glob chooses is read though it is hidden or ignored, as ripgrep does.
    read(&["-g", "*.txt"], &["d/.hidden.txt", "d/a.txt", "d/sub/c.txt", "d/sub/skip.txt"]);
    read(&["-g", "*.md", "-g", "a.*"], &["d/a.txt", "d/b.md"]);
    read(&["--glob", "!*.md"], &["d/a.txt", "d/sub/c.txt"]);
    read(&["--glob", "!d/sub/**"], &["d/a.txt", "d/b.md"]);
}

#[test]
fn a_glob_does_not_leave_out_a_file_that_is_named() {
    let shell = tree();
    shell.args(&["add", "i.twx", "d/b.md", "-g", "*.txt"], "").succeeds();
    assert_eq!(shell.ids(), ["d/b.md"]);
}

#[test]
fn an_invalid_glob_is_an_error() {
    let done = Shell::new().args(&["add", "i.twx", "-g", "a[", "."], "");
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.contains("--glob") && done.stderr.contains("a["), "{done:?}");
}

#[test]
fn files_in_a_directory_may_be_compressed() {
    let shell = Shell::new();
    for (name, packing) in [("a", Packing::Plain), ("b.gz", Packing::Gzip), ("c", Packing::Zstd)] {
        shell.write(&format!("d/{name}"), packing.pack("the same text"));
    }
    shell.run("add i.twx d").succeeds();
    assert_eq!(shell.run("pairs i.twx --threshold 1").succeeds().stdout.lines().count(), 3);
}

#[test]
fn the_index_is_left_out_wherever_it_lies() {
    let shell = Shell::new();
    shell.write("d/a.txt", "some text");
    for index in ["d/i.twx", "d/sub/i.twx", "d/sub/other name"] {
        std::fs::create_dir_all(shell.path("d/sub")).expect("a folder");
        shell.args(&["add", index, "d"], "").succeeds();
        shell.args(&["add", index, ".", "--hidden"], "").succeeds();
        std::fs::remove_file(shell.path(index)).expect("removed");
    }
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::symlink;

    fn linked() -> Shell {
        let shell = Shell::new();
        shell.write("d/a.txt", "a");
        shell.write("elsewhere/b.txt", "b");
        symlink("../elsewhere", shell.path("d/link")).expect("a link");
        symlink("../elsewhere/b.txt", shell.path("d/z.txt")).expect("a link");
        shell
    }

    #[test]
    fn symbolic_links_are_followed_if_asked() {
        let shell = linked();
        shell.run("add i.twx d").succeeds();
        assert_eq!(shell.ids(), ["d/a.txt"]);
        shell.run("add i.twx --follow d").succeeds();
        assert_eq!(shell.ids(), ["d/a.txt", "d/link/b.txt", "d/z.txt"]);
    }

    #[test]
    fn a_link_that_leads_back_is_reported_and_the_rest_goes_on() {
        let shell = linked();
        symlink("../d", shell.path("d/loop")).expect("a link");
        symlink("nowhere", shell.path("d/broken")).expect("a link");
        let done = shell.run("add i.twx --json --follow d");
        assert_eq!((done.status, done.counted("failed"), done.counted("added")), (2, 2, 3));
        assert!(done.stderr.contains("twindex: d/broken: No such file"), "{done:?}");
        assert!(done.stderr.contains("twindex: d/loop: a symbolic link back to "), "{done:?}");
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_not_said_to_have_hidden_files_only() {
        let shell = Shell::new();
        std::fs::create_dir(shell.path("d")).expect("a folder");
        symlink("nowhere", shell.path("d/broken")).expect("a link");
        let done = shell.run("add i.twx --follow d");
        assert_eq!(done.status, 2, "{done:?}");
        assert!(done.stderr.contains("d/broken: No such file"), "{done:?}");
        assert!(!done.stderr.contains("has no file to read"), "{done:?}");
    }

    #[test]
    fn a_link_to_the_index_is_left_out_too() {
        let shell = linked();
        shell.run("create elsewhere/i.twx").succeeds();
        symlink("../elsewhere/i.twx", shell.path("d/index")).expect("a link");
        shell.run("add elsewhere/i.twx --follow d").succeeds();
        assert_eq!(shell.run("list elsewhere/i.twx").succeeds().stdout.lines().count(), 3);
    }
}

#[test]
fn a_directory_in_which_nothing_is_read_is_named() {
    let shell = Shell::new();
    shell.write("d/a.txt", "some text");
    let none = shell.run("add i.twx d --glob *.md").succeeds();
    assert!(none.stderr.starts_with("twindex: d: has no file to read"), "{none:?}");
    let one = shell.run("add i.twx d --glob *.txt").succeeds();
    assert!(one.stderr.starts_with("added 1 document"), "{one:?}");
}

#[test]
fn an_output_replaces_no_file_of_a_folder_that_is_read() {
    let shell = Shell::new();
    let line = |id: &str| format!("{{\"id\":\"{id}\",\"text\":\"{}\"}}\n", id.repeat(30));
    shell.write("in/a.jsonl", line("a"));
    shell.write("in/b.jsonl", line("b"));
    for command in
        ["dedup i.twx in -o in/a.jsonl", "dedup i.twx in -o out.jsonl --removed in/a.jsonl"]
    {
        let done = shell.run(command);
        assert!(done.status == 2 && done.stderr.contains("in/a.jsonl: is an input"), "{done:?}");
        assert_eq!(shell.read("in/a.jsonl"), line("a").as_bytes());
    }
    // What an earlier run has written there is replaced.
    for _ in 0..2 {
        shell.run("dedup i.twx in -o in/kept.jsonl").succeeds();
        assert_eq!(String::from_utf8_lossy(&shell.read("in/kept.jsonl")).lines().count(), 2);
        shell.write("in/c.jsonl", line("b").replacen("\"b\"", "\"c\"", 1));
    }
}

#[test]
fn what_the_command_writes_into_a_folder_below_is_not_read() {
    let shell = Shell::new();
    let lines: String = (0..20_000)
        .map(|n| format!("{{\"id\":\"{n}\",\"text\":\"text {n} of its own {}\"}}\n", n * n))
        .collect();
    shell.write("data/a.jsonl", lines);
    shell.write("data/out/.keep", "");
    for _ in 0..3 {
        let done = shell
            .run("dedup data/out/i.twx data -o data/out/kept.jsonl --removed data/out/gone --json")
            .succeeds();
        assert_eq!(done.counted("added") + done.counted("duplicates"), 20_000);
        for name in ["i.twx", "kept.jsonl", "gone"] {
            std::fs::remove_file(shell.path(&format!("data/out/{name}"))).expect("removed");
        }
    }
}

#[test]
fn two_folders_of_one_name_are_read_together_if_a_hash_names_the_records() {
    let shell = Shell::new();
    shell.write("docs/a.jsonl", "{\"text\":\"one text\"}\n");
    shell.write("other/docs/a.jsonl", "{\"text\":\"another\"}\n{\"text\":\"one text\"}\n");
    let named = shell.run("add named.twx docs other/docs");
    let told = "other/docs: has the same name as another folder of this run";
    assert!(named.status == 2 && named.stderr.contains(told), "{named:?}");
    let hashed = shell.run("dedup i.twx docs other/docs --id hash -o kept --json").succeeds();
    assert_eq!((hashed.counted("added"), hashed.counted("duplicates")), (2, 1), "{hashed:?}");
    assert!(hashed.stdout.contains("\"record\":\"other/docs/a.jsonl:2\""), "{hashed:?}");
}
