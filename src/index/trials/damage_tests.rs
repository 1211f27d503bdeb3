//! Tests damage to bytes and pages of a finished file: each query gives the right answer or an
//! error, or `check` reports a violation.

use crate::error::{Error, Result};
use crate::index::handle::{Index, ReadOnlyIndex};
use crate::index::options::IndexOptions;
use crate::index::snapshot::Snapshot;
use crate::index::trials::workload::{
    Expected, TUNING, create_on, number_from, peak_memory, steps, unbroken,
};
use crate::store::{CheckReport, CrashReplay, Disk, Event, Unsynced};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The number of damaged files. Long runs:
/// `TWINDEX_DAMAGES=20000 cargo test --release --lib -- damage --nocapture`.
fn damages() -> u64 {
    number_from("TWINDEX_DAMAGES", 300)
}

/// The seed of the first damaged file: `TWINDEX_DAMAGE_SEED=17` repeats one.
fn first_seed() -> u64 {
    number_from("TWINDEX_DAMAGE_SEED", 1)
}

const PAGE: usize = 4096;

/// A finished file and its expected answers.
struct Finished {
    bytes: Vec<u8>,
    /// The pages that are not all zeros.
    used: Vec<usize>,
    expected: Arc<Expected>,
    /// The expected answers before the last commit. In a file that was not closed, damage to the
    /// last commit looks like a power failure during it, so recovery rolls that commit back.
    before: Option<Arc<Expected>>,
}

impl Finished {
    /// Makes a file with runs, an unfinished merge, dead documents and a memtable, either closed or
    /// in need of recovery.
    fn new(seed: u64) -> Self {
        let disk = Disk::default();
        create_on(&disk).expect("created");
        let mut crash = CrashReplay::new(disk.bytes());
        disk.record();
        let expected = unbroken(&steps(seed, 30), &disk, TUNING);
        let events = disk.events();
        let last = events.iter().rposition(|event| matches!(event, Event::Done(_)));
        let unclean = seed.is_multiple_of(2);
        let left = if unclean { last.unwrap_or(0) } else { events.len() };
        events.iter().take(left).for_each(|event| crash.pass(event));
        let bytes = crash.image(Unsynced::Kept, &mut fastrand::Rng::with_seed(seed));
        let pages = bytes.chunks(PAGE).enumerate();
        let used = pages.filter(|(_, page)| page.iter().any(|byte| *byte != 0));
        let used = used.map(|(number, _)| number).collect();
        let mut expected = expected.into_iter().rev();
        let last = expected.next().expect("a state");
        let before = expected.find(|earlier| *earlier != last).filter(|_| unclean);
        Self { bytes, used, expected: last, before }
    }

    /// The file with one to three damages, and their description.
    fn damaged(&self, seed: u64) -> (Vec<u8>, String) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = self.bytes.clone();
        let mut said = Vec::new();
        for _ in 0..random.usize(1..=3) {
            let page = self.used[random.usize(..self.used.len())];
            let other = self.used[random.usize(..self.used.len())];
            let (start, from) = (page * PAGE, other * PAGE);
            // The first bytes of a page hold its type, so half of the damages hit them.
            let within = if random.bool() { random.usize(..64) } else { random.usize(..PAGE) };
            let at = start + within;
            if bytes.len() < (page.max(other) + 1) * PAGE {
                continue;
            }
            said.push(match random.u32(..9) {
                0..=2 => {
                    let bit = random.u32(..8);
                    bytes[at] ^= 1 << bit;
                    format!("bit {bit} of byte {at}")
                }
                3 => {
                    let length = random.usize(1..16).min(bytes.len() - at);
                    bytes[at..at + length].fill_with(|| random.u8(..));
                    format!("{length} bytes from {at}")
                }
                4 => {
                    bytes[start..start + PAGE].fill(0);
                    format!("page {page} zero")
                }
                5 => {
                    let length = random.usize(1..512).min(bytes.len() - at);
                    bytes[at..at + length].fill(0);
                    format!("{length} zeros from {at}")
                }
                6 => {
                    bytes.copy_within(from..from + PAGE, start);
                    format!("page {other} on page {page}")
                }
                7 => {
                    let (one, two) = (page.min(other) * PAGE, page.max(other) * PAGE);
                    let (head, tail) = bytes.split_at_mut(two);
                    if one < two {
                        head[one..one + PAGE].swap_with_slice(&mut tail[..PAGE]);
                    }
                    format!("pages {page} and {other} swapped")
                }
                _ => {
                    let length = if random.bool() { at } else { start };
                    bytes.truncate(length);
                    format!("cut to {length}")
                }
            });
        }
        (bytes, said.join(", "))
    }
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
    let repaired = Index::repair(path).run();
    let lost = match &repaired {
        Ok(repair) => repair.lost as usize,
        Err(_) => return Answer::Refused,
    };
    let index = match ReadOnlyIndex::open(path) {
        Ok(index) => index,
        Err(error) => return Answer::Wrong(format!("after {repaired:?}: {error}")),
    };
    match index.check().run() {
        Ok(report) if report.is_clean() => {}
        other => return Answer::Wrong(format!("after {repaired:?}: {other:?}")),
    }
    match judge(index.snapshot(), index.check().run(), file) {
        Answer::Wrong(difference) if lost > 0 => match index.snapshot() {
            Ok(snapshot) if file.expected.holds(&snapshot, lost) => Answer::Lost,
            _ => Answer::Outdated(format!("{difference}, after {repaired:?}")),
        },
        Answer::Refused => Answer::Wrong(format!("refused after {repaired:?}")),
        answer => answer,
    }
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
    let mut finished = Finished::new(1);
    let mut wrong = Vec::new();
    for seed in first_seed()..first_seed() + damages() {
        SEED.store(seed, Ordering::Relaxed);
        if seed.is_multiple_of(100) {
            finished = Finished::new(seed / 100);
        }
        let (bytes, said) = finished.damaged(seed);
        for (name, ask) in
            [("read", read as fn(&Path, &Finished) -> Answer), ("write", write), ("repair", repair)]
        {
            std::fs::write(&path, &bytes).expect("written");
            let asked = std::panic::catch_unwind(|| ask(&path, &finished));
            match asked {
                Ok(Answer::Outdated(_)) if said.contains("page") => {
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
    println!("{counts:?}, {} MiB of memory at most", peak_memory("VmPeak") >> 20);
    // The limit applies to a run of this test alone, because other tests use memory too.
    let alone = std::env::var_os("TWINDEX_DAMAGES").is_some();
    assert!(!alone || peak_memory("VmPeak") < 4 << 30, "a damaged length must not allocate memory");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
