//! One thread writes and eight read: every answer is that of the snapshot's commit.

use crate::history::{Model, Op, ask, compare, get, id_of, operations, write};
use crate::support::{Place, Random, assert_clean, tiny};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use twindex::{Index, Snapshot};

const READERS: u64 = 8;

/// The minimum number of commits, even on a busy machine; fewer would test little.
const LEAST_COMMITS: u64 = 20;

/// The models of the last commit and of the running one, by commit number.
#[derive(Default)]
struct Models(RwLock<BTreeMap<u64, Arc<Model>>>);

impl Models {
    /// Announces the content of the next commit, and drops the models before the last one, which no
    /// new snapshot can show.
    fn announce(&self, commit: u64, model: Arc<Model>) {
        let mut models = self.0.write().unwrap_or_else(PoisonError::into_inner);
        models.insert(commit, model);
        models.retain(|number, _| number + 1 >= commit);
    }

    /// Takes a snapshot with the model of its commit. The lock keeps that model meanwhile.
    fn snapshot(&self, index: &Index) -> (Snapshot, Arc<Model>) {
        let models = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let snapshot = index.snapshot().expect("a snapshot");
        let commit = commits(&snapshot);
        let model = models.get(&commit).unwrap_or_else(|| panic!("a snapshot of commit {commit}"));
        (snapshot, Arc::clone(model))
    }
}

fn commits(snapshot: &Snapshot) -> u64 {
    snapshot.usage().expect("measured").commits
}

/// Tells the readers on drop that the writer has ended, also after a panic.
struct Writing<'a>(&'a AtomicBool);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Endless random operations, decoded from about 30 at a time.
fn random_operations(mut random: Random) -> impl Iterator<Item = Op> {
    std::iter::repeat_with(move || {
        let bytes: Vec<u8> = (0..12).flat_map(|_| random.next().to_le_bytes()).collect();
        operations(&bytes)
    })
    .flatten()
}

/// Writes until `end`. Returns the number of operations in transactions, and that of commits.
fn write_on(index: &Index, models: &Models, random: Random, end: Instant) -> (u64, u64) {
    let (mut done, mut commit) = (0, commits(&index.snapshot().expect("a snapshot")));
    let mut committed = Model::default();
    let mut ops = random_operations(random);
    while Instant::now() < end || commit < LEAST_COMMITS {
        let mut txn = index.begin_write().expect("begun");
        let mut model = committed.clone();
        let after = ops
            .by_ref()
            .filter_map(|op| {
                let other = write(&mut txn, index, &mut model, op);
                done += u64::from(other.is_none());
                other
            })
            .find(|op| matches!(op, Op::Commit | Op::Abort));
        if let Some(Op::Abort) = after {
            txn.abort();
            continue;
        }
        // A transaction without changes makes no commit, so its number is announced again.
        models.announce(commit + 1, Arc::new(model.clone()));
        txn.commit().expect("committed");
        commit = commits(&index.snapshot().expect("a snapshot"));
        committed = model;
    }
    (done, commit)
}

/// Queries while the writer runs, and returns the number of compared answers.
fn read_on(index: &Index, models: &Models, random: Random, writing: &AtomicBool) -> u64 {
    let mut answers = 0;
    let mut kept = models.snapshot(index);
    let mut latest = models.snapshot(index);
    for op in random_operations(random) {
        let (snapshot, model) = &latest;
        match op {
            Op::Query { .. } | Op::Pairs { .. } => {
                ask(snapshot, model, &op);
                ask(&kept.0, &kept.1, &op);
                answers += 1;
            }
            Op::Insert { id, .. } | Op::Remove { id } => get(snapshot, model, &id_of(id)),
            Op::Snapshot => compare(snapshot, model),
            Op::Compact => kept = models.snapshot(index),
            _ => {
                latest = models.snapshot(index);
                continue;
            }
        }
        answers += 1;
        if !writing.load(Ordering::Relaxed) {
            break;
        }
    }
    answers
}

/// Long runs: `TWINDEX_THREADS_SECONDS=180 cargo test --release --test integration -- threads`.
fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

#[test]
#[expect(clippy::print_stdout, reason = "what is needed to repeat it, and what a long run did")]
fn every_answer_is_that_of_the_snapshots_commit_during_writes() {
    let seconds = from_environment("TWINDEX_THREADS_SECONDS").unwrap_or(1);
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    let seed = from_environment("TWINDEX_THREADS_SEED").unwrap_or(clock.subsec_nanos().into());
    println!("TWINDEX_THREADS_SEED={seed}");

    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let (models, writing) = (Models::default(), AtomicBool::new(true));
    models.announce(commits(&index.snapshot().expect("a snapshot")), Arc::default());
    let end = Instant::now() + Duration::from_secs(seconds);
    let (operations, commits, answers) = thread::scope(|scope| {
        let readers: Vec<_> = (1..=READERS)
            .map(|reader| Random(seed ^ reader << 32))
            .map(|random| scope.spawn(|| read_on(&index, &models, random, &writing)))
            .collect();
        let (operations, commits) = {
            let _writing = Writing(&writing);
            write_on(&index, &models, Random(seed), end)
        };
        let answers: Vec<u64> = readers
            .into_iter()
            .map(|reader| reader.join().expect("its answers are right"))
            .collect();
        (operations, commits, answers)
    });
    println!("{operations} operations, {commits} commits, answers of each reader: {answers:?}");
    assert!(answers.iter().all(|answers| *answers > 0), "a reader asked nothing");

    let (snapshot, model) = models.snapshot(&index);
    compare(&snapshot, &model);
    let usage = snapshot.usage().expect("measured");
    assert!(usage.runs > 0, "nothing was flushed");
    assert_clean(&index.check().run().expect("checked"));
}
