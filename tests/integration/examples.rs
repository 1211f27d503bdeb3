//! Runs the programs of `examples/` and checks their output.

use crate::support::Place;

#[path = "../../examples/containment.rs"]
#[expect(dead_code, reason = "its main is for people")]
mod containment;
#[path = "../../examples/embedding.rs"]
#[expect(dead_code, reason = "its main is for people")]
mod embedding;
#[path = "../../examples/growing_index.rs"]
#[expect(dead_code, reason = "its main is for people")]
mod growing_index;

#[test]
fn a_growing_index_keeps_new_pages_and_names_copies() {
    let place = Place::new();
    let lines = growing_index::run(&place.index()).expect("it runs");
    assert_eq!(
        lines,
        [
            "mon/1: new",
            "mon/2: new",
            "mon/3: a copy of mon/1",
            "2 pages, 0 removed for their age",
            "tue/1: a copy of mon/2",
            "tue/2: new",
            "3 pages, 0 removed for their age",
        ]
    );
}

#[test]
fn readers_are_answered_while_a_thread_writes() {
    let place = Place::new();
    let (documents, answers) = embedding::run(&place.index()).expect("it runs");
    assert_eq!(documents, 400);
    assert!(answers >= 3, "{answers} answers to three readers");
}

#[test]
fn books_that_contain_a_quotation_are_found() {
    let place = Place::new();
    let found = containment::run(&place.index()).expect("it runs");
    let names: Vec<&str> = found.iter().map(|(book, _)| book.as_str()).collect();
    assert_eq!(names, ["An essay", "Pride and Prejudice"]);
    assert!(found.iter().all(|(_, share)| *share == 1.0), "{found:?}");
}
