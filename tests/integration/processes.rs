//! Several processes and one index: readers beside a writer, writers that take turns, and what is
//! left when one of them is killed or stopped.
//!
//! The other processes are this test program, which runs [`part`] in them.
#![cfg(unix)]

use crate::support::assert_clean;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use twindex::{Error, Index, IndexOptions, ReadOnlyIndex, Snapshot};

/// The number of documents that a writer leaves in the index.
const KEPT: u64 = 40;

/// How long readers and a writer run beside each other.
fn duration() -> Duration {
    let seconds = env::var("TWINDEX_PROCESSES_SECONDS").ok().and_then(|it| it.parse().ok());
    Duration::from_secs(seconds.unwrap_or(3))
}

/// The number of documents that each of the writers adds which take turns.
fn turns() -> u64 {
    env::var("TWINDEX_PROCESSES_TURNS").ok().and_then(|it| it.parse().ok()).unwrap_or(25)
}

fn options() -> IndexOptions {
    // So small that runs are flushed and merged all the time.
    Index::options().store_text(true).flush_documents(15).merge_runs(2).cache_bytes(64 << 10)
}

fn id(number: u64) -> String {
    format!("d{number}")
}

fn text(number: u64) -> String {
    let mut random = fastrand::Rng::with_seed(number);
    (0..40).map(|_| random.alphabetic().to_string() + &random.u32(..).to_string() + " ").collect()
}

/// Makes the commit with this number: it adds the document of that number, and removes the one that
/// is too many. So the number of a commit tells what it holds.
fn commit(index: &Index) -> twindex::Result<u64> {
    let number = index.snapshot()?.commit_number() + 1;
    let mut txn = index.begin_write()?;
    txn.insert(&id(number), &text(number))?;
    if let Some(old) = number.checked_sub(KEPT) {
        txn.remove(&id(old))?;
    }
    txn.commit()?;
    Ok(number)
}

/// Checks that a snapshot holds what its commit has written.
fn check(snapshot: &Snapshot, random: &mut fastrand::Rng) {
    let last = snapshot.commit_number();
    let expected: Vec<u64> = (last.saturating_sub(KEPT - 1).max(1)..=last).collect();
    let ids: Vec<String> = snapshot.ids().collect::<Result<_, _>>().expect("readable");
    assert_eq!(ids, expected.iter().map(|number| id(*number)).collect::<Vec<_>>());
    for _ in 0..2 {
        let Some(number) = random.choice(&expected) else { return };
        let found = snapshot.text(&id(*number)).expect("readable");
        assert_eq!(found, Some(text(*number)), "commit {last}");
        let found = snapshot.query().by_text(&text(*number)).expect("answered");
        let found: Vec<String> = found.into_iter().map(|found| found.id).collect();
        assert_eq!(found, [id(*number)], "commit {last}");
    }
}

fn is_clean(index: &Index) {
    assert_clean(&index.check().run().expect("readable"));
}

/// Another process. It is killed at the end.
struct Other(Child);

impl Other {
    fn start(part: &str, path: &Path) -> Self {
        let program = env::current_exe().expect("this program");
        let mut command = Command::new(program);
        command.args(["--exact", "processes::part", "--nocapture"]);
        command.env("TWINDEX_PART", part).env("TWINDEX_PATH", path);
        Self(command.stdout(Stdio::null()).spawn().expect("started"))
    }

    fn signal(&self, name: &str) {
        let (name, process) = (format!("-{name}"), self.0.id().to_string());
        assert!(Command::new("kill").args([name, process]).status().expect("sent").success());
    }

    /// Fails if it has ended: a reader that finds a wrong answer ends at once.
    #[track_caller]
    fn still_runs(&mut self) {
        assert!(self.0.try_wait().expect("asked").is_none(), "a process has failed");
    }

    #[track_caller]
    fn succeeds(&mut self) {
        assert!(self.0.wait().expect("it ended").success());
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Opens an index by a path that is relative to the folder of the process, and uses it in another.
fn change_folder(path: &Path) {
    env::set_current_dir(path.parent().expect("a folder")).expect("changed");
    let mut index = options().open("i.twx").expect("opened");
    let reader = options().open_read_only("i.twx").expect("opened");
    env::set_current_dir("/").expect("changed");
    for _ in 0..60 {
        commit(&index).expect("committed");
    }
    let length = fs::metadata(path).expect("a file").len();
    for snapshot in [index.snapshot(), reader.snapshot()] {
        let snapshot = snapshot.expect("a snapshot");
        check(&snapshot, &mut fastrand::Rng::new());
        assert_eq!(snapshot.usage().expect("measured").file_bytes, length);
        snapshot.backup(path.with_extension("copy")).run().expect("copied");
        fs::remove_file(path.with_extension("copy")).expect("removed");
    }
    assert_clean(&reader.check().run().expect("readable"));
    index.compact().run().expect("compacted");
    index.close().expect("closed");
}

/// What another process does: nothing, unless it was started by a test of this file.
#[test]
fn part() {
    let (Ok(part), Ok(path)) = (env::var("TWINDEX_PART"), env::var("TWINDEX_PATH")) else { return };
    let path = PathBuf::from(path);
    let (name, number) = part.split_once(' ').unwrap_or((&part, ""));
    match name {
        "folder" => change_folder(&path),
        "read" => read(&path),
        "hold" => {
            let index = options().open_read_only(&path).expect("opened");
            let _snapshot = index.snapshot().expect("a snapshot");
            fs::write(path.with_extension("held"), "").expect("written");
            sleep(Duration::from_secs(3600));
        }
        "write" => {
            let index = options().wait(Duration::from_secs(60)).open(&path).expect("opened");
            loop {
                commit(&index).expect("committed");
            }
        }
        "turns" => {
            for turn in 0..turns() {
                let patient = options().wait(Duration::from_secs(3600));
                let index = patient.open_or_create(&path).expect("opened");
                let mut txn = index.begin_write().expect("begun");
                txn.insert(&format!("{number}-{turn}"), &text(turn)).expect("inserted");
                txn.commit().expect("committed");
            }
        }
        other => panic!("no part {other}"),
    }
}

/// Reads until there is a file that says to stop. Each answer is compared with its commit.
fn read(path: &Path) {
    let index = options().open_read_only(path).expect("opened");
    let mut random = fastrand::Rng::new();
    let (mut last, mut held) = (0, Vec::new());
    let mut stops = false;
    while !stops {
        // One that is asked to stop before it has read anything reads once.
        stops = path.with_extension("stop").exists();
        let snapshot = index.snapshot().expect("a snapshot");
        assert!(snapshot.commit_number() >= last, "{} after {last}", snapshot.commit_number());
        last = snapshot.commit_number();
        check(&snapshot, &mut random);
        if random.u32(..10) == 0 {
            held.push(snapshot);
        }
        if held.len() > 4 {
            check(&held.swap_remove(random.usize(..held.len())), &mut random);
        }
    }
    held.iter().for_each(|snapshot| check(snapshot, &mut random));
}

/// A folder and the path of an index with one commit.
fn begun() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("i.twx");
    commit(&options().create(&path).expect("created")).expect("committed");
    (folder, path)
}

#[test]
fn eight_processes_read_what_each_commit_holds_while_another_one_writes() {
    let (_folder, path) = begun();
    let mut readers: Vec<Other> = (0..8).map(|_| Other::start("read", &path)).collect();
    let index = options().open(&path).expect("opened");
    let (start, mut last) = (Instant::now(), 0);
    let mut random = fastrand::Rng::new();
    while start.elapsed() < duration() {
        last = commit(&index).expect("committed");
        // A reader may end at any moment.
        if random.u32(..200) == 0 {
            let gone = random.usize(..readers.len());
            readers[gone].still_runs();
            readers[gone] = Other::start("read", &path);
        }
    }
    fs::write(path.with_extension("stop"), "").expect("written");
    readers.iter_mut().for_each(Other::succeeds);
    assert!(last > 20, "{last} commits");
    check(&index.snapshot().expect("a snapshot"), &mut random);
    is_clean(&index);
}

#[test]
fn readers_go_on_when_a_writer_is_killed_and_see_the_commits_of_the_next_one() {
    let (_folder, path) = begun();
    let mut random = fastrand::Rng::new();
    let reader = options().open_read_only(&path).expect("opened");
    let held = reader.snapshot().expect("a snapshot");
    let mut last = held.commit_number();
    for _ in 0..6 {
        let writer = Other::start("write", &path);
        let start = Instant::now();
        while reader.snapshot().expect("a snapshot").commit_number() < last + 5 {
            assert!(start.elapsed() < Duration::from_secs(60), "the writer commits");
        }
        sleep(Duration::from_millis(random.u64(..20)));
        drop(writer);
        let snapshot = reader.snapshot().expect("a snapshot");
        check(&snapshot, &mut random);
        last = snapshot.commit_number();
        // Nobody has recovered the file.
        let new = ReadOnlyIndex::open(&path).expect("opened").snapshot().expect("a snapshot");
        assert_eq!(new.commit_number(), last);
        check(&new, &mut random);
        check(&held, &mut random);
    }
    drop(held);
    is_clean(&options().open(&path).expect("opened"));
}

/// Waits until a process that was told to hold a snapshot does so.
fn holding(path: &Path) -> Other {
    let other = Other::start("hold", path);
    let held = path.with_extension("held");
    let start = Instant::now();
    while !held.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "it holds a snapshot");
        sleep(Duration::from_millis(5));
    }
    fs::remove_file(held).expect("removed");
    other
}

#[test]
fn a_reader_that_was_stopped_keeps_nobody_from_writing_and_one_that_was_killed_holds_no_space() {
    let (_folder, path) = begun();
    let reader = holding(&path);
    reader.signal("STOP");
    let mut index = options().open(&path).expect("opened");
    for _ in 0..300 {
        commit(&index).expect("committed");
    }
    let error = index.compact().run().expect_err("a reader has a snapshot");
    assert!(matches!(error, Error::NotShrunk { .. }), "{error}");
    let with_reader = fs::metadata(&path).expect("a file").len();
    reader.signal("CONT");
    drop(reader);
    index.compact().run().expect("compacted");
    let without = fs::metadata(&path).expect("a file").len();
    assert!(without < with_reader, "{without} of {with_reader} bytes");
    assert_eq!(index.snapshot().expect("a snapshot").len(), KEPT);
    is_clean(&index);
}

#[test]
fn a_reader_beside_compaction_and_repair_goes_on_and_one_beside_a_rebuild_is_told() {
    let (_folder, path) = begun();
    let mut random = fastrand::Rng::new();
    let reader = options().open_read_only(&path).expect("opened");
    let mut index = options().open(&path).expect("opened");
    for _ in 0..100 {
        commit(&index).expect("committed");
    }
    check(&reader.snapshot().expect("a snapshot"), &mut random);
    let before = index.snapshot().expect("a snapshot").commit_number();
    index.compact().run().expect("compacted");
    drop(index);
    assert!(Index::repair(&path).run().expect("checked").cause.is_none());
    let after = reader.snapshot().expect("a snapshot");
    assert!(after.commit_number() > before);
    assert_eq!(after.len(), KEPT);
    let old = after.ids().collect::<Result<Vec<_>, _>>().expect("readable");

    options().threshold(0.6).rebuild(&path).run().expect("rebuilt");
    let error = reader.snapshot().expect_err("the file was replaced");
    assert!(matches!(error, Error::Moved { .. }), "{error}");
    assert_eq!(after.ids().collect::<Result<Vec<_>, _>>().expect("readable"), old);
    let reader = options().threshold(0.6).open_read_only(&path).expect("opened");
    assert_eq!(reader.snapshot().expect("a snapshot").len(), KEPT);
}

#[test]
fn a_process_that_changes_its_folder_goes_on_with_an_index_of_a_relative_path() {
    let (_folder, path) = begun();
    Other::start("folder", &path).succeeds();
    let index = options().open(&path).expect("opened");
    assert_eq!(index.snapshot().expect("a snapshot").len(), KEPT);
}

#[test]
fn a_repair_succeeds_though_another_writer_takes_the_new_file_at_once() {
    use std::os::unix::fs::MetadataExt;
    let inode = |path: &Path| fs::metadata(path).map(|file| file.ino()).ok();
    let (_folder, path) = begun();
    let index = options().open(&path).expect("opened");
    let mut txn = index.begin_write().expect("begun");
    txn.insert("copy", &text(1)).expect("inserted");
    txn.commit().expect("committed");
    let clusters = index.track_clusters().run().expect("clustered");
    index.close().expect("closed");
    let mut bytes = fs::read(&path).expect("readable");
    bytes.extend([0; 4096]);
    fs::write(&path, bytes).expect("written");
    let damaged = inode(&path);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let start = Instant::now();
            while inode(&path) == damaged && start.elapsed() < Duration::from_secs(60) {}
            options().open(&path)
        });
        let repair = Index::repair(&path).run().expect("repaired");
        assert!(repair.cause.is_some(), "the file was too long");
        let index = writer.join().expect("no panic").expect("opened");
        let snapshot = index.snapshot().expect("a snapshot");
        let tracked = snapshot.tracked_clusters().expect("it tracks clusters");
        assert_eq!((clusters, tracked.iter().count()), (1, 1));
        is_clean(&index);
    });
}

#[test]
#[expect(clippy::print_stdout, reason = "how fair the turns are")]
fn processes_that_create_one_index_and_add_to_it_in_turns_lose_nothing_and_none_starves() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("i.twx");
    let start = Instant::now();
    let parts = (0..4).map(|number| format!("turns {number}"));
    let mut writers: Vec<Other> = parts.map(|part| Other::start(&part, &path)).collect();
    writers.iter_mut().for_each(Other::succeeds);
    let index = options().open(&path).expect("opened");
    let ids = index.snapshot().expect("a snapshot").ids().collect::<Result<Vec<_>, _>>();
    let ids = ids.expect("readable");
    assert_eq!(ids.len() as u64, 4 * turns());
    // The most turns that others had between two turns of one process.
    let mut waited = 0;
    for writer in 0..4 {
        let own = format!("{writer}-");
        let places: Vec<usize> = (0..ids.len()).filter(|at| ids[*at].starts_with(&own)).collect();
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0] - 1);
        waited = waited.max(gaps.max().unwrap_or(0));
    }
    println!("{} turns in {:?}, at most {waited} between two", ids.len(), start.elapsed());
    assert!(waited <= 12, "one process waited for {waited} turns of others");
    is_clean(&index);
}
