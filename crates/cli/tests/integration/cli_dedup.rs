//! `twindex dedup`: what is kept, what is removed and why.

use crate::command::{Shell, alike, jsonl};
use crate::support::{Random, text};

/// Records with near duplicates among them, under ids that differ.
fn records(count: u64) -> Vec<(String, String)> {
    let mut random = Random(5);
    let text = |random: &mut Random| text(random.below(count / 3 + 1), random.below(8), 40);
    (0..count).map(|at| (format!("r{at}"), text(&mut random))).collect()
}

fn as_jsonl(records: &[(String, String)]) -> String {
    let records: Vec<_> = records.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    jsonl(&records)
}

#[test]
fn what_is_similar_to_something_earlier_is_removed_and_audited() {
    let shell = Shell::new();
    let (first, like_first, other) = alike();
    let input = jsonl(&[("a", &first), ("b", &like_first), ("c", &other), ("d", &first)]);
    let done = shell.pipe("dedup i.twx -o out.jsonl --removed gone.jsonl --json", input.as_str());
    let done = done.succeeds();
    let kept: String = [0, 2].map(|at| input.split_inclusive('\n').nth(at).unwrap()).concat();
    assert_eq!(String::from_utf8_lossy(&shell.read("out.jsonl")), kept);
    let audit = String::from_utf8(shell.read("gone.jsonl")).expect("UTF-8");
    let lines: Vec<serde_json::Value> =
        audit.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((&lines[0]["id"], &lines[0]["duplicate_of"]), (&"b".into(), &"a".into()));
    assert!(lines[0]["similarity"].as_f64().expect("a number") >= 0.8);
    let exact_copy = serde_json::json!(
        {"id": "d", "duplicate_of": "a", "similarity": 1.0, "exact": false});
    assert_eq!(lines[1..], [exact_copy]);
    assert_eq!((done.counted("added"), done.counted("duplicates")), (2, 2));
    assert_eq!(done.stdout, "", "the audit is in its file");
    assert_eq!(shell.ids(), ["a", "c"]);
    assert_eq!(shell.names().len(), 3, "nothing else is left: {:?}", shell.names());
    shell.assert_clean();
}

#[test]
fn the_audit_is_the_result_where_no_file_is_named() {
    let shell = Shell::new();
    let (first, like_first, _) = alike();
    let input = jsonl(&[("a", &first), ("b", &like_first)]);
    let plain = shell.pipe("dedup i.twx -o out", input.as_str()).succeeds();
    assert_eq!((plain.column(0), plain.column(1)), (vec!["b"], vec!["a"]));
    let again = shell.pipe("dedup i.twx -o out --json", input.as_str()).succeeds();
    assert_eq!(again.json()[0]["duplicate_of"], "a");
    let kept = shell.pipe("dedup i.twx -o - -q", input.as_str()).succeeds();
    assert_eq!(kept.stdout, input.lines().next().unwrap().to_owned() + "\n");
}

#[test]
fn order_decides_whatever_the_threads_and_batches() {
    let records = as_jsonl(&records(400));
    let mut outputs = Vec::new();
    for how in ["--threads 1", "--threads 4", "--batch 1", "--batch 7", "--batch 399"] {
        let shell = Shell::new();
        let words = format!("dedup i.twx -q -o out --removed gone {how}");
        shell.pipe(&words, records.as_str()).succeeds();
        outputs.push((shell.read("out"), shell.read("gone"), shell.ids()));
    }
    assert!(outputs[0].2.len() < 300 && outputs[0].2.len() > 100);
    assert!(outputs.windows(2).all(|two| two[0] == two[1]));
}

#[test]
fn lines_are_written_byte_for_byte_as_they_came() {
    let shell = Shell::new();
    let (first, like_first, other) = alike();
    let input = format!(
        "{{\"x\": [1,  2],\"text\":\"{first}\", \"id\" : 7}}\r\n\n\
         {{\"id\":\"b\",\"text\":\"{like_first}\"}}\r\n\
         {{\"text\":\"{other}\\u00e9\",\"id\":\"c\"}}"
    );
    shell.pipe("dedup i.twx -q -o out --removed gone", input.as_str()).succeeds();
    let lines: Vec<&str> = input.split_inclusive('\n').collect();
    assert_eq!(String::from_utf8_lossy(&shell.read("out")), [lines[0], lines[3]].concat());
    // The last line of an input gets an end when another follows.
    shell.write("1.txt", "one line of text");
    shell.write("2.txt", "another line, of other words\r\n");
    shell.run("dedup l.twx -q --format lines -o out 1.txt 2.txt").succeeds();
    assert_eq!(shell.read("out"), b"one line of text\nanother line, of other words\r\n");
}

#[test]
fn a_table_is_written_header_first_with_its_rows_as_they_came() {
    let shell = Shell::new();
    let (first, like_first, other) = alike();
    let header = "\u{feff}n,id,\"text\"\r\n";
    let rows = [
        format!("1,a,\"{first}\r\nin two \"\"lines\"\"\"\r\n"),
        format!("2,b,\"{like_first}\r\nin two \"\"lines\"\"\"\r\n"),
        format!("3,\"c\",{other}\r\n"),
    ];
    shell.write("in.csv", [header, &rows.concat()].concat());
    let done = shell.run("dedup i.twx in.csv --json -o out.csv").succeeds();
    assert_eq!((done.counted("added"), done.counted("duplicates")), (2, 1));
    let out = [header, &rows[0], &rows[2]].concat();
    assert_eq!(String::from_utf8_lossy(&shell.read("out.csv")), out);
    // Of several tables the header is written once, and they must have the same columns.
    shell.write("more.csv", "\"n\",id,text\n4,d,\"of its own\"\n");
    shell.run("dedup i.twx -q in.csv more.csv -o both.csv").succeeds();
    let both = out + "4,d,\"of its own\"\n";
    assert_eq!(String::from_utf8_lossy(&shell.read("both.csv")), both);
    shell.write("other.csv", "id,text\ne,something else\n");
    let other = shell.run("dedup i.twx -q in.csv other.csv -o x --removed y");
    other.fails_with("other.csv:2: tables with other columns");
    shell.write("gone.csv", [header, &rows[1]].concat());
    shell.run("dedup i.twx -q gone.csv -o none.csv --removed y").succeeds();
    assert_eq!(String::from_utf8_lossy(&shell.read("none.csv")), header);
    shell.write("no-rows.csv", header);
    shell.run("dedup i.twx -q no-rows.csv -o none.csv").succeeds();
    assert_eq!(String::from_utf8_lossy(&shell.read("none.csv")), header);
}

#[test]
fn compressed_input_is_written_as_it_was_before() {
    let shell = Shell::new();
    let input = as_jsonl(&records(60));
    shell.write("in.jsonl", &input);
    shell.write("in.jsonl.zst", zstd::encode_all(input.as_bytes(), 1).expect("compressed"));
    shell.run("dedup i.twx -q in.jsonl -o one --removed gone").succeeds();
    shell.run("dedup j.twx -q in.jsonl.zst -o two --removed gone").succeeds();
    assert_eq!(shell.read("one"), shell.read("two"));
}

#[test]
fn sets_need_an_index_of_tokens() {
    let shell = Shell::new();
    let sets = "a\tone two three four\nb\tfour three two one\n";
    shell.pipe("dedup i.twx --format tokens -o out", sets).fails_with("--shingle token");
    assert!(!shell.path("i.twx").exists() && !shell.path("out.part").exists());
    let words = "dedup i.twx --json --format tokens --shingle token -o out";
    let done = shell.pipe(words, sets).succeeds();
    assert_eq!((done.counted("added"), done.counted("duplicates")), (1, 1));
    assert_eq!(shell.read("out"), b"a\tone two three four\n");
}

#[test]
fn the_paths_of_directories_and_files_are_written() {
    let shell = Shell::new();
    let (first, like_first, other) = alike();
    shell.write("in/1.txt", &first);
    shell.write("in/2.txt", &like_first);
    shell.write("in/sub/3.txt", other);
    shell.run("dedup in/i.twx in -q -o in/kept.txt --removed in/gone").succeeds();
    assert_eq!(shell.read("in/kept.txt"), b"in/1.txt\nin/sub/3.txt\n");
    // Neither the index nor what was written is a document.
    shell.run("dedup in/i.twx in -q -o in/kept.txt --removed in/gone").succeeds();
    assert_eq!(shell.read("in/kept.txt"), b"in/1.txt\nin/sub/3.txt\n");
    shell.write("lines.jsonl", jsonl(&[("x", "y")]));
    let mixed = shell.run("dedup i.twx in/sub lines.jsonl -q -o mixed");
    mixed.fails_with("the paths of whole files and records cannot be written to one file");
    assert!(!shell.path("mixed").exists() && !shell.path("mixed.part").exists());
}

#[test]
fn a_dry_run_takes_what_a_run_to_a_folder_takes() {
    let shell = Shell::new();
    let (first, like_first, other) = alike();
    shell.write("in/a.jsonl", jsonl(&[("a", &first), ("b", &other)]));
    shell.write("in/c.csv", format!("id,text\nc,{}\n", like_first.replace(',', "")));
    for options in ["", " --keep longest", " --report page.html", " -o kept/"] {
        let dry = shell.run(&format!("dedup i.twx in --json --dry-run{options}")).succeeds();
        assert_eq!(dry.counted("duplicates"), 1, "{options}");
    }
    assert!(shell.path("page.html").exists() && !shell.path("kept").exists());
    // One file could not hold them.
    let one = shell.run("dedup i.twx in --dry-run -q -o kept.jsonl");
    one.fails_with("cannot be written to one file; write to a folder, for instance -o kept/");
    let real = shell.run("dedup i.twx in --json -o kept/").succeeds();
    assert_eq!(real.counted("duplicates"), 1);
}

#[test]
fn records_that_replace_others_of_the_run_are_told() {
    let shell = Shell::new();
    let (first, _, other) = alike();
    shell.write("1.jsonl", jsonl(&[("1", &first)]));
    shell.write("2.jsonl", jsonl(&[("1", &other)]));
    shell.write("3.jsonl", jsonl(&[("9", &first)]));
    let told = "1 record replaced earlier ones of this run that have the same id";
    for index in ["new.twx", "old.twx"] {
        shell.write("old.jsonl", jsonl(&[("old", "a text that is like no other of them")]));
        shell.run("dedup old.twx old.jsonl -q -o old").succeeds();
        let words = format!("dedup {index} 1.jsonl 2.jsonl 3.jsonl -o out");
        let done = shell.run(&words).succeeds();
        assert!(done.stderr.contains(told), "{done:?}");
        assert_eq!(shell.read("out").split(|byte| *byte == b'\n').count(), 4);
    }
    let hashed = shell.run("dedup h.twx --id hash 1.jsonl 2.jsonl 3.jsonl -o out").succeeds();
    assert!(!hashed.stderr.contains("same id"), "{hashed:?}");
    assert_eq!(shell.read("out").split(|byte| *byte == b'\n').count(), 3);
    // A document of an earlier run may be replaced.
    shell.run("dedup u.twx 1.jsonl -q -o out").succeeds();
    let updated = shell.run("dedup u.twx 2.jsonl -o out").succeeds();
    assert!(!updated.stderr.contains("same id"), "{updated:?}");
}

#[test]
fn what_is_known_is_written_again_or_left_out() {
    let shell = Shell::new();
    let input = as_jsonl(&records(60));
    let first = shell.pipe("dedup i.twx --json -o one --removed gone-1", input.as_str());
    let kept = first.succeeds().counted("added");
    let second = shell.pipe("dedup i.twx --json -o two --removed gone-2", input.as_str());
    assert_eq!(second.succeeds().counted("unchanged"), kept);
    assert_eq!(shell.read("one"), shell.read("two"));
    let third = shell.pipe("dedup i.twx --json -o three --skip-known", input.as_str()).succeeds();
    assert_eq!((third.counted("unchanged"), shell.read("three")), (kept, Vec::new()));
}

#[test]
fn a_record_that_comes_twice_in_one_input_is_a_duplicate_of_itself() {
    let shell = Shell::new();
    let (first, _, other) = alike();
    let input = jsonl(&[("a", &first), ("b", &other), ("a", &first)]);
    for batch in ["--batch 1", "--batch 10"] {
        let words = format!("dedup i{}.twx --json {batch} -o out", &batch[8..]);
        let done = shell.pipe(&words, input.as_str()).succeeds();
        assert_eq!((done.counted("added"), done.counted("duplicates")), (2, 1));
        assert_eq!(
            (&done.json()[0]["id"], &done.json()[0]["duplicate_of"]),
            (&"a".into(), &"a".into())
        );
    }
}

#[test]
fn an_output_may_be_a_link_a_pipe_or_a_device() {
    let shell = Shell::new();
    let (first, like_first, _) = alike();
    let input = jsonl(&[("a", &first), ("b", &like_first)]);
    let kept = input.lines().next().unwrap().to_owned() + "\n";
    shell.write("in.jsonl", &input);
    let script = "ln -s target link && $TWINDEX dedup i.twx -q in.jsonl -o link && test -L link \
                  && ln -s /proc/self/fd/1 stdout \
                  && $TWINDEX dedup i.twx -q in.jsonl -o stdout --removed gone > captured \
                  && $TWINDEX dedup i.twx -q in.jsonl -o again --removed /dev/null | wc -c \
                  && $TWINDEX dedup i.twx -q in.jsonl -o whole --batch 1 | true";
    let done = shell.sh(script).succeeds();
    assert!(done.stdout.ends_with("0\n"), "{done:?}");
    for name in ["target", "captured", "again", "whole"] {
        assert_eq!(String::from_utf8_lossy(&shell.read(name)), kept, "{name}");
    }
    assert!(!shell.names().iter().any(|name| name.ends_with(".part")), "{:?}", shell.names());
}

#[test]
fn automatic_ids_do_not_depend_on_batches() {
    let texts: Vec<String> = (0..4).map(|family| text(family, 0, 30)).collect();
    let named = |id: &str, at: usize| format!("{{\"id\":\"{id}\",\"text\":\"{}\"}}\n", texts[at]);
    let nameless = |at: usize| format!("{{\"text\":\"{}\"}}\n", texts[at]);
    let input = [nameless(0), nameless(1), named("#3", 2), nameless(3)].concat();
    for batch in [1, 2, 10] {
        let shell = Shell::new();
        let words = format!("dedup i.twx --json --format jsonl --batch {batch} -o out");
        shell.pipe(&words, input.as_str()).succeeds();
        assert_eq!(shell.ids(), ["#1", "#2", "#3", "#4"], "{batch}");
    }
}

#[test]
fn an_id_with_another_text_is_judged_like_any_other() {
    let (first, like_first, other) = alike();
    let shell = Shell::with(&[("a", &first), ("b", &other)]);
    // Like its own former text: it replaces it. Like another document: it is removed.
    let input = jsonl(&[("a", &like_first), ("b", &first), ("b", &like_first)]);
    let done = shell.pipe("dedup i.twx --json -o out", input.as_str()).succeeds();
    assert_eq!((done.counted("replaced"), done.counted("duplicates")), (1, 2));
    assert_eq!(done.json()[1]["similarity"], 1.0, "it is the new text that counts");
    assert_eq!(shell.ids(), ["b", "a"]);
}

#[test]
fn a_dry_run_says_what_would_be_removed_and_changes_nothing() {
    let shell = Shell::new();
    let (first, like_first, other) = alike();
    let input = jsonl(&[("a", &first), ("b", &like_first)]);
    let words = "dedup i.twx -o out --removed gone --dry-run";
    let nothing_there = shell.pipe(words, input.as_str()).succeeds();
    assert_eq!((nothing_there.column(0), nothing_there.column(1)), (vec!["b"], vec!["a"]));
    assert_eq!(shell.names(), [""; 0]);
    shell.pipe("add i.twx -q -", jsonl(&[("old", &other)])).succeeds();
    let before = shell.read("i.twx");
    let more = input + &jsonl(&[("c", &other)]);
    let dry = shell.pipe("dedup i.twx --dry-run --json", more.as_str()).succeeds();
    assert_eq!(dry.json()[1]["duplicate_of"], "old");
    assert_eq!((dry.counted("added"), dry.counted("duplicates")), (1, 2));
    assert!(shell.read("i.twx") == before && shell.names() == ["i.twx"]);
    // Lines without an id get none by a run that is none.
    let lines = format!("{other}\n");
    let dry = shell.pipe("dedup i.twx --dry-run --format lines", lines).succeeds();
    assert_eq!(dry.column(0), ["standard input:1"]);
}

#[test]
fn other_indexes_count_too_and_are_only_read() {
    let (first, like_first, other) = alike();
    let shell = Shell::with(&[("own", &other)]);
    shell.pipe("add test.twx -q -", jsonl(&[("t", &first)])).succeeds();
    shell.pipe("add more.twx -q -", jsonl(&[("m", &other)])).succeeds();
    let before = (shell.read("test.twx"), shell.read("more.twx"));
    let input = jsonl(&[("a", &like_first), ("b", &other), ("c", "something else altogether")]);
    let words = "dedup i.twx --json -o out --against test.twx --against more.twx";
    let done = shell.pipe(words, input.as_str()).succeeds();
    let removed: Vec<_> = done.json().iter().map(|line| line["duplicate_of"].clone()).collect();
    assert_eq!(removed, ["t", "own"], "the index itself comes first on a tie");
    assert_eq!(shell.ids(), ["own", "c"]);
    assert!((shell.read("test.twx"), shell.read("more.twx")) == before);

    shell.pipe("add 64.twx -q --lanes 64 -", jsonl(&[("t", &first)])).succeeds();
    shell.pipe("dedup i.twx -o x --against 64.twx", "").fails_with("64.twx");
    shell.pipe("dedup i.twx -o x --against ./i.twx", "").fails_with("is the index itself");
    shell.pipe("dedup i.twx -o x --against no.twx", "").fails_with("no.twx");
    assert!(!shell.path("x").exists() && !shell.path("x.part").exists());
}

#[test]
fn the_threshold_is_that_of_the_run() {
    let (first, like_first, _) = alike();
    let shell = Shell::with(&[("a", &first)]);
    let input = jsonl(&[("b", &like_first)]);
    let strict =
        shell.pipe("dedup i.twx --json -o out --threshold 0.999 --dry-run", input.as_str());
    assert_eq!(strict.succeeds().counted("duplicates"), 0);
    let loose = shell.pipe("dedup i.twx --json -o out --threshold 0.3", input.as_str()).succeeds();
    assert_eq!(loose.counted("duplicates"), 1);
    assert!(loose.summary()["recall"].as_f64().expect("a number") < 0.99);
    let info = shell.run("info i.twx --json").succeeds().json();
    assert_eq!(info[0]["threshold"], 0.8, "that of the index stays");
    let new = shell.pipe("dedup new.twx -o out -q --threshold 0.6", input.as_str()).succeeds();
    assert_eq!(new.stdout, "");
    let info = shell.run("info new.twx --json").succeeds().json();
    assert_eq!(info[0]["threshold"], 0.6, "that of a new index is that of the run");
}

#[test]
fn touch_renews_the_time_of_what_is_met_again() {
    let (first, like_first, other) = alike();
    let shell = Shell::with(&[("a", &first), ("b", &other), ("c", "a text of its own")]).aged(60);
    let inserted = |id: &str| {
        let got = shell.run(&format!("get i.twx {id} --json")).succeeds().json();
        got[0]["inserted"].as_i64().expect("a time")
    };
    let before = inserted("a");
    let input = jsonl(&[("x", &like_first), ("b", &other)]);
    shell.pipe("dedup i.twx -q -o out --dry-run --touch", input.as_str()).succeeds();
    shell.pipe("dedup i.twx -q -o out", input.as_str()).succeeds();
    assert_eq!(["a", "b", "c"].map(inserted), [before; 3]);
    shell.pipe("dedup i.twx -q -o out --touch", input.as_str()).succeeds();
    assert!(inserted("a") > before && inserted("b") > before && inserted("c") == before);
    shell.assert_clean();
}

#[test]
fn empty_short_and_foreign_texts_do_not_fall_together() {
    let shell = Shell::new();
    let texts =
        ["", "  ", "ab", "ac", "مرحبا بالعالم", "مرحبا يا صديقي", "床前明月光", "春眠不觉晓"];
    let ids: Vec<String> = (0..texts.len()).map(|at| at.to_string()).collect();
    let records: Vec<_> = ids.iter().zip(texts).map(|(id, text)| (id.as_str(), text)).collect();
    let done = shell.pipe("dedup i.twx --json -o out", jsonl(&records)).succeeds();
    assert_eq!((done.counted("added"), done.counted("empty")), (8, 2));
}

#[test]
fn a_bad_record_is_reported_and_the_rest_goes_on() {
    let shell = Shell::new();
    let input = "{\"id\":\"a\",\"text\":\"x\"}\nno json\n{\"id\":\"b\",\"text\":\"y\"}\n";
    let done = shell.pipe("dedup i.twx --json -o out", input);
    assert_eq!((done.status, done.counted("failed"), done.counted("added")), (2, 1, 2));
    assert!(done.stderr.contains("standard input:2: not valid JSON"), "{done:?}");
    assert_eq!(shell.read("out"), input.replace("no json\n", "").as_bytes());
}

#[test]
fn mistakes_are_reported_before_anything_is_written() {
    let shell = Shell::new();
    let usage = shell.run("dedup i.twx in.jsonl");
    assert_eq!(usage.status, 2);
    assert!(usage.stderr.contains("--output"), "{usage:?}");
    shell.pipe("dedup i.twx -o no/such/out", "").fails_with("no/such/out");
    shell.pipe("dedup i.twx -o out --threshold 1.5", "").fails_with("threshold 1.5");
    shell.pipe("dedup i.twx -o i.twx", "").fails_with("i.twx: is an index");
    shell.pipe("dedup i.twx -o out --removed ./i.twx", "").fails_with("i.twx: is an index");
    for names in ["-o out --removed out", "-o out --removed ./out", "-o o --removed o.part"] {
        shell.pipe(&format!("dedup i.twx {names}"), "").fails_with("name two files");
    }
    shell.write("in.jsonl", jsonl(&[("a", "some text")]));
    for names in
        ["in.jsonl -o in.jsonl", "in.jsonl -o x --removed in.jsonl", "in.jsonl -o ./in.jsonl"]
    {
        shell.run(&format!("dedup i.twx {names}")).fails_with("is an input");
    }
    shell.run("create -q s.part").succeeds();
    shell.run("dedup s.part in.jsonl -o s").fails_with("s.part: is an index");
    shell.run("dedup new.twx in.jsonl -o no/such/out").fails_with("no/such/out");
    assert!(!shell.path("new.twx").exists(), "a mistake leaves no index");
    shell.write("kept", "of an earlier run\n");
    shell.run("dedup i.twx gone.jsonl -o kept").fails_with("gone.jsonl: No such file");
    assert_eq!(shell.read("kept"), b"of an earlier run\n");
}
