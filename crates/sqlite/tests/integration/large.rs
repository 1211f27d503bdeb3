//! A database of 100,000 rows, of which every hundredth is a near duplicate of another.

use crate::shell::Place;

#[test]
fn an_index_follows_100_000_rows() {
    let place = Place::new();
    // Texts of 40 words each, from the digits of a number that no two rows share. Row i has the
    // text of row i - 1 with another end if i is a multiple of 100.
    let counted = place.prints(
        "CREATE TABLE pages(id INTEGER PRIMARY KEY, body TEXT);
         WITH RECURSIVE
             row(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM row WHERE i < 100000),
             seed(i, n) AS (SELECT i, iif(i % 100 = 0, i - 1, i) FROM row)
         INSERT INTO pages
         SELECT i, (SELECT group_concat(
                        printf('%x', (n * 2654435761 + w * 40503 * n) % 1000003), ' ')
                    FROM (SELECT 1 w UNION SELECT 2 UNION SELECT 3 UNION SELECT 5 UNION SELECT 7
                          UNION SELECT 11 UNION SELECT 13 UNION SELECT 17 UNION SELECT 19
                          UNION SELECT 23 UNION SELECT 29 UNION SELECT 31 UNION SELECT 37))
                   || iif(i % 100 = 0, ' x', '')
         FROM seed;
         SELECT twindex_sync('INDEX', 'SELECT id, body FROM pages');
         SELECT count(*), sum(CAST(b AS INTEGER) % 100 = 0 OR CAST(a AS INTEGER) % 100 = 0)
         FROM twindex_pairs('INDEX', 0.9);
         SELECT count(DISTINCT cluster), count(*) FROM twindex_clusters('INDEX', 0.9);
         UPDATE pages SET body = body || ' changed' WHERE id % 1000 = 7;
         DELETE FROM pages WHERE id % 1000 = 8;
         INSERT INTO pages SELECT id + 1000000, 'new ' || body FROM pages WHERE id % 1000 = 9;
         SELECT twindex_sync('INDEX', 'SELECT id, body FROM pages');
         SELECT count(*) FROM (SELECT id FROM pages WHERE id % 500 = 3) p
         JOIN pages ON pages.id = p.id
         JOIN twindex_query('INDEX', pages.body) q ON q.id = pages.id AND q.similarity = 1;",
    );
    let expected = [
        r#"{"added":100000,"replaced":0,"unchanged":0,"removed":0,"left_out":0}"#,
        "1000|1000",
        "1000|2000",
        r#"{"added":100,"replaced":100,"unchanged":99800,"removed":100,"left_out":0}"#,
        "200",
    ];
    assert_eq!(counted, expected.join("\n"));
}
