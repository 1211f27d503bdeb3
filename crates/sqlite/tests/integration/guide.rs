//! The session in `docs/embedding.md` prints what it says there.

use crate::shell::Place;
use std::fs;
use std::path::Path;

#[test]
fn the_session_in_the_guide_is_as_printed() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/embedding.md");
    let guide = fs::read_to_string(guide).expect("the guide");
    let (_, session) = guide.split_once("$ sqlite3 pages.db\n").expect("a session");
    let (session, _) = session.split_once("```").expect("its end");
    let (mut script, mut expected) = (String::new(), String::new());
    for line in session.lines() {
        match line.strip_prefix("sqlite> ").or_else(|| line.strip_prefix("   ...> ")) {
            Some(line) if line.starts_with(".load") => {}
            Some(line) => script += &format!("{line}\n"),
            None => expected += &format!("{line}\n"),
        }
    }
    let place = Place::new();
    let printed = place.prints(&script.replace("pages.twx", &place.path("pages.twx")));
    assert_eq!(printed, expected.trim_end());
    assert!(script.lines().count() > 5 && expected.lines().count() == 4);
}
