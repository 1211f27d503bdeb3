//! Known passages: what is cut out, left out or spared equals what brute force says.

use crate::support::{Random, tiny};
use std::collections::HashSet;
use twindex::{DedupRun, Error, Index, Inserted, Outcome, Shingle};

/// The length of the passages, in words.
const N: usize = 4;

fn texts(random: &mut Random, count: usize) -> Vec<(String, String)> {
    let alphabet = ["a", "b", "c", "d", "e", "f", "g"];
    let mut word = || alphabet[random.below(7) as usize];
    let mut text = |id: usize| {
        let words: Vec<&str> = (0..4 + id % 17).map(|_| word()).collect();
        (format!("id{id}"), words.join(" "))
    };
    (0..count).map(&mut text).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Brute force: which words lie in windows of `N` words that are known, or came before in the text
/// without overlap.
fn known(words: &[&str], others: &[Vec<String>]) -> Vec<bool> {
    let mut known = vec![false; words.len()];
    for (at, window) in words.windows(N).enumerate() {
        let elsewhere = others.iter().any(|other| other.windows(N).any(|other| other == window));
        if elsewhere || words[..at].windows(N).any(|before| before == window) {
            known[at..at + N].fill(true);
        }
    }
    known
}

fn index(folder: &tempfile::TempDir) -> Index {
    let shingle = Shingle::words(1);
    let options = tiny().shingle(shingle).passages(N).store_text(true);
    options.create(folder.path().join("known.twx")).expect("created")
}

/// What is left of a text: its words that are not known.
fn rest(text: &str, known: &[bool]) -> Vec<String> {
    let left = words(text).into_iter().zip(known).filter(|(_, known)| !**known);
    left.map(|(word, _)| word.to_owned()).collect()
}

#[test]
fn what_is_cut_out_equals_brute_force() {
    let mut random = Random(7);
    for batch in [1, 3, 1000] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index = index(&folder);
        let all = texts(&mut random, 90);
        let mut kept: Vec<Vec<String>> = Vec::new();
        let (mut cut, mut covered) = (0, 0);
        let mut stored: Vec<(String, String)> = Vec::new();
        for part in all.chunks(batch) {
            let mut txn = index.begin_write().expect("begun");
            let outcomes = txn.insertion().without_passages().contents(part).expect("inserted");
            for ((id, text), outcome) in part.iter().zip(outcomes) {
                let expected = known(&words(text), &kept);
                let left = rest(text, &expected);
                let count = expected.iter().filter(|known| **known).count();
                let rest_of_text = match outcome {
                    Outcome::Inserted(Inserted::Added) => {
                        assert_eq!(count, 0, "{text}");
                        text.clone()
                    }
                    Outcome::Cut { inserted: Inserted::Added, known, text: rest } => {
                        assert_eq!((known.known, known.units), (count, expected.len()), "{text}");
                        assert_eq!(words(&rest), left, "{text}: {known:?}");
                        assert_eq!(known.without(text), rest);
                        let place = known.passages()[0].place.bytes();
                        let own = (id.clone(), text.clone());
                        let mut all = stored.iter().chain([&own]);
                        let of = all.find(|other| other.0 == known.passages()[0].of);
                        let of: &(String, String) = of.expect("a document");
                        assert_eq!(of.1[known.passages()[0].at.bytes()], text[place]);
                        cut += 1;
                        rest
                    }
                    Outcome::Covered(known) => {
                        assert_eq!((known.known, count), (expected.len(), expected.len()));
                        covered += 1;
                        continue;
                    }
                    other => panic!("{other:?}"),
                };
                stored.push((id.clone(), rest_of_text));
                kept.push(left);
            }
            txn.commit().expect("committed");
        }
        assert!(cut > 20 && covered > 0, "{cut} {covered}");
        let snapshot = index.snapshot().expect("a snapshot");
        for (id, left) in &stored {
            let text = snapshot.text(id).expect("read").expect("a document");
            assert_eq!(text, *left);
        }
        crate::support::assert_clean(
            &index.snapshot().expect("a snapshot").check().run().expect("checked"),
        );
    }
}

#[test]
fn the_same_documents_again_change_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = index(&folder);
    let all = texts(&mut Random(3), 60);
    let insert = || {
        let mut txn = index.begin_write().expect("begun");
        let outcomes = txn.insertion().without_passages().contents(&all).expect("inserted");
        txn.commit().expect("committed");
        outcomes
    };
    let first = insert();
    let again = insert();
    for (first, again) in first.iter().zip(&again) {
        match (first, again) {
            (Outcome::Inserted(_), Outcome::Inserted(Inserted::Unchanged)) => {}
            (
                Outcome::Cut { text, .. },
                Outcome::Cut { inserted: Inserted::Unchanged, text: same, .. },
            ) => assert_eq!(text, same),
            (Outcome::Covered(_), Outcome::Covered(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    crate::support::assert_clean(
        &index.snapshot().expect("a snapshot").check().run().expect("checked"),
    );
}

#[test]
fn a_record_that_comes_twice_in_a_run_is_a_duplicate_of_itself() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = index(&folder);
    let texts = [("1", "a b c d e f"), ("2", "x a b c d e y z"), ("2", "x a b c d e y z")];
    let mut txn = index.begin_write().expect("begun");
    let documents = texts.map(|(id, text)| index.prepare(id, text).expect("prepared"));
    let mut run = DedupRun::begin("run");
    let insertion = txn.insertion().without_passages();
    let outcomes = run.insert(insertion, documents.into()).expect("inserted");
    let outcomes: Vec<Outcome> =
        outcomes.into_iter().flatten().map(|judged| judged.outcome).collect();
    assert!(matches!(&outcomes[1], Outcome::Cut { text, .. } if text == "x y z"), "{outcomes:?}");
    assert!(matches!(&outcomes[2], Outcome::Duplicate { of, .. } if of.id == "2"), "{outcomes:?}");
    txn.commit().expect("committed");
    assert_eq!(index.snapshot().expect("a snapshot").len(), 2);
}

#[test]
fn what_is_covered_equals_brute_force() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = index(&folder);
    let all = texts(&mut Random(11), 90);
    let mut kept: Vec<Vec<String>> = Vec::new();
    let mut txn = index.begin_write().expect("begun");
    let outcomes = txn.insertion().unless_covered(0.5).contents(&all).expect("inserted");
    txn.commit().expect("committed");
    let mut left_out = 0;
    for ((_, text), outcome) in all.iter().zip(outcomes) {
        let expected = known(&words(text), &kept);
        let share = expected.iter().filter(|known| **known).count() as f64 / expected.len() as f64;
        match outcome {
            Outcome::Covered(known) => {
                assert!(share > 0.5 && known.share() == share, "{share} {known:?}");
                left_out += 1;
            }
            Outcome::Inserted(Inserted::Added) => {
                assert!(share <= 0.5);
                kept.push(words(text).into_iter().map(str::to_owned).collect());
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(left_out > 10);
    // A question about each text gives the same answer as brute force over what is there.
    let snapshot = index.snapshot().expect("a snapshot");
    for (_, text) in texts(&mut Random(13), 40) {
        let words = words(&text);
        let mut expected = vec![false; words.len()];
        for (at, window) in words.windows(N).enumerate() {
            if kept.iter().any(|other| other.windows(N).any(|other| other == window)) {
                expected[at..at + N].fill(true);
            }
        }
        let found = snapshot.known_passages(&*text).expect("answered");
        assert_eq!(found.known, expected.iter().filter(|known| **known).count());
        assert_eq!(self::words(&found.without(&text)), rest(&text, &expected));
    }
}

#[test]
fn words_stay_whole_and_white_space_in_front_remains() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = Index::options().passages(20).store_text(true);
    let index = options.create(folder.path().join("c.twx")).expect("created");
    let mut txn = index.begin_write().expect("begun");
    txn.insert("first", "The cat sat on the mat. He was content.").expect("inserted");
    txn.insert("漢", "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。")
        .expect("inserted");
    txn.insert("blob", &"0123456789abcdef".repeat(20)).expect("inserted");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let rest = |text: &str| snapshot.known_passages(text).expect("answered").without(text);
    assert_eq!(rest("A rat sat on the mat. Hers was not."), "A rat Hers was not.");
    assert_eq!(rest("One\n  SAT  on\nthe mat.\nTwo three"), "One\n  SAT  on\nthe mat.\nTwo three");
    assert_eq!(rest("One\n  cat SAT  on\nthe mat.  Hers\nTwo"), "One\n  Hers\nTwo");
    assert_eq!(rest("所謂、名前はまだ無い。どこで生れたかとんと見当がつく"), "所謂、く");
    let long = format!("x{}y", "0123456789abcdef".repeat(10));
    assert_eq!(rest(&long), "xy", "a long word is cut");
    assert_eq!(rest("The cat sat on the mat. He was content."), "");
}

#[test]
fn a_similar_document_is_spared_if_it_is_not_contained() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let shingle = Shingle::words(1);
    let options = Index::options().shingle(shingle).threshold(0.5).store_text(true);
    let index = options.create(folder.path().join("s.twx")).expect("created");
    let all: Vec<(String, String)> = {
        let mut random = Random(6);
        let text = |random: &mut Random| {
            let words: Vec<String> =
                (0..30).filter(|_| random.below(4) > 0).map(|n| format!("w{n}")).collect();
            words.join(" ")
        };
        (0..60).map(|n| (n.to_string(), text(&mut random))).collect()
    };
    for least in [1.0, 0.95] {
        for batch in [1, 100] {
            let mut txn = index.begin_write().expect("begun");
            let mut kept: Vec<(String, HashSet<&str>)> = Vec::new();
            let (mut removed, mut spared) = (0, 0);
            for part in all.chunks(batch) {
                let insertion = txn.insertion().unless_similar(0.5).if_contained(least);
                for ((id, text), outcome) in
                    part.iter().zip(insertion.contents(part).expect("done"))
                {
                    let set: HashSet<&str> = words(text).into_iter().collect();
                    let score = |(id, other): &(String, HashSet<&str>)| {
                        let common = set.intersection(other).count() as f64;
                        let similarity = common / set.union(other).count() as f64;
                        (similarity, common / set.len() as f64, id.clone())
                    };
                    // Brute force: the most similar, and of equal ones the first.
                    let best = |least: f64| {
                        let scores = kept.iter().map(score);
                        let similar = scores.filter(|(s, share, _)| *s >= 0.5 && *share >= least);
                        similar.reduce(|best, next| if next.0 > best.0 { next } else { best })
                    };
                    let (contained, any) = (best(least), best(0.0));
                    match outcome {
                        Outcome::Duplicate { of, .. } => {
                            let (similarity, share, id) = contained.expect("a document");
                            assert_eq!((of.similarity, of.id), (similarity, id));
                            assert_eq!(of.containment.expect("a share").share, share);
                            removed += 1;
                            continue;
                        }
                        Outcome::Spared { of, inserted: Inserted::Added, against: None } => {
                            assert_eq!(contained, None);
                            let (similarity, share, id) = any.expect("a document");
                            assert_eq!((of.similarity, of.id), (similarity, id));
                            assert_eq!(of.containment.expect("a share").share, share);
                            spared += 1;
                        }
                        Outcome::Inserted(Inserted::Added) => assert_eq!(any, None),
                        other => panic!("{other:?}"),
                    }
                    kept.push((id.clone(), set));
                }
            }
            assert!(removed > 1 && spared > 5, "{removed} {spared}");
        }
    }
}

#[test]
fn options_that_exclude_or_need_others_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let create = |name: &str, passages: usize, texts: bool| {
        let options = Index::options().passages(passages).store_text(texts);
        options.create(folder.path().join(name)).expect("created")
    };
    let (plain, prints) = (create("plain.twx", 0, true), create("prints.twx", 50, false));
    let both = create("both.twx", 50, true);
    let document = |index: &Index| vec![index.prepare("a", "text").expect("prepared")];
    let insert = |index: &Index, options: fn(twindex::Insertion<'_>) -> twindex::Insertion<'_>| {
        let mut txn = index.begin_write().expect("begun");
        options(txn.insertion()).documents(document(index)).expect_err("refused")
    };
    assert!(matches!(insert(&plain, |it| it.without_passages()), Error::NoPassages { .. }));
    assert!(matches!(insert(&prints, |it| it.unless_covered(0.5)), Error::NoTexts { .. }));
    let mut txn = prints.begin_write().expect("begun");
    let error =
        txn.insertion().unless_similar(0.8).if_contained(1.0).recall().expect_err("refused");
    assert!(matches!(error, Error::NoTexts { .. }), "{error}");
    for error in [
        insert(&both, |it| it.unless_similar(0.8).without_passages()),
        insert(&both, |it| it.unless_covered(1.5)),
        insert(&both, |it| it.unless_covered(f64::NAN)),
        insert(&both, |it| it.if_contained(0.5)),
        insert(&both, |it| it.unless_similar(0.8).if_contained(0.0)),
    ] {
        assert!(matches!(error, Error::InvalidSetting { .. }), "{error}");
    }
    let known = |index: &Index| index.snapshot().expect("a snapshot").known_passages("text");
    assert!(matches!(known(&plain), Err(Error::NoPassages { .. })));
    assert!(matches!(known(&prints), Err(Error::NoTexts { .. })));
}

#[test]
fn lines_go_whole_and_elements_with_their_ends() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let create = |name: &str, shingle: &str| {
        let shingle: Shingle = shingle.parse().expect("a shingle");
        let options = Index::options().shingle(shingle).passages(2).store_text(true);
        options.create(folder.path().join(name)).expect("created")
    };
    let lines = create("lines.twx", "line:1");
    let mut txn = lines.begin_write().expect("begun");
    txn.insert("1", "fn a() {\n    b();\n}\n").expect("inserted");
    let known = txn.insertion().without_passages().contents(&[
        ("2", "if c {\n    fn a() {\n        b();\n    d();\n}\n"),
        ("3", "    e();\n  b();\n}"),
    ]);
    let texts: Vec<String> = known
        .expect("inserted")
        .into_iter()
        .map(|outcome| match outcome {
            Outcome::Cut { text, .. } => text,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["if c {\n    d();\n}\n", "    e();\n"]);
    drop(txn);

    let sets = create("sets.twx", "token");
    let mut txn = sets.begin_write().expect("begun");
    let tokens = |elements: &[&str]| twindex::Tokens::new(elements).expect("tokens");
    txn.insert("1", &tokens(&["b b", "c c"])).expect("inserted");
    let given = [("2", tokens(&["a a", "b b", "c c", "d d"])), ("3", tokens(&["b b", "c c"]))];
    let outcomes = txn.insertion().without_passages().contents(&given).expect("inserted");
    assert!(
        matches!(&outcomes[0], Outcome::Cut { text, .. } if text == "a a\u{1f}d d\u{1f}"),
        "{outcomes:?}"
    );
    assert!(matches!(&outcomes[1], Outcome::Covered(_)), "{outcomes:?}");
}

#[test]
fn what_a_batch_replaces_is_not_known_any_more_but_others_are() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = index(&folder);
    let mut txn = index.begin_write().expect("begun");
    txn.insertion().contents(&[("a", "o p q r s"), ("b", "o p q r s t")]).expect("inserted");
    let outcomes = txn.insertion().without_passages();
    let outcomes = outcomes.contents(&[("a", "quite another text"), ("c", "o p q r s")]);
    let outcomes = outcomes.expect("inserted");
    let Outcome::Covered(known) = &outcomes[1] else { panic!("{outcomes:?}") };
    assert_eq!(known.passages()[0].of, "b");
}

#[test]
fn crowded_fingerprints_are_limited_alike_in_one_batch_and_in_many() {
    // The common words are shorter than a passage, but all windows around them choose their gram.
    let text = |n: usize| format!("x{n} y{n} z{n} common words x{n} y{n} z{n}");
    let all: Vec<(String, String)> = (0..250).map(|n| (n.to_string(), text(n))).collect();
    let inserted = |batch: usize| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let shingle = Shingle::words(1);
        let options = tiny().shingle(shingle).passages(4).store_text(true);
        let index = options.create(folder.path().join("i.twx")).expect("created");
        let mut txn = index.begin_write().expect("begun");
        let insert = |part: &[(String, String)]| {
            txn.insertion().without_passages().contents(part).expect("inserted")
        };
        let outcomes: Vec<Outcome> = all.chunks(batch).flat_map(insert).collect();
        (outcomes, txn.limited())
    };
    let expected = inserted(1);
    assert!(expected.1 > 0, "some fingerprints are crowded");
    assert_eq!(inserted(7), expected);
    assert_eq!(inserted(250), expected);
}

#[test]
fn replaced_documents_leave_their_places_among_those_that_are_compared() {
    // More documents than are compared share a footer, and all of them come again.
    let text = |n: usize, version: &str| format!("p q r s t u {version}x{n} {version}y{n}");
    let all = |version: &str| -> Vec<(String, String)> {
        (0..150).map(|n| (n.to_string(), text(n, version))).collect()
    };
    let left = |batch: usize| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options = Index::options().shingle(Shingle::words(1)).passages(4).store_text(true);
        let index = options.create(folder.path().join("i.twx")).expect("created");
        let mut txn = index.begin_write().expect("begun");
        txn.insertion().contents(&all("")).expect("inserted");
        for part in all("new").chunks(batch) {
            txn.insertion().without_passages().contents(part).expect("inserted");
        }
        txn.commit().expect("committed");
        let snapshot = index.snapshot().expect("a snapshot");
        let text = |id: usize| snapshot.text(&id.to_string()).expect("read").expect("there");
        (0..150).map(text).collect::<Vec<String>>()
    };
    let expected = left(1);
    assert_eq!(expected.iter().filter(|text| text.contains("p q r s t u")).count(), 1);
    assert_eq!(left(150), expected);
    assert_eq!(left(40), expected);
}

#[test]
fn what_a_batch_has_inserted_is_known_though_it_has_replaced_a_crowded_document() {
    // More documents than are compared share a footer, and the batch replaces one of them.
    let crowd = |n: usize| (n.to_string(), format!("p q r s t u x{n} y{n}"));
    let crowd: Vec<(String, String)> = (0..150).map(crowd).collect();
    let news = [
        ("0", "a text without a footer"),
        ("first", "one two three four five six"),
        ("second", "one two three four five six p q r s t u seven"),
    ];
    let inserted = |batch: usize| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index = index(&folder);
        let mut txn = index.begin_write().expect("begun");
        txn.insertion().contents(&crowd).expect("inserted");
        let insert = |part: &[(&str, &str)]| {
            txn.insertion().without_passages().contents(part).expect("inserted")
        };
        news.chunks(batch).flat_map(insert).collect::<Vec<Outcome>>()
    };
    let expected = inserted(1);
    let Outcome::Cut { known, text, .. } = &expected[2] else { panic!("{expected:?}") };
    assert_eq!((known.passages()[0].of.as_str(), text.as_str()), ("first", "seven"));
    assert_eq!(inserted(3), expected);
}

#[test]
fn a_document_with_the_text_that_is_left_stays_though_its_source_is_newer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = index(&folder);
    let mut txn = index.begin_write().expect("begun");
    txn.insert("x", "left over words here ").expect("inserted");
    txn.insert("p", "a b c d e f").expect("inserted");
    let outcome = txn.insertion().without_passages();
    let outcome = outcome.contents(&[("x", "left over words here a b c d e f")]);
    let outcome = &outcome.expect("inserted")[0];
    assert!(matches!(outcome, Outcome::Cut { inserted: Inserted::Unchanged, .. }), "{outcome:?}");
}

#[test]
fn a_text_that_repeats_itself_has_few_known_passages() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Index::options().passages(100).store_text(true);
    let index = options.create(folder.path().join("k.twx")).expect("created");
    let mut txn = index.begin_write().expect("a transaction");
    txn.insert("exam", &format!("Question 1 {} answer", "-".repeat(150))).expect("inserted");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let text = format!("An answer: {} and more", "-".repeat(30_000));
    let known = snapshot.known_passages(&*text).expect("answered");
    assert!(known.known >= 30_000, "{}", known.known);
    assert!(known.passages().len() < 500, "{} passages", known.passages().len());
    let covered = known.passages().iter().map(|passage| passage.place.bytes().end).max();
    assert!(covered >= Some(30_000), "{covered:?}");
    assert!(known.without(&text).len() < 100);
}
