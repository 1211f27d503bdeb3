//! The name of an output says what it holds, and is refused if that is something else.

use crate::command::{Shell, jsonl};

fn shell() -> Shell {
    let shell = Shell::new();
    shell.write("in.jsonl", jsonl(&[("a", "one text of several words"), ("b", "another, quite")]));
    shell.write("in.csv", "id,text\na,one text of several words\n");
    shell
}

#[test]
fn records_are_not_written_under_the_name_of_another_format() {
    let shell = shell();
    shell.write("in.tsv", "id\ttext\na\tone text of several words\n");
    shell.write("texts/a.txt", "one text");
    shell.write("in.fa", ">a\nACGTACGTAC\n");
    shell.write(
        "in.warc",
        "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <a>\r\nContent-Length: 8\r\n\r\n\
         one text\r\n\r\n",
    );
    for (input, out, extension) in [
        ("in.jsonl", "out.csv", ".jsonl"),
        ("in.jsonl", "out.TSV", ".jsonl"),
        ("in.jsonl", "out.csv.gz", ".jsonl"),
        ("in.jsonl", "out.xlsx", ".jsonl"),
        ("in.csv", "out.jsonl", ".csv"),
        ("in.csv", "out.tsv", ".csv"),
        ("in.csv", "out.ndjson.zst", ".csv"),
        ("in.tsv", "out.csv", ".tsv"),
        ("texts", "out.jsonl", ".txt"),
        ("--format lines in.csv", "out.jsonl", ".txt"),
        ("--shingle kmer:5 --per-record in.fa", "out.csv", ".fa"),
        ("in.warc", "out.jsonl", ".warc"),
    ] {
        let done = shell.run(&format!("dedup i.twx {input} -o {out}"));
        done.fails_with(&format!("{out}: its name says another format;"));
        assert!(done.stderr.contains(&format!("end the name in {extension}")), "{done:?}");
        assert!(!shell.path("i.twx").exists() && !shell.path(out).exists(), "{out}");
    }
    for (input, out) in [
        ("in.jsonl", "out.txt"),
        ("in.jsonl", "out"),
        ("in.jsonl", "out.ndjson.gz"),
        ("in.csv", "out.tab"),
        ("in.csv", "out.csv.zst"),
        ("in.tsv", "out.tsv"),
        ("--format lines in.csv", "same.csv"),
    ] {
        shell.run(&format!("dedup {out}.twx {input} -o {out}")).succeeds();
    }
}

#[test]
fn an_audit_and_results_are_not_written_under_the_name_of_another_format() {
    let shell = shell();
    for audit in ["audit.csv", "audit.tsv.gz", "audit.parquet", "audit.xlsx"] {
        let done = shell.run(&format!("dedup i.twx in.jsonl -o out --removed {audit}"));
        done.fails_with("its name says another format than an audit can have; end it in .jsonl");
    }
    let both = shell.run("dedup i.twx in.jsonl -o - --removed /dev/stdout");
    both.fails_with("standard output cannot take both the output and the audit");
    shell.run("add i.twx -q in.jsonl").succeeds();
    for (command, file) in [
        ("list", "pairs.xlsx"),
        ("list", "pairs.orc"),
        ("pairs", "pairs.SQLITE.gz"),
        ("export", "x.xlsx"),
        ("export", "x.csv"),
    ] {
        shell.run(&format!("{command} i.twx -o {file}")).fails_with("says another format than");
        assert!(!shell.path(file).exists());
    }
}

#[test]
fn standard_output_has_other_names() {
    let shell = shell();
    let printed = String::from_utf8(shell.read("in.jsonl")).expect("UTF-8");
    shell.write("twice.jsonl", printed.clone() + &printed.replace("\"a\"", "\"c\""));
    for (number, out) in ["-", "/dev/stdout", "/dev/fd/1"].into_iter().enumerate() {
        let done = shell.run(&format!("dedup {number}.twx twice.jsonl -q -o {out}")).succeeds();
        assert_eq!(done.stdout, printed, "only what is kept goes to {out}");
        let listed = shell.run(&format!("list {number}.twx -o {out}")).succeeds();
        assert_eq!(listed.stdout, "a\nb\n", "{out}");
    }
}

#[test]
fn records_without_ids_in_a_file_of_the_same_name_are_told() {
    let shell = Shell::new();
    let delivery = |from: u64| {
        let words = |n: u64| (0..9).map(move |word| format!("w{} ", n * 31 + word));
        (from..from + 4)
            .map(move |n| format!("{{\"text\":\"{}\"}}\n", words(n).collect::<String>()))
    };
    let told = "4 records without an id replaced earlier ones";
    let words = "dedup i.twx new.jsonl --removed gone -o";
    shell.write("new.jsonl", delivery(0).collect::<String>());
    let first = shell.run(&format!("{words} one")).succeeds();
    assert!(!first.stderr.contains("without an id"), "{first:?}");
    let again = shell.run(&format!("{words} one-more")).succeeds();
    assert!(!again.stderr.contains("without an id"), "the same records: {again:?}");
    shell.write("new.jsonl", delivery(10).collect::<String>());
    for keep in ["", " --keep longest"] {
        let copy = shell.copy();
        let second = copy.run(&format!("{words} two{keep}")).succeeds();
        assert!(second.stderr.contains(told) && second.stderr.contains("--id hash"), "{second:?}");
    }
    let by_hash = shell.run(&format!("{words} three --id hash")).succeeds();
    assert!(!by_hash.stderr.contains("without an id"), "{by_hash:?}");
}

#[test]
fn a_list_of_ids_that_is_json_is_told() {
    let shell = shell();
    shell.run("add i.twx -q in.jsonl").succeeds();
    let done = shell.run("remove i.twx --ids-from in.jsonl").succeeds();
    assert!(done.stderr.contains("in.jsonl: its lines are JSON") && done.stderr.contains("jq"));
    // Such an id may be one.
    shell.run("add i.twx -q --format lines in.jsonl").succeeds();
    shell.write("strange", jsonl(&[("{\"id\":1}", "a text of its own")]));
    shell.pipe("add i.twx -q -", shell.read("strange")).succeeds();
    let done = shell.pipe("remove i.twx --ids-from -", "{\"id\":1}\n").succeeds();
    assert_eq!(done.stderr, "removed 1 document\n");
}

#[test]
fn no_output_replaces_the_records_that_were_read() {
    let shell = shell();
    shell.write("r/r.jsonl", "{\"id\":\"a\",\"text\":\"a text\",\"score\":1}\n");
    shell.run("add i.twx -q r/r.jsonl").succeeds();
    let before = shell.read("r/r.jsonl");
    for command in [
        "report i.twx -o r/r.jsonl --keep max:score --records r/r.jsonl",
        "report i.twx -o r/r.jsonl --keep max:score --records r",
        "clusters i.twx --report r/r.jsonl --keep max:score --records r",
        "clusters i.twx -o r/r.jsonl --keep max:score --records r/r.jsonl",
        "query i.twx -o r/r.jsonl r",
        "plan --sample r/r.jsonl --svg r/r.jsonl",
    ] {
        let done = shell.run(command);
        assert!(done.status == 2 && done.stderr.contains("is an input"), "{command}: {done:?}");
        assert!(shell.read("r/r.jsonl") == before, "{command}");
    }
}

#[test]
fn no_output_replaces_an_index() {
    let shell = shell();
    for index in ["i.twx", "j.twx"] {
        shell.run(&format!("add {index} -q --passages 10 --store-text in.jsonl")).succeeds();
    }
    let (other, names) = (shell.read("j.twx"), shell.names());
    for command in [
        "dedup i.twx in.jsonl -o j.twx",
        "dedup i.twx in.jsonl -o out --removed j.twx",
        "dedup i.twx in.jsonl -o out --report j.twx",
        "dedup new.twx in.jsonl -o out --report j.twx",
        "screen i.twx in.jsonl -o j.twx",
        "pairs i.twx -o j.twx",
        "passages i.twx -o j.twx",
        "export i.twx -o j.twx",
        "clusters i.twx --report j.twx",
        "report i.twx -o j.twx",
        "plan --svg j.twx",
    ] {
        let done = shell.run(command);
        assert!(done.status == 2 && done.stderr.contains("is an index"), "{command}: {done:?}");
        assert!(shell.read("j.twx") == other, "{command}");
        // It is refused before anything is done.
        assert!(shell.names() == names && done.stdout.is_empty(), "{command}: {done:?}");
    }
}

#[cfg(unix)]
#[test]
fn results_are_written_through_a_link() {
    let shell = shell();
    shell.run("add i.twx -q in.jsonl").succeeds();
    shell.write("target", "");
    std::os::unix::fs::symlink("target", shell.path("link")).expect("a link");
    shell.run("list i.twx -o link").succeeds();
    assert!(shell.path("link").is_symlink());
    let only_owner = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(shell.path("target"), only_owner).expect("permissions");
    shell.run("list i.twx -o link").succeeds();
    let found = shell.path("target").metadata().expect("it is there").permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&found) & 0o777, 0o600);
    assert_eq!(shell.read("target"), b"{\"id\":\"a\"}\n{\"id\":\"b\"}\n");

    // Also if there is nothing yet.
    for (link, leads_to) in [("first", "second"), ("second", "made"), ("astray", "no/folder")] {
        std::os::unix::fs::symlink(leads_to, shell.path(link)).expect("a link");
    }
    shell.run("list i.twx -o first").succeeds();
    assert!(shell.path("first").is_symlink() && shell.path("second").is_symlink());
    assert_eq!(shell.read("made"), shell.read("target"));
    shell.run("list i.twx -o astray").fails_with("astray: No such file or directory");
    let before = shell.names();
    let deleted = shell.sh("exec 5>gone; rm gone; $TWINDEX list i.twx -o /dev/fd/5");
    deleted.fails_with("/dev/fd/5: No such file or directory");
    assert_eq!(shell.names(), before);
    for (link, leads_to) in [("round", "about"), ("about", "round")] {
        std::os::unix::fs::symlink(leads_to, shell.path(link)).expect("a link");
    }
    for command in ["list i.twx -o round", "dedup i.twx -q --format lines -o round target"] {
        shell.run(command).fails_with("round: Too many levels of symbolic links");
        assert!(shell.path("round").is_symlink() && shell.path("about").is_symlink());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_in_shared_memory_is_a_file_and_a_pipe_by_its_number_a_stream() {
    if !std::path::Path::new("/dev/shm").is_dir() {
        return;
    }
    let shell = shell();
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
    let out = folder.path().join("out");
    let words = format!("dedup i.twx in.jsonl --json -o {}", out.display());
    for finished in [false, true] {
        assert_eq!(shell.run(&words).succeeds().summary()["already_finished"], finished);
    }
    assert_eq!(std::fs::read(out).expect("a file"), shell.read("in.jsonl"));
    let piped = "$TWINDEX dedup j.twx in.jsonl -q -o /proc/self/fd/3 3>&1 >gone | cat";
    assert_eq!(shell.sh(piped).succeeds().stdout.as_bytes(), shell.read("in.jsonl"));
}
