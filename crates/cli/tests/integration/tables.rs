//! CSV and TSV: headers, quotes, and what is wrong with them.

use crate::command::{Done, Shell};

#[track_caller]
fn added(shell: &Shell, table: &str, options: &str) -> Done {
    shell.write("in.csv", table);
    let words: Vec<&str> = ["add", "i.twx", "--json", "in.csv"]
        .into_iter()
        .chain(options.split_whitespace())
        .collect();
    shell.args(&words, "")
}

/// Adds a table of which some records are bad, and names where and why.
#[track_caller]
fn bad(table: &str, options: &str, messages: &[&str], ids: &[&str]) {
    let shell = Shell::new();
    let done = added(&shell, table, options);
    assert_eq!((done.status, done.counted("failed")), (2, messages.len() as u64), "{done:?}");
    for (line, expected) in done.stderr.lines().zip(messages) {
        let start = format!("twindex: in.csv:{expected}");
        assert!(line.starts_with(&start), "{line:?} is not {start:?}");
    }
    // Without a good record there is no index.
    assert_eq!(shell.path("i.twx").exists(), !ids.is_empty());
    if !ids.is_empty() {
        assert_eq!(shell.ids(), *ids);
        shell.assert_clean();
    }
}

#[test]
fn columns_have_the_names_that_were_given() {
    let shell = Shell::new();
    let table = "url,id,text,body\nu,1,wrong,right\n";
    added(&shell, table, "--id-field url --text-field body").succeeds();
    assert_eq!(shell.run("get i.twx u --json").json()[0]["bytes"], 5);
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_name() {
    let shell = Shell::new();
    added(&shell, "\u{feff}\"id\",text\na,b\n", "").succeeds();
    assert_eq!(shell.ids(), ["a"]);
}

#[test]
fn a_missing_column_is_one_error_that_shows_the_header() {
    let rows = "a,b\n".repeat(100);
    bad(
        &format!("id,body\n{rows}"),
        "",
        &[" no column `text` in its header `id`, `body`; name another with --text-field"],
        &[],
    );
    bad(
        &format!("key,text\n{rows}"),
        "--id-field id",
        &[" no column `id` in its header `key`, `text`; name another with --id-field"],
        &[],
    );
    bad("", "", &[" empty; expected a header"], &[]);
}

#[test]
fn rows_without_an_id_are_named_by_file_and_line() {
    let shell = Shell::new();
    added(&shell, "key,text\n1,a\n\"2\n\",b\n3,c\n", "").succeeds();
    assert_eq!(shell.ids(), ["in.csv:2", "in.csv:3", "in.csv:5"]);
}

#[test]
fn a_bad_header_does_not_stop_other_files() {
    let shell = Shell::new();
    shell.write("a.csv", "no,header\n");
    shell.write("b.csv", "id,text\nb,text\n");
    let done = shell.run("add i.twx a.csv b.csv");
    assert_eq!((done.status, shell.ids()), (2, vec!["b".to_owned()]), "{done:?}");
}

#[test]
fn a_record_with_other_fields_than_the_header_is_reported_with_its_line() {
    bad(
        "id,text\na,1\n\"b\nb\",2,3\nc\n\nd,4\n",
        "",
        &["3: 3 fields, but the header has 2", "5: 1 field, but the header has 2"],
        &["a", "d"],
    );
}

#[test]
fn a_quote_that_is_never_closed_is_reported_with_its_line() {
    let rest = "c,3\n".repeat(10_000);
    bad(&format!("id,text\na,1\nb,\"2\n{rest}"), "", &["3: a quote opens"], &["a"]);
    bad(&format!("id,text\na,1\nb,\"2\n{rest}"), "--max-record 1K", &["3: a quote opens"], &["a"]);
}

#[test]
fn a_record_that_is_too_long_is_reported_and_the_rest_goes_on() {
    for length in [1_025, 5_000_000] {
        let long = "x\n".repeat(length / 2 + 1);
        let last = 3 + length / 2 + 1;
        let table = format!("id,text\na,1\nb,\"{long}\"\nc,3\nd\n");
        let count = format!("{}: 1 field", last + 2);
        bad(&table, "--max-record 1K", &["3: longer than 1K", &count], &["a", "c"]);
    }
}

#[test]
fn a_field_that_is_not_utf8_is_named() {
    let shell = Shell::new();
    shell.write("in.csv", b"id,text,more\na,1,\xff\nb,\"x\"\"\xff\",2\n\xff,3,4\nd,5,6\n");
    let done = shell.run("add i.twx --json in.csv");
    assert_eq!(done.counted("failed"), 2, "{done:?}");
    assert!(
        done.stderr.contains("in.csv:3: field `text` is not valid UTF-8 at byte 3"),
        "{done:?}"
    );
    assert!(done.stderr.contains("in.csv:4: field `id` is not valid UTF-8 at byte 1"), "{done:?}");
    assert_eq!(shell.ids(), ["a", "d"]);
}

#[test]
fn records_of_standard_input_without_an_id_are_named_as_lines_are() {
    let shell = Shell::new();
    let table = "text\n\"one\ntext\"\nanother\n";
    shell.pipe("add i.twx --format csv --id-prefix feed -", table).succeeds();
    shell.pipe("add i.twx --format tsv -", "text\nthird\n").succeeds();
    assert_eq!(shell.ids(), ["feed:2", "feed:4", "#1"]);
}

#[test]
fn an_empty_field_is_an_empty_text_and_an_empty_id_is_bad() {
    let shell = Shell::new();
    let done = added(&shell, "id,text\na,\n,b\nc,\"\"\n", "");
    assert_eq!((done.counted("empty"), done.counted("failed")), (2, 1), "{done:?}");
    assert!(done.stderr.contains("in.csv:3: "), "{done:?}");
}

#[test]
fn many_records_are_read_in_order_over_many_batches() {
    let shell = Shell::new();
    let rows: String = (0..40_000).map(|n| format!("{n},\"text\n\"\"{n}\"\"\"\n")).collect();
    added(&shell, &format!("id,text\n{rows}"), "").succeeds();
    let ids: Vec<String> = (0..40_000).map(|n| n.to_string()).collect();
    assert!(shell.ids() == ids);
}

#[test]
fn rows_that_end_in_a_carriage_return_have_lines_of_their_own() {
    let shell = Shell::new();
    let rows = ["x,text", "1,the first record", "2,a second one", "", "3,third and last"];
    for end in ["\r", "\n", "\r\n"] {
        shell.write("t.csv", rows.join(end) + end);
        let index = format!("{}.twx", end.len() * 10 + usize::from(end.as_bytes()[0]));
        let done = shell.run(&format!("add {index} --json t.csv")).succeeds();
        assert_eq!(done.counted("added"), 3, "{end:?}");
        let ids = shell.run(&format!("list {index}")).succeeds();
        assert_eq!(ids.column(0), ["t.csv:2", "t.csv:3", "t.csv:5"], "{end:?}");
    }
}

#[test]
fn one_column_can_be_both_the_id_and_the_text() {
    let done = added(&Shell::new(), "key,text\n1,one text\n2,another\n", "--id-field text");
    assert_eq!((done.status, done.counted("added"), done.counted("empty")), (0, 2, 0), "{done:?}");
}
