//! An index follows a query.

use crate::shell::Place;

#[test]
fn an_index_follows_insertions_changes_and_removals() {
    let place = Place::new();
    let synced = place.prints(
        "CREATE TABLE t(id TEXT, body);
         INSERT INTO t VALUES ('a', 'one'), ('b', 'two'), ('c', NULL), (NULL, 'no id'), ('n', 5);
         SELECT twindex_sync('INDEX', 'SELECT id, body FROM t');
         SELECT twindex_sync('INDEX', 'SELECT id, body FROM t');
         UPDATE t SET body = 'changed' WHERE id = 'b';
         DELETE FROM t WHERE id = 'a';
         SELECT twindex_sync('INDEX', 'SELECT id, body FROM t');
         SELECT json_extract(twindex_sync('INDEX', 'SELECT id, body FROM t LIMIT 0'), '$.removed');
         SELECT count(*) FROM twindex_query('INDEX', 'changed');",
    );
    let expected = [
        r#"{"added":3,"replaced":0,"unchanged":0,"removed":0,"left_out":2}"#,
        r#"{"added":0,"replaced":0,"unchanged":3,"removed":0,"left_out":2}"#,
        r#"{"added":0,"replaced":1,"unchanged":1,"removed":1,"left_out":2}"#,
        "2",
        "0",
    ];
    assert_eq!(synced, expected.join("\n"));
}

#[test]
fn a_query_sees_what_was_synced_a_moment_ago() {
    let place = Place::new();
    let seen = place.prints(
        "SELECT twindex_sync('INDEX', 'SELECT 1, ''first''') IS NOT NULL;
         SELECT id FROM twindex_query('INDEX', 'first');
         SELECT twindex_sync('INDEX', 'SELECT 2, ''first''') IS NOT NULL;
         SELECT id FROM twindex_query('INDEX', 'first');",
    );
    assert_eq!(seen, "1\n1\n1\n2");
}

#[test]
fn an_index_that_was_replaced_is_opened_again() {
    let place = Place::new();
    let seen = place.prints(&format!(
        "SELECT twindex_sync('INDEX', 'SELECT 1, ''first''') IS NOT NULL;
         SELECT twindex_sync('{other}', 'SELECT 2, ''first''') IS NOT NULL;
         SELECT id FROM twindex_query('INDEX', 'first');
\n.shell mv {other} INDEX
         SELECT id FROM twindex_query('INDEX', 'first');",
        other = place.path("other.twx")
    ));
    assert_eq!(seen, "1\n1\n1\n2");
}

#[test]
fn the_index_does_not_follow_a_transaction_that_is_rolled_back() {
    let place = Place::new();
    // The two files have transactions of their own. Syncing again mends the index.
    let seen = place.prints(
        "CREATE TABLE t(id, body);
         BEGIN;
         INSERT INTO t VALUES (1, 'never committed');
         SELECT twindex_sync('INDEX', 'SELECT id, body FROM t') IS NOT NULL;
         ROLLBACK;
         SELECT count(*) FROM twindex_query('INDEX', 'never committed');
         SELECT twindex_sync('INDEX', 'SELECT id, body FROM t') IS NOT NULL;
         SELECT count(*) FROM twindex_query('INDEX', 'never committed');",
    );
    assert_eq!(seen, "1\n1\n1\n0");
}

#[test]
fn a_query_that_fails_leaves_the_index_as_it_was() {
    let place = Place::new();
    place.prints("SELECT twindex_sync('INDEX', 'SELECT 1, ''kept''');");
    let failing = "SELECT value, 'new ' || value FROM generate_series(1, 9999)
                   UNION ALL SELECT abs(-9223372036854775807 - 1), 'overflow'"
        .replace('\'', "''");
    let said = place.fails(&format!("SELECT twindex_sync('INDEX', '{failing}');"));
    assert!(said.contains("integer overflow"), "{said}");
    let snapshot = twindex::ReadOnlyIndex::open(place.path("index.twx")).expect("opened");
    assert_eq!(snapshot.snapshot().expect("a snapshot").len(), 1);
}
