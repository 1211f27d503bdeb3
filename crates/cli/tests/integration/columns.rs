//! Parquet and Arrow in and out: the same documents as JSON Lines gives, and the same rows again.

use crate::command::{Done, Shell, jsonl};
use crate::packing::Packing;
use crate::support::{Random, text};
use arrow_array::builder::{
    Int32Builder, ListBuilder, MapBuilder, StringBuilder, StringDictionaryBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch, StringArray, UInt64Array};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;
use std::thread::sleep;

/// Documents of families of three that are similar, every tenth without a text.
pub fn documents(count: u64) -> Vec<(String, Option<String>)> {
    let document = |n: u64| (format!("d{n}"), (n % 10 < 9).then(|| text(n / 3, n % 3, 20)));
    (0..count).map(document).collect()
}

/// The documents as a table with one more column, and metadata.
pub fn table(documents: &[(String, Option<String>)]) -> RecordBatch {
    let metadata = HashMap::from([("origin".to_owned(), "a test".to_owned())]);
    let fields = vec![
        Field::new("number", DataType::Int32, false),
        Field::new("text", DataType::Utf8, true),
        Field::new("id", DataType::Utf8, false),
    ];
    let columns: Vec<ArrayRef> = vec![
        Arc::new((0..documents.len() as i32).collect::<Int32Array>()),
        Arc::new(documents.iter().map(|(_, text)| text.as_deref()).collect::<StringArray>()),
        Arc::new(documents.iter().map(|(id, _)| Some(id.as_str())).collect::<StringArray>()),
    ];
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    RecordBatch::try_new(schema, columns).expect("columns of one length")
}

/// The table with a column of as many of these bytes in each row as there are for all rows.
#[cfg(feature = "remote")]
pub fn with_bytes(table: &RecordBatch, bytes: &[u8]) -> RecordBatch {
    let mut fields = table.schema().fields().to_vec();
    fields.insert(0, Arc::new(Field::new("bytes", DataType::Binary, false)));
    let each = bytes.chunks(bytes.len().div_ceil(table.num_rows()));
    let column = arrow_array::BinaryArray::from_iter_values(each);
    let mut columns = table.columns().to_vec();
    columns.insert(0, Arc::new(column));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("columns of one length")
}

/// The table with lists and maps, whose inner names are not those of Parquet.
fn with_lists(table: &RecordBatch) -> RecordBatch {
    let mut tags = ListBuilder::new(StringBuilder::new());
    let mut counts = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for row in 0..table.num_rows() {
        tags.append_value((0..row % 3).map(|tag| Some(format!("tag{tag}"))));
        counts.keys().append_value("row");
        counts.values().append_value(row as i32);
        counts.append(true).expect("a value for each key");
    }
    let added: [(&str, ArrayRef); 2] =
        [("tags", Arc::new(tags.finish())), ("counts", Arc::new(counts.finish()))];
    let mut fields = table.schema().fields().to_vec();
    let mut columns = table.columns().to_vec();
    for (name, column) in added {
        fields.push(Arc::new(Field::new(name, column.data_type().clone(), true)));
        columns.push(column);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("columns of one length")
}

pub fn parquet(rows: &RecordBatch, group: usize) -> Vec<u8> {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
    let mut writer =
        ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).expect("a writer");
    writer.write(rows).expect("written");
    writer.into_inner().expect("complete")
}

pub fn arrow_file(rows: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &rows.schema()).expect("a writer");
    writer.write(rows).expect("written");
    writer.into_inner().expect("complete")
}

pub fn arrow_stream(rows: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &rows.schema()).expect("a writer");
    for first in (0..rows.num_rows()).step_by(100) {
        writer.write(&rows.slice(first, 100.min(rows.num_rows() - first))).expect("written");
    }
    writer.into_inner().expect("complete")
}

/// All rows of a file, as one batch.
fn rows_of(name: &str, bytes: Vec<u8>) -> RecordBatch {
    let (schema, batches): (_, Vec<RecordBatch>) = if name.ends_with("parquet") {
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes));
        let reader = reader.expect("Parquet");
        (
            Arc::clone(reader.schema()),
            reader.build().expect("Parquet").map(|rows| rows.expect("rows")).collect(),
        )
    } else {
        let reader = FileReader::try_new(Cursor::new(bytes), None).expect("Arrow");
        (reader.schema(), reader.map(|rows| rows.expect("rows")).collect())
    };
    arrow_select::concat::concat_batches(&schema, &batches).expect("equal columns")
}

fn as_jsonl(documents: &[(String, Option<String>)]) -> String {
    let lines = documents.iter().map(|(id, text)| (&**id, text.as_deref().unwrap_or_default()));
    jsonl(&lines.collect::<Vec<_>>())
}

#[test]
fn every_kind_of_table_gives_the_documents_of_json_lines() {
    let documents = documents(1_000);
    let rows = table(&documents);
    let expected = Shell::new();
    expected.pipe("add i.twx -q -", as_jsonl(&documents)).succeeds();
    let files = [
        ("one.parquet", parquet(&rows, 1 << 20)),
        ("small.parquet", parquet(&rows, 70)),
        ("file.arrow", arrow_file(&rows)),
        ("stream.arrow", arrow_stream(&rows)),
    ];
    for (name, bytes) in files {
        for packing in Packing::ALL {
            let shell = Shell::new();
            let packed = packing.pack(&bytes);
            shell.write(&format!("{name}{}", packing.suffix()), &packed);
            shell.write("unnamed", &packed);
            shell.write("d/unnamed.txt", &packed);
            for words in [name.to_owned() + packing.suffix(), "unnamed".into()] {
                let done = shell.run(&format!("add i.twx --replace-most --json {words}"));
                assert_eq!(done.counted("empty"), 100, "{words}: {done:?}");
            }
            let done = shell.pipe("add i.twx --json", packed);
            assert_eq!(done.counted("unchanged"), 1_000, "{name}: {done:?}");
            assert_eq!(shell.answers(), expected.answers(), "{name}");
            let done = shell.run("add i.twx d");
            assert!(done.status == 2 && done.stderr.contains("read here as a text"), "{done:?}");
        }
    }
}

#[test]
fn kept_rows_are_written_with_all_columns_and_in_order() {
    let documents = documents(500);
    let rows = table(&documents);
    let shell = Shell::new();
    shell.write("in.parquet", parquet(&rows, 70));
    shell.write("in.arrow", arrow_file(&rows));
    shell.write("in.jsonl", as_jsonl(&documents));
    shell.run("dedup j.twx in.jsonl -o kept.jsonl --removed removed").succeeds();
    let kept: Vec<String> = String::from_utf8(shell.read("kept.jsonl"))
        .expect("UTF-8")
        .lines()
        .map(|line| line.split('"').nth(3).expect("an id").to_owned())
        .collect();
    for (from, to) in [
        ("in.parquet", "a.parquet"),
        ("in.parquet", "b.arrow"),
        ("in.arrow", "c.parquet"),
        ("in.arrow", "d.feather"),
    ] {
        shell
            .run(&format!("dedup {to}.twx {from} -o {to} --batch 60 --removed {to}.gone"))
            .succeeds();
        assert_eq!(shell.read(&format!("{to}.gone")), shell.read("removed"), "{to}");
        let found = rows_of(to, shell.read(to));
        let ids = found.column_by_name("id").expect("a column").clone();
        let ids: &StringArray = ids.as_any().downcast_ref().expect("strings");
        assert_eq!(ids.iter().flatten().collect::<Vec<_>>(), kept, "{to}");
        let places: Vec<u64> = kept.iter().map(|id| id[1..].parse().expect("a number")).collect();
        let expected = arrow_select::take::take_record_batch(&rows, &UInt64Array::from(places));
        assert_eq!(found, expected.expect("rows"), "{to}");
    }
    let left: Vec<_> = shell.names().into_iter().filter(|name| name.contains("part")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_run_that_is_killed_again_and_again_writes_the_same_rows() {
    let rows = table(&documents(6_000));
    end_the_same("in.parquet", parquet(&rows, 500));
    end_the_same("in.arrow", arrow_stream(&with_lists(&rows)));
}

/// Kills runs with this input, and compares what they write at last with an unbroken run.
fn end_the_same(name: &str, input: Vec<u8>) {
    let start = Shell::new();
    start.write(name, input);
    let whole = start.copy();
    let words = &format!("dedup i.twx {name} -o out.parquet --batch 200 --removed removed");
    let clock = std::time::Instant::now();
    whole.run(words).succeeds();
    let length = clock.elapsed();
    let mut random = Random(length.as_nanos() as u64);
    let mut killed = || {
        let broken = start.copy();
        let mut kills = 0;
        for _ in 0..8 {
            let running = broken.start(words);
            sleep(length.mul_f64(random.below(1_000) as f64 / 1_000.0));
            kills += u32::from(running.kill_on_the_way());
        }
        broken.run(words).succeeds();
        (kills > 0).then_some(broken)
    };
    // A run may be done before it is killed, and is known as finished then.
    let broken = (0..20).find_map(|_| killed()).expect("a run that was killed");
    let rows = |shell: &Shell| rows_of("out.parquet", shell.read("out.parquet"));
    assert_eq!(rows(&broken), rows(&whole));
    assert_eq!(broken.read("removed"), whole.read("removed"));
    assert_eq!(broken.answers(), whole.answers());
    let again = broken.run(&format!("{words} --json")).succeeds();
    assert_eq!(again.summary()["already_finished"], true);
    let names = broken.names();
    assert!(names.iter().all(|name| !name.contains(".part")), "{names:?}");
}

#[test]
fn text_and_tables_by_columns_do_not_mix() {
    let shell = Shell::new();
    shell.write("in.parquet", parquet(&table(&documents(9)), 9));
    shell.write("other.parquet", parquet(&table(&documents(9)).project(&[1, 2]).expect("two"), 9));
    shell.write("in.jsonl", as_jsonl(&documents(9)));
    for (words, cause) in [
        ("in.parquet -o out.jsonl", "end the name of the output in .parquet or .arrow"),
        ("in.parquet -o -", "are written to files alone; name one with -o"),
        ("in.jsonl -o out.parquet", "give the output the extension of the input"),
        ("in.parquet other.parquet -o out.parquet", "tables with other columns"),
        ("in.parquet in.jsonl -o out.parquet", "give the output the extension of the input"),
    ] {
        let shell = shell.copy();
        shell.run(&format!("dedup i.twx --removed removed {words}")).fails_with(cause);
        assert!(!shell.path("out.parquet").exists() && !shell.path("out.jsonl").exists());
    }
    shell.run("dedup i.twx in.parquet --dry-run").succeeds();
}

/// A table of ids and of this column, under this name.
fn table_of(name: &str, column: ArrayRef) -> RecordBatch {
    let ids: ArrayRef = Arc::new((0..column.len() as i32).collect::<Int32Array>());
    RecordBatch::try_from_iter([("id", ids), (name, column)]).expect("one length")
}

#[test]
fn lists_are_sets_of_tokens_and_maps_are_weights() {
    let shell = Shell::new();
    let says = |done: &Done, words| {
        assert!(done.status > 0 && done.stderr.contains(words), "{words}: {done:?}");
    };
    let mut sets = ListBuilder::new(StringBuilder::new());
    sets.append_value([Some("a b"), Some("c")]);
    sets.append_value([Some("c"), Some("a b")]);
    sets.append_null();
    sets.append_value([Some("d"), None]);
    shell.write("sets.parquet", parquet(&table_of("text", Arc::new(sets.finish())), 9));
    let done = shell.run("dedup i.twx --shingle token --json sets.parquet -o kept.parquet");
    says(&done, "sets.parquet:4: column `text` is a list with a token that is null");
    assert_eq!((done.counted("added"), done.counted("duplicates")), (2, 1), "{done:?}");
    assert_eq!(rows_of("kept.parquet", shell.read("kept.parquet")).num_rows(), 2);
    says(&shell.run("add texts.twx sets.parquet"), "a set, but the index cuts texts");

    let mut weights = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for weight in [2, 2, -1] {
        weights.keys().append_value("a");
        weights.values().append_value(weight);
        weights.append(true).expect("a value for each key");
    }
    let weights = table_of("weights", Arc::new(weights.finish()));
    shell.write("weights.arrow", arrow_file(&weights));
    let done = shell.run("add w.twx --weighted --json weights.arrow");
    says(&done, "weights.arrow:3: column `weights` is a map that cannot be taken: weight -1");
    assert_eq!(done.counted("added"), 2);
    assert_eq!(shell.run("pairs w.twx -q").succeeds().column(2), ["1.0"]);
    says(&shell.run("add w.twx --text-field text sets.parquet"), "no weights, but");
}

#[test]
fn lists_of_dictionaries_of_few_keys_are_not_written_as_parquet() {
    let shell = Shell::new();
    let rows = table(&documents(9));
    let mut tags = ListBuilder::new(StringDictionaryBuilder::<Int8Type>::new());
    for _ in 0..rows.num_rows() {
        tags.values().append_value("tag");
        tags.append(true);
    }
    let tags: ArrayRef = Arc::new(tags.finish());
    let mut fields = rows.schema().fields().to_vec();
    fields.push(Arc::new(Field::new("tags", tags.data_type().clone(), true)));
    let columns = rows.columns().iter().cloned().chain([tags]).collect();
    let rows = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("one length");
    shell.write("in.arrows", arrow_stream(&rows));
    let refused = shell.run("dedup i.twx in.arrows -o out.parquet --removed removed");
    refused.fails_with("column `tags` has dictionaries of few keys within");
    shell.run("dedup i.twx in.arrows -o out.arrows --removed removed").succeeds();
}

/// A stream of batches of 50 rows, each with a dictionary of its own: of this number of names in
/// all, each for three rows in a row.
fn stream_with_dictionaries(rows: &RecordBatch, names: usize) -> Vec<u8> {
    let kind = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    let mut fields = rows.schema().fields().to_vec();
    fields.push(Arc::new(Field::new("name", kind, true)));
    let schema = Arc::new(Schema::new(fields));
    let mut stream = StreamWriter::try_new(Vec::new(), &schema).expect("a stream");
    for first in (0..rows.num_rows()).step_by(50) {
        let rows = rows.slice(first, 50.min(rows.num_rows() - first));
        let mut column = StringDictionaryBuilder::<Int8Type>::new();
        for row in first..first + rows.num_rows() {
            column.append_option((!row.is_multiple_of(7)).then(|| name_of(row, names)));
        }
        let column: ArrayRef = Arc::new(column.finish());
        let columns = rows.columns().iter().cloned().chain([column]).collect();
        let rows = RecordBatch::try_new(Arc::clone(&schema), columns).expect("one length");
        stream.write(&rows).expect("written");
    }
    stream.into_inner().expect("ended")
}

fn name_of(row: usize, names: usize) -> String {
    format!("name {}", row / 3 % names)
}

#[test]
fn dictionaries_of_batches_become_one_of_all_values_with_wider_keys_if_it_needs_them() {
    let shell = Shell::new();
    let rows = table(&documents(2_000));
    for names in [127, 128, 400] {
        shell.write("in.arrows", stream_with_dictionaries(&rows, names));
        // A reader of Parquet needs a key more than there are values.
        let kinds = [("arrow", names <= 128), ("parquet", names <= 127)];
        for (format, is_narrow) in kinds {
            let keys = if is_narrow { DataType::Int8 } else { DataType::Int16 };
            let out = format!("{names}.{format}");
            let done = shell
                .run(&format!("dedup {out}.twx --json in.arrows -o {out} --removed {out}.jsonl"));
            let removed = done.succeeds().counted("duplicates");
            let rows = rows_of(&out, shell.read(&out));
            assert_eq!(rows.num_rows() as u64 + removed, 2_000, "{out}");
            let name = rows.column_by_name("name").expect("the column");
            let kind = DataType::Dictionary(Box::new(keys), Box::new(DataType::Utf8));
            assert_eq!(*name.data_type(), kind, "{out}");
            let values = name.as_any_dictionary().values().as_string::<i32>();
            let places = name.as_any_dictionary().normalized_keys();
            let numbers = rows.column(0).as_primitive::<Int32Type>().values();
            for (row, number) in numbers.iter().enumerate() {
                let found = (!name.is_null(row)).then(|| values.value(places[row]).to_owned());
                let number = *number as usize;
                let expected = (!number.is_multiple_of(7)).then(|| name_of(number, names));
                assert_eq!(found, expected, "{out}: {number}");
            }
        }
    }
}

#[test]
fn rows_without_ids_are_named_by_the_folder_and_their_number() {
    let shell = Shell::new();
    let rows = table(&documents(5)).project(&[1]).expect("a column");
    shell.write("docs/data/train-00000-of-00002.parquet", parquet(&rows, 2));
    shell.write("docs/lines.jsonl", "{\"text\":\"one text\"}\n");
    shell.write("docs/t.csv", "text\nanother\n");
    let absolute = shell.path("docs").display().to_string();
    for (root, added) in [("docs", 7), ("./docs", 0), ("docs/../docs/", 0), (&*absolute, 0)] {
        let done = shell.run(&format!("add i.twx --json {root}")).succeeds();
        assert_eq!(done.counted("added"), added, "{root}");
    }
    let ids = shell.ids();
    assert!(ids.contains(&"docs/data/train-00000-of-00002.parquet:5".to_owned()), "{ids:?}");
    assert!(ids.contains(&"docs/lines.jsonl:1".to_owned()), "{ids:?}");
    assert!(ids.contains(&"docs/t.csv:2".to_owned()), "{ids:?}");
    shell.write("docs/README", "a text");
    let done = shell.run("add i.twx docs").succeeds();
    assert!(done.stderr.contains("docs: has 3 files of records, and every other"), "{done:?}");
    shell.write("other/docs/a.jsonl", "{\"text\":\"a third text\"}\n");
    let done = shell.run("add i.twx docs other/docs");
    assert!(done.stderr.contains("has the same name as another folder"), "{done:?}");
    assert_eq!(
        shell.run("add j.twx other/docs/a.jsonl docs/lines.jsonl --json").counted("added"),
        2
    );
}

#[test]
fn a_hash_names_equal_texts_wherever_they_come_from() {
    let shell = Shell::new();
    let documents = documents(60);
    let twice: Vec<_> = documents.iter().chain(&documents).cloned().collect();
    shell.write("a.jsonl", as_jsonl(&twice));
    let back: Vec<_> = twice.iter().rev().cloned().collect();
    shell.write("b.parquet", parquet(&table(&back), 7));
    let words = "dedup i.twx --id hash --json --threshold 1";
    let first = shell.run(&format!("{words} a.jsonl -o a.out --removed r")).succeeds();
    let second = shell.run(&format!("{words} a.jsonl -o b.out --removed s")).succeeds();
    assert_eq!(shell.read("a.out"), shell.read("b.out"));
    assert_eq!(first.counted("duplicates"), second.counted("duplicates"));
    assert_eq!(second.counted("unchanged"), first.counted("added"));
    let third = shell.run(&format!("{words} b.parquet -o c.parquet --removed t")).succeeds();
    assert_eq!(third.counted("added"), 0, "{third:?}");
    assert_eq!(third.counted("unchanged"), first.counted("added"));
    let hash = shell.run("export i.twx").succeeds().stdout;
    let line = hash.lines().nth(1).expect("a document");
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(line["id"], line["text_hash"]);
}

#[test]
fn results_are_written_as_tables() {
    let shell = Shell::new();
    shell.pipe("add i.twx -q -", as_jsonl(&documents(90))).succeeds();
    for (words, columns) in [
        ("pairs i.twx", vec!["a", "b", "similarity", "low", "high", "exact"]),
        ("clusters i.twx", vec!["representative", "size", "members"]),
        ("query i.twx --id d3", vec!["query", "id", "similarity", "low", "high", "exact"]),
        ("list i.twx", vec!["id"]),
        (
            "export i.twx",
            vec!["id", "set_size", "signature", "text_bytes", "text_hash", "inserted"],
        ),
    ] {
        let lines = shell.run(&format!("{words} --json")).succeeds().stdout;
        let count = lines.lines().count() - usize::from(words.starts_with("export"));
        for name in ["x.parquet", "x.arrow"] {
            let done = shell.run(&format!("{words} -o {name}"));
            assert_eq!((done.status, &*done.stdout), (0, ""), "{words}: {done:?}");
            let rows = rows_of(name, shell.read(name));
            let schema = rows.schema();
            let found: Vec<_> = schema.fields().iter().map(|field| field.name()).collect();
            assert_eq!(found, columns, "{words}");
            assert_eq!(rows.num_rows(), count, "{words}");
        }
        if !words.starts_with("export") {
            shell.run(&format!("{words} -o x.jsonl")).succeeds();
            assert_eq!(String::from_utf8(shell.read("x.jsonl")).expect("UTF-8"), lines, "{words}");
            shell.run(&format!("{words} -o x.csv")).succeeds();
            let csv = String::from_utf8(shell.read("x.csv")).expect("UTF-8");
            assert_eq!(csv.lines().next(), Some(&*columns.join(",")), "{words}");
            assert_eq!(csv.lines().count(), 1 + count, "{words}");
        }
    }
    shell.run("pairs i.twx -o i.twx").fails_with("it is the index itself");
    shell.write("q.jsonl", as_jsonl(&documents(3)));
    shell.run("query i.twx q.jsonl -o q.jsonl").fails_with("q.jsonl: is an input");
    assert_eq!(shell.read("q.jsonl"), as_jsonl(&documents(3)).into_bytes());
    shell.run("pairs i.twx -o x.parquet.gz").fails_with("leave out its last extension");
    shell.run("pairs i.twx -o x.jsonl.BZ2").fails_with("is written compressed only as .gz or .zst");
    shell.run("export i.twx -o x.xz").fails_with("only as .gz or .zst");
    for outputs in ["-o x.jsonl.lz4", "-o x.jsonl --removed r.jsonl.bz2"] {
        shell.run(&format!("dedup j.twx q.jsonl {outputs}")).fails_with("only as .gz or .zst");
        assert!(!shell.path("j.twx").exists());
    }
    shell.run("clusters i.twx -o x.TSV.gz").succeeds();
    let piped = shell.run("clusters i.twx -q").stdout;
    assert_eq!(shell.sh("gzip -dc x.TSV.gz").stdout, piped);
    shell.run("pairs i.twx -o no/x.parquet").fails_with("no/x.parquet: No such file");
}

#[test]
fn damage_is_an_error_of_the_file_and_nothing_more() {
    let shell = Shell::new();
    let rows = table(&documents(2_000));
    for (name, bytes) in [("a.parquet", parquet(&rows, 300)), ("a.arrow", arrow_stream(&rows))] {
        let mut random = Random(7);
        for round in 0..60 {
            let mut damaged = bytes.clone();
            match round % 3 {
                0 => damaged.truncate(random.below(bytes.len() as u64) as usize),
                1 => {
                    let at = random.below(bytes.len() as u64) as usize;
                    damaged[at] ^= 1 << random.below(8);
                }
                _ => {
                    let at = random.below(bytes.len() as u64 - 64) as usize;
                    damaged[at..at + 64].fill(random.below(256) as u8);
                }
            }
            shell.write(name, &damaged);
            shell.write("i.jsonl", "{\"id\":\"x\",\"text\":\"y\"}\n");
            let done = shell.run(&format!("add i.twx --json {name} i.jsonl"));
            assert!([0, 2].contains(&done.status), "{name}, round {round}: {done:?}");
            let good = done.counted("added") + done.counted("replaced");
            assert!(good + done.counted("unchanged") > 0, "{name}, round {round}: {done:?}");
        }
    }
}

/// Zeros are what a file system leaves of blocks that were never written.
#[test]
fn a_batch_of_arrow_that_became_zeros_is_not_passed_over() {
    let whole = table(&documents(900));
    let mut writer = FileWriter::try_new(Vec::new(), &whole.schema()).expect("a writer");
    let mut ends = Vec::new();
    for first in [0, 300, 600] {
        writer.write(&whole.slice(first, 300)).expect("written");
        ends.push(writer.get_ref().len());
    }
    let mut holed = writer.into_inner().expect("complete");
    // The second batch and no byte of the others.
    holed[ends[0]..ends[1]].fill(0);
    let shell = Shell::new();
    shell.write("in.arrow", holed);
    let done = shell.run("add i.twx in.arrow");
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.contains("in.arrow: is damaged or incomplete Arrow"), "{done:?}");
    assert!(done.stderr.contains("a message holds no rows"), "{done:?}");
}

#[test]
fn large_parts_of_parquet_are_joined_row_by_row() {
    let shell = Shell::new();
    let long = |n: u64| text(n / 3, n % 3, 4_000);
    let documents: Vec<_> = (0..1_500).map(|n| (format!("d{n}"), Some(long(n)))).collect();
    let rows = table(&documents);
    // The second half says that its texts may be null, the first that none is.
    let strict: Vec<_> =
        rows.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    let strict: Vec<_> = strict.into_iter().map(|field| field.with_nullable(false)).collect();
    let first = rows.slice(0, 700);
    let first = RecordBatch::try_new(Arc::new(Schema::new(strict)), first.columns().to_vec());
    shell.write("in/a.parquet", parquet(&first.expect("no nulls"), 1 << 20));
    shell.write("in/b.parquet", parquet(&rows.slice(700, 800), 1 << 20));
    let lines = as_jsonl(&documents);
    shell.write("a.jsonl", &lines);
    shell.run("dedup j.twx a.jsonl -o kept.jsonl -q --removed gone.jsonl").succeeds();
    // Parts of 600 rows are copied, unless they lack the nulls; one of 100 is encoded again.
    let words = "dedup i.twx in -o kept.parquet -q --batch 600 --removed gone2.jsonl";
    let running = shell.start(words);
    sleep(std::time::Duration::from_millis(200));
    running.kill();
    shell.run(words).succeeds();
    assert!(shell.read("gone.jsonl") == shell.read("gone2.jsonl"));
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(shell.read("kept.parquet")));
    let groups = reader.expect("Parquet").metadata().num_row_groups();
    assert!((2..=4).contains(&groups), "{groups} row groups");
    let kept = rows_of("kept.parquet", shell.read("kept.parquet"));
    let column =
        |name: &str| kept.column_by_name(name).expect("a column").as_string::<i32>().clone();
    let (ids, texts) = (column("id"), column("text"));
    let both = ids.iter().flatten().zip(texts.iter().flatten());
    let found = jsonl(&both.collect::<Vec<_>>());
    assert!(found.as_bytes() == shell.read("kept.jsonl"), "{} rows", kept.num_rows());
    assert!(kept.schema().field_with_name("text").expect("a column").is_nullable());
}
