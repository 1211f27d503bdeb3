//! What errors say: which folder is missing, and which document of a batch is wrong.

use crate::support::Place;
use std::error::Error as _;
use twindex::{
    DedupRun, Document, Error, ErrorKind, Index, Normalization, Outcome, Signature, Weights,
};

#[test]
fn a_missing_folder_is_named_and_the_advice_is_to_make_it() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let (folder, path) = (place.path("no/such"), place.path("no/such/index.twx"));
    let refused = [
        Index::create(&path).err(),
        Index::options().open_or_create(&path).err(),
        index.snapshot().expect("a snapshot").backup(&path).run().err(),
    ];
    for error in refused.into_iter().map(|error| error.expect("there is no folder")) {
        let expected = format!(
            "{}: creating the index in this folder, which does not exist; make it first",
            folder.display()
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!((error.kind(), error.path()), (ErrorKind::Io, Some(folder.as_path())));
        assert!(error.source().is_some(), "the words of the system");
    }
    std::fs::create_dir_all(folder).expect("made");
    Index::create(path).expect("created");
}

#[test]
fn an_empty_path_is_said_to_be_none() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let refused = [
        Index::create("").err(),
        Index::open("").err(),
        Index::options().open_or_create("").err(),
        Index::options().open_read_only("").err(),
        Index::repair("").run().err(),
        index.snapshot().expect("a snapshot").backup("").run().err(),
    ];
    for error in refused.into_iter().map(|error| error.expect("there is no path")) {
        assert_eq!(error.to_string(), "path \"\": expected the name of a file");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}

/// A signature of another number of lanes than those of usual indexes.
fn of_64_lanes() -> Signature {
    let place = Place::new();
    let index = Index::options().lanes(64).create(place.index()).expect("created");
    index.sketcher().signature("some text").expect("a signature")
}

/// The place and id of a refused document, and the message with its causes.
fn told<T: std::fmt::Debug>(refused: Result<T, Error>) -> (usize, String, String) {
    let error = refused.expect_err("refused");
    let message = error.with_causes();
    match error {
        Error::RefusedDocument { place, id, source } => {
            assert!(message.ends_with(&source.to_string()), "{message}");
            (place, id, message)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_document_of_a_batch_that_is_refused_is_named() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let whole = || index.prepare("whole", "a whole text").expect("prepared");
    let wrong = Document::from_signature("wrong", of_64_lanes()).expect("a document");
    let mut txn = index.begin_write().expect("begun");

    let batch = vec![whole(), wrong.clone(), whole()];
    let (at, id, message) = told(txn.insertion().documents(batch));
    assert_eq!((at, id.as_str()), (1, "wrong"));
    assert!(
        message.starts_with("document \"wrong\" is refused: signature of 64 lanes"),
        "{message}"
    );

    let batch = vec![whole(), whole(), wrong.clone().without_id()];
    let (at, id, message) = told(txn.insertion().documents(batch));
    assert_eq!((at, id.as_str()), (2, ""));
    let expected =
        "the document at place 2 of the batch, counted from 0, is refused: signature of 64 lanes";
    assert!(message.starts_with(expected), "{message}");

    let alone = txn.insertion().document(wrong).expect_err("refused");
    assert!(matches!(alone, Error::SignatureMismatch { .. }), "{alone}");
    assert!(txn.is_empty(), "nothing was inserted");
}

#[test]
fn an_error_that_names_its_document_is_not_wrapped() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let other = Index::options().normalization(Normalization::NONE);
    let other = other.create(place.path("other.twx")).expect("created");
    let documents = ["a", "b"].map(|id| other.prepare(id, "some text").expect("prepared"));
    let mut txn = index.begin_write().expect("begun");
    let refused = txn.insertion().documents(documents.to_vec()).expect_err("refused");
    assert!(matches!(&refused, Error::SketchedOtherwise { id, .. } if id == "a"), "{refused}");
    let documents = documents.map(Document::without_id).to_vec();
    let refused = txn.insertion().documents(documents).expect_err("refused");
    assert_eq!(refused.kind(), ErrorKind::Mismatch, "that of the reason");
    let (at, id, _) = told::<()>(Err(refused));
    assert_eq!((at, id.as_str()), (0, ""));
}

#[test]
fn the_content_that_is_refused_is_named() {
    let place = Place::new();
    let weighted = Index::options().weighted(true).create(place.path("w.twx")).expect("created");
    let mut txn = weighted.begin_write().expect("begun");
    let (at, id, message) = told(txn.insertion().contents(&[("a", "a text")]));
    assert_eq!((at, id.as_str()), (0, "a"));
    assert!(message.starts_with("document \"a\" is refused: not a weighted set"), "{message}");
    let (at, ..) = told(txn.sync().contents(&[("b", "a text")]));
    assert_eq!(at, 0);
    let weights = Weights::new([("sea", 1.5)]).expect("weights");
    txn.insertion().contents(&[("w", weights)]).expect("inserted");

    let index = Index::create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    let long = "x".repeat(4097);
    let contents = [("a", "one text"), (long.as_str(), "another text"), ("", "a third text")];
    for (at, id, message) in
        [told(txn.insertion().contents(&contents)), told(txn.sync().contents(&contents))]
    {
        assert_eq!((at, id.as_str()), (1, ""));
        let expected =
            "the document at place 1 of the batch, counted from 0, is refused: id of 4097 bytes";
        assert!(message.starts_with(expected), "{message}");
    }
    // What is unchanged counts too.
    txn.insert("a", "one text").expect("inserted");
    let (at, ..) = told(txn.sync().contents(&contents));
    assert_eq!(at, 1);
}

#[test]
fn a_resumed_run_counts_the_documents_that_it_passes_over() {
    const KEY: &str = "a key";
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let first = || index.prepare("first", "a text that is judged").expect("prepared");
    let mut txn = index.begin_write().expect("begun");
    let mut run = DedupRun::begin(KEY);
    let judged = run.insert(txn.insertion().unless_similar(0.8), vec![first()]).expect("judged");
    assert!(matches!(judged[0].as_ref().map(|it| &it.outcome), Some(Outcome::Inserted(_))));
    run.save(&mut txn, [0; 10]).expect("saved");
    txn.commit().expect("committed");

    let mut txn = index.begin_write().expect("begun");
    let mut run = DedupRun::resume(&txn, KEY).expect("readable").expect("interrupted");
    let wrong = Document::from_signature("wrong", of_64_lanes()).expect("a document");
    let refused = run.insert(txn.insertion().unless_similar(0.8), vec![first(), wrong]);
    let (at, id, _) = told(refused);
    assert_eq!((at, id.as_str()), (1, "wrong"));
}
