//! What the functions give.

use crate::shell::Place;

const TEXTS: &str = "
    CREATE TABLE texts(id INTEGER PRIMARY KEY, body TEXT);
    INSERT INTO texts VALUES
        (1, 'the quick brown fox jumps over the lazy dog'),
        (2, 'The quick brown fox jumps over the lazy  dog!'),
        (3, 'something else, about the weather');
    SELECT twindex_sync('INDEX', 'SELECT id, body FROM texts');
";

fn filled() -> Place {
    let place = Place::new();
    place.prints(TEXTS);
    place
}

#[test]
fn a_query_finds_similar_texts_the_nearest_first() {
    let place = filled();
    let found = place.prints(
        "SELECT id, round(similarity, 2), low < similarity, high > similarity, exact
         FROM twindex_query('INDEX', 'the quick brown fox jumps over a lazy dog', 0.5);",
    );
    assert_eq!(found, "1|0.58|1|1|0\n2|0.56|1|1|0");
    let either = "SELECT count(*) FROM twindex_query WHERE path = 'INDEX' AND text IS 'one'
                  OR path = 'INDEX' AND text = 'something else, about the weather';";
    assert_eq!(place.prints(either), "1");
    let none = "SELECT count(*) FROM twindex_query('INDEX', 'the quick brown fox jumps high');
                SELECT count(*) FROM twindex_query('INDEX', NULL);";
    assert_eq!(place.prints(none), "0\n0");
}

#[test]
fn a_query_joins_with_the_table() {
    let joined = "SELECT texts.id, q.id FROM texts, twindex_query('INDEX', texts.body) q
                  WHERE q.id <> texts.id ORDER BY 1;
                  SELECT texts.body FROM twindex_query('INDEX', 'something else, about the weather')
                  JOIN texts USING (id);
                  SELECT id, path, text, threshold FROM twindex_query
                  WHERE text = 'something else, about the weather' AND path = 'INDEX';";
    let place = filled();
    let index = place.path("index.twx");
    assert_eq!(
        place.prints(joined),
        format!(
            "1|2\n2|1\nsomething else, about the weather\n\
             3|{index}|something else, about the weather|"
        )
    );
}

#[test]
fn pairs_and_clusters_are_tables() {
    let place = filled();
    let found = place.prints(
        "SELECT a, b, round(similarity, 2), exact FROM twindex_pairs('INDEX');
         SELECT a, b FROM twindex_pairs('INDEX', 0.99);
         SELECT cluster, id, representative FROM twindex_clusters('INDEX');
         SELECT count(*) FROM twindex_clusters('INDEX', 0.99);",
    );
    assert_eq!(found, "1|2|0.96|0\n1|1|1\n1|2|1\n0");
}

#[test]
fn stored_texts_make_answers_exact() {
    let place = Place::new();
    let path = place.path("index.twx");
    drop(twindex::Index::options().store_text(true).create(path).expect("created"));
    place.prints(TEXTS);
    // 35 shingles of the first text are in the second, which has one more.
    let found = "SELECT similarity = 35.0 / 36, low = high, exact FROM twindex_pairs('INDEX');";
    assert_eq!(place.prints(found), "1|1|1");
}

#[test]
fn texts_are_compared_without_an_index() {
    let compared = Place::new().prints(
        "SELECT twindex_similarity('abcdefghijk', 'abcdefghijkl'),
                twindex_containment('abcdefghijk', 'abcdefghijkl'),
                twindex_containment('abcdefghijkl', 'abcdefghijk');
         SELECT twindex_similarity('a b c', 'a b d', 'word:1'),
                twindex_containment('a b', 'a b d', 'word:1');
         SELECT twindex_similarity('', ''), twindex_similarity(NULL, 'a') IS NULL,
                twindex_containment('a', NULL) IS NULL, twindex_signature(NULL) IS NULL,
                twindex_similarity(twindex_signature('a'), NULL) IS NULL;
         SELECT typeof(twindex_signature('abc')), length(twindex_signature('abc')),
                hex(twindex_signature('abc')) = hex(twindex_signature('ABC ')),
                hex(twindex_signature('abc')) = hex(twindex_signature('abc', 'char:2'));
         SELECT twindex_similarity(twindex_signature('abcdefghijk'),
                                   twindex_signature('abcdefghijk')),
                abs(twindex_similarity(twindex_signature('abcdefghijk'),
                                       twindex_signature('abcdefghijkl')) - 0.75) < 0.12;",
    );
    assert_eq!(compared, "0.75|1.0|0.75\n0.5|1.0\n0.0|1|1|1|1\nblob|260|1|0\n1.0|1");
}

#[test]
fn a_signature_is_that_of_the_library() {
    let settings = twindex::Index::options().settings().expect("settings");
    let text = "a text that is sketched by both";
    let signature = settings.sketcher().and_then(|sketcher| sketcher.signature(text));
    let bytes = signature.expect("a signature").to_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    let script = format!("SELECT hex(twindex_signature('{text}'));");
    assert_eq!(Place::new().prints(&script), hex);
}
