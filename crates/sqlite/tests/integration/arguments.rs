//! Mistakes are errors of SQL that say what is wrong.

use crate::shell::Place;

#[test]
fn missing_arguments_are_named() {
    let place = Place::new();
    for (script, message) in [
        ("SELECT * FROM twindex_query('INDEX');", "the argument text is missing"),
        ("SELECT * FROM twindex_query;", "the argument path is missing"),
        ("SELECT * FROM twindex_pairs;", "twindex_pairs(path, threshold): the argument path"),
        ("SELECT * FROM twindex_clusters;", "the argument path is missing"),
        ("SELECT q.id FROM twindex_query('INDEX', t.b) q LEFT JOIN (SELECT 1 b) t;", "reads later"),
        ("SELECT id FROM twindex_query WHERE text = 'a';", "the argument path is missing"),
        ("SELECT * FROM twindex_query(NULL, 'a');", "twindex_query: the path is NULL"),
        ("SELECT twindex_sync(NULL, 'SELECT 1, 2');", "the path is NULL"),
        ("SELECT twindex_sync('INDEX', NULL);", "the query is NULL"),
        ("SELECT twindex_sync('INDEX');", "wrong number of arguments"),
    ] {
        let said = place.fails(script);
        assert!(said.contains(message), "{script}: {said}");
    }
}

#[test]
fn bad_arguments_are_named() {
    let place = Place::new();
    place.prints("SELECT twindex_sync('INDEX', 'SELECT 1, 2');");
    for (script, message) in [
        ("SELECT * FROM twindex_query('none.twx', 'a');", "none.twx: no such index"),
        ("SELECT * FROM twindex_query('INDEX', 'a', 7);", "threshold 7: expected"),
        ("SELECT * FROM twindex_query('INDEX', 'a', 'x');", "the threshold is a Text"),
        ("SELECT * FROM twindex_query('INDEX', x'ff');", "the text is not valid UTF-8 at byte 1"),
        ("SELECT * FROM twindex_pairs('INDEX', 0);", "threshold 0: expected"),
        ("SELECT * FROM twindex_clusters('INDEX', -1);", "threshold -1: expected"),
        ("SELECT twindex_similarity('a', 'b', 'sentence:1');", "shingle sentence:1: expected"),
        ("SELECT twindex_similarity(x'00', x'01');", "a blob of 1 bytes is no signature"),
        ("SELECT twindex_sync('INDEX', 'SELECT 1');", "got 1 columns"),
        ("SELECT twindex_sync('INDEX', 'DELETE FROM t');", "no such table: t"),
        ("SELECT twindex_sync('INDEX', 'CREATE TABLE t(a, b)');", "changes the database"),
        ("SELECT twindex_similarity('a', twindex_signature('a'));", "a blob is a signature here"),
        ("SELECT twindex_sync('INDEX', 'SELECT 1, 2; SELECT 3, 4');", "Multiple statements"),
        ("SELECT twindex_sync('INDEX', 'SELECT 1, x''ff''');", "id 1: the text is not valid UTF-8"),
        ("SELECT twindex_sync('INDEX', 'SELECT '''', ''a''');", "id of 0 bytes"),
        ("SELECT twindex_sync('no/such/folder.twx', 'SELECT 1, 2');", "creating the index"),
    ] {
        let said = place.fails(script);
        assert!(said.contains(message), "{script}: {said}");
    }
    // Nothing of the above has changed the index.
    assert_eq!(place.prints("SELECT id FROM twindex_query('INDEX', '2');"), "1");
}

#[test]
fn a_row_with_a_bad_id_is_named_by_its_number() {
    let place = Place::new();
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                SELECT CASE i WHEN 7 THEN NULL WHEN 10000 THEN BAD ELSE i END, ''a text'' FROM n";
    for (bad, message) in [
        ("''''", "row 10000 of the query: id of 0 bytes: expected 1 to 4096 bytes of UTF-8"),
        ("x''ff''", "row 10000 of the query: the id is not valid UTF-8 at byte 1"),
    ] {
        let rows = rows.replace("BAD", bad);
        let said = place.fails(&format!("SELECT twindex_sync('INDEX', '{rows}');"));
        assert!(said.contains(message), "{said}");
    }
}

#[test]
fn a_text_that_is_no_list_of_weights_is_named_by_its_id() {
    let place = Place::new();
    let options = twindex::Index::options().weighted(true);
    drop(options.create(place.path("index.twx")).expect("created"));
    let said = place.fails("SELECT twindex_sync('INDEX', 'SELECT ''one'', ''no weights''');");
    assert!(said.contains("id one: "), "{said}");
}

#[test]
fn a_message_with_a_nul_is_not_lost() {
    let place = Place::new();
    for (script, message) in [
        ("SELECT twindex_sync('a' || char(0) || 'b', 'SELECT 1, 2');", "a\\0b: "),
        ("SELECT twindex_sync('INDEX', 'SELECT ''a'' || char(0), x''ff''');", "id a\\0: the text"),
        ("SELECT twindex_similarity('a', 'b', 'char' || char(0));", "shingle char\\0: expected"),
    ] {
        let said = place.fails(script);
        assert!(said.contains(message), "{script}: {said}");
    }
}

#[test]
fn a_database_is_not_opened_as_an_index() {
    let place = Place::new();
    let database = place.path("database.sqlite");
    // Closing the file would end the lock of the transaction, and the other process could write.
    let (out, err) = place.run(&format!(
        "CREATE TABLE t(x);
         BEGIN IMMEDIATE;
         INSERT INTO t VALUES (0);
         SELECT * FROM twindex_query('{database}', 'x');
         SELECT twindex_sync('{database}', 'SELECT 1, 2');
         SELECT twindex_sync('{database}-journal', 'SELECT 1, 2');
\n.shell sqlite3 {database} 'INSERT INTO t VALUES (1)'
         COMMIT;
         SELECT x FROM t;"
    ));
    assert_eq!(out, "0");
    assert_eq!(err.matches("is a database of SQLite, not a twindex index").count(), 2, "{err}");
    assert!(err.contains("belongs to a database"), "{err}");
    assert!(err.contains("database is locked"), "{err}");
}

#[test]
fn a_stranger_s_view_opens_no_files() {
    let place = Place::new();
    let script = "SELECT twindex_sync('INDEX', 'SELECT 1, 2');
                  CREATE VIEW spy AS SELECT * FROM twindex_query('INDEX', '2');
                  CREATE VIEW worse AS SELECT twindex_sync('INDEX', 'SELECT 1, 3');";
    place.prints(script);
    assert!(place.fails("SELECT * FROM spy;").contains("unsafe use"));
    assert!(place.fails("SELECT * FROM worse;").contains("unsafe use"));
}

#[test]
fn arguments_may_be_alternatives() {
    let place = Place::new();
    let script = "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);
         INSERT INTO t VALUES (1, 'alpha beta gamma delta', 'zeta eta theta iota kappa');
         SELECT twindex_sync('INDEX', 'SELECT 1, a FROM t UNION ALL SELECT 2, b FROM t');";
    place.prints(script);
    for where_ in [
        "(q.path = 'INDEX' AND q.text = t.a) OR (q.path = 'INDEX' AND q.text = t.b)",
        "q.path = 'INDEX' AND q.text IN (t.a, t.b)",
        "(q.path = 'INDEX' AND q.text = t.a) OR (q.path = 'INDEX' AND q.text = t.b AND q.id = '2')",
    ] {
        let rows = place.prints(&format!("SELECT q.id FROM t, twindex_query q WHERE {where_};"));
        let mut rows: Vec<&str> = rows.lines().collect();
        rows.sort_unstable();
        assert_eq!(rows, ["1", "2"], "{where_}");
    }
    // Alternatives that are the same row give it once.
    let twice = "SELECT id FROM twindex_query WHERE path = 'INDEX'
                 AND text = 'alpha beta gamma delta' AND (id = '1' OR similarity > .5);";
    assert_eq!(place.prints(twice), "1");
    assert_eq!(
        place.prints("SELECT id FROM twindex_query WHERE path = 'INDEX' AND text IS NULL;"),
        ""
    );
}

/// An index of two similar texts, and another one.
fn of_two_texts() -> Place {
    let place = Place::new();
    let rows = "SELECT 1, ''alpha beta gamma delta epsilon''
                UNION ALL SELECT 2, ''alpha beta gamma delta epsilon zeta eta''";
    place.prints(&format!("SELECT twindex_sync('INDEX', '{rows}');"));
    place.prints(&format!("SELECT twindex_sync('INDEX.other', '{rows}');"));
    place
}

#[test]
fn alternatives_may_differ_in_the_threshold_only() {
    let place = of_two_texts();
    for (where_, expected) in [
        ("path = 'INDEX' AND threshold = .9 OR path = 'INDEX' AND threshold IN (.3)", "0.3"),
        ("path = 'INDEX' AND (threshold = .3 OR threshold = .4)", "0.3\n0.4"),
        (
            "path = 'INDEX' AND threshold = .3 AND a = '1' OR path = 'INDEX' AND threshold = .4",
            "0.3\n0.4",
        ),
    ] {
        let found = format!("SELECT threshold FROM twindex_pairs WHERE {where_} ORDER BY 1;");
        assert_eq!(place.prints(&found), expected, "{where_}");
    }
    let sorted = "CREATE TABLE t(x); INSERT INTO t VALUES (1);
                  SELECT threshold, x FROM twindex_pairs CROSS JOIN t
                  WHERE path = 'INDEX' AND threshold = .9 OR path = 'INDEX' AND threshold = .3
                  ORDER BY 1, 2;";
    assert_eq!(place.prints(sorted), "0.3|1");
}

#[test]
fn functions_are_joined_by_their_arguments() {
    let place = of_two_texts();
    for (using, where_, expected) in [
        ("path", "path IN ('INDEX', 'INDEX.other') AND a.threshold = .3 AND b.threshold = .3", "4"),
        ("path, threshold", "path = 'INDEX' AND threshold IN (.3, .4, .9)", "4"),
        (
            "threshold",
            "a.path = 'INDEX' AND b.path = 'INDEX.other' AND threshold = (SELECT .3)",
            "2",
        ),
    ] {
        let found = place.prints(&format!(
            "SELECT count(*) FROM twindex_pairs a JOIN twindex_clusters b USING ({using})
             WHERE {where_};"
        ));
        assert_eq!(found, expected, "{using}");
    }
}

#[test]
fn ids_of_real_numbers_are_written_as_sqlite_writes_them() {
    let place = Place::new();
    let numbers = "1.0, 1e20, 0.1 + 0.2, 2.5e-7, 0.0001, 0.00001, 123456789012345.0, -1e15, 1e999, \
                   1e14, 3.25, 875217184718608.5, 7.5737247582032e+221";
    let values: Vec<String> = numbers.split(", ").map(|number| format!("({number})")).collect();
    place.prints(&format!(
        "CREATE TABLE t(id); INSERT INTO t VALUES {};
         SELECT twindex_sync('INDEX', 'SELECT id, ''text '' || id FROM t');",
        values.join(", ")
    ));
    let missing = "SELECT CAST(id AS TEXT) FROM t
                   WHERE CAST(id AS TEXT) NOT IN (
                       SELECT a FROM twindex_pairs('INDEX', .01)
                       UNION SELECT b FROM twindex_pairs('INDEX', .01)
                       UNION SELECT q.id FROM twindex_query('INDEX', 'text ' || t.id) q);";
    assert_eq!(place.prints(missing), "");
}

#[test]
fn an_index_that_was_mended_is_read_again() {
    let place = Place::new();
    place.prints(
        "SELECT twindex_sync('INDEX', 'SELECT 1, ''a text'' UNION ALL SELECT 2, ''other''');",
    );
    let index = place.path("index.twx");
    let (out, err) = place.run(&format!(
        "SELECT id FROM twindex_query('INDEX', 'a text');
\n.shell cp {index} {index}.copy && truncate -s 4096 {index}
         SELECT id FROM twindex_query('INDEX', 'a text');
\n.shell cat {index}.copy > {index}
         SELECT id FROM twindex_query('INDEX', 'a text');"
    ));
    assert_eq!(out, "1\n1", "{err}");
    assert!(err.contains("index.twx"), "{err}");
}

#[test]
fn a_database_in_the_place_of_an_index_is_not_opened() {
    let place = Place::new();
    place.prints("SELECT twindex_sync('INDEX', 'SELECT 1, ''a text''');");
    let (index, database) = (place.path("index.twx"), place.path("database.sqlite"));
    let (out, err) = place.run(&format!(
        "SELECT id FROM twindex_query('INDEX', 'a text');
         CREATE TABLE t(x);
         BEGIN IMMEDIATE;
         INSERT INTO t VALUES (0);
\n.shell rm {index}; ln -s {database} {index}
         SELECT id FROM twindex_query('INDEX', 'a text');
\n.shell sqlite3 {database} 'INSERT INTO t VALUES (1)'
         COMMIT;
         SELECT x FROM t;"
    ));
    assert_eq!(out, "1\n0");
    assert!(err.contains("is a database of SQLite"), "{err}");
    assert!(err.contains("database is locked"), "{err}");
}

#[test]
fn weighted_sets_are_lists_of_tokens_and_weights() {
    let place = Place::new();
    let index = place.path("index.twx");
    let options = twindex::Index::options().weighted(true);
    drop(options.create(index).expect("created"));
    let set = |token: &str| format!("'{token}' || char(31) || 1.5 || char(31)");
    place.prints(&format!(
        "CREATE TABLE t(id, body);
         INSERT INTO t VALUES ('a', {}), ('b', {});
         SELECT twindex_sync('INDEX', 'SELECT id, body FROM t');",
        set("sea"),
        set("land")
    ));
    let found = place.prints(&format!("SELECT id FROM twindex_query('INDEX', {});", set("sea")));
    assert_eq!(found, "a");
    assert!(place.fails("SELECT id FROM twindex_query('INDEX', 'sea');").contains("weighted set"));
}
