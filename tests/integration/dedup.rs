//! Compares inserting many documents unless similar with brute force, one document at a time.

use crate::support::{Place, Random, all_ids, assert_clean, estimate, meet, probe, text, tiny};
use twindex::{
    Document, Index, IndexOptions, Inserted, Insertion, OnConflict, Outcome, Signature, Snapshot,
    WriteTxn,
};

/// A known document with its text.
#[derive(Clone)]
struct Known {
    id: String,
    text: String,
    signature: Signature,
}

/// The outcomes by definition, one document at a time.
struct Oracle<'i> {
    index: &'i Index,
    threshold: f64,
    own: Vec<Known>,
    others: Vec<Vec<Known>>,
}

impl Oracle<'_> {
    fn known(&self, id: &str, text: &str) -> Known {
        let signature = self.index.sketcher().signature(text).expect("a text");
        Known { id: id.to_owned(), text: text.to_owned(), signature }
    }

    /// The outcome for a document, and the document that it duplicates.
    fn judge(&mut self, id: &str, text: &str) -> (&'static str, Option<String>) {
        let new = self.known(id, text);
        if self.own.iter().any(|known| known.id == id && known.text == text) {
            return ("unchanged", None);
        }
        let (bands, depth) = probe(self.index.settings(), self.threshold);
        let similar = |known: &&Known| {
            !new.signature.is_empty()
                && !known.signature.is_empty()
                && meet(&new.signature, &known.signature, bands, depth)
                && estimate(&new.signature, &known.signature) >= self.threshold
        };
        let own = self.own.iter().filter(|known| known.id != id).filter(similar);
        let own = own.map(|known| ("duplicate", known));
        let others = self.others.iter().flatten().filter(similar);
        let others = others.map(|known| ("elsewhere", known));
        // The first of the most similar documents.
        let mut best: Option<(&'static str, &Known, f64)> = None;
        for (how, known) in own.chain(others) {
            let similarity = estimate(&new.signature, &known.signature);
            if best.is_none_or(|best| similarity > best.2) {
                best = Some((how, known, similarity));
            }
        }
        if let Some((how, known, _)) = best {
            return (how, Some(known.id.clone()));
        }
        let before = self.own.len();
        self.own.retain(|known| known.id != id);
        let replaced = self.own.len() < before;
        self.own.push(new);
        (if replaced { "replaced" } else { "added" }, None)
    }
}

fn named(outcome: Outcome) -> (&'static str, Option<String>) {
    match outcome {
        Outcome::Inserted(Inserted::Added) => ("added", None),
        Outcome::Inserted(Inserted::Replaced) => ("replaced", None),
        Outcome::Inserted(Inserted::Unchanged) => ("unchanged", None),
        Outcome::Duplicate { of, against: None } => ("duplicate", Some(of.id)),
        Outcome::Duplicate { of, against: Some(_) } => ("elsewhere", Some(of.id)),
        other => panic!("{other:?}"),
    }
}

/// Documents of few families under few ids, so that all outcomes occur.
fn record(random: &mut Random, ids: u64) -> (String, String) {
    let id = format!("d{}", random.below(ids));
    let text = match random.below(20) {
        0 => String::new(),
        1 => "short".to_owned(),
        _ => text(random.below(12), random.below(9), 40),
    };
    (id, text)
}

fn filled(place: &Place, name: &str, random: &mut Random, count: u64) -> (Index, Vec<Known>) {
    let index = tiny().create(place.path(name)).expect("created");
    let mut known: Vec<Known> = Vec::new();
    let mut txn = index.begin_write().expect("begun");
    for _ in 0..count {
        let (id, text) = record(random, 1000);
        let document = index.prepare(id.as_str(), &text).expect("a valid id");
        let signature = document.signature().clone();
        let insertion = txn.insertion().on_conflict(OnConflict::Skip);
        let outcome = insertion.document(document).expect("inserted");
        if outcome == Outcome::Inserted(Inserted::Added) {
            known.push(Known { id, text, signature });
        }
    }
    txn.commit().expect("committed");
    (index, known)
}

#[test]
fn a_batch_gives_the_outcomes_of_single_insertions() {
    for seed in 0..12 {
        let mut random = Random(seed);
        let place = Place::new();
        let (index, own) = filled(&place, "own.twx", &mut random, 3 * (seed % 3));
        let others: Vec<_> = (0..seed % 3)
            .map(|at| filled(&place, &format!("other-{at}.twx"), &mut random, 4))
            .collect();
        let snapshots: Vec<Snapshot> =
            others.iter().map(|other| other.0.snapshot().expect("a snapshot")).collect();
        let against: Vec<&Snapshot> = snapshots.iter().collect();
        let threshold = [0.8, 0.9, 0.6][seed as usize % 3];
        let others = others.iter().map(|other| other.1.clone()).collect();
        let mut oracle = Oracle { index: &index, threshold, own, others };

        for round in 0..12 {
            let records: Vec<_> =
                (0..1 + random.below(40)).map(|_| record(&mut random, 30)).collect();
            let sketched = records.iter().map(|(id, text)| index.prepare(id.as_str(), text));
            let documents: Vec<Document> = sketched.collect::<Result<_, _>>().expect("valid ids");
            let mut txn = index.begin_write().expect("begun");
            let half = documents.len() / 2;
            let (first, second) = documents.split_at(half);
            let mut outcomes = Vec::new();
            for part in [first, second] {
                let insertion = txn.insertion().unless_similar(threshold).against(&against);
                let judged = insertion.documents(part.to_vec());
                outcomes.extend(judged.expect("judged").into_iter().map(named));
            }
            txn.commit().expect("committed");
            let expected: Vec<_> =
                records.iter().map(|(id, text)| oracle.judge(id, text)).collect();
            assert_eq!(outcomes, expected, "seed {seed}, round {round}: {records:?}");
        }
        let mut ids: Vec<String> = oracle.own.iter().map(|known| known.id.clone()).collect();
        let mut stored = all_ids(&index.snapshot().expect("a snapshot"));
        ids.sort();
        stored.sort();
        assert_eq!(stored, ids);
        assert_clean(&index.check().run().expect("checked"));
    }
}

#[test]
fn single_insertions_give_the_outcomes_of_one_batch() {
    let mut random = Random(99);
    let few: Vec<_> = (0..200).map(|_| record(&mut random, 120)).collect();
    // The buckets of large batches are looked up together.
    let record = |_| (random.below(2500).to_string(), text(random.below(300), random.below(9), 40));
    let many: Vec<_> = (0..2500).map(record).collect();
    for store_text in [false, true] {
        let options = tiny().store_text(store_text);
        same_outcomes(&options, &few, None);
        same_outcomes(&options.clone().flush_documents(600), &many, None);
    }
}

#[test]
fn single_insertions_that_ask_for_containment_give_the_outcomes_of_one_batch() {
    let mut random = Random(7);
    // Texts end early, so that some contain others, and estimates are often wrong about them.
    let mut record = |at: u64| {
        let text = text(random.below(60), random.below(9), 40);
        let length = text.len() as u64;
        let end = length - random.below(length / 5);
        let end = (0..=end as usize).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        (random.below(1 + at).to_string(), text[..end].to_owned())
    };
    let records: Vec<_> = (0..1500).map(&mut record).collect();
    let options = tiny().store_text(true).flush_documents(600);
    same_outcomes(&options, &records, None);
    same_outcomes(&options, &records, Some(0.95));
}

/// Inserts records in batches as large as an index makes them, and one by one.
fn same_outcomes(options: &IndexOptions, records: &[(String, String)], contained: Option<f64>) {
    fn insertion<'t>(txn: &'t mut WriteTxn, contained: Option<f64>) -> Insertion<'t> {
        let insertion = txn.insertion().unless_similar(0.8);
        match contained {
            Some(share) => insertion.if_contained(share),
            None => insertion,
        }
    }
    let place = Place::new();
    let index = options.create(place.index()).expect("created");
    let documents = |part: &[(String, String)]| -> Vec<Document> {
        let sketched = part.iter().map(|(id, text)| index.prepare(id.as_str(), text));
        sketched.collect::<Result<_, _>>().expect("valid ids")
    };
    let mut txn = index.begin_write().expect("begun");
    let at_once = insertion(&mut txn, contained).documents(documents(records)).expect("judged");
    txn.abort();
    let mut txn = index.begin_write().expect("begun");
    let judge = |document| insertion(&mut txn, contained).document(document);
    let one_by_one: Vec<Outcome> =
        documents(records).into_iter().map(judge).collect::<Result<_, _>>().expect("judged");
    assert_eq!(at_once, one_by_one);
    assert!(at_once.iter().any(|outcome| matches!(outcome, Outcome::Duplicate { .. })));
    let spared = at_once.iter().any(|outcome| matches!(outcome, Outcome::Spared { .. }));
    assert_eq!(spared, contained.is_some());
}

#[test]
fn an_index_of_other_settings_is_refused_before_anything_is_judged() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let other = tiny().lanes(64).create(place.path("other.twx")).expect("created");
    let snapshot = other.snapshot().expect("a snapshot");
    let mut txn = index.begin_write().expect("begun");
    let others = [&snapshot];
    let error = txn.insertion().unless_similar(0.8).against(&others).documents(Vec::new());
    let error = error.expect_err("refused").to_string();
    assert!(error.contains("other.twx: its lanes is 64, that of "), "{error}");
    let documents = vec![index.prepare("a", "a text of some length").expect("a valid id")];
    assert!(txn.insertion().unless_similar(1.5).documents(documents.clone()).is_err());
    // An index may have another threshold and recall, which only determine its bands.
    let loose = tiny().threshold(0.5).create(place.path("loose.twx")).expect("created");
    let snapshot = loose.snapshot().expect("a snapshot");
    let others = [&snapshot];
    let outcomes = txn.insertion().unless_similar(0.8).against(&others).documents(documents);
    assert_eq!(outcomes.expect("judged"), [Outcome::Inserted(Inserted::Added)]);
}
