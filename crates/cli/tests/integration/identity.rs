//! What is the same document: folders of shards, records without ids, other spellings of a path.

use crate::command::{Shell, jsonl};
use crate::packing::Packing;
use crate::support::text;

#[test]
fn a_folder_of_shards_is_read_as_the_same_files_by_name() {
    let shell = Shell::new();
    shell.write("d/a.jsonl", jsonl(&[("a1", "first"), ("a2", "second")]));
    shell.write("d/b.ndjson.gz", Packing::Gzip.pack(jsonl(&[("b1", "third")])));
    shell.write("d/c.csv", "id,text\nc1,fourth\nc2,fifth\n");
    shell.write("d/d.tsv.zst", Packing::Zstd.pack("id\ttext\nd1\tsixth\n"));
    shell.write("d/e.txt", "a text by itself");
    shell.write("d/sub/f.json", jsonl(&[("f1", "seventh"), ("f2", "eighth")]));
    shell.write("d/sub/g.md", "the last text");
    shell.run("add i.twx d").succeeds();
    let ids = ["a1", "a2", "b1", "c1", "c2", "d1", "d/e.txt", "f1", "f2", "d/sub/g.md"];
    assert_eq!(shell.ids(), ids);
    let files = "d/a.jsonl d/b.ndjson.gz d/c.csv d/d.tsv.zst d/e.txt d/sub/f.json d/sub/g.md";
    let again = shell.run(&format!("add i.twx --json {files}")).succeeds();
    assert_eq!(again.counted("unchanged"), 10, "{again:?}");
    let asked = shell.run("add text.twx --format text --json d").succeeds();
    assert_eq!(asked.counted("added"), 7, "each file is one text if --format says so");
}

#[test]
fn many_texts_and_shards_in_one_folder_keep_their_order() {
    let shell = Shell::new();
    let mut ids = Vec::new();
    for n in 0..300 {
        if n % 7 == 3 {
            shell.write(&format!("d/{n:03}.jsonl"), jsonl(&[(&format!("j{n}"), "some text")]));
            ids.push(format!("j{n}"));
        } else {
            shell.write(&format!("d/{n:03}.txt"), "some text");
            ids.push(format!("d/{n:03}.txt"));
        }
    }
    shell.run("add i.twx d").succeeds();
    assert_eq!(shell.ids(), ids);
}

#[test]
fn a_folder_of_shards_is_deduplicated_into_lines() {
    let shell = Shell::new();
    let (one, two) = (jsonl(&[("a", &text(1, 0, 40))]), jsonl(&[("b", &text(2, 0, 40))]));
    shell.write("d/1.jsonl", &one);
    shell.write("d/2.jsonl.gz", Packing::Gzip.pack(format!("{two}{one}")));
    shell.run("dedup i.twx -q d -o out").succeeds();
    assert_eq!(shell.read("out"), (one + &two).as_bytes());
}

#[test]
fn records_without_ids_in_files_are_named_by_their_line() {
    let shell = Shell::new();
    shell.write(
        "d/a.jsonl",
        "{\"text\":\"first\"}\n\n{\"id\":\"own\",\"text\":\"x\"}\n{\"text\":\"y\"}\n",
    );
    shell.run("add i.twx ./d/a.jsonl").succeeds();
    assert_eq!(shell.ids(), ["d/a.jsonl:1", "own", "d/a.jsonl:4"]);
    let again = shell.run("add i.twx --json d").succeeds();
    assert_eq!(again.counted("unchanged"), 3, "{again:?}");
}

#[test]
fn a_hash_names_records_whatever_stands_in_the_place_of_an_id() {
    let shell = Shell::new();
    shell.write("a.jsonl", "{\"id\":null,\"text\":\"x\"}\n{\"text\":\"y\",\"id\":[\"a\"]}\n");
    shell.write("a.csv", b"id,text,id\n1,x,2\n\xff,z,\n");
    shell.write("a.fa", ">\nACGTACGT\n");
    for (file, more, added) in
        [("a.jsonl", "", 2), ("a.csv", "", 2), ("a.fa", " --shingle kmer:5 --per-record", 1)]
    {
        let words = format!("add {file}.twx --json {file}{more}");
        assert_eq!(shell.run(&words).status, 2, "{words}");
        assert_eq!(shell.run(&format!("{words} --id hash")).succeeds().counted("added"), added);
    }
    let named = shell.run("add a.jsonl.twx a.jsonl --id hash --id-field key");
    assert!(named.status == 2 && named.stderr.contains("no field `key`"), "{named:?}");
}

#[test]
fn a_second_dedup_of_a_file_without_ids_keeps_what_the_first_kept() {
    let shell = Shell::new();
    let line = |n: u64| serde_json::json!({"text": text(n / 2, n % 2, 40)}).to_string() + "\n";
    shell.write("a.jsonl", (0..20).map(line).collect::<String>());
    shell.run("dedup i.twx -q a.jsonl -o out").succeeds();
    let first = shell.read("out");
    assert_eq!(first.split_inclusive(|byte| *byte == b'\n').count(), 10);
    shell.run("dedup i.twx -q a.jsonl -o out").succeeds();
    assert!(shell.read("out") == first);
}

#[test]
fn a_second_dedup_of_a_stream_without_ids_is_refused_and_leaves_the_output() {
    let shell = Shell::new();
    let stream: String = (0..20).map(|n| text(n / 2, n % 2, 40) + "\n").collect();
    let words = "dedup i.twx -q -o out --removed gone -";
    shell.pipe(words, stream.as_str()).succeeds();
    let (out, gone, names) = (shell.read("out"), shell.read("gone"), shell.names().len());
    for _ in 0..2 {
        for words in [words, "dedup i.twx -q -o out --removed gone --batch 3 -"] {
            let again = shell.pipe(words, stream.as_str());
            again.fails_with("--id-prefix");
            assert!(shell.read("out") == out && shell.read("gone") == gone);
            assert_eq!(shell.names().len(), names, "{:?}", shell.names());
        }
    }
    // One that has anything new, other records, or says that it wants only what is new, runs.
    shell.pipe(words, stream.clone() + &text(99, 0, 40) + "\n").succeeds();
    assert_eq!(shell.read("out"), (text(99, 0, 40) + "\n").as_bytes());
    let some = [1, 3, 4, 8].map(|n| text(n, 0, 40) + "\n").concat();
    shell.pipe(words, some).succeeds();
    assert_eq!(shell.read("out"), b"");
    shell.pipe(&format!("{words} --skip-known"), stream.as_str()).succeeds();
    assert_eq!(shell.read("out"), b"");
    shell
        .pipe(&format!("{words} --dry-run").replace("-o out --removed gone ", ""), stream)
        .succeeds();
}

#[test]
fn a_repeated_stream_is_recognized_behind_duplicates_of_other_streams() {
    let shell = Shell::new();
    let stream = |families: std::ops::Range<u64>| -> String {
        families.map(|n| text(n, 0, 40) + "\n").collect()
    };
    let words = "dedup i.twx -q -o out --removed gone -";
    shell.pipe(words, stream(0..20)).succeeds();
    let second = stream(5..8) + &stream(20..30) + &stream(3..6) + &stream(30..40) + &stream(20..22);
    shell.pipe(words, second.as_str()).succeeds();
    shell.pipe(words, stream(50..60)).succeeds();
    shell.pipe(words, second).fails_with("--id-prefix");
}

#[test]
fn a_stream_with_a_prefix_keeps_the_same_records_again() {
    let shell = Shell::new();
    let stream: String = (0..20).map(|n| text(n / 2, n % 2, 40) + "\n").collect();
    let words = "dedup i.twx -q -o out --id-prefix p -";
    shell.pipe(words, stream.as_str()).succeeds();
    let first = shell.read("out");
    shell.pipe(words, stream.as_str()).succeeds();
    assert!(shell.read("out") == first && !first.is_empty());
}

#[test]
fn other_spellings_of_a_path_are_the_same_document() {
    let shell = Shell::new();
    shell.write("a.txt", "some text");
    shell.write("b/c.txt", "some other text");
    shell.run("add i.twx a.txt b/c.txt").succeeds();
    for words in ["./a.txt b/./c.txt", "b/../a.txt .//b//c.txt", ". b", "b/../b b/../."] {
        let again = shell
            .args(
                &["add", "i.twx", "--json", "-g", "*.txt"]
                    .into_iter()
                    .chain(words.split(' '))
                    .collect::<Vec<_>>(),
                "",
            )
            .succeeds();
        let [added, replaced] = ["added", "replaced"].map(|field| again.counted(field));
        assert_eq!((added, replaced), (0, 0), "{words}: {again:?}");
    }
    assert_eq!(shell.ids(), ["a.txt", "b/c.txt"]);
    let query = shell.run("query i.twx ./a.txt -q");
    assert_eq!((query.status, query.stdout.as_str()), (1, ""), "a document is not its own match");
    shell.run("dedup j.twx . -g *.txt -q -o kept").succeeds();
    assert_eq!(shell.read("kept"), b"a.txt\nb/c.txt\n");
}

#[cfg(unix)]
#[test]
fn a_parent_folder_behind_a_link_is_another_document() {
    let shell = Shell::new();
    shell.write("a.txt", "some text");
    shell.write("elsewhere/a.txt", "some other text");
    shell.write("elsewhere/deep/x", "x");
    std::os::unix::fs::symlink("elsewhere/deep", shell.path("link")).expect("a link");
    shell.run("add i.twx a.txt link/../a.txt").succeeds();
    assert_eq!(shell.ids(), ["a.txt", "link/../a.txt"]);
}
