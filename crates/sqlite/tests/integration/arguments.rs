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
