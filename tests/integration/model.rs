//! Random operations against a plain map and brute force over signatures.

use crate::support::{Place, all_ids, assert_clean, estimate, meet, probe, text, tiny};
use proptest::prelude::*;
use std::collections::BTreeMap;
use twindex::{Index, Inserted, Outcome, Signature, Snapshot};

/// What can be done to an index.
#[derive(Clone, Debug)]
enum Op {
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

fn op() -> impl Strategy<Value = Op> {
    let id = 0..40_u8;
    let family = 0..12_u8;
    let variant = 0..6_u8;
    let document = (id.clone(), family.clone(), variant.clone());
    prop_oneof![
        8 => document.clone().prop_map(|(id, family, variant)| Op::Insert { id, family, variant }),
        3 => proptest::collection::vec(document.clone(), 0..20).prop_map(Op::InsertBatch),
        3 => document
            .prop_map(|(id, family, variant)| Op::InsertUnlessSimilar { id, family, variant }),
        4 => id.prop_map(|id| Op::Remove { id }),
        4 => Just(Op::Commit),
        1 => Just(Op::Abort),
        1 => Just(Op::Reopen),
        1 => Just(Op::Compact),
        1 => Just(Op::Snapshot),
        4 => (family, variant, 40..100_u8)
            .prop_map(|(family, variant, percent)| Op::Query { family, variant, percent }),
        1 => (60..100_u8).prop_map(|percent| Op::Pairs { percent }),
    ]
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

/// The documents as they should be: id to text and signature, with the order of insertion.
#[derive(Clone, Default)]
struct Model {
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

    /// What a query must answer, by brute force.
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
fn compare(snapshot: &Snapshot, model: &Model) {
    assert_eq!(snapshot.len() as usize, model.documents.len());
    assert_eq!(all_ids(snapshot), model.order);
    for (id, (text, signature)) in &model.documents {
        let info = snapshot.get(id).expect("readable").expect("it is there");
        assert_eq!(&info.signature, signature);
        assert_eq!(info.text_bytes as usize, text.len());
    }
    assert!(snapshot.get("never there").expect("readable").is_none());
    query(snapshot, model, 3, 1, 0.8);
}

fn query(snapshot: &Snapshot, model: &Model, family: u8, variant: u8, threshold: f64) {
    let asked = snapshot.sketcher().signature(&text_of(family, variant));
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
        // Every two signatures share the first 0 lanes of a band.
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
        .map(|pair| pair.map(|pair| (pair.a, pair.b)).expect("a pair"))
        .collect();
    got.sort();
    assert_eq!(got, expected);
}

fn run(ops: Vec<Op>) {
    let place = Place::new();
    let mut index = tiny().create(place.index()).expect("created");
    let sketcher = index.sketcher().clone();
    let mut committed = Model::default();
    let mut kept: Vec<(Snapshot, Model)> = Vec::new();
    let mut ops = ops.into_iter().peekable();
    while ops.peek().is_some() {
        let mut model = committed.clone();
        let mut txn = index.begin_write().expect("begun");
        let mut after = None;
        for op in ops.by_ref() {
            match op {
                Op::Insert { id, family, variant } => {
                    let (id, text) = (format!("d{id}"), text_of(family, variant));
                    let expected = model.put(&id, &text, sketcher.signature(&text));
                    assert_eq!(txn.insert(&id, &text).expect("inserted"), expected);
                }
                Op::InsertBatch(batch) => {
                    let batch: Vec<(String, String)> = batch
                        .into_iter()
                        .map(|(id, family, variant)| (format!("d{id}"), text_of(family, variant)))
                        .collect();
                    let expected: Vec<Inserted> = batch
                        .iter()
                        .map(|(id, text)| model.put(id, text, sketcher.signature(text)))
                        .collect();
                    assert_eq!(txn.insert_batch(&batch).expect("inserted"), expected);
                }
                Op::InsertUnlessSimilar { id, family, variant } => {
                    let (id, text) = (format!("d{id}"), text_of(family, variant));
                    let signature = sketcher.signature(&text);
                    let same = model.documents.get(&id).is_some_and(|(old, _)| *old == text);
                    let mut similar = model.similar(&signature, 0.8, probe(index.settings(), 0.8));
                    similar.retain(|(other, _)| *other != id);
                    let rank = |id: &String| model.order.iter().position(|other| other == id);
                    let best = similar
                        .iter()
                        .max_by(|a, b| a.1.total_cmp(&b.1).then(rank(&b.0).cmp(&rank(&a.0))));
                    match txn.insert_unless_similar(&id, &text).expect("done") {
                        Outcome::Inserted(done) => {
                            assert!(same || best.is_none(), "{best:?}");
                            assert_eq!(model.put(&id, &text, signature), done);
                        }
                        Outcome::Duplicate(found) => {
                            assert!(!same);
                            assert_eq!(Some(&(found.id, found.similarity)), best);
                        }
                    }
                }
                Op::Remove { id } => {
                    let id = format!("d{id}");
                    assert_eq!(txn.remove(&id).expect("done"), model.remove(&id));
                }
                other => {
                    after = Some(other);
                    break;
                }
            }
            assert_eq!(txn.len() as usize, model.documents.len());
        }
        let after = after.unwrap_or(Op::Commit);
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
                index.compact().expect("compacted");
                assert_clean(&index.check().expect("checked"));
            }
            Op::Snapshot => kept.push((index.snapshot().expect("a snapshot"), committed.clone())),
            Op::Query { family, variant, percent } => {
                let snapshot = index.snapshot().expect("a snapshot");
                query(&snapshot, &committed, family, variant, f64::from(percent) / 100.0);
            }
            Op::Pairs { percent } => {
                let snapshot = index.snapshot().expect("a snapshot");
                pairs(&snapshot, &committed, f64::from(percent) / 100.0);
            }
            _ => {}
        }
    }
    for (snapshot, model) in &kept {
        compare(snapshot, model);
        pairs(snapshot, model, 0.8);
    }
    compare(&index.snapshot().expect("a snapshot"), &committed);
    assert_clean(&index.check().expect("checked"));
    drop(kept);
    drop(index);
    let index = Index::options().open_read_only(place.index()).expect("opened");
    compare(&index.snapshot().expect("a snapshot"), &committed);
    assert_clean(&index.check().expect("checked"));
}

/// Long runs: `TWINDEX_MODEL_CASES=10000 cargo test --release --test integration -- model`.
fn cases() -> u32 {
    std::env::var("TWINDEX_MODEL_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(48)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        max_shrink_iters: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_history_answers_as_a_map_and_brute_force_do(
        ops in proptest::collection::vec(op(), 1..150)
    ) {
        run(ops);
    }
}
