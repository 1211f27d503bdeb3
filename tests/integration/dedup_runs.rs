//! Interrupted and resumed deduplications, automatic ids, and conflicts.

use crate::support::{Place, Random, all_ids, assert_clean, text, tiny};
use twindex::{DedupRun, Document, Error, Index, Inserted, OnConflict, Outcome};

const KEY: &str = "what was asked for";

/// Records of few families, some without an id, some repeated with the same text.
fn records(count: u64) -> Vec<(Option<String>, String)> {
    let mut random = Random(11);
    let record = |_| {
        let id = (random.below(4) > 0).then(|| format!("d{}", random.below(25)));
        (id, text(random.below(12), random.below(4), 40))
    };
    (0..count).map(record).collect()
}

fn documents(index: &Index, records: &[(Option<String>, String)]) -> Vec<Document> {
    let document = |(id, text): &(Option<String>, String)| match id {
        Some(id) => index.prepare(id.as_str(), text),
        None => index.prepare("none", text).map(Document::without_id),
    };
    records.iter().map(document).collect::<Result<_, _>>().expect("valid ids")
}

/// Feeds records in parts of seven, and stops after `commits` commits as if the process were
/// killed. Returns the outcomes of the records whose part was committed.
fn feed(
    index: &Index,
    records: &[(Option<String>, String)],
    commits: usize,
) -> Result<Vec<Option<(String, Outcome)>>, Error> {
    let mut txn = index.begin_write()?;
    let mut run = match DedupRun::resume(&txn, KEY)? {
        Some(run) => run,
        None => DedupRun::begin(KEY),
    };
    let mut results = Vec::new();
    for (number, part) in records.chunks(7).enumerate() {
        let insertion = txn.insertion().unless_similar(0.8);
        let judged = run.insert(insertion, documents(index, part))?;
        if number >= commits {
            // Dropping the transaction undoes everything since the last commit.
            return Ok(results);
        }
        results.extend(judged.into_iter().map(|judged| judged.map(|it| (it.id, it.outcome))));
        run.save(&mut txn, [number as u64; 10])?;
        txn.commit()?;
        txn = index.begin_write()?;
    }
    run.save_judged(&mut txn, [0; 10])?;
    txn.commit()?;
    Ok(results)
}

#[test]
fn an_interrupted_run_ends_like_an_uninterrupted_one() {
    let records = records(60);
    let place = Place::new();
    let whole = tiny().create(place.path("whole.twx")).expect("created");
    let expected = feed(&whole, &records, usize::MAX).expect("judged");
    assert!(expected.iter().all(Option::is_some));
    let expected_ids = all_ids(&whole.snapshot().expect("a snapshot"));
    let duplicates = expected.iter().flatten();
    let duplicates = duplicates.filter(|(_, outcome)| outcome.inserted().is_none()).count();
    assert!((5..55).contains(&duplicates), "{duplicates} duplicates");
    for commits in 0..9 {
        let path = place.path(&format!("{commits}.twx"));
        let index = tiny().create(&path).expect("created");
        let before = feed(&index, &records, commits).expect("judged");
        drop(index);
        let index = Index::open(&path).expect("opened");
        let after = feed(&index, &records, usize::MAX).expect("judged");
        let judged = before.len();
        assert!(after[..judged].iter().all(Option::is_none), "passed over");
        assert_eq!([&before[..], &after[judged..]].concat(), expected, "after {commits} commits");
        assert_eq!(all_ids(&index.snapshot().expect("a snapshot")), expected_ids);
        assert_clean(&index.check().run().expect("checked"));
    }
}

#[test]
fn a_run_remembers_its_notes_until_it_is_finished() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let records = records(20);
    feed(&index, &records, 2).expect("judged");
    let mut txn = index.begin_write().expect("begun");
    let run = DedupRun::resume(&txn, KEY).expect("readable").expect("interrupted");
    assert_eq!((run.notes(), run.judged().len(), run.is_judged()), ([1; 10], 14, false));
    assert!(run.is_catching_up() && run.given().is_empty());
    assert!(DedupRun::resume(&txn, "another key").expect("readable").is_none());
    run.finish(&mut txn).expect("forgotten");
    txn.commit().expect("committed");
    let txn = index.begin_write().expect("begun");
    assert!(DedupRun::resume(&txn, KEY).expect("readable").is_none());
}

#[test]
fn a_run_refuses_transactions_of_another_index() {
    let place = Place::new();
    let path = place.path("one.twx");
    let one = tiny().create(&path).expect("created");
    let other = tiny().create(place.path("other.twx")).expect("created");
    let mut there = other.begin_write().expect("begun");
    let assert_refused = |refused: Result<(), Error>| {
        let refused = refused.expect_err("another index");
        assert!(matches!(refused, Error::InvalidSetting { setting: "transaction", .. }));
        let message = refused.to_string();
        let expected = "other.twx: expected one of the index that the run was begun or resumed in";
        assert!(message.starts_with("transaction of ") && message.ends_with(expected), "{message}");
    };
    let documents = |number: u64| {
        let id = format!("d{number}");
        vec![one.prepare(id.as_str(), &text(number, 0, 40)).expect("prepared")]
    };
    let mut run = DedupRun::begin(KEY);
    let mut here = one.begin_write().expect("begun");
    run.insert(here.insertion().unless_similar(0.8), documents(1)).expect("judged");
    assert_refused(run.save(&mut there, [1; 10]));
    assert_refused(run.save_judged(&mut there, [1; 10]));
    assert_refused(run.save_notes(&mut there, [1; 10]));
    assert_refused(run.clone().finish(&mut there));
    let insertion = there.insertion().unless_similar(0.8);
    assert_refused(run.insert(insertion, documents(2)).map(drop));
    run.save(&mut here, [2; 10]).expect("saved");
    here.commit().expect("committed");
    let (second, third) = (documents(2), documents(3));
    one.close().expect("closed");

    // The same index, opened again.
    let one = Index::open(&path).expect("opened");
    let mut here = one.begin_write().expect("begun");
    run.insert(here.insertion().unless_similar(0.8), second).expect("judged");
    run.save_judged(&mut here, [3; 10]).expect("saved");
    assert_refused(run.clone().remember(&mut there, ""));
    let mut resumed = DedupRun::resume(&here, KEY).expect("readable").expect("judged");
    assert!(resumed.is_catching_up());
    assert_refused(resumed.save(&mut there, [4; 10]));
    let insertion = there.insertion().unless_similar(0.8);
    assert_refused(resumed.insert(insertion, third).map(drop));
    run.remember(&mut here, "").expect("remembered");
    here.commit().expect("committed");
    assert!(there.is_empty());
    assert!(DedupRun::interrupted(&there).expect("readable").is_empty(), "nothing was stored");
}

#[test]
fn a_run_whose_documents_were_not_committed_must_be_resumed() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let document = |number: u64| {
        vec![index.prepare(format!("d{number}"), &text(number, 0, 40)).expect("prepared")]
    };
    let mut run = DedupRun::begin(KEY);
    for number in 0..2 {
        let mut txn = index.begin_write().expect("begun");
        run.insert(txn.insertion().unless_similar(0.8), document(number)).expect("judged");
        run.save(&mut txn, [0; 10]).expect("saved");
        match number {
            0 => txn.commit().expect("committed"),
            _ => txn.abort(),
        }
    }
    let mut txn = index.begin_write().expect("begun");
    let refused = run.insert(txn.insertion().unless_similar(0.8), document(2));
    assert!(matches!(refused, Err(Error::InvalidSetting { setting: "transaction", .. })));
    let mut run = DedupRun::resume(&txn, KEY).expect("readable").expect("interrupted");
    for number in 0..3 {
        run.insert(txn.insertion().unless_similar(0.8), document(number)).expect("judged");
    }
    run.save(&mut txn, [0; 10]).expect("saved");
    txn.commit().expect("committed");
    assert_eq!(all_ids(&index.snapshot().expect("a snapshot")), ["d0", "d1", "d2"]);
    assert_clean(&index.check().run().expect("checked"));
}

#[test]
fn what_others_insert_after_a_dropped_transaction_is_not_taken_for_the_documents_of_a_run() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let document = |number: u64| {
        vec![index.prepare(format!("d{number}"), &text(number, 0, 40)).expect("made")]
    };
    let mut run = DedupRun::begin(KEY);
    for number in 0..2 {
        let mut txn = index.begin_write().expect("begun");
        run.insert(txn.insertion().unless_similar(0.8), document(number)).expect("judged");
        if number == 0 {
            // Saving is not what counts: the document was committed.
            txn.commit().expect("committed");
        }
    }
    let mut txn = index.begin_write().expect("begun");
    txn.insert("of another writer", "which has got the number of the lost document").expect("in");
    txn.commit().expect("committed");
    let mut txn = index.begin_write().expect("begun");
    let is_refused = |result: twindex::Result<()>| {
        assert!(matches!(result, Err(Error::InvalidSetting { setting: "transaction", .. })));
    };
    let insertion = txn.insertion().unless_similar(0.8);
    is_refused(run.insert(insertion, document(2)).map(drop));
    is_refused(run.save(&mut txn, [0; 10]));
    is_refused(run.save_judged(&mut txn, [0; 10]));
    is_refused(run.clone().remember(&mut txn, ""));
    is_refused(run.finish(&mut txn));
}

#[test]
fn a_run_refuses_an_insertion_that_compares_nothing() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let document = index.prepare("a", "some text").expect("prepared");
    let mut txn = index.begin_write().expect("begun");
    let refused = DedupRun::begin(KEY).insert(txn.insertion(), vec![document]);
    assert!(matches!(refused, Err(Error::InvalidSetting { setting: "unless_similar", .. })));
    assert_eq!(txn.len(), 0);
}

#[test]
fn a_remembered_run_is_found_until_a_document_is_removed_or_another_run_saves() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let records = records(20);
    let remember = |circumstances: &str| {
        feed(&index, &records, usize::MAX).expect("judged");
        let mut txn = index.begin_write().expect("begun");
        let run = DedupRun::resume(&txn, KEY).expect("readable").expect("judged");
        let input = run.judged();
        run.remember(&mut txn, circumstances).expect("remembered");
        txn.commit().expect("committed");
        input
    };
    let input = remember("as it is");
    let found = |key: &str, circumstances: &str| {
        let txn = index.begin_write().expect("begun");
        assert!(DedupRun::resume(&txn, key).expect("readable").is_none());
        let run = DedupRun::finished(&txn, key, circumstances).expect("readable");
        run.map(|run| (run.judged(), run.notes()))
    };
    assert_eq!(found(KEY, "as it is"), Some((input, [0; 10])));
    assert_eq!(found(KEY, "otherwise"), None);
    assert_eq!(found("another key", "as it is"), None);
    assert_clean(&index.check().run().expect("checked"));

    let mut txn = index.begin_write().expect("begun");
    txn.insert("one more", &text(40, 1, 40)).expect("inserted");
    txn.commit().expect("committed");
    assert!(found(KEY, "as it is").is_some(), "a document that is added changes nothing");
    let mut txn = index.begin_write().expect("begun");
    assert!(txn.remove("one more").expect("removed"));
    txn.commit().expect("committed");
    assert_eq!(found(KEY, "as it is"), None, "a document was removed");

    remember("as it is");
    let mut txn = index.begin_write().expect("begun");
    DedupRun::begin(KEY).save(&mut txn, [0; 10]).expect("saved");
    txn.commit().expect("committed");
    let txn = index.begin_write().expect("begun");
    assert!(DedupRun::finished(&txn, KEY, "as it is").expect("readable").is_none());
    assert!(DedupRun::resume(&txn, KEY).expect("readable").is_some(), "another run saved");
}

#[test]
fn a_run_that_is_not_judged_is_not_remembered() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    feed(&index, &records(20), 2).expect("judged");
    let mut txn = index.begin_write().expect("begun");
    let run = DedupRun::resume(&txn, KEY).expect("readable").expect("interrupted");
    run.remember(&mut txn, "").expect("forgotten");
    assert!(DedupRun::finished(&txn, KEY, "").expect("readable").is_none());
    assert!(DedupRun::resume(&txn, KEY).expect("readable").is_none());
}

#[test]
fn resuming_with_another_input_is_an_error() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let mut records = records(30);
    feed(&index, &records, 2).expect("judged");
    let differs = |result| matches!(result, Err(Error::InputDiffers { documents: 14 }));
    assert!(differs(feed(&index, &records[..10], usize::MAX)), "it ends too early");
    records[3].1.push('!');
    assert!(differs(feed(&index, &records, usize::MAX)), "a text has changed");
    records[3].1.pop();
    feed(&index, &records, usize::MAX).expect("the same again");
    records.push((None, "one more record".to_owned()));
    let more = feed(&index, &records, usize::MAX);
    assert!(matches!(more, Err(Error::InputDiffers { documents: 30 })), "{more:?}");
}

#[test]
fn a_document_repeated_in_a_run_is_a_duplicate_and_an_earlier_one_is_unchanged() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    let (old, new) = (text(1, 1, 40), text(2, 1, 40));
    txn.insert("old", &old).expect("inserted");
    let mut run = DedupRun::begin(KEY);
    let twice = [("old", &old), ("new", &new), ("old", &old), ("new", &new)];
    let documents = twice.map(|(id, text)| index.prepare(id, text).expect("a valid id")).to_vec();
    let judged = run.insert(txn.insertion().unless_similar(0.8), documents).expect("judged");
    let inserted = judged.iter().flatten().map(|judged| judged.outcome.inserted());
    let (unchanged, added) = (Some(Inserted::Unchanged), Some(Inserted::Added));
    assert_eq!(inserted.collect::<Vec<_>>(), [unchanged, added, unchanged, None]);
}

#[test]
fn a_document_that_another_writer_adds_during_a_run_is_no_duplicate_of_itself() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let texts = [text(1, 1, 40), text(2, 1, 40), text(3, 1, 40)];
    let document = |at: usize| index.prepare(format!("d{at}"), &texts[at]).expect("a valid id");
    let mut txn = index.begin_write().expect("begun");
    let mut run = DedupRun::begin(KEY);
    run.insert(txn.insertion().unless_similar(0.8), vec![document(0)]).expect("judged");
    run.save(&mut txn, [0; 10]).expect("saved");
    txn.commit().expect("committed");

    let mut txn = index.begin_write().expect("begun by another");
    txn.insert("d1", &texts[1]).expect("inserted");
    txn.commit().expect("committed");

    let mut txn = index.begin_write().expect("begun");
    let mut run = DedupRun::resume(&txn, KEY).expect("readable").expect("stored");
    let input = [0, 1, 2, 0, 1, 2].map(document).to_vec();
    let judged = run.insert(txn.insertion().unless_similar(0.8), input).expect("judged");
    let outcomes: Vec<_> =
        judged.iter().map(|judged| judged.as_ref().map(|it| it.outcome.inserted())).collect();
    let (unchanged, added) = (Some(Some(Inserted::Unchanged)), Some(Some(Inserted::Added)));
    assert_eq!(outcomes, [None, unchanged, added, Some(None), unchanged, Some(None)]);
}

#[test]
fn a_conflict_is_decided_before_anything_is_compared() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    let (one, other) = (text(1, 1, 40), text(2, 1, 40));
    let all = [("a", &one), ("b", &other)];
    txn.insertion().contents(&all).expect("inserted");
    // The text of `b` under the id of `a` is skipped as a conflict. With the default
    // policy it is a duplicate of `b`.
    let skipping = txn.insertion().unless_similar(0.8).on_conflict(OnConflict::Skip);
    let outcomes =
        skipping.contents(&[("a", &other), ("b", &other), ("c", &other)]).expect("judged");
    assert_eq!(outcomes[0], Outcome::Inserted(Inserted::Skipped));
    assert_eq!(outcomes[1], Outcome::Inserted(Inserted::Unchanged));
    assert!(matches!(&outcomes[2], Outcome::Duplicate { of, against: None } if of.id == "b"));
    let outcomes = txn.insertion().unless_similar(0.8).contents(&[("a", &other)]).expect("judged");
    assert!(matches!(&outcomes[0], Outcome::Duplicate { of, .. } if of.id == "b"));
    assert_eq!(txn.len(), 2);
}

#[test]
fn other_indexes_without_a_threshold_are_an_error() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let snapshot = index.snapshot().expect("a snapshot");
    let others = [&snapshot];
    let mut txn = index.begin_write().expect("begun");
    let refused = txn.insertion().against(&others).documents(Vec::new());
    assert!(matches!(refused, Err(Error::InvalidSetting { setting: "against", .. })));
}

#[test]
fn automatic_ids_avoid_given_ids_and_do_not_depend_on_batches() {
    let named = |index: &Index, id: Option<&str>, at: usize| {
        let document = index.prepare(id.unwrap_or("none"), &text(at as u64, 1, 40));
        let document = document.expect("a valid id");
        if id.is_some() { document } else { document.without_id() }
    };
    let ids = [None, Some("#3"), None, None, Some("#2"), Some("#7"), None, None, None];
    let mut all = Vec::new();
    for batch in [1, 2, 3, 9] {
        let place = Place::new();
        let index = tiny().create(place.index()).expect("created");
        let mut txn = index.begin_write().expect("begun");
        for (part, first) in ids.chunks(batch).zip((0..).step_by(batch)) {
            let numbered = part.iter().zip(first..);
            let documents = numbered.map(|(id, at)| named(&index, *id, at)).collect();
            txn.insertion().documents(documents).expect("inserted");
        }
        txn.commit().expect("committed");
        all.push(all_ids(&index.snapshot().expect("a snapshot")));
    }
    // The third document got `#2` before the fifth, which has the id `#2`, replaced it.
    assert_eq!(all[0], ["#1", "#3", "#4", "#2", "#7", "#5", "#6", "#8"]);
    assert!(all.iter().all(|ids| *ids == all[0]), "{all:?}");
}
