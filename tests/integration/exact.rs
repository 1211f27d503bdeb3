//! Compares the exact answers of an index that stores texts with brute force over the texts.

use crate::support::{Place, Random, text, tiny};
use std::collections::{BTreeMap, BTreeSet};
use twindex::{Index, Linkage, Outcome, Settings, Shingle, Snapshot};

/// Texts in families of variants, so that similarities of all sizes occur.
fn texts() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for family in 0..20 {
        for variant in 0..8 {
            texts.push((
                format!("{family:02}-{variant}"),
                text(family, variant, 40 + 9 * family as usize),
            ));
        }
    }
    // Copies that differ in white space only, and the empty text.
    for family in 0..5 {
        texts.push((format!("copy-{family}"), text(family, 0, 40 + 9 * family as usize) + " "));
    }
    texts.push(("empty".into(), String::new()));
    texts
}

fn index(folder: &tempfile::TempDir, multiset: bool) -> Index {
    let options = Index::options().store_text(true).multiset(multiset).flush_documents(100);
    let index = options.create(folder.path().join("exact.twx")).expect("created");
    let mut txn = index.begin_write().expect("begun");
    txn.insertion().contents(&texts()).expect("inserted");
    txn.commit().expect("committed");
    index
}

/// The exact similarity of all pairs of texts that have anything in common.
fn brute_force(settings: &Settings) -> BTreeMap<(String, String), f64> {
    let sketcher = settings.sketcher().expect("valid settings");
    let sets: Vec<(String, BTreeSet<u64>)> = texts()
        .into_iter()
        .map(|(id, text)| (id, sketcher.shingler().hashes(&text).into_iter().collect()))
        .collect();
    let mut similar = BTreeMap::new();
    for (at, (x, a)) in sets.iter().enumerate() {
        for (y, b) in &sets[at + 1..] {
            let both = a.intersection(b).count();
            if both > 0 {
                let similarity = both as f64 / (a.len() + b.len() - both) as f64;
                similar.insert((x.min(y).clone(), x.max(y).clone()), similarity);
            }
        }
    }
    similar
}

/// The pairs at or above the threshold.
fn at_least(
    similar: &BTreeMap<(String, String), f64>,
    threshold: f64,
) -> BTreeMap<(String, String), f64> {
    let wanted = similar.iter().filter(|(_, similarity)| **similarity >= threshold);
    wanted.map(|(pair, similarity)| (pair.clone(), *similarity)).collect()
}

/// Every found pair must be expected with exactly its similarity, and at most 1 % may be missing.
#[track_caller]
fn assert_exact(
    found: &BTreeMap<(String, String), f64>,
    expected: &BTreeMap<(String, String), f64>,
) {
    for (pair, similarity) in found {
        assert_eq!(expected.get(pair), Some(similarity), "{pair:?}");
    }
    assert!(expected.len() > 50, "{} are not enough to judge", expected.len());
    let missed = expected.len() - found.len();
    // The recall allows 1 % misses at the threshold, and most pairs lie well above it.
    assert!(missed * 100 <= expected.len(), "{missed} of {} missed", expected.len());
}

fn pairs(snapshot: &Snapshot, threshold: f64) -> BTreeMap<(String, String), f64> {
    let pairs = snapshot.pairs(threshold).expect("a threshold");
    assert!(pairs.recall() >= 0.99);
    let mut found = BTreeMap::new();
    for pair in pairs {
        let pair = pair.expect("readable");
        assert!(pair.exact && pair.low == pair.similarity && pair.high == pair.similarity);
        assert!(found.insert((pair.a, pair.b), pair.similarity).is_none(), "reported twice");
    }
    found
}

#[test]
fn pairs_are_those_of_brute_force() {
    for multiset in [false, true] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index = index(&folder, multiset);
        let similar = brute_force(index.settings());
        let snapshot = index.snapshot().expect("a snapshot");
        for threshold in [0.8, 0.9] {
            assert_exact(&pairs(&snapshot, threshold), &at_least(&similar, threshold));
        }
    }
}

/// More pairs than are compared together, of texts with equal signatures, and with different ones.
#[test]
fn thousands_of_pairs_are_all_there_once_whatever_the_number_of_threads() {
    for (words, changed) in [(2_000, 1), (300, 6)] {
        let place = Place::new();
        let options = tiny().lanes(64).threshold(0.8).shingle(Shingle::Words(1)).store_text(true);
        let index = options.create(place.index()).expect("created");
        let sets: Vec<BTreeSet<u64>> = (0..110)
            .map(|text| {
                // The last ones are copies of the first.
                let own = |word: u64| words + 1_000 * (text % 105) + word;
                let words = (changed..words).chain((0..changed).map(own));
                words.collect()
            })
            .collect();
        let mut txn = index.begin_write().expect("begun");
        for (text, set) in sets.iter().enumerate() {
            let words: Vec<String> = set.iter().map(|word| format!("w{word}")).collect();
            txn.insert(&format!("{text:03}"), &*words.join(" ")).expect("inserted");
        }
        txn.commit().expect("committed");
        let snapshot = index.snapshot().expect("a snapshot");
        let found = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a pool").install(|| {
                let pairs = snapshot.pairs(0.8).expect("a threshold");
                pairs.map(|pair| pair.expect("readable")).collect::<Vec<_>>()
            })
        };
        let pairs = found(1);
        assert!(pairs == found(3));
        let mut similar = BTreeMap::new();
        for pair in pairs {
            let of = |id: &str| &sets[id.parse::<usize>().expect("a number")];
            let both = of(&pair.a).intersection(of(&pair.b)).count();
            let similarity = both as f64 / (2 * words as usize - both) as f64;
            assert_eq!(pair.similarity, similarity, "{} {}", pair.a, pair.b);
            assert!(similar.insert((pair.a, pair.b), similarity).is_none(), "reported twice");
        }
        // All are more similar than the threshold, where at most 1 % may be missing.
        assert!(similar.len() * 100 >= 99 * 110 * 109 / 2, "{} pairs", similar.len());
        assert_eq!(similar.values().filter(|similarity| **similarity == 1.0).count(), 5);
    }
}

#[test]
fn queries_scans_and_top_k_agree_with_brute_force() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = index(&folder, false);
    let similar = brute_force(index.settings());
    let snapshot = index.snapshot().expect("a snapshot");
    let asking = |scan: bool, top: Option<usize>| {
        let mut found = BTreeMap::new();
        for (id, text) in texts() {
            let query = snapshot.query().scan(scan).excluding(&id);
            let query = match top {
                Some(count) => query.top(count),
                None => query,
            };
            let by_text = query.clone().by_text(&text).expect("asked");
            let by_id = query.by_id(&id).expect("asked").expect("there");
            assert!(by_text.recall >= 0.989 && by_text.iter().eq(by_id.iter()));
            let similarities: Vec<f64> = by_text.iter().map(|found| found.similarity).collect();
            assert!(similarities.is_sorted_by(|a, b| a >= b));
            for other in by_text {
                assert!(other.exact && other.low == other.high);
                let pair = (id.clone().min(other.id.clone()), id.clone().max(other.id));
                found.insert(pair, other.similarity);
            }
        }
        found
    };
    let expected = at_least(&similar, 0.8);
    assert_exact(&asking(false, None), &expected);
    assert_exact(&asking(true, None), &expected);
    assert_exact(&asking(false, Some(100)), &expected);
}

/// The symptom: with stored texts, a scan still let the estimates choose which texts to read, and
/// missed what the recall of the index allows to miss.
#[test]
fn a_scan_with_stored_texts_finds_every_similar_document_whatever_the_recall_of_the_index() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = Index::options().store_text(true).recall(0.5).lanes(64);
    let index = options.create(folder.path().join("scanned.twx")).expect("created");
    let mut txn = index.begin_write().expect("begun");
    txn.insertion().contents(&texts()).expect("inserted");
    txn.commit().expect("committed");
    let similar = brute_force(index.settings());
    let snapshot = index.snapshot().expect("a snapshot");
    for threshold in [0.4, 0.5, 0.6, 0.7, 0.8, 0.9] {
        let expected = at_least(&similar, threshold);
        let mut found = BTreeMap::new();
        for (id, _) in texts() {
            let query = snapshot.query().scan(true).threshold(threshold);
            for other in query.by_id(&id).expect("asked").expect("there") {
                let pair = (id.clone().min(other.id.clone()), id.clone().max(other.id));
                found.insert(pair, other.similarity);
            }
        }
        assert!(expected.len() > 50, "{threshold}: {} are not enough to judge", expected.len());
        assert_eq!(found, expected, "{threshold}");
    }
}

#[test]
fn top_k_finds_the_most_similar_documents_only() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = index(&folder, false);
    let similar = brute_force(index.settings());
    let snapshot = index.snapshot().expect("a snapshot");
    let (mut right, mut all) = (0, 0);
    for (id, text) in texts() {
        let mut others: Vec<f64> = similar
            .iter()
            .filter(|((a, b), similarity)| (*a == id || *b == id) && **similarity >= 0.5)
            .map(|(_, similarity)| *similarity)
            .collect();
        others.sort_by(|a, b| b.total_cmp(a));
        others.truncate(3);
        let query = snapshot.query().threshold(0.5).top(3).excluding(&id);
        let found: Vec<f64> =
            query.by_text(&text).expect("asked").iter().map(|found| found.similarity).collect();
        all += others.len();
        right += found.iter().filter(|similarity| others.contains(similarity)).count();
    }
    assert!(all > 150 && right * 100 >= 98 * all, "{right} of {all}");
}

#[test]
fn estimates_are_given_on_request() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = index(&folder, false);
    let snapshot = index.snapshot().expect("a snapshot");
    let text = text(3, 1, 67);
    let found = snapshot.query().estimate(true).by_text(&text).expect("asked");
    assert!(!found.is_empty() && found.iter().all(|found| !found.exact));
    let signature = index.sketcher().signature(&text).expect("a text");
    let again = snapshot.query().by_signature(&signature).expect("asked");
    assert!(again.iter().eq(found.iter()));
    let mut pairs = snapshot.pairs(0.8).expect("a threshold").estimate(true);
    assert!(pairs.all(|pair| !pair.expect("readable").exact));
}

#[test]
fn the_members_of_clusters_are_exactly_similar() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = index(&folder, false);
    let similar = at_least(&brute_force(index.settings()), 0.8);
    let are_similar =
        |a: &String, b: &String| similar.contains_key(&(a.min(b).clone(), a.max(b).clone()));
    let snapshot = index.snapshot().expect("a snapshot");
    let clusters = snapshot.clusters(0.8).expect("a threshold").find().run().expect("found");
    assert!(clusters.recall() >= 0.99 && clusters.len() > 10);
    for cluster in &clusters {
        let representative = cluster.representative().expect("readable");
        for member in cluster.duplicates() {
            let member = member.expect("readable");
            assert!(are_similar(&representative, &member), "{representative} {member}");
        }
    }
    let connected = snapshot.clusters(0.8).expect("a threshold").linkage(Linkage::Connected);
    let connected = connected.find().run().expect("found");
    let members = |cluster: &twindex::Cluster<'_>| -> Vec<String> {
        cluster.members().map(|id| id.expect("readable")).collect()
    };
    let mut joined = 0;
    for cluster in &connected {
        let members = members(&cluster);
        for member in &members {
            assert!(members.iter().any(|other| are_similar(member, other)), "{member}");
        }
        joined += members.len();
    }
    let touched: BTreeSet<&String> = similar.keys().flat_map(|(a, b)| [a, b]).collect();
    assert!(joined * 100 >= 98 * touched.len(), "{joined} of {}", touched.len());
}

#[test]
fn versions_of_one_long_text_with_equal_signatures_are_one_cluster() {
    const VERSIONS: usize = 1_500;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = Index::options().lanes(64).recall(0.9).shingle(Shingle::words(1));
    let index = options.store_text(true).create(folder.path().join("v.twx")).expect("created");
    let common: String = (0..2_000).map(|n| format!("w{n} ")).collect();
    let versions: Vec<(String, String)> =
        (0..VERSIONS).map(|n| (n.to_string(), format!("{common}version{n}"))).collect();
    let mut txn = index.begin_write().expect("begun");
    txn.insertion().contents(&versions).expect("inserted");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let connected = snapshot.clusters(0.8).expect("a threshold").linkage(Linkage::Connected);
    let connected = connected.find().run().expect("found");
    assert_eq!((connected.len(), connected.member_count()), (1, VERSIONS as u64));
}

#[test]
fn duplicates_are_exactly_similar() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = Index::options().store_text(true);
    let index = options.create(folder.path().join("one.twx")).expect("created");
    let similar = brute_force(index.settings());
    let mut random = Random(7);
    let mut texts = texts();
    for at in (1..texts.len()).rev() {
        texts.swap(at, random.below(at as u64 + 1) as usize);
    }
    let documents = texts.iter().map(|(id, text)| index.prepare(id, text).expect("prepared"));
    let documents: Vec<_> = documents.collect();
    let mut txn = index.begin_write().expect("begun");
    // Several batches, so that duplicates occur in the index and within a batch.
    let mut outcomes = Vec::new();
    for batch in documents.chunks(90) {
        let insertion = txn.insertion().unless_similar(0.8);
        outcomes.extend(insertion.documents(batch.to_vec()).expect("ok"));
    }
    let mut kept: Vec<&str> = Vec::new();
    let (mut duplicates, mut missed) = (0, 0);
    for ((id, _), outcome) in texts.iter().zip(&outcomes) {
        let of = |other: &str| {
            let pair = (id.as_str().min(other).to_owned(), id.as_str().max(other).to_owned());
            similar.get(&pair).copied().unwrap_or(0.0)
        };
        // The most similar kept document; ties go to the earliest.
        let best =
            kept.iter().map(|other| (of(other), *other)).fold(None, |best, next| match best {
                Some((similarity, _)) if similarity >= next.0 => best,
                _ => Some(next),
            });
        let best = best.filter(|(similarity, _)| *similarity >= 0.8);
        match (outcome, best) {
            (Outcome::Duplicate { of, .. }, Some((similarity, other))) => {
                duplicates += 1;
                assert!(of.exact, "{id}");
                missed += usize::from((of.similarity, of.id.as_str()) != (similarity, other));
            }
            (Outcome::Duplicate { of, .. }, None) => panic!("{id} is no duplicate of {}", of.id),
            (_, best) => {
                missed += usize::from(best.is_some());
                kept.push(id);
            }
        }
    }
    assert!(duplicates > 50 && missed * 100 <= duplicates, "{missed} of {duplicates} missed");
}

#[test]
fn check_and_insert_one_by_one_agrees_with_many_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let open = |name: &str| {
        let options = Index::options().store_text(true);
        options.create(folder.path().join(name)).expect("created")
    };
    let (one, many) = (open("one.twx"), open("many.twx"));
    let mut txn = many.begin_write().expect("begun");
    let documents = texts().into_iter().map(|(id, text)| many.prepare(id, &text));
    let documents = documents.collect::<Result<Vec<_>, _>>().expect("prepared");
    let at_once = txn.insertion().unless_similar(0.8).documents(documents).expect("judged");
    let mut txn = one.begin_write().expect("begun");
    for ((id, text), at_once) in texts().iter().zip(at_once) {
        let outcome = txn.insert_unless_similar(id, text).expect("judged");
        assert_eq!(outcome, at_once, "{id}");
    }
}

#[test]
fn a_low_threshold_finds_no_less_than_a_high_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = Index::options().store_text(true).recall(0.5);
    let index = options.create(folder.path().join("low.twx")).expect("created");
    let mut txn = index.begin_write().expect("begun");
    txn.insertion().contents(&texts()).expect("inserted");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let text = text(3, 0, 67);
    let found = |threshold: f64| -> Vec<String> {
        let query = snapshot.query().threshold(threshold);
        let found = query.by_text(&text).expect("asked");
        found.into_iter().filter(|found| found.similarity >= 0.9).map(|found| found.id).collect()
    };
    let high = found(0.9);
    assert!(high.len() > 2);
    for threshold in [0.5, 0.3, 0.1, 0.03, 0.001] {
        let low = found(threshold);
        assert!(high.iter().all(|id| low.contains(id)), "{high:?}, but at {threshold} {low:?}");
    }
}

#[test]
fn weighted_sets_are_compared_exactly() {
    use twindex::Weights;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = Index::options().store_text(true).weighted(true).threshold(0.7);
    let index = options.create(folder.path().join("weights.twx")).expect("created");
    let mut random = Random(5);
    let mut sets: Vec<(String, BTreeMap<String, u64>)> = Vec::new();
    for family in 0..12 {
        let base: BTreeMap<String, u64> =
            (0..30).map(|token| (format!("t{family}-{token}"), 1 + random.below(1000))).collect();
        for variant in 0..6 {
            let mut set = base.clone();
            for weight in set.values_mut() {
                *weight += random.below(1 + variant * *weight / 8);
            }
            sets.push((format!("{family:02}-{variant}"), set));
        }
    }
    let mut txn = index.begin_write().expect("begun");
    for (id, set) in &sets {
        let weights = set.iter().map(|(token, weight)| (token.clone(), *weight as f64));
        let weights = Weights::new(weights).expect("weights");
        txn.insert(id, &weights).expect("inserted");
    }
    txn.commit().expect("committed");
    let mut similar = BTreeMap::new();
    for (at, (x, a)) in sets.iter().enumerate() {
        for (y, b) in &sets[at + 1..] {
            let tokens: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let of =
                |set: &BTreeMap<String, u64>, token: &String| set.get(token).copied().unwrap_or(0);
            let minima: u64 = tokens.iter().map(|token| of(a, token).min(of(b, token))).sum();
            let maxima: u64 = tokens.iter().map(|token| of(a, token).max(of(b, token))).sum();
            similar.insert((x.clone(), y.clone()), minima as f64 / maxima as f64);
        }
    }
    let snapshot = index.snapshot().expect("a snapshot");
    assert_exact(&pairs(&snapshot, 0.7), &at_least(&similar, 0.7));
}

#[test]
fn a_limit_chooses_the_same_pairs_although_it_compares_fewer_texts() {
    let place = Place::new();
    let options = tiny().lanes(64).threshold(0.8).shingle(Shingle::Words(1)).store_text(true);
    let index = options.create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    for from in 0..80 {
        let words: Vec<String> = (from..from + 20).map(|word| format!("word{word}")).collect();
        txn.insert(&format!("{from:02}"), &*words.join(" ")).expect("inserted");
    }
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let pair = |pair: twindex::Result<twindex::Pair>| pair.map(|pair| [pair.a, pair.b]);
    let all: Vec<[String; 2]> =
        snapshot.pairs(0.8).expect("a threshold").map(|it| pair(it).expect("a pair")).collect();
    assert!(all.len() > 100, "{} pairs", all.len());
    for most in [1, 2] {
        let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
        let mut expected = Vec::new();
        for ids in &all {
            if ids.iter().all(|id| seen.get(&**id).copied().unwrap_or(0) < most) {
                ids.iter().for_each(|id| *seen.entry(id).or_default() += 1);
                expected.push(ids.clone());
            }
        }
        let mut limited = snapshot.pairs(0.8).expect("a threshold").max_per_document(most);
        let found: Vec<[String; 2]> =
            limited.by_ref().map(|it| pair(it).expect("a pair")).collect();
        assert_eq!(found, expected, "at most {most}");
        assert!(limited.left_out() >= (all.len() - found.len()) as u64);
    }
}
