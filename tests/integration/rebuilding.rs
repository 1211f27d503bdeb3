//! Rebuilding an index with other settings: it succeeds completely or changes nothing.

use crate::support::{Place, all_ids, assert_clean, text, tiny};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use twindex::{Document, Error, Index, IndexOptions, Shingle};

fn filled(folder: &tempfile::TempDir, options: &IndexOptions) -> PathBuf {
    let path = folder.path().join("r.twx");
    let index = options.create(&path).expect("created");
    let mut txn = index.begin_write().expect("begun");
    for number in 0..300_u64 {
        let words = text(number % 40, number, 30);
        let document = index.prepare(number.to_string(), &words).expect("prepared");
        let document =
            document.inserted_at(UNIX_EPOCH + Duration::from_secs(1_700_000_000 + number));
        txn.insertion().document(document).expect("inserted");
    }
    assert!(txn.remove("7").expect("removed"));
    txn.insert(&format!("{}", 300), "").expect("inserted");
    assert_eq!(txn.auto_id().expect("an id"), "#1");
    txn.commit().expect("committed");
    path
}

/// The documents of an index, and its pairs.
type Content = (Vec<(String, Option<String>, Option<SystemTime>)>, Vec<(String, String, f64)>);

fn content(path: &Path) -> Content {
    let index = Index::open(path).expect("opened");
    assert_clean(&index.check().run().expect("checked"));
    let snapshot = index.snapshot().expect("a snapshot");
    let known = |document: Document| {
        (document.id().to_owned(), document.text().map(str::to_owned), document.inserted())
    };
    let documents = snapshot.documents().map(|document| known(document.expect("readable")));
    let pairs = snapshot.pairs(0.7).expect("a threshold").map(|pair| {
        let pair = pair.expect("readable");
        (pair.a, pair.b, pair.similarity)
    });
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    (documents.collect(), pairs)
}

#[test]
fn a_rebuilt_index_equals_one_created_with_the_new_settings() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let other = tempfile::tempdir().expect("a temporary folder");
    let options = Index::options().store_text(true);
    let path = filled(&folder, &options);
    let wanted =
        options.clone().shingle(Shingle::words(2)).threshold(0.6).lanes(128).multiset(true);
    let rebuilt = wanted.rebuild(&path).run().expect("rebuilt");
    assert_eq!((rebuilt.documents, rebuilt.settings.lanes()), (300, 128));
    let new = filled(&other, &wanted);
    let settings = |path: &Path| *Index::open(path).expect("opened").settings();
    assert_eq!(settings(&path), settings(&new));
    let found = content(&path);
    // The empty document has the time at which it was inserted.
    let mut expected = content(&new);
    expected.0.last_mut().expect("documents").2 = found.0.last().expect("documents").2;
    assert_eq!(found, expected);
    let index = Index::open(&path).expect("opened");
    let mut txn = index.begin_write().expect("begun");
    assert_eq!(txn.auto_id().expect("an id"), "#2", "automatic ids are never given twice");
}

#[test]
fn settings_that_are_not_given_stay() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = Index::options().store_text(true).seed(9).shingle(Shingle::chars(7));
    let path = filled(&folder, &options);
    let before = *Index::open(&path).expect("opened").settings();
    let rebuilt = Index::options().recall(0.9).rebuild(&path).run().expect("rebuilt").settings;
    assert_eq!((rebuilt.seed, rebuilt.shingle), (9, Shingle::chars(7)));
    assert_eq!((rebuilt.threshold(), rebuilt.recall()), (before.threshold(), 0.9));
    // Tokens are names, so they are not normalised by default.
    let rebuilt =
        Index::options().shingle(Shingle::Tokens).rebuild(&path).run().expect("rebuilt").settings;
    assert_eq!(rebuilt.normalization, Shingle::Tokens.default_normalization());
}

#[test]
fn an_index_without_texts_cannot_be_rebuilt() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("none.twx");
    drop(Index::create(&path).expect("created"));
    let before = std::fs::read(&path).expect("readable");
    let refused = Index::options().threshold(0.5).rebuild(&path).run();
    assert!(matches!(refused, Err(Error::NoTexts { .. })));
    assert_eq!(std::fs::read(&path).expect("readable").len(), before.len());
}

#[test]
fn a_stopped_or_impossible_rebuild_leaves_the_index_unchanged() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = filled(&folder, &Index::options().store_text(true));
    let before = content(&path);
    let options = Index::options().shingle(Shingle::words(1));
    let mut told = 0;
    let stopped = options.rebuild(&path).watch(|_| {
        told += 1;
        if told > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{stopped:?}");
    let unreachable = Index::options().threshold(0.05).rebuild(&path).run();
    assert!(matches!(unreachable, Err(Error::UnreachableRecall { .. })));
    let open = Index::open(&path).expect("opened");
    assert!(matches!(options.rebuild(&path).run(), Err(Error::Locked { .. })));
    drop(open);
    assert_eq!(content(&path), before);
    let left = std::fs::read_dir(folder.path()).expect("readable").count();
    assert_eq!(left, 1, "nothing is left beside");
    let index = Index::open(&path).expect("opened");
    assert_eq!(all_ids(&index.snapshot().expect("a snapshot")).len(), 300);
}

#[cfg(unix)]
#[test]
fn the_files_made_from_a_private_index_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = filled(&folder, &Index::options().store_text(true));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("permitted");
    let others_can_read = || {
        let entries = std::fs::read_dir(folder.path()).expect("readable");
        let modes = entries.map(|entry| {
            let entry = entry.expect("readable").metadata().expect("there");
            entry.permissions().mode()
        });
        let modes: Vec<u32> = modes.collect();
        modes.iter().any(|mode| mode & 0o077 != 0).then_some(modes)
    };
    let mut seen = 0;
    Index::options()
        .shingle(Shingle::words(2))
        .rebuild(&path)
        .watch(|_| {
            seen += 1;
            assert_eq!(others_can_read(), None);
            ControlFlow::Continue(())
        })
        .expect("rebuilt");
    assert!(seen > 1);
    let snapshot = Index::open(&path).expect("opened").snapshot().expect("a snapshot");
    snapshot.backup(folder.path().join("copy.twx")).run().expect("copied");
    assert_eq!(others_can_read(), None);
}

#[test]
fn long_work_says_what_it_is_doing() {
    /// The phases in order, each once.
    fn phases<T>(work: twindex::Work<'_, T>) -> Vec<&'static str> {
        let mut phases = Vec::new();
        let done = work.watch(|now| {
            if phases.last() != Some(&now.phase) {
                phases.push(now.phase);
            }
            assert!(now.done <= now.total);
            ControlFlow::Continue(())
        });
        assert!(done.is_ok());
        phases
    }
    let place = Place::new();
    let options = tiny().store_text(true).passages(40);
    let mut index = options.create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    for number in 0..60 {
        let text =
            format!("text {} of sixty, of which many are alike in all but number", number % 20);
        txn.insert(&format!("d{number}"), &*text).expect("inserted");
    }
    txn.commit().expect("committed");
    let rows =
        ["checking documents", "checking fingerprints", "checking band entries", "checking texts"];
    let of_check = [&["verifying pages"][..], &rows[..]].concat();
    assert_eq!(phases(index.check()), of_check);
    let snapshot = index.snapshot().expect("a snapshot");
    let clustering = snapshot.clusters(0.8).expect("a threshold");
    assert_eq!(phases(clustering.find()), ["reading buckets", "comparing documents"]);
    drop(snapshot);
    let of_compaction = ["verifying pages", "merging runs", "packing pages", "shrinking the file"];
    assert_eq!(phases(index.compact()), of_compaction);
    index.close().expect("closed");
    let rebuilt = phases(options.rebuild(place.index()));
    assert_eq!(rebuilt, ["sketching and inserting texts", "merging runs"]);
}
