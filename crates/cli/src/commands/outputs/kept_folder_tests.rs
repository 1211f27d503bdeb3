//! Which shards of a folder are written, and which are left as they are.

use super::*;
use crate::commands::outputs::shards::Shard;
use bytes::Bytes;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// A folder `in` with these files, and a folder of outputs for them.
fn folder_of(inputs: &[&str]) -> (TempDir, ShardFolder) {
    let root = tempfile::tempdir().expect("a folder");
    let input = |name: &&str| root.path().join("in").join(name);
    fs::create_dir(root.path().join("in")).expect("a folder");
    inputs.iter().for_each(|name| fs::write(input(name), "").expect("written"));
    let shards = inputs.iter().map(|name| Shard { input: input(name), name: (*name).to_owned() });
    let folder = ShardFolder { path: root.path().join("out"), shards: shards.collect() };
    (root, folder)
}

/// The source of the records of a shard.
fn source(folder: &ShardFolder, shard: usize) -> Source {
    Source { file: Some(Arc::from(&*folder.shards[shard].input)), ..Source::default() }
}

fn begin(kept: &mut KeptFolder, shard: usize) {
    let source = source(&kept.folder, shard);
    assert!(kept.begin(&source).is_ok());
}

fn write(kept: &mut KeptFolder, line: &'static str) {
    assert!(kept.write(&OutputRecord::Bytes(Bytes::from(line))).is_ok());
}

fn create(folder: &ShardFolder) -> KeptFolder {
    KeptFolder::create(folder).ok().expect("created")
}

/// Interrupts a run, and goes on with it.
fn interrupt(mut kept: KeptFolder) -> KeptFolder {
    let content = kept.sync(false).ok().expect("synced");
    assert!(kept.committed().is_ok());
    let folder = kept.folder.clone();
    drop(kept);
    KeptFolder::resume(&folder, content).ok().flatten().expect("resumed")
}

/// The names of all files in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let found = fs::read_dir(folder).expect("a folder");
    let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<_> = found.map(|entry| name(entry).into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

fn finish(mut kept: KeptFolder) -> Vec<String> {
    let folder = kept.folder.path.clone();
    assert!(kept.sync(true).is_ok() && kept.finish().is_ok());
    let mut names = names(&folder);
    names.retain(|name| *name != ".twindex-dedup.part");
    names
}

#[test]
fn a_run_that_goes_on_writes_no_shard_before_the_one_that_it_was_writing() {
    let (_root, folder) = folder_of(&["a", "b", "c", "d"]);
    fs::remove_file(&folder.shards[0].input).expect("removed");
    let mut kept = create(&folder);
    begin(&mut kept, 2);
    write(&mut kept, "one\n");
    let mut kept = interrupt(kept);
    // One was absent, and one is complete.
    fs::write(&folder.shards[0].input, "").expect("written");
    begin(&mut kept, 1);
    begin(&mut kept, 2);
    assert_eq!(names(&folder.path), [".twindex-dedup.part", "b", "c.part"]);
    write(&mut kept, "two\n");
    assert_eq!(finish(kept), ["b", "c", "d"]);
    assert_eq!(fs::read_to_string(folder.path.join("c")).expect("a file"), "one\ntwo\n");
}

#[test]
fn a_complete_shard_without_records_is_not_written_again() {
    let (_root, folder) = folder_of(&["a", "b", "c"]);
    let mut kept = create(&folder);
    // Nothing is being written of a shard that cannot be read.
    let unread = Source { unread: true, ..source(&folder, 2) };
    assert!(kept.begin(&unread).is_ok());
    let mut kept = interrupt(kept);
    begin(&mut kept, 2);
    assert_eq!(names(&folder.path), [".twindex-dedup.part", "a", "b", "c.part"]);
    assert_eq!(finish(kept), ["a", "b", "c"]);
}

#[test]
fn a_table_by_columns_of_which_nothing_was_read_has_no_shard() {
    let (_root, folder) = folder_of(&["a.jsonl", "b.parquet", "c.jsonl"]);
    let mut kept = create(&folder);
    begin(&mut kept, 2);
    assert_eq!(finish(kept), ["a.jsonl", "c.jsonl"]);
}

#[test]
fn only_an_input_that_cannot_be_read_may_have_no_shard() {
    let (_root, folder) = folder_of(&["a"]);
    let mut kept = create(&folder);
    begin(&mut kept, 0);
    for unread in [true, false] {
        let source = Source { file: Some(Arc::from(Path::new("b"))), unread, ..Source::default() };
        assert_eq!(kept.begin(&source).is_ok(), unread);
    }
    write(&mut kept, "one\n");
    assert_eq!(finish(kept), ["a"]);
}

#[test]
fn a_shard_replaces_another_one_if_that_has_records_and_others() {
    let (_root, folder) = folder_of(&["a"]);
    let (same, other) = ([None, Some(""), Some("one\n")], [Some("two\n"), Some("one\ntwo\n")]);
    let cases = same.map(|before| (before, false)).into_iter();
    for (before, replaces) in cases.chain(other.map(|before| (before, true))) {
        let mut kept = create(&folder);
        begin(&mut kept, 0);
        write(&mut kept, "one\n");
        assert!(kept.sync(true).is_ok());
        if let Some(before) = before {
            fs::write(folder.path.join("a"), before).expect("written");
        }
        assert_eq!(kept.replaces_shards(None).ok(), Some(replaces), "{before:?}");
    }
}
