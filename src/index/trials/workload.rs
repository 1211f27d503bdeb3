//! The workload of the tests that break an index: random steps, and the expected state after each.

use crate::error::Result;
use crate::index::group::clusters::Linkage;
use crate::index::handle::Index;
use crate::index::snapshot::Snapshot;
use crate::index::write::copies::Merged;
use crate::index::write::outcome::{Inserted, OnConflict, Outcome};
use crate::sketch::{Signature, Sketcher};
use crate::store::{Disk, Engine, PassageRequest, SettingsRequest, Tuning};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Sizes so small that a run flushes, merges and reads evicted pages all the time.
pub(crate) const TUNING: Tuning = Tuning {
    cache_bytes: 32 << 10,
    flush_documents: 12,
    merge_runs: 3,
    merge_step: 24,
    quick_repair_from: 64,
};

/// A number from an environment variable, which sets the length or the seed of a test.
pub(crate) fn number_from(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

/// The peak memory use of this process in bytes: `VmHWM` for resident memory, `VmPeak` for address
/// space. 0 on systems that do not report it.
pub(crate) fn peak_memory(kind: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(':'));
    let kib = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// The settings of all test indexes.
pub(crate) fn settings() -> SettingsRequest {
    SettingsRequest {
        lanes: Some(64),
        threshold: Some(0.7),
        store_text: Some(true),
        passages: Some(PassageRequest::Length(24)),
        ..SettingsRequest::default()
    }
}

/// Writes an empty index that tracks clusters to an empty disk.
pub(crate) fn create_on(disk: &Disk) -> Result<()> {
    Engine::create_on(disk.clone(), &settings().resolve()?, 17)?;
    open_on(disk, TUNING)?.track_clusters().run()?;
    Ok(())
}

pub(crate) fn open_on(disk: &Disk, tuning: Tuning) -> Result<Index> {
    Index::new(Engine::open_on(disk, tuning)?)
}

/// One change of a transaction.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Put(String, String),
    PutUnlessSimilar(String, String),
    Remove(String),
}

/// An operation on a whole index.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Commit(Vec<Change>),
    /// Attach an index that these changes have made, each in a transaction of its own.
    Attach(Vec<Change>),
    Compact,
    /// Finish merges, flush the memtable, close the index and open it again.
    Close,
    /// Drop the index and open it again.
    Reopen,
}

/// A random text. Texts of the same family are similar.
fn text(random: &mut fastrand::Rng) -> String {
    let (family, variant) = (random.u32(..14), random.u32(..4));
    if family == 0 {
        return String::new();
    }
    let mut words = fastrand::Rng::with_seed(family.into());
    let mut word = || (0..5).map(|_| words.alphabetic()).collect::<String>();
    let mut text: Vec<String> = (0..16).map(|_| word()).collect();
    text.push(format!("and variant number {variant}"));
    text.join(" ")
}

/// A sequence of `count` steps. The same seed gives the same steps.
pub(crate) fn steps(seed: u64, count: usize) -> Vec<Step> {
    let mut random = fastrand::Rng::with_seed(seed);
    let id = |random: &mut fastrand::Rng| format!("document {}", random.u32(..60));
    let change = |random: &mut fastrand::Rng| match random.u32(..10) {
        0..=5 => Change::Put(id(random), text(random)),
        6 => Change::PutUnlessSimilar(id(random), text(random)),
        _ => Change::Remove(id(random)),
    };
    let step = |random: &mut fastrand::Rng| match random.u32(..40) {
        0 => Step::Compact,
        1 => Step::Close,
        2 => Step::Reopen,
        3 => Step::Attach((0..random.u32(..=90)).map(|_| change(random)).collect()),
        kind => {
            let most = if kind < 20 { 3 } else { 20 };
            Step::Commit((0..random.u32(1..=most)).map(|_| change(random)).collect())
        }
    };
    (0..count).map(|_| step(&mut random)).collect()
}

/// The model of an index: texts by id, and the ids in order of insertion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Model {
    texts: BTreeMap<String, String>,
    order: Vec<String>,
}

impl Model {
    /// Inserts a document, or replaces the one that has the id.
    pub(crate) fn put(&mut self, id: &str, text: &str) -> Inserted {
        let done = match self.texts.get(id) {
            Some(old) if old == text => return Inserted::Unchanged,
            Some(_) => Inserted::Replaced,
            None => Inserted::Added,
        };
        self.remove(id);
        self.texts.insert(id.to_owned(), text.to_owned());
        self.order.push(id.to_owned());
        done
    }

    /// The number of documents.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    fn remove(&mut self, id: &str) -> bool {
        self.order.retain(|other| other != id);
        self.texts.remove(id).is_some()
    }
}

/// Takes a step. Returns the index and the model after it.
///
/// After an error, the model includes the step, because its commit may have succeeded.
pub(crate) fn take(
    mut index: Index,
    step: &Step,
    disk: &Disk,
    tuning: Tuning,
    before: &Model,
) -> (Option<Index>, Model, Result<()>) {
    let mut after = before.clone();
    let done = match step {
        Step::Commit(changes) => commit(&index, changes, &mut after),
        Step::Attach(changes) => attach(&index, changes, tuning, &mut after),
        Step::Compact => index.compact().run(),
        Step::Close | Step::Reopen => {
            let closed = if let Step::Close = step {
                index.close()
            } else {
                drop(index);
                Ok(())
            };
            return match closed.and_then(|()| open_on(disk, tuning)) {
                Ok(index) => (Some(index), after, Ok(())),
                Err(error) => (None, after, Err(error)),
            };
        }
    };
    (Some(index), after, done)
}

/// Commits the changes, and makes them in the model.
pub(crate) fn commit(index: &Index, changes: &[Change], model: &mut Model) -> Result<()> {
    let mut txn = index.begin_write()?;
    for change in changes {
        match change {
            Change::Put(id, text) => assert_eq!(txn.insert(id, text)?, model.put(id, text)),
            Change::PutUnlessSimilar(id, text) => match txn.insert_unless_similar(id, text)? {
                Outcome::Duplicate { of, .. } => assert!(model.texts.contains_key(&of.id)),
                outcome => assert_eq!(outcome.inserted(), Some(model.put(id, text))),
            },
            Change::Remove(id) => assert_eq!(txn.remove(id)?, model.remove(id)),
        }
    }
    txn.commit()
}

/// Attaches an index that changes have made on a disk of its own, and puts its documents into the
/// model. Some of its merges are unfinished.
pub(crate) fn attach(
    index: &Index,
    changes: &[Change],
    tuning: Tuning,
    model: &mut Model,
) -> Result<()> {
    let (disk, mut others) = (Disk::default(), Model::default());
    create_on(&disk).expect("created");
    let source = open_on(&disk, tuning).expect("opened");
    for change in changes {
        commit(&source, std::slice::from_ref(change), &mut others).expect("committed");
    }
    for id in &others.order {
        model.put(id, &others.texts[id]);
    }
    let mut txn = index.begin_write()?;
    let source = source.snapshot().expect("a snapshot");
    let attached = txn.attach(&source, OnConflict::Replace).run()?;
    let Merged { added, replaced, unchanged, skipped, .. } = attached;
    assert_eq!((added + replaced + unchanged, skipped), (others.len() as u64, 0));
    txn.commit()
}

/// The answers that an index with the documents of a model must give.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expected {
    model: Model,
    signatures: BTreeMap<String, Signature>,
    pairs: Vec<(String, String)>,
    clusters: BTreeSet<Vec<String>>,
}

impl Expected {
    /// The documents behind the answers.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// Computes the answers from a new index with the documents of the model.
    pub(crate) fn compute(model: &Model, sketcher: &Sketcher) -> Result<Self> {
        let disk = Disk::default();
        create_on(&disk)?;
        let index = open_on(&disk, Tuning::default())?;
        let mut txn = index.begin_write()?;
        for id in &model.order {
            txn.insert(id, &model.texts[id])?;
        }
        txn.commit()?;
        let signature =
            |(id, text): (&String, &String)| Ok((id.clone(), sketcher.signature(text)?));
        let signatures = model.texts.iter().map(signature).collect::<Result<_>>()?;
        let snapshot = index.snapshot()?;
        let (pairs, clusters) = (pairs(&snapshot)?, found_anew(&snapshot)?);
        Ok(Self { model: model.clone(), signatures, pairs, clusters })
    }

    /// The first answer of the snapshot that differs from the expected one, if any.
    pub(crate) fn difference(&self, snapshot: &Snapshot) -> Result<Option<String>> {
        let ids = snapshot.ids().collect::<Result<Vec<_>>>()?;
        if ids != self.model.order {
            return Ok(Some(format!("ids {ids:?}, expected {:?}", self.model.order)));
        }
        for id in &ids {
            let found = snapshot.get(id)?.map(|found| (found.text_bytes, found.signature));
            let expected = (self.model.texts[id].len() as u64, self.signatures[id].clone());
            if found != Some(expected) {
                return Ok(Some(format!("{id} is {found:?}")));
            }
            let text = snapshot.text(id)?;
            if text.as_ref() != self.model.texts.get(id) {
                return Ok(Some(format!("{id} has the text {text:?}")));
            }
        }
        if let Some(gone) = (0..60).map(|number| format!("document {number}")).find(|id| {
            !self.model.texts.contains_key(id)
                && snapshot.get(id).is_ok_and(|found| found.is_some())
        }) {
            return Ok(Some(format!("{gone} is there")));
        }
        let pairs = pairs(snapshot)?;
        if pairs != self.pairs {
            return Ok(Some(format!("pairs {pairs:?}, expected {:?}", self.pairs)));
        }
        let clusters = tracked(snapshot)?;
        let expected = || format!("clusters {clusters:?}, expected {:?}", self.clusters);
        Ok((clusters != self.clusters).then(expected))
    }

    /// Whether the snapshot holds these documents except `lost` of them, and no others.
    pub(crate) fn holds(&self, snapshot: &Snapshot, lost: usize) -> bool {
        self.holds_some(snapshot) && snapshot.len() as usize + lost == self.model.order.len()
    }

    /// Whether the snapshot holds some of these documents, in their order, and no others.
    pub(crate) fn holds_some(&self, snapshot: &Snapshot) -> bool {
        let Ok(ids) = snapshot.ids().collect::<Result<Vec<_>>>() else { return false };
        let mut expected = self.model.order.iter();
        let in_order = ids.iter().all(|id| expected.any(|other| other == id));
        let same = |id: &String| {
            let found = snapshot.get(id).ok().flatten();
            let text = snapshot.text(id).ok().flatten();
            found.is_some_and(|found| found.signature == self.signatures[id])
                && text.as_ref() == self.model.texts.get(id)
        };
        in_order && ids.iter().all(same)
    }
}

fn pairs(snapshot: &Snapshot) -> Result<Vec<(String, String)>> {
    let pairs = snapshot.pairs(0.7)?.map(|pair| pair.map(|pair| (pair.a, pair.b)));
    let mut pairs = pairs.collect::<Result<Vec<_>>>()?;
    pairs.sort();
    Ok(pairs)
}

/// The clusters of two or more documents, found anew.
fn found_anew(snapshot: &Snapshot) -> Result<BTreeSet<Vec<String>>> {
    let clusters = snapshot.clusters(0.7)?.linkage(Linkage::Connected).find().run()?;
    clusters.iter().map(|cluster| cluster.members().collect()).collect()
}

/// The tracked clusters of two or more documents.
fn tracked(snapshot: &Snapshot) -> Result<BTreeSet<Vec<String>>> {
    snapshot.tracked_clusters()?.iter().map(|cluster| Ok(cluster?.members)).collect()
}

/// Runs the steps without failures. Returns the expected answers at the start and after each step.
pub(crate) fn unbroken(steps: &[Step], disk: &Disk, tuning: Tuning) -> Vec<Arc<Expected>> {
    let mut index = open_on(disk, tuning).expect("opened");
    let sketcher = index.sketcher().clone();
    let mut models = vec![Model::default()];
    let mut expected = vec![Expected::compute(&models[0], &sketcher).expect("an index")];
    for (number, step) in steps.iter().enumerate() {
        let (open, after, done) = take(index, step, disk, tuning, &models[number]);
        done.expect("nothing is broken");
        disk.done(number + 1);
        index = open.expect("open");
        let next = if models[number] == after {
            expected[number].clone()
        } else {
            Expected::compute(&after, &sketcher).expect("an index")
        };
        let difference = next.difference(&index.snapshot().expect("a snapshot"));
        assert_eq!(difference.expect("readable"), None, "after step {number}, {step:?}");
        expected.push(next);
        models.push(after);
    }
    expected.into_iter().map(Arc::new).collect()
}
