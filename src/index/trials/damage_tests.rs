//! Tests damage to bytes and pages of a finished file: each query gives the right answer or an
//! error, or `check` reports a violation.

use crate::error::{Error, Result};
use crate::index::handle::{Index, ReadOnlyIndex};
use crate::index::options::IndexOptions;
use crate::index::snapshot::Snapshot;
use crate::index::trials::damage::Finished;
use crate::index::trials::workload::{
    Expected, Model, Step, TUNING, attach, commit, create_on, number_from, open_on, peak_memory,
    steps,
};
use crate::index::write::copies::Merged;
use crate::index::write::outcome::OnConflict;
use crate::index::write::transaction::WriteTxn;
use crate::store::{CheckReport, Disk, Work};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The number of damaged files. Long runs:
/// `TWINDEX_DAMAGES=20000 cargo test --release --lib -- damage --nocapture`. With `--release`,
/// because redb reads every page at opening if its debug assertions are on.
fn damages() -> u64 {
    number_from("TWINDEX_DAMAGES", 300)
}

/// The seed of the first damaged file: `TWINDEX_DAMAGE_SEED=17` repeats one.
fn first_seed() -> u64 {
    number_from("TWINDEX_DAMAGE_SEED", 1)
}

/// The answers of a damaged index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    /// All answers are right.
    Right,
    /// The answers are those of the commit before, which is the last intact one.
    Older,
    /// An error.
    Refused,
    /// Some answer is wrong, and `check` reports the damage.
    Seen,
    /// The index was repaired, and reports the documents that were lost.
    Lost,
    /// The repaired index has removed documents again, because an old page of them came back.
    Outdated(String),
    Wrong(String),
}

impl Finished {
    /// Compares the snapshot with the finished file.
    fn compare(&self, snapshot: &Snapshot) -> Result<Answer> {
        if let Some(before) = &self.before
            && before.difference(snapshot)?.is_none()
        {
            return Ok(Answer::Older);
        }
        Ok(self.expected.difference(snapshot)?.map_or(Answer::Right, Answer::Wrong))
    }
}

fn judge(snapshot: Result<Snapshot>, report: Result<CheckReport>, file: &Finished) -> Answer {
    match (snapshot.and_then(|snapshot| file.compare(&snapshot)), report) {
        (Err(_), _) => Answer::Refused,
        (Ok(Answer::Wrong(_)), Err(_)) => Answer::Seen,
        (Ok(Answer::Wrong(_)), Ok(report)) if !report.is_clean() => Answer::Seen,
        (Ok(answer), _) => answer,
    }
}

/// Opens the file for reading, queries and checks it.
fn read(path: &Path, file: &Finished) -> Answer {
    match ReadOnlyIndex::open(path) {
        Ok(index) => judge(index.snapshot(), index.check().run(), file),
        Err(_) => Answer::Refused,
    }
}

/// Opens the file for writing, compacts it and writes to it; queries and checks it after each step.
fn write(path: &Path, file: &Finished) -> Answer {
    let mut index = match IndexOptions::with_tuning(TUNING).open(path) {
        Ok(index) => index,
        Err(_) => return Answer::Refused,
    };
    let first = judge(index.snapshot(), index.check().run(), file);
    if let Err(error) = index.compact().run() {
        assert!(!matches!(error, Error::SnapshotsLive { .. }));
        return first.max(Answer::Refused);
    }
    let compacted = judge(index.snapshot(), index.check().run(), file);
    // Compaction has verified all pages, so writing must succeed.
    if let Err(error) = change(&index) {
        return Answer::Wrong(format!("after compaction: {error}"));
    }
    let changed = judge(index.snapshot(), index.check().run(), file);
    drop(index);
    first.max(compacted).max(changed).max(read(path, file))
}

/// Repairs the file, queries and checks it. The repair must report the lost documents.
fn repair(path: &Path, file: &Finished) -> Answer {
    let repaired = match Index::repair(path).run() {
        Ok(repaired) => repaired,
        Err(_) => return Answer::Refused,
    };
    let lost = repaired.lost as usize;
    let index = match ReadOnlyIndex::open(path) {
        Ok(index) => index,
        Err(error) => return Answer::Wrong(format!("after {repaired:?}: {error}")),
    };
    match index.check().run() {
        Ok(report) if report.is_clean() => {}
        other => return Answer::Wrong(format!("after {repaired:?}: {other:?}")),
    }
    match judge(index.snapshot(), index.check().run(), file) {
        Answer::Wrong(difference) if repaired.kept.is_some() => match index.snapshot() {
            Ok(snapshot) if file.expected.holds(&snapshot, lost) => Answer::Lost,
            // The last commit cannot be read, and an earlier one counts other documents.
            Ok(snapshot)
                if repaired
                    .cause
                    .as_ref()
                    .is_some_and(|cause| cause.contains("the one before"))
                    && (file.expected.holds_some(&snapshot)
                        || file.before.as_ref().is_some_and(|it| it.holds_some(&snapshot))) =>
            {
                Answer::Lost
            }
            _ => Answer::Outdated(format!("{difference}, after {repaired:?}")),
        },
        Answer::Refused => Answer::Wrong(format!("refused after {repaired:?}")),
        answer => answer,
    }
}

/// Writes to the file without checking it first: commits, compaction, closing and opening, and the
/// documents of another index. Compares it with a model after each step.
///
/// An error is allowed, unless a check found nothing. Then all documents of the last commit must
/// still be there, or those of the one that failed, which may have been whole; or a reader must get
/// an error.
fn add(path: &Path, file: &Finished) -> Answer {
    let first = read(path, file);
    let is_clean = ReadOnlyIndex::open(path)
        .and_then(|index| index.check().run())
        .is_ok_and(|report| report.is_clean());
    let mut model = match (&first, &file.before) {
        (Answer::Right, _) => file.expected.model().clone(),
        (Answer::Older, Some(before)) => before.model().clone(),
        // Writing to a file that cannot be read must not change the answer to one.
        _ => file.expected.model().clone(),
    };
    let seed = file.bytes.len() as u64 + model.len() as u64;
    let mut attempted = model.clone();
    let written = (|| {
        let mut index = IndexOptions::with_tuning(TUNING).open(path)?;
        for step in steps(seed, 8) {
            attempted.clone_from(&model);
            match &step {
                Step::Commit(changes) => commit(&index, changes, &mut attempted)?,
                Step::Attach(changes) => attach(&index, changes, TUNING, &mut attempted)?,
                Step::Compact => index.compact().run()?,
                Step::Close | Step::Reopen => {
                    index.close()?;
                    index = IndexOptions::with_tuning(TUNING).open(path)?;
                }
            }
            model.clone_from(&attempted);
        }
        take_over(&index, &mut attempted)?;
        model.clone_from(&attempted);
        Ok::<_, Error>(())
    })();
    match (&first, written) {
        // The first answer says what is wrong; what a write adds to it proves nothing more.
        (Answer::Right | Answer::Older, Ok(())) => {
            let after = compare_with(path, &model);
            if after == Answer::Refused && is_clean {
                return Answer::Wrong("refused after a clean check".into());
            }
            first.max(after)
        }
        (Answer::Right | Answer::Older, Err(error)) if is_clean => {
            Answer::Wrong(format!("writing after a clean check: {error}"))
        }
        (Answer::Right | Answer::Older, Err(_)) => match compare_with(path, &model) {
            Answer::Wrong(_) => first.max(compare_with(path, &attempted)),
            after => first.max(after),
        },
        // A writer recovers a file whose header a reader refuses. It must lose nothing then.
        (Answer::Refused, Ok(())) if compare_with(path, &model) == Answer::Right => first,
        _ => first.max(read(path, file)),
    }
}

/// Copies a few documents from another index.
fn take_over(index: &Index, model: &mut Model) -> Result<()> {
    let disk = Disk::default();
    create_on(&disk)?;
    let other = open_on(&disk, TUNING)?;
    let mut txn = other.begin_write()?;
    for number in 0..5 {
        let (id, text) = (format!("merged {number}"), format!("a text of the other, {number}"));
        txn.insert(&id, &text)?;
        model.put(&id, &text);
    }
    txn.commit()?;
    let snapshot = other.snapshot()?;
    let mut txn = index.begin_write()?;
    txn.merge(&snapshot, OnConflict::Replace).run()?;
    txn.commit()
}

/// Compares the file with a model.
fn compare_with(path: &Path, model: &Model) -> Answer {
    let found = ReadOnlyIndex::open(path).and_then(|index| {
        let expected = Expected::compute(model, index.sketcher())?;
        expected.difference(&index.snapshot()?)
    });
    match found {
        Err(_) => Answer::Refused,
        Ok(difference) => difference.map_or(Answer::Right, Answer::Wrong),
    }
}

/// Merges the file into an empty index: it has all documents afterwards, or there is an error.
fn merge(path: &Path, file: &Finished) -> Answer {
    copied(path, file, |txn, source| txn.merge(source, OnConflict::Replace))
}

/// Attaches the file to an empty index, which is whole afterwards, or there is an error.
fn attach_to_empty(path: &Path, file: &Finished) -> Answer {
    copied(path, file, |txn, source| txn.attach(source, OnConflict::Replace))
}

fn copied(
    path: &Path,
    file: &Finished,
    copy: impl for<'w> FnOnce(&'w mut WriteTxn, &'w Snapshot) -> Work<'w, Merged>,
) -> Answer {
    let copied = (|| {
        let source = ReadOnlyIndex::open(path)?.snapshot()?;
        let disk = Disk::default();
        create_on(&disk)?;
        let index = open_on(&disk, TUNING)?;
        let mut txn = index.begin_write()?;
        copy(&mut txn, &source).run()?;
        txn.commit()?;
        file.compare(&index.snapshot()?)
    })();
    copied.unwrap_or(Answer::Refused)
}

/// Inserts a document and removes it.
fn change(index: &Index) -> Result<()> {
    let mut txn = index.begin_write()?;
    txn.insert("of no account", "a document that is removed at once")?;
    txn.commit()?;
    let mut txn = index.begin_write()?;
    txn.remove("of no account")?;
    txn.commit()
}

/// Ends the process if one damaged file takes too long, which detects hangs.
#[expect(clippy::print_stderr, reason = "the process ends")]
fn watch(seed: &'static AtomicU64) {
    std::thread::spawn(move || {
        let mut last = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let now = seed.load(Ordering::Relaxed);
            if now != last.0 {
                last = (now, Instant::now());
            } else if last.1.elapsed() > Duration::from_secs(30) && now != 0 {
                eprintln!("seed {now} hangs");
                std::process::abort();
            }
        }
    });
}

#[test]
#[expect(clippy::print_stdout, reason = "what was found")]
fn check_reports_every_damage_that_makes_an_answer_wrong() {
    static SEED: AtomicU64 = AtomicU64::new(0);
    watch(&SEED);
    crate::store::silence_storage_panics();
    // A folder in memory if there is one, because syncs would take most of the time.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let folder = folder.expect("a temporary folder");
    let path = folder.path().join("x.twx");
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    // A hundred damages share a file, so a seed gives the same file wherever a run begins.
    let mut finished = Finished::new(first_seed() / 100);
    let mut wrong = Vec::new();
    for seed in first_seed()..first_seed() + damages() {
        SEED.store(seed, Ordering::Relaxed);
        if seed.is_multiple_of(100) {
            finished = Finished::new(seed / 100);
        }
        let (bytes, said) = finished.damaged(seed);
        type Ask = fn(&Path, &Finished) -> Answer;
        let asks: [(&str, Ask); 6] = [
            ("read", read),
            ("write", write),
            ("add", add),
            ("merge", merge),
            ("attach", attach_to_empty),
            ("repair", repair),
        ];
        for (name, ask) in asks {
            std::fs::write(&path, &bytes).expect("written");
            let asked = std::panic::catch_unwind(|| ask(&path, &finished));
            match asked {
                // Rows of an old page, or of an old commit, may be of removed documents.
                Ok(Answer::Outdated(_)) if said.contains("page") || said.contains("cut") => {
                    *counts.entry(format!("{name} Outdated")).or_default() += 1;
                }
                Ok(Answer::Wrong(difference) | Answer::Outdated(difference)) => {
                    wrong.push(format!("seed {seed}, {name}: {said}: {difference}"));
                }
                Ok(answer) => *counts.entry(format!("{name} {answer:?}")).or_default() += 1,
                Err(_) => wrong.push(format!("seed {seed}, {name}: {said}: panic")),
            }
            // A repair leaves the damaged file only in some cases.
            let _ = std::fs::remove_file(path.with_extension("twx.damaged"));
        }
    }
    SEED.store(0, Ordering::Relaxed);
    println!("{counts:?}, {} MiB of memory at most", peak_memory("VmHWM") >> 20);
    // The limit applies to a run of this test alone, because other tests use memory too.
    let alone = std::env::var_os("TWINDEX_DAMAGES").is_some();
    assert!(!alone || peak_memory("VmHWM") < 1 << 30, "a damaged length must not allocate memory");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
