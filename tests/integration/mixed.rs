//! Random histories that mix all that an index keeps beside its documents: times, tracked clusters,
//! passages, and the documents of other indexes. A list of documents and brute force tell what it
//! must have.

use crate::support::{Place, Random, assert_clean, for_each_seed, tiny};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use twindex::{
    ClusterPlace, Error, Index, IndexOptions, Inserted, Linkage, OnConflict, Outcome,
    ReadOnlyIndex, Result, Shingle, Snapshot, WriteTxn,
};

/// The length of passages, in words.
const N: usize = 6;

/// What an index must have: its documents in order of insertion.
#[derive(Clone, Default)]
struct Model {
    documents: Vec<(String, String, u64)>,
}

impl Model {
    fn text(&self, id: &str) -> Option<&str> {
        self.documents.iter().find(|document| document.0 == id).map(|document| &*document.1)
    }

    fn remove(&mut self, id: &str) -> bool {
        let before = self.documents.len();
        self.documents.retain(|document| document.0 != id);
        self.documents.len() < before
    }

    fn put(&mut self, id: &str, text: &str, time: u64, on_conflict: OnConflict) -> Inserted {
        let inserted = match self.text(id) {
            None => Inserted::Added,
            Some(old) if old == text => return Inserted::Unchanged,
            Some(_) if on_conflict == OnConflict::Skip => return Inserted::Skipped,
            Some(_) => Inserted::Replaced,
        };
        self.remove(id);
        self.documents.push((id.to_owned(), text.to_owned(), time));
        inserted
    }
}

fn at(time: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(time)
}

fn id(random: &mut Random) -> String {
    format!("document {}", random.below(45))
}

/// A window of a long text, or one of the texts that are special.
fn text(random: &mut Random) -> String {
    let (start, length) = match random.below(12) {
        0 => return ["", " ", "!", "one", "one two three"][random.below(5) as usize].to_owned(),
        1 => (random.below(60), 1 + random.below(9)),
        2 => (random.below(20), 150),
        _ => (random.below(50), 20),
    };
    let mut words: Vec<String> =
        (start..start + length).map(|word| format!("word{}", word % 70)).collect();
    if random.below(6) == 0 {
        // A text that repeats itself.
        let again = random.below(words.len() as u64) as usize;
        words.extend_from_within(again..);
    }
    words.join(" ")
}

/// An index with its model, and a program that follows its clusters.
struct Indexed {
    place: Place,
    options: IndexOptions,
    index: Option<Index>,
    /// A handle that follows the commits, as another process would.
    reader: Option<ReadOnlyIndex>,
    model: Model,
    files: usize,
    seen: u64,
    followed: BTreeMap<String, u64>,
}

impl Indexed {
    fn new(options: &IndexOptions) -> Result<Self> {
        let place = Place::new();
        let index = Some(options.create(place.path("0.twx"))?);
        let (options, model, followed) = (options.clone(), Model::default(), BTreeMap::new());
        Ok(Self { place, options, index, reader: None, model, files: 0, seen: 0, followed })
    }

    fn index(&self) -> &Index {
        self.index.as_ref().expect("an open index")
    }

    fn path(&self) -> std::path::PathBuf {
        self.place.path(&format!("{}.twx", self.files))
    }

    fn reopen(&mut self) -> Result<()> {
        drop(self.index.take());
        self.reader = None;
        self.index = Some(self.options.open(self.path())?);
        Ok(())
    }

    /// A random step outside transactions.
    fn care(&mut self, random: &mut Random) -> Result<()> {
        match random.below(16) {
            0 => self.reopen()?,
            1 if self.reader.is_none() => self.index.as_mut().expect("open").compact().run()?,
            2 => {
                let count = self.index().track_clusters().run()?;
                let snapshot = self.index().snapshot()?;
                assert_eq!(count as usize, snapshot.tracked_clusters()?.iter().count());
            }
            3 if random.below(3) == 0 => drop(self.index().stop_tracking()?),
            3 => self.index().flush()?,
            4 => {
                let now = self.index().snapshot()?.commit_number();
                let before = now + 2 - random.below(8).min(now);
                match self.index().forget_cluster_changes(before) {
                    Ok(_) | Err(Error::NotTracked { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            5 => {
                let time = random.below(80);
                let removed = self.index().remove_inserted_before(at(time)).run()?;
                let before = self.model.documents.len();
                self.model.documents.retain(|document| document.2 >= time);
                assert_eq!(removed as usize, before - self.model.documents.len());
            }
            6 => {
                let snapshot = self.index().snapshot()?;
                self.files += 1;
                snapshot.backup(self.path()).run()?;
                drop(snapshot);
                self.reopen()?;
            }
            7 => {
                (self.index, self.reader) = (None, None);
                self.options.repair(self.path()).run()?;
                self.reopen()?;
            }
            8 if self.index().settings().store_text => {
                (self.index, self.reader) = (None, None);
                self.options.rebuild(self.path()).run()?;
                self.reopen()?;
            }
            9 | 10 => self.reader = Some(self.options.open_read_only(self.path())?),
            11 => self.reader = None,
            _ => {}
        }
        Ok(())
    }

    /// A random transaction, which may be undone.
    fn write(&mut self, random: &mut Random, other: &Self) -> Result<()> {
        let mut txn = self.index().begin_write()?;
        let mut model = self.model.clone();
        let before = (random.below(4) == 0).then(|| self.index().snapshot()).transpose()?;
        for _ in 0..1 + random.below(5) {
            step(&mut txn, self.index(), &mut model, random, other)?;
            assert_eq!(txn.len() as usize, model.documents.len());
        }
        let before = before.map(|snapshot| (snapshot, self.model.clone()));
        if random.below(6) == 0 {
            txn.abort();
        } else {
            txn.commit()?;
            self.model = model;
        }
        before.map_or(Ok(()), |(snapshot, model)| has_documents(&snapshot, &model))
    }

    /// Compares the index with its model.
    fn compare(&mut self, random: &mut Random) -> Result<()> {
        let snapshot = match &self.reader {
            Some(reader) => reader.snapshot()?,
            None => self.index().snapshot()?,
        };
        has_documents(&snapshot, &self.model)?;
        shares_passages(&snapshot, &self.model, &text(random))?;
        if snapshot.settings().store_text && random.below(4) == 0 {
            repeats_passages(&snapshot, &self.model)?;
        }
        if snapshot.tracks_clusters() {
            self.follow(&snapshot)?;
        }
        Ok(())
    }

    fn follow(&mut self, snapshot: &Snapshot) -> Result<()> {
        let clusters = snapshot.tracked_clusters()?;
        let threshold = snapshot.settings().threshold();
        let anew = snapshot.clusters(threshold)?.linkage(Linkage::Connected).find().run()?;
        let anew: BTreeSet<Vec<String>> =
            anew.iter().map(|cluster| cluster.members().collect()).collect::<Result<_>>()?;
        let tracked: BTreeSet<Vec<String>> =
            clusters.iter().map(|cluster| Ok(cluster?.members)).collect::<Result<_>>()?;
        assert_eq!(tracked, anew);
        let changes = match clusters.changes(self.seen) {
            Err(Error::ChangesForgotten { from, to, .. }) => {
                assert!(!(from..=to).contains(&self.seen));
                self.followed.clear();
                clusters.changes(0)?
            }
            changes => changes?,
        };
        for change in changes {
            let change = change?;
            match change.place {
                ClusterPlace::Cluster(cluster) => self.followed.insert(change.id, cluster),
                ClusterPlace::Alone | ClusterPlace::Removed => self.followed.remove(&change.id),
            };
        }
        self.seen = snapshot.commit_number();
        let mut places = BTreeMap::new();
        for (id, ..) in &self.model.documents {
            clusters.cluster_of(id)?.map(|cluster| places.insert(id.clone(), cluster));
        }
        assert_eq!(self.followed, places, "what a program knows that follows the changes");
        Ok(())
    }
}

/// A random step of a transaction.
fn step(
    txn: &mut WriteTxn,
    index: &Index,
    model: &mut Model,
    random: &mut Random,
    other: &Indexed,
) -> Result<()> {
    let on_conflict = if random.below(3) == 0 { OnConflict::Skip } else { OnConflict::Replace };
    match random.below(14) {
        0..=4 => {
            let mut documents = Vec::new();
            let mut expected = Vec::new();
            for _ in 0..1 + random.below(6) {
                let (id, text, time) = (id(random), text(random), random.below(100));
                expected.push(Outcome::Inserted(model.put(&id, &text, time, on_conflict)));
                documents.push(index.prepare(id, &text)?.inserted_at(at(time)));
            }
            let outcomes = txn.insertion().on_conflict(on_conflict).documents(documents)?;
            assert_eq!(outcomes, expected);
        }
        5 | 6 => {
            let ids: Vec<String> = (0..random.below(6)).map(|_| id(random)).collect();
            let removed = txn.remove_batch(&ids)?;
            assert_eq!(removed, ids.iter().filter(|id| model.remove(id)).count() as u64);
        }
        7 => {
            let (id, text, time) = (id(random), text(random), random.below(100));
            let document = index.prepare(&*id, &text)?.inserted_at(at(time));
            match txn.insertion().unless_similar(0.8).document(document)? {
                Outcome::Inserted(inserted) => {
                    assert_eq!(model.put(&id, &text, time, OnConflict::Replace), inserted);
                }
                Outcome::Duplicate { of, .. } => {
                    assert!(model.text(&of.id).is_some() && of.id != id);
                }
                outcome => panic!("{outcome:?}"),
            }
        }
        8 if index.settings().store_text => {
            let (id, text, time) = (id(random), text(random), random.below(100));
            let document = index.prepare(&*id, &text)?.inserted_at(at(time));
            match txn.insertion().without_passages().document(document)? {
                Outcome::Inserted(inserted) => {
                    assert_eq!(model.put(&id, &text, time, OnConflict::Replace), inserted);
                }
                Outcome::Cut { inserted, text, .. } => {
                    assert_eq!(model.put(&id, &text, time, OnConflict::Replace), inserted);
                }
                Outcome::Covered(known) => assert!(known.known > 0),
                outcome => panic!("{outcome:?}"),
            }
        }
        9 => follow_source(txn, model, random)?,
        10 | 11 => {
            let source = other.index().snapshot()?;
            let merged = if random.below(2) == 0 {
                txn.attach(&source, on_conflict).run()?
            } else {
                txn.merge(&source, on_conflict).run()?
            };
            let mut counts = [0; 4];
            for (id, text, time) in &other.model.documents {
                counts[match model.put(id, text, *time, on_conflict) {
                    Inserted::Added => 0,
                    Inserted::Replaced => 1,
                    Inserted::Unchanged => 2,
                    _ => 3,
                }] += 1;
            }
            let got = [merged.added, merged.replaced, merged.unchanged, merged.skipped];
            assert_eq!(got, counts);
        }
        12 => drop(txn.update_clusters()?),
        _ => {
            // A merge that is stopped leaves a part of the documents, and the transaction goes on.
            let source = other.index().snapshot()?;
            let mut left = random.below(3);
            let stopped = txn.merge(&source, OnConflict::Skip).watch(|_| {
                left = left.saturating_sub(1);
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            assert!(matches!(stopped, Ok(_) | Err(Error::Interrupted { .. })), "{stopped:?}");
            for (id, text, time) in &other.model.documents {
                if txn.contains(id)? {
                    model.put(id, text, *time, OnConflict::Skip);
                }
            }
        }
    }
    Ok(())
}

/// Makes an index follow a source that differs from it in some documents.
fn follow_source(txn: &mut WriteTxn, model: &mut Model, random: &mut Random) -> Result<()> {
    let mut source: Vec<(String, String)> = Vec::new();
    for (id, text, _) in &model.documents {
        if random.below(8) > 0 {
            source.push((id.clone(), text.clone()));
        }
    }
    for _ in 0..random.below(4) {
        source.push((id(random), text(random)));
    }
    for _ in 0..random.below(source.len() as u64 + 1) {
        let both = [0; 2].map(|_| random.below(source.len() as u64) as usize);
        source.swap(both[0], both[1]);
    }
    let mut run = txn.sync();
    for part in source.chunks(1 + random.below(9) as usize) {
        run.contents(part)?;
    }
    let synced = run.finish()?;
    let removed: Vec<String> = (model.documents.iter().map(|(id, ..)| id))
        .filter(|id| source.iter().all(|row| row.0 != **id))
        .cloned()
        .collect();
    for id in &removed {
        model.remove(id);
    }
    assert_eq!(synced.removed as usize, removed.len());
    // The time is that of the transaction, later than any that is removed.
    let put = source.iter().map(|(id, text)| model.put(id, text, u64::MAX, OnConflict::Replace));
    let put: Vec<Inserted> = put.collect();
    let count = |what| put.iter().filter(|inserted| **inserted == what).count() as u64;
    let [added, replaced, unchanged] =
        [Inserted::Added, Inserted::Replaced, Inserted::Unchanged].map(count);
    assert_eq!((synced.added, synced.replaced, synced.unchanged), (added, replaced, unchanged));
    Ok(())
}

fn has_documents(snapshot: &Snapshot, model: &Model) -> Result<()> {
    let ids: Vec<String> = snapshot.ids().collect::<Result<_>>()?;
    assert!(ids.iter().eq(model.documents.iter().map(|document| &document.0)));
    for (id, text, time) in &model.documents {
        let info = snapshot.get(id)?.expect("a document");
        assert_eq!(info.text_bytes, text.len() as u64);
        if *time < u64::MAX {
            assert_eq!(info.inserted, at(*time), "{id}");
        }
        if snapshot.settings().store_text {
            assert_eq!(snapshot.text(id)?.as_ref(), Some(text));
        }
    }
    assert_clean(&snapshot.check().run()?);
    Ok(())
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// The number of words that lie in windows of `N` words for which `is_known` is true.
fn covered(words: &[&str], is_known: impl Fn(&[&str]) -> bool) -> usize {
    let mut covered = vec![false; words.len()];
    for (start, window) in words.windows(N).enumerate() {
        if is_known(window) {
            covered[start..start + N].fill(true);
        }
    }
    covered.into_iter().filter(|covered| *covered).count()
}

fn shares_passages(snapshot: &Snapshot, model: &Model, query: &str) -> Result<()> {
    let asked = words(query);
    let found = snapshot.passages().by_text(query)?;
    let found: BTreeMap<&str, (usize, usize)> =
        found.iter().map(|one| (&*one.id, (one.shared, one.most))).collect();
    let mut all: BTreeSet<&[&str]> = BTreeSet::new();
    let texts: Vec<Vec<&str>> = model.documents.iter().map(|(_, text, _)| words(text)).collect();
    for ((id, text, _), words) in model.documents.iter().zip(&texts) {
        let windows: BTreeSet<&[&str]> = words.windows(N).collect();
        let expected = covered(&asked, |window| windows.contains(window));
        all.extend(windows);
        match found.get(&**id) {
            None => assert_eq!(expected, 0, "{id}: {text:?} and {query:?}"),
            Some(shared) if snapshot.settings().store_text => {
                assert_eq!(*shared, (expected, expected), "{id}: {text:?} and {query:?}");
            }
            Some((_, most)) => assert!(expected <= *most),
        }
    }
    if snapshot.settings().store_text {
        let known = snapshot.known_passages(query)?;
        assert!(!known.limited);
        assert_eq!(known.known, covered(&asked, |window| all.contains(window)), "{query:?}");
    }
    Ok(())
}

/// Compares the repeated passages of the whole index: how many words of each text they cover.
fn repeats_passages(snapshot: &Snapshot, model: &Model) -> Result<()> {
    let mut places: BTreeMap<&[&str], usize> = BTreeMap::new();
    let texts: Vec<Vec<&str>> = model.documents.iter().map(|(_, text, _)| words(text)).collect();
    for window in texts.iter().flat_map(|words| words.windows(N)) {
        *places.entry(window).or_default() += 1;
    }
    let (mut expected, mut met) = (BTreeMap::new(), BTreeSet::new());
    for ((id, text, _), words) in model.documents.iter().zip(&texts) {
        let count = covered(words, |window| places[window] > 1);
        if met.insert(text) && count > 0 {
            expected.insert(id.clone(), count);
        }
    }
    let mut found = BTreeMap::new();
    for document in snapshot.repeats()? {
        let document = document?;
        let mut units = BTreeSet::new();
        for passage in &document.passages {
            let before = words(&document.text[..passage.span.bytes().start]).len();
            units.extend(before..before + passage.units);
        }
        found.insert(document.id, units.len());
    }
    assert_eq!(found, expected);
    Ok(())
}

fn history(seed: u64, steps: usize) -> Result<()> {
    let mut random = Random(seed);
    let (shingle, lanes) =
        [(Shingle::Words(1), 64), (Shingle::Words(2), 64), (Shingle::Tokens, 128)]
            [random.below(3) as usize];
    let options = tiny()
        .store_text(random.below(2) == 0)
        .recall(0.95)
        .multiset(random.below(4) == 0)
        .threshold([0.6, 0.8, 0.8, 0.95][random.below(4) as usize])
        .flush_documents([8, 8, 50][random.below(3) as usize])
        .shingle(shingle)
        .lanes(lanes)
        .passages(N);
    let mut both = [Indexed::new(&options)?, Indexed::new(&options)?];
    for _ in 0..steps {
        let [one, other] = &mut both;
        let (one, other) = if random.below(3) > 0 { (one, &*other) } else { (other, &*one) };
        one.care(&mut random)?;
        one.write(&mut random, other)?;
        one.compare(&mut random)?;
    }
    Ok(())
}

#[test]
fn any_mixture_of_changes_leaves_what_a_model_has() {
    for_each_seed(0..6, |seed| history(seed, 60));
}
