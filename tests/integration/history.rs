//! Compares histories of an index with a plain map and brute force over signatures.

use crate::support::{Place, all_ids, assert_clean, estimate, meet, probe, text, tiny};
use std::collections::BTreeMap;
use twindex::{Index, Inserted, Outcome, Signature, Snapshot, WriteTxn};

/// The number of ids, of families of texts, and of texts in a family.
pub const IDS: u8 = 40;
pub const FAMILIES: u8 = 12;
pub const VARIANTS: u8 = 6;

/// An operation on an index.
#[derive(Clone, Debug)]
pub enum Op {
    Insert { id: u8, family: u8, variant: u8 },
    InsertBatch(Vec<(u8, u8, u8)>),
    InsertUnlessSimilar { id: u8, family: u8, variant: u8 },
    Remove { id: u8 },
    Commit,
    Abort,
    Reopen,
    Compact,
    Snapshot,
    Query { family: u8, variant: u8, percent: u8 },
    Pairs { percent: u8 },
}

/// Decodes operations from arbitrary bytes.
pub fn operations(bytes: &[u8]) -> Vec<Op> {
    let mut bytes = bytes.iter().copied();
    std::iter::from_fn(|| operation(&mut bytes)).collect()
}

fn operation(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let kind = bytes.next()?;
    let mut below = |bound: u8| bytes.next().map(|byte| byte % bound);
    Some(match kind % 32 {
        0..8 => Op::Insert { id: below(IDS)?, family: below(FAMILIES)?, variant: below(VARIANTS)? },
        8..11 => {
            let count = below(20)?;
            let document = |_| Some((below(IDS)?, below(FAMILIES)?, below(VARIANTS)?));
            Op::InsertBatch((0..count).map_while(document).collect())
        }
        11..14 => Op::InsertUnlessSimilar {
            id: below(IDS)?,
            family: below(FAMILIES)?,
            variant: below(VARIANTS)?,
        },
        14..18 => Op::Remove { id: below(IDS)? },
        18..22 => Op::Commit,
        22 => Op::Abort,
        23 => Op::Reopen,
        24 => Op::Compact,
        25 => Op::Snapshot,
        26..30 => Op::Query {
            family: below(FAMILIES)?,
            variant: below(VARIANTS)?,
            percent: 40 + below(60)?,
        },
        _ => Op::Pairs { percent: 60 + below(40)? },
    })
}

/// The id of a document.
pub fn id_of(id: u8) -> String {
    format!("d{id}")
}

/// The text of a document; family 0 is empty, families 1 and 2 are shorter than a shingle.
fn text_of(family: u8, variant: u8) -> String {
    match family {
        0 => " ".repeat(variant.into()),
        1 => "tiny".into(),
        2 => "漢字".into(),
        _ => text(family.into(), variant.into(), 30),
    }
}

/// The expected documents: text and signature by id, and the order of insertion.
#[derive(Clone, Default)]
pub struct Model {
    documents: BTreeMap<String, (String, Signature)>,
    order: Vec<String>,
}

impl Model {
    fn put(&mut self, id: &str, text: &str, signature: Signature) -> Inserted {
        let done = match self.documents.get(id) {
            Some((old, _)) if old == text => return Inserted::Unchanged,
            Some(_) => Inserted::Replaced,
            None => Inserted::Added,
        };
        self.remove(id);
        self.documents.insert(id.to_owned(), (text.to_owned(), signature));
        self.order.push(id.to_owned());
        done
    }

    fn remove(&mut self, id: &str) -> bool {
        self.order.retain(|other| other != id);
        self.documents.remove(id).is_some()
    }

    /// The expected answer of a query, by brute force.
    fn similar(
        &self,
        asked: &Signature,
        threshold: f64,
        (bands, depth): (usize, usize),
    ) -> Vec<(String, f64)> {
        let mut found: Vec<(String, f64)> = self
            .documents
            .iter()
            .filter(|(_, (_, other))| !asked.is_empty() && !other.is_empty())
            .filter(|(_, (_, other))| meet(asked, other, bands, depth))
            .map(|(id, (_, other))| (id.clone(), estimate(asked, other)))
            .filter(|(_, similarity)| *similarity >= threshold)
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        found
    }
}

/// Compares a snapshot with the model of its commit.
pub fn compare(snapshot: &Snapshot, model: &Model) {
    assert_eq!(snapshot.len() as usize, model.documents.len());
    assert_eq!(all_ids(snapshot), model.order);
    for id in model.documents.keys() {
        get(snapshot, model, id);
    }
    get(snapshot, model, "never there");
    query(snapshot, model, 3, 1, 0.8);
}

/// Compares the stored facts about a document, or its absence.
pub fn get(snapshot: &Snapshot, model: &Model, id: &str) {
    let known = snapshot.get(id).expect("readable");
    let known = known.map(|info| (info.text_bytes as usize, info.signature));
    let expected = model.documents.get(id);
    assert_eq!(known, expected.map(|(text, signature)| (text.len(), signature.clone())), "{id}");
    if snapshot.settings().store_text {
        let text = snapshot.text(id).expect("readable");
        assert_eq!(text.as_ref(), expected.map(|(text, _)| text), "{id}");
    }
}

fn query(snapshot: &Snapshot, model: &Model, family: u8, variant: u8, threshold: f64) {
    let asked = snapshot.sketcher().signature(&text_of(family, variant)).expect("a text");
    let expected = model.similar(&asked, threshold, probe(snapshot.settings(), threshold));
    let got = snapshot.query().threshold(threshold).by_signature(&asked).expect("an answer");
    let got: Vec<(String, f64)> = got.into_iter().map(|m| (m.id, m.similarity)).collect();
    assert_eq!(got, expected);

    let everything = model.similar(&asked, threshold, (0, 0));
    let everything = if everything.is_empty() { model.scan(&asked, threshold) } else { everything };
    let scanned =
        snapshot.query().threshold(threshold).scan(true).by_signature(&asked).expect("an answer");
    let scanned: Vec<(String, f64)> = scanned.into_iter().map(|m| (m.id, m.similarity)).collect();
    assert_eq!(scanned, everything);
}

impl Model {
    fn scan(&self, asked: &Signature, threshold: f64) -> Vec<(String, f64)> {
        // With depth 0, all signatures share a bucket.
        self.similar(asked, threshold, (1, 0))
    }
}

fn pairs(snapshot: &Snapshot, model: &Model, threshold: f64) {
    let (bands, depth) = probe(snapshot.settings(), threshold);
    let mut expected = Vec::new();
    for (a, (_, x)) in &model.documents {
        for (b, (_, y)) in model.documents.range::<String, _>(a.clone()..).skip(1) {
            let live = !x.is_empty() && !y.is_empty();
            if live && meet(x, y, bands, depth) && estimate(x, y) >= threshold {
                expected.push((a.clone(), b.clone()));
            }
        }
    }
    let mut got: Vec<(String, String)> = snapshot
        .pairs(threshold)
        .expect("a threshold")
        .estimate(true)
        .map(|pair| pair.map(|pair| (pair.a, pair.b)).expect("a pair"))
        .collect();
    got.sort();
    assert_eq!(got, expected);
}

/// Applies an operation that belongs in a transaction, and compares. Returns any other operation.
pub fn write(txn: &mut WriteTxn, index: &Index, model: &mut Model, op: Op) -> Option<Op> {
    let signature = |text: &str| index.sketcher().signature(text).expect("a text");
    match op {
        Op::Insert { id, family, variant } => {
            let (id, text) = (id_of(id), text_of(family, variant));
            let expected = model.put(&id, &text, signature(&text));
            assert_eq!(txn.insert(&id, &text).expect("inserted"), expected);
        }
        Op::InsertBatch(batch) => {
            let batch: Vec<(String, String)> = batch
                .into_iter()
                .map(|(id, family, variant)| (id_of(id), text_of(family, variant)))
                .collect();
            let put = |(id, text): &(String, String)| {
                Outcome::Inserted(model.put(id, text, signature(text)))
            };
            let expected: Vec<Outcome> = batch.iter().map(put).collect();
            let outcomes = txn.insertion().contents(&batch).expect("inserted");
            assert_eq!(outcomes, expected);
        }
        Op::InsertUnlessSimilar { id, family, variant } => {
            let (id, text) = (id_of(id), text_of(family, variant));
            let signature = signature(&text);
            let same = model.documents.get(&id).is_some_and(|(old, _)| *old == text);
            let mut similar = model.similar(&signature, 0.8, probe(index.settings(), 0.8));
            similar.retain(|(other, _)| *other != id);
            let rank = |id: &String| model.order.iter().position(|other| other == id);
            let best =
                similar.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(rank(&b.0).cmp(&rank(&a.0))));
            let document = index.prepare(id.as_str(), &text).expect("a valid id");
            // The model holds signatures only; `exact.rs` has the brute force over texts.
            let insertion = txn.insertion().unless_similar(0.8).estimate(true);
            match insertion.document(document).expect("done") {
                Outcome::Inserted(done) => {
                    assert!(same || best.is_none(), "{best:?}");
                    assert_eq!(model.put(&id, &text, signature), done);
                }
                Outcome::Duplicate { of, against } => {
                    assert!(!same);
                    assert_eq!((Some(&(of.id, of.similarity)), against), (best, None));
                }
                other => panic!("{other:?}"),
            }
        }
        Op::Remove { id } => {
            let id = id_of(id);
            assert_eq!(txn.remove(&id).expect("done"), model.remove(&id));
        }
        other => return Some(other),
    }
    assert_eq!(txn.len() as usize, model.documents.len());
    None
}

/// Runs the query of an operation, and compares.
pub fn ask(snapshot: &Snapshot, model: &Model, op: &Op) {
    match op {
        Op::Query { family, variant, percent } => {
            query(snapshot, model, *family, *variant, f64::from(*percent) / 100.0);
        }
        Op::Pairs { percent } => pairs(snapshot, model, f64::from(*percent) / 100.0),
        _ => {}
    }
}

/// Applies all operations and compares every answer. Every other history stores the texts.
pub fn run(ops: Vec<Op>) {
    let place = Place::new();
    let options = tiny().store_text(ops.len() % 2 == 1);
    let mut index = options.create(place.index()).expect("created");
    let mut committed = Model::default();
    let mut kept: Vec<(Snapshot, Model)> = Vec::new();
    let mut ops = ops.into_iter().peekable();
    while ops.peek().is_some() {
        let mut model = committed.clone();
        let mut txn = index.begin_write().expect("begun");
        let after =
            ops.find_map(|op| write(&mut txn, &index, &mut model, op)).unwrap_or(Op::Commit);
        if matches!(after, Op::Abort) {
            drop(txn);
        } else {
            txn.commit().expect("committed");
            committed = model;
        }
        match after {
            Op::Reopen => {
                kept.clear();
                drop(index);
                index = tiny().open(place.index()).expect("opened");
            }
            Op::Compact => {
                kept.clear();
                index.compact().run().expect("compacted");
                assert_clean(&index.check().run().expect("checked"));
            }
            Op::Snapshot => kept.push((index.snapshot().expect("a snapshot"), committed.clone())),
            other => ask(&index.snapshot().expect("a snapshot"), &committed, &other),
        }
    }
    for (snapshot, model) in &kept {
        compare(snapshot, model);
        pairs(snapshot, model, 0.8);
    }
    compare(&index.snapshot().expect("a snapshot"), &committed);
    assert_clean(&index.check().run().expect("checked"));
    drop(kept);
    drop(index);
    let index = Index::options().open_read_only(place.index()).expect("opened");
    compare(&index.snapshot().expect("a snapshot"), &committed);
    assert_clean(&index.check().run().expect("checked"));
}
