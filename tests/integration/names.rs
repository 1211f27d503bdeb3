//! An index whose file loses its name while it is open: moved, deleted, replaced, or a link.
#![cfg(unix)]

use crate::support::all_ids;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use twindex::{Error, ErrorKind, Index, IndexOptions, ReadOnlyIndex, Shingle};

fn create(path: &Path, ids: &[&str]) -> Index {
    let index = Index::options().store_text(true).create(path).expect("created");
    insert(&index, ids).expect("committed");
    index
}

fn insert(index: &Index, ids: &[&str]) -> twindex::Result<()> {
    let mut txn = index.begin_write()?;
    for id in ids {
        txn.insert(id, &format!("the text of the document {id}"))?;
    }
    txn.commit()
}

fn ids(path: &Path) -> Vec<String> {
    all_ids(&Index::open(path).expect("opened").snapshot().expect("a snapshot"))
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one").path()).collect();
    names.sort();
    names
}

#[test]
fn a_rebuild_never_replaces_an_index_that_took_the_name_meanwhile() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, moved) = (folder.path().join("i.twx"), folder.path().join("moved.twx"));
    create(&path, &["old"]).close().expect("closed");
    let mut is_first = true;
    let options = Index::options().shingle(Shingle::words(2)).threshold(0.6);
    let rebuilt = options.rebuild(&path).watch(|_| {
        if std::mem::take(&mut is_first) {
            fs::rename(&path, &moved).expect("moved");
            create(&path, &["new"]).close().expect("closed");
        }
        ControlFlow::Continue(())
    });
    let error = rebuilt.expect_err("the file has lost its name");
    assert_eq!(error.kind(), ErrorKind::Moved, "{error}");
    assert!(error.to_string().contains("nothing was replaced"), "{error}");
    assert_eq!((ids(&path), ids(&moved)), (vec!["new".to_owned()], vec!["old".to_owned()]));
    assert_eq!(names(folder.path()), [path, moved], "the new file is removed");
}

#[test]
fn a_commit_to_a_file_that_lost_its_name_is_an_error() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 3] = [
        ("deleted", |path| fs::remove_file(path).expect("deleted")),
        ("moved", |path| fs::rename(path, path.with_extension("moved")).expect("moved")),
        ("replaced", |path| {
            let other = path.with_extension("other");
            create(&other, &["z"]).close().expect("closed");
            fs::rename(other, path).expect("replaced");
        }),
    ];
    for (name, change) in changes {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("i.twx");
        let index = create(&path, &["a"]);
        let reader = ReadOnlyIndex::open(&path).expect("opened");
        let mut txn = index.begin_write().expect("begun");
        txn.insert("b", "the text of the document b").expect("inserted");
        change(&path);
        let error = txn.commit().expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Moved, "{name}: {error}");
        let error = insert(&index, &["c"]).expect_err(name);
        assert!(error.to_string().contains("nothing was written"), "{name}: {error}");
        let error = reader.snapshot().expect_err(name);
        assert!(error.to_string().contains("open the index again to read"), "{name}: {error}");
        let error = index.close().expect_err(name);
        assert!(matches!(error, Error::Moved { .. }), "{name}: {error}");
        match name {
            "moved" => assert_eq!(ids(&path.with_extension("moved")), ["a", "b"]),
            "replaced" => assert_eq!(ids(&path), ["z"]),
            _ => assert!(!path.exists()),
        }
    }
}

#[test]
fn closing_tells_that_the_file_was_deleted_although_nothing_was_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("i.twx");
    create(&path, &["a"]).close().expect("closed");
    let index = Index::open(&path).expect("opened");
    fs::remove_file(&path).expect("deleted");
    assert_eq!(index.close().expect_err("deleted").kind(), ErrorKind::Moved);
}

#[test]
fn a_snapshot_of_a_deleted_index_can_be_saved() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, saved) = (folder.path().join("i.twx"), folder.path().join("saved.twx"));
    let index = create(&path, &["a", "b"]);
    let snapshot = index.snapshot().expect("a snapshot");
    fs::remove_file(&path).expect("deleted");
    snapshot.backup(&saved).run().expect("saved");
    assert_eq!(ids(&saved), ["a", "b"]);
}

#[test]
fn a_commit_to_a_file_that_was_shortened_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("i.twx");
    let index = create(&path, &["a"]);
    let file = fs::OpenOptions::new().write(true).open(&path).expect("opened");
    file.set_len(8192).expect("shortened");
    let error = insert(&index, &["b"]).expect_err("the file is shorter than the index");
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
    assert!(error.to_string().contains("another program has shortened the file"), "{error}");
    assert!(index.close().is_err());
}

#[test]
fn a_shortened_file_is_found_although_a_commit_makes_it_longer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("i.twx");
    let index = create(&path, &["a"]);
    let length = fs::metadata(&path).expect("a file").len();
    let file = fs::OpenOptions::new().write(true).open(&path).expect("opened");
    file.set_len(length / 2).expect("shortened");
    let ids: Vec<String> = (0..20_000).map(|number| number.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let error = insert(&index, &ids).expect_err("the file is shorter than the index");
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
}

#[test]
fn a_link_to_the_index_is_a_name_of_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, link) = (folder.path().join("i.twx"), folder.path().join("link.twx"));
    create(&path, &["a"]).close().expect("closed");
    std::os::unix::fs::symlink("i.twx", &link).expect("a link");
    let index = Index::open(&link).expect("opened");
    insert(&index, &["b"]).expect("committed");
    // A repair of the link replaces the file and keeps the link.
    fs::rename(&path, folder.path().join("other.twx")).expect("moved");
    assert_eq!(insert(&index, &["c"]).expect_err("moved").kind(), ErrorKind::Moved);
}

#[test]
fn a_link_to_no_file_gives_one_error_in_opening_and_creating() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let link = folder.path().join("link.twx");
    std::os::unix::fs::symlink("nowhere.twx", &link).expect("a link");
    type Attempt = fn(&IndexOptions, &Path) -> twindex::Result<()>;
    let attempts: [Attempt; 5] = [
        |options, path| options.open(path).map(drop),
        |options, path| options.open_read_only(path).map(drop),
        |options, path| options.create(path).map(drop),
        |options, path| options.open_or_create(path).map(drop),
        |options, path| options.repair(path).run().map(drop),
    ];
    for attempt in attempts {
        let error = attempt(&Index::options(), &link).expect_err("the link leads nowhere");
        assert!(matches!(error, Error::NotAnIndex { .. }), "{error}");
        assert!(error.to_string().contains("a link to nowhere.twx, which does not"), "{error}");
    }
    assert_eq!(names(folder.path()), [link]);
}
