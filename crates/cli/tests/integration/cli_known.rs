//! Known passages: `dedup --remove`, `screen`.

use crate::columns::parquet;
use crate::command::{Done, Shell, jsonl};
use crate::support::text;
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use std::sync::Arc;

const LICENCE: &str = "All of this may be copied by anybody who keeps this sentence in the copy.";

/// Texts of which the second has a passage of the first, and the third little else.
fn texts() -> [(&'static str, String); 4] {
    [
        ("one", format!("The first text begins. {LICENCE} And it ends.")),
        (
            "two",
            format!(
                "Number two has more to say of itself, at some length: {LICENCE} Thus \"two\"."
            ),
        ),
        ("three", format!("Aha! {}", LICENCE.to_uppercase().replace(' ', "  "))),
        (
            "four",
            "Nothing of this came before; it is new from its beginning to its end.".to_owned(),
        ),
    ]
}

fn lines() -> String {
    let texts = texts();
    let texts: Vec<(&str, &str)> = texts.iter().map(|(id, text)| (*id, text.as_str())).collect();
    jsonl(&texts)
}

fn records(bytes: &[u8]) -> Vec<Value> {
    let lines = std::str::from_utf8(bytes).expect("UTF-8").lines();
    lines.map(|line| serde_json::from_str(line).expect("an object")).collect()
}

fn is_misused(done: &Done, words: &str) {
    assert!(done.status == 2 && done.stderr.contains(words), "{words:?} is not in {done:?}");
}

#[test]
fn passages_are_cut_out_of_all_but_the_first_text() {
    let shell = Shell::new();
    let extra = lines().replace("\"id\"", "\"n\": 1.50, \"id\"");
    shell.write("in.jsonl", &extra);
    let words = "dedup i.twx in.jsonl -o out.jsonl --removed gone --remove spans --passages 40";
    let done = shell.run(&format!("{words} --json")).succeeds();
    let summary = done.summary();
    let counts = ["added", "duplicates", "cut"].map(|name| summary[name].as_u64());
    assert_eq!(counts, [Some(4), Some(0), Some(2)], "{summary}");
    let out = shell.read("out.jsonl");
    let kept: Vec<String> =
        records(&out).iter().map(|line| line["text"].as_str().expect("a text").into()).collect();
    let two = "Number two has more to say of itself, at some length: Thus \"two\".";
    let [one, _, _, four] = texts().map(|(_, text)| text);
    assert_eq!(kept, [one.as_str(), two, "Aha! ", four.as_str()]);
    let raw = String::from_utf8(out).expect("UTF-8");
    assert_eq!(raw.matches("\"n\": 1.50,").count(), 4, "all else stays as it is: {raw}");
    let gone = records(&shell.read("gone"));
    assert_eq!(gone.len(), 2);
    assert_eq!((&gone[0]["id"], &gone[0]["kept"]), (&json!("two"), &json!(true)));
    let passage = &gone[0]["passages"][0];
    let place = |name: &str| passage[name].as_u64().expect("a number") as usize;
    let source = &texts()[0].1[place("of_start")..place("of_end")];
    assert_eq!(texts()[1].1[place("start")..place("end")], *source);
    assert!(passage["of"] == "one" && source.contains(LICENCE), "{passage}");
    shell.assert_clean();

    // The same run again changes nothing, with the same output or another.
    let again = shell.run(&format!("{words} --json")).succeeds().summary();
    let fields = ["already_finished", "added", "cut", "cut_bytes"];
    assert_eq!(
        fields.map(|name| &again[name]),
        [&json!(true), &json!(4), &json!(2), &summary["cut_bytes"]]
    );
    let other = words.replace("out.jsonl", "other.jsonl").replace("gone", "gone2");
    let again = shell.run(&format!("{other} --json")).succeeds().summary();
    assert_eq!(["unchanged", "added"].map(|name| again[name].as_u64()), [Some(4), Some(0)]);
    assert_eq!(shell.read("other.jsonl"), shell.read("out.jsonl"));
    let next = jsonl(&[("five", &format!("{LICENCE} {LICENCE}"))]);
    let none = shell.pipe("dedup i.twx - --remove spans -o next --json", next).succeeds();
    assert_eq!((none.counted("duplicates"), shell.read("next")), (1, Vec::new()));
}

#[test]
fn records_that_are_known_for_the_most_part_are_removed() {
    let shell = Shell::new();
    shell.write("in.jsonl", lines());
    let words = "dedup i.twx in.jsonl -o out.jsonl --remove covered --passages 40 --json";
    let done = shell.run(words).succeeds();
    assert_eq!(done.counted("duplicates"), 2, "two has less than half of its own");
    let removed: Vec<Value> = done.json().iter().map(|line| line["id"].clone()).collect();
    assert_eq!(removed, ["two", "three"]);
    let words = words.replace("i.twx", "j.twx").replace("covered", "covered --max-overlap 0.7");
    let done = shell.run(&words.replace("out", "more")).succeeds();
    let first = &done.json()[0];
    assert_eq!((&first["id"], &first["kept"]), (&json!("three"), &json!(false)));
    let kept: Vec<Value> =
        records(&shell.read("more.jsonl")).iter().map(|line| line["id"].clone()).collect();
    assert_eq!(kept, ["one", "two", "four"]);
}

#[test]
fn rows_of_tables_and_lines_are_cut_as_objects_are() {
    let shell = Shell::new();
    let [one, two, three, four] = texts().map(|(_, text)| text);
    let rows = [("1", &one), ("2", &two), ("3", &three), ("4", &four)];
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let csv: String = rows.iter().map(|(id, text)| format!("{},{id},x\n", quoted(text))).collect();
    shell.write("in.csv", format!("text,id,more\n{csv}"));
    let spans = "--remove spans --passages 40 -q";
    shell.run(&format!("dedup c.twx in.csv -o out.csv --removed gone {spans}")).succeeds();
    let cut = "Number two has more to say of itself, at some length: Thus \"two\".";
    let expected = csv.replace(&quoted(&two), &quoted(cut)).replace(&quoted(&three), "\"Aha! \"");
    assert_eq!(
        String::from_utf8_lossy(&shell.read("out.csv")),
        format!("text,id,more\n{expected}")
    );

    shell.write("in.txt", format!("{one}\r\n{two}\r\n{four}"));
    shell.run(&format!("dedup l.twx in.txt --format lines -o out.txt {spans}")).succeeds();
    let expected = format!("{one}\r\n{cut}\r\n{four}");
    assert_eq!(String::from_utf8_lossy(&shell.read("out.txt")), expected);

    let fields = vec![
        Field::new("text", DataType::Utf8, true),
        Field::new("id", DataType::Utf8, false),
        Field::new("n", DataType::Int32, false),
    ];
    let columns: Vec<ArrayRef> = vec![
        Arc::new(rows.iter().map(|(_, text)| Some(text.as_str())).collect::<StringArray>()),
        Arc::new(rows.iter().map(|(id, _)| Some(*id)).collect::<StringArray>()),
        Arc::new((0..4).collect::<Int32Array>()),
    ];
    let table = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("a table");
    shell.write("in.parquet", parquet(&table, 2));
    shell.run(&format!("dedup p.twx in.parquet -o out.parquet --removed gone2 {spans}")).succeeds();
    let file = std::fs::File::open(shell.path("out.parquet")).expect("a file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
    let read: Vec<RecordBatch> =
        reader.build().expect("rows").collect::<Result<_, _>>().expect("rows");
    let texts: Vec<String> = read
        .iter()
        .flat_map(|rows| {
            rows.column(0)
                .as_string::<i32>()
                .iter()
                .map(|text| text.expect("one").to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(texts, [one.as_str(), cut, "Aha! ", four.as_str()]);
    assert_eq!(read.iter().map(RecordBatch::num_rows).sum::<usize>(), 4);
    assert_eq!(read[0].schema().fields(), table.schema().fields());

    shell.write("a.txt", &one);
    shell.write("b.txt", &two);
    let files = shell.run(&format!("dedup f.twx a.txt b.txt -o paths {spans}"));
    files.fails_with("only the texts of JSON Lines, tables (no dictionaries) and lines");
    shell
        .run("dedup g.twx a.txt b.txt -o paths --remove covered --max-overlap 0.4 --passages 40 -q")
        .succeeds();
    assert_eq!(shell.read("paths"), b"a.txt\n");
}

#[test]
fn a_near_duplicate_that_is_not_contained_stays() {
    let shell = Shell::new();
    let text = "a text of some length, of which there are several versions that differ little";
    let longer = format!("{text}, and the last of them says more than all others do");
    let records = jsonl(&[("short", text), ("long", &longer), ("part", &text[..70])]);
    shell.write("in.jsonl", records);
    let words = "dedup i.twx in.jsonl -o out --threshold 0.5 --remove contained --json";
    let done = shell.run(words).succeeds();
    assert_eq!(["added", "spared", "duplicates"].map(|name| done.counted(name)), [2, 1, 1]);
    let lines = done.json();
    assert_eq!((&lines[0]["id"], &lines[0]["kept"]), (&json!("long"), &json!(true)));
    assert!(lines[0]["contained"].as_f64().expect("a share") < 0.8, "{lines:?}");
    assert_eq!((&lines[1]["id"], &lines[1]["contained"]), (&json!("part"), &json!(1.0)));
    let least =
        words.replace("i.twx", "j.twx").replace("contained", "contained --min-contained 0.5");
    assert_eq!(shell.run(&least.replace("-o out", "-o all")).succeeds().counted("duplicates"), 2);
}

#[test]
fn options_of_one_way_are_refused_with_another() {
    let shell = Shell::new();
    shell.pipe("add plain.twx -q -", lines()).succeeds();
    shell.pipe("add prints.twx -q --passages 40 -", lines()).succeeds();
    shell.write("in.jsonl", lines());
    for (words, message) in [
        ("dedup i.twx in.jsonl -o out --max-overlap 0.5", "is for --remove covered"),
        ("dedup i.twx in.jsonl -o out --min-contained 0.5", "is for --remove contained"),
        ("dedup i.twx in.jsonl -o out --remove spans --estimate", "is for --remove similar"),
        ("dedup i.twx in.jsonl -o out --remove spans --against plain.twx", "twindex screen"),
        ("dedup i.twx in.jsonl -o out --remove covered --max-overlap 2", "from 0 to 1"),
        ("dedup plain.twx in.jsonl -o out --remove spans", "rebuild"),
        ("dedup prints.twx in.jsonl -o out --remove spans", "stores no texts"),
        ("screen plain.twx in.jsonl -o out", "rebuild"),
        ("screen prints.twx in.jsonl -o out", "stores no texts"),
        ("screen none.twx in.jsonl -o out", "none.twx"),
        ("screen prints.twx in.jsonl -o out --max-overlap 2", "from 0 to 1"),
        ("screen prints.twx in.jsonl -o out --remove nothing --max-overlap 0.5", "nothing none"),
        (
            "screen prints.twx in.jsonl -o out --remove nothing --annotate text",
            "is the field of the text",
        ),
    ] {
        shell.run(words).fails_with(message);
    }
    is_misused(&shell.run("screen prints.twx in.jsonl"), "--output");
    assert!(!shell.path("out").exists() && !shell.path("i.twx").exists());
}

/// An index of an exam, and a corpus of which two records have a question.
fn exam(settings: &str) -> (Shell, [String; 4]) {
    let shell = Shell::new();
    let question = "Which of the two rivers that meet in the city of Koblenz is longer?";
    let exam = [("q1", question), ("q2", "How many legs do three spiders and four ants have?")];
    shell.pipe(&format!("add exam.twx -q --store-text {settings} -"), jsonl(&exam)).succeeds();
    let corpus = [
        "A record about rivers and cities, which has no question in it at all.".to_owned(),
        format!("My homework! {}? Please help.", question.to_uppercase().replace([' ', '?'], "\n")),
        question.to_owned(),
        "Which of the two rivers is longer? That is another question, more or less.".to_owned(),
    ];
    let ids = ["a", "b", "c", "d"];
    let records: Vec<(&str, &str)> =
        ids.into_iter().zip(corpus.iter().map(String::as_str)).collect();
    shell.write("corpus.jsonl", jsonl(&records));
    (shell, corpus)
}

#[test]
fn a_corpus_is_screened_against_an_exam() {
    let (shell, corpus) = exam("--passages 40");
    let done = shell.run("screen exam.twx corpus.jsonl -o clean.jsonl --json").succeeds();
    let found = done.json();
    let ids: Vec<&Value> = found.iter().map(|line| &line["id"]).collect();
    assert_eq!(ids, ["b", "c"]);
    assert_eq!(found[0]["passages"][0]["of"], "q1");
    assert_eq!((found[1]["known"].as_f64(), &found[1]["kept"]), (Some(1.0), &json!(false)));
    let summary = done.summary();
    assert_eq!(
        ["records", "found", "removed"].map(|name| summary[name].as_u64()),
        [Some(4), Some(2), Some(2)]
    );
    let kept = |name: &str| -> Vec<String> {
        let records = records(&shell.read(name));
        records.iter().map(|line| line["text"].as_str().expect("a text").to_owned()).collect()
    };
    assert_eq!(kept("clean.jsonl"), [&*corpus[0], &corpus[3]]);

    let spans = "screen exam.twx corpus.jsonl -o cut.jsonl --removed found --remove spans -q";
    assert_eq!(shell.run(spans).succeeds().stdout, "");
    assert_eq!(kept("cut.jsonl"), [&*corpus[0], "My homework! \n? Please help.", &corpus[3]]);
    assert_eq!(records(&shell.read("found")).len(), 2);

    let marked = "screen exam.twx corpus.jsonl -o marked.jsonl --remove nothing --annotate exam -q";
    shell.run(marked).succeeds();
    assert_eq!(kept("marked.jsonl"), corpus);
    let marks = records(&shell.read("marked.jsonl"));
    let known: Vec<bool> = marks.iter().map(|line| line["exam"]["known"].is_number()).collect();
    assert_eq!(known, [false, true, true, false]);

    let dry = shell.run("screen exam.twx corpus.jsonl --dry-run --max-overlap 0.9").succeeds();
    assert_eq!(dry.column(1), ["true", "false"], "{dry:?}");
    let before = shell.names();
    shell.run("screen exam.twx corpus.jsonl none.jsonl -o x.jsonl").fails_with("none.jsonl");
    assert_eq!(shell.names(), before);
    shell.write("broken.jsonl", "{\"id\":\"e\",\"text\":\"new\"}\n{\"id\":\n");
    let broken = shell.run("screen exam.twx broken.jsonl -o b.jsonl");
    assert!(broken.status == 2 && broken.stderr.contains("broken.jsonl:2"), "{broken:?}");
    assert_eq!(kept("b.jsonl"), ["new"]);
    shell.write("worse.jsonl", "{\"id\":\n");
    let worse = shell.run("screen exam.twx worse.jsonl -o w.jsonl");
    assert!(worse.status == 2 && worse.stderr.contains("worse.jsonl:1"), "{worse:?}");
    assert!(!shell.path("w.jsonl").exists(), "no record was good");
}

#[cfg(unix)]
#[test]
fn a_name_that_a_list_of_paths_cannot_hold_is_a_bad_record() {
    let (shell, _) = exam("--passages 40");
    shell.write("texts/one\ntwo.txt", "a text");
    let texts = shell.run("screen exam.twx texts -o t.txt");
    assert!(texts.status == 2 && texts.stderr.contains("its name holds a line break"), "{texts:?}");
}

#[test]
fn words_are_found_whatever_stands_between_them() {
    let (shell, corpus) = exam("--shingle word:3 --passages 8");
    let other = corpus[1].replace("TWO\nRIVERS", "two; (rivers)");
    shell.write("corpus.jsonl", jsonl(&[("a", &corpus[0]), ("b", &other)]));
    let spans = "screen exam.twx corpus.jsonl -o cut.jsonl --remove spans --json";
    let done = shell.run(spans).succeeds();
    assert_eq!(done.counted("cut"), 1);
    let kept = records(&shell.read("cut.jsonl"));
    assert_eq!(kept[1]["text"], "My homework! ? Please help.");
}

#[test]
fn a_folder_of_shards_is_screened_into_a_folder() {
    let (shell, corpus) = exam("--passages 40");
    std::fs::create_dir(shell.path("in")).expect("a folder");
    shell.write("in/a.jsonl", jsonl(&[("a", &corpus[0]), ("c", &corpus[2])]));
    shell.write("in/b.jsonl.gz", jsonl(&[("b", &corpus[1]), ("d", &corpus[3])]));
    let done = shell.run("screen exam.twx in/ -o out/ --json").succeeds();
    assert_eq!(done.counted("removed"), 2);
    assert_eq!(records(&shell.read("out/a.jsonl")).len(), 1);
    assert!(shell.path("out/b.jsonl.gz").exists());
}

#[test]
fn a_stream_without_ids_that_comes_again_empties_no_output() {
    let shell = Shell::new();
    let texts = texts();
    let stream: String =
        texts.iter().map(|(_, text)| format!("{}\n", json!({ "text": text }))).collect();
    let words = "dedup i.twx - -o out.jsonl -q --removed gone --passages 40 --remove covered";
    shell.pipe(words, stream.clone()).succeeds();
    let out = shell.read("out.jsonl");
    shell.pipe(words, stream).fails_with("are those of an earlier run");
    assert_eq!(shell.read("out.jsonl"), out);
}

#[test]
fn a_stream_of_texts_that_are_partly_known_is_not_taken_for_one_that_comes_again() {
    let shell = Shell::new();
    let stream = |end: &str| -> String {
        (0..4).map(|n| format!("{}\n", json!({ "text": text(n, 0, 40) + end }))).collect()
    };
    let words = "dedup i.twx - -q --passages 40 --remove covered -o";
    shell.pipe(&format!("{words} a"), stream("")).succeeds();
    let done = shell.pipe(&format!("{words} b"), stream(" 0123456789")).succeeds();
    assert_eq!(done.stdout.lines().count(), 4, "{done:?}");
    assert!(shell.read("b").is_empty());
}

#[test]
fn what_cannot_be_cut_is_an_error_and_leaves_no_file() {
    let shell = Shell::new();
    let tags = "1\ta b c d e\n2\tq r s t u\n";
    shell
        .pipe("add tags.twx -q --shingle token --format tokens --passages 3 --store-text -", tags)
        .succeeds();
    shell.write("tags.txt", "3\tx b c d y\n4\tn o n e\n");
    let before = shell.names();
    let words = "screen tags.twx tags.txt --format tokens -o out";
    shell
        .run(&format!("{words} --remove spans"))
        .fails_with("can be written without their passages");
    assert_eq!(shell.names(), before, "no file is left");
    shell.run(&format!("{words} --annotate known")).fails_with("say --remove nothing");
    let of_id = shell.run(&format!("{words} --remove nothing --annotate id"));
    of_id.fails_with("is the field of the id");
    let done = shell.run(&format!("{words} -q")).succeeds();
    assert_eq!((done.column(0), shell.read("out")), (vec!["3"], b"4\tn o n e\n".to_vec()));

    shell.pipe("add plain.twx -q -", lines()).succeeds();
    let dry = shell.pipe("dedup plain.twx - --dry-run --remove spans", lines());
    dry.fails_with("plain.twx: has no fingerprints");
    let (exam, _) = exam("--passages 40");
    exam.run("screen exam.twx corpus.jsonl -o out.jsonl --remove spans --removed audit -q")
        .succeeds();
    let explained = exam.run("explain exam.twx b --removed audit");
    assert!(explained.status == 1 && explained.stderr.contains("has no line about it"));
}
