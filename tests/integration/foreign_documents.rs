//! Documents that a sketcher of other settings has made, whose signatures compare with none here.

use crate::support::{Place, all_ids};
use twindex::{Document, Error, ErrorKind, Index, IndexOptions, Normalization, Shingle};

const TEXT: &str = "It was the best of times, it was the worst of times.";

fn index(place: &Place, name: &str, options: &IndexOptions) -> Index {
    options.create(place.path(name)).expect("created")
}

#[test]
fn a_document_of_other_settings_is_refused_and_the_setting_is_named() {
    let place = Place::new();
    let plain = |options: IndexOptions| options.store_text(true);
    let target = index(&place, "target.twx", &plain(Index::options()));
    let usual = Normalization::default().to_string();
    let others = [
        ("shingle", "char:9", "word:3", plain(Index::options().shingle(Shingle::words(3)))),
        ("normalization", &usual, "none", {
            plain(Index::options().normalization(Normalization::NONE))
        }),
        ("multiset", "false", "true", plain(Index::options().multiset(true))),
        ("seed", "0", "7", plain(Index::options().seed(7))),
    ];
    for (setting, expected, got, options) in others {
        let other = index(&place, setting, &options);
        let document = other.prepare("x", TEXT).expect("prepared");
        let mut txn = target.begin_write().expect("begun");
        let error = txn.insertion().document(document).expect_err(setting);
        assert_eq!(error.kind(), ErrorKind::Mismatch);
        let Error::SketchedOtherwise { id, setting: named, expected: here, got: there } = error
        else {
            panic!("{setting}: {error}");
        };
        assert_eq!((id.as_str(), named), ("x", setting));
        assert_eq!((here.as_str(), there.as_str()), (expected, got));
        txn.commit().expect("committed");
    }
    assert!(target.snapshot().expect("a snapshot").is_empty(), "nothing was inserted");
}

#[test]
fn a_document_of_equal_settings_is_taken_whoever_has_made_it() {
    let place = Place::new();
    let [one, other] = ["one", "other"].map(|name| index(&place, name, &Index::options().seed(7)));
    let mut txn = one.begin_write().expect("begun");
    let prepared = other.prepare("a", TEXT).expect("prepared");
    let sketched = Document::sketch("b", TEXT, other.sketcher()).expect("sketched");
    let signature = other.sketcher().signature(TEXT).expect("a signature");
    let from_signature = Document::from_signature("c", signature).expect("a document");
    for document in [prepared, sketched, from_signature] {
        txn.insertion().document(document).expect("inserted");
    }
    txn.commit().expect("committed");
    let snapshot = one.snapshot().expect("a snapshot");
    assert_eq!(all_ids(&snapshot), ["a", "b", "c"]);
    assert_eq!(snapshot.query().by_text(TEXT).expect("answered").len(), 3);
}
