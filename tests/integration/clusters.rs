//! Compares clusters with brute force over signatures, for both linkages and every `Keep`.

use crate::support::{Place, Random, estimate, meet, probe, tiny};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use twindex::{Document, Error, Index, IndexOptions, Keep, Linkage, Signature, Snapshot};

/// A cluster: its representative and its members.
type Cluster = (String, Vec<String>);

/// A document in the brute-force computation.
#[derive(Clone)]
struct Known {
    id: String,
    bytes: u64,
    signature: Signature,
}

/// Texts in families. Each member differs a little from the one before it, so clusters are chains.
/// Every fourth text is repeated.
fn texts(seed: u64, count: usize) -> Vec<(String, String)> {
    let mut random = Random(seed);
    let mut words: Vec<String> = Vec::new();
    (0..count)
        .map(|number| {
            if number % 9 == 0 {
                words = (0..60).map(|_| format!("{:06x}", random.next() & 0xFF_FFFF)).collect();
            } else if !number.is_multiple_of(4) {
                for _ in 0..1 + random.below(4) {
                    words[random.below(60) as usize] = format!("{:06x}", random.next() & 0xFF_FFFF);
                }
            }
            // Ids of many lengths, whose order differs from that of insertion.
            let id = format!("{:x}", random.next() >> random.below(40));
            (id, words.join(" ") + &" ".repeat(random.below(3) as usize))
        })
        .collect()
}

fn insert(
    options: &IndexOptions,
    place: &Place,
    texts: &[(String, String)],
    batch: usize,
) -> Index {
    let index = options.create(place.index()).expect("created");
    for some in texts.chunks(batch) {
        let mut txn = index.begin_write().expect("begun");
        txn.insertion().contents(some).expect("inserted");
        txn.commit().expect("committed");
    }
    index
}

fn all(snapshot: &Snapshot) -> Vec<Known> {
    let known = |id: twindex::Result<String>| {
        let id = id.expect("readable");
        let info = snapshot.get(&id).expect("readable").expect("there");
        Known { id, bytes: info.text_bytes, signature: info.signature }
    };
    snapshot.ids().map(known).collect()
}

fn found(snapshot: &Snapshot, threshold: f64, linkage: Linkage, keep: Keep) -> Vec<Cluster> {
    found_with(snapshot, threshold, linkage, keep, &[])
}

fn found_with(
    snapshot: &Snapshot,
    threshold: f64,
    linkage: Linkage,
    keep: Keep,
    preferred: &[String],
) -> Vec<Cluster> {
    let clustering = snapshot.clusters(threshold).expect("a threshold");
    let clustering = clustering.linkage(linkage).keep(keep).prefer(preferred).expect("readable");
    let clusters = clustering.find().run().expect("found");
    let documents: usize = clusters.iter().map(|cluster| cluster.len()).sum();
    assert_eq!(clusters.member_count(), documents as u64);
    let cluster = |cluster: twindex::Cluster<'_>| {
        let members = cluster.members().collect::<Result<Vec<_>, _>>().expect("readable");
        assert_eq!(members.len(), cluster.len());
        (cluster.representative().expect("readable"), members)
    };
    clusters.iter().map(cluster).collect()
}

/// The positions of documents in the order of preference: ids that are preferred come first.
fn in_order(documents: &[Known], keep: Keep, preferred: &[String]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..documents.len()).collect();
    match keep {
        Keep::First => {}
        Keep::Longest => order.sort_by_key(|at| Reverse(documents[*at].bytes)),
        Keep::Id => order.sort_by(|a, b| documents[*a].id.cmp(&documents[*b].id)),
    }
    let place = |at: &usize| preferred.iter().position(|id| *id == documents[*at].id);
    order.sort_by_key(|at| place(at).unwrap_or(usize::MAX));
    order
}

/// The clusters by definition.
fn expected(
    documents: &[Known],
    similar: &dyn Fn(&Known, &Known) -> bool,
    linkage: Linkage,
    keep: Keep,
    preferred: &[String],
) -> Vec<Cluster> {
    let order = in_order(documents, keep, preferred);
    let mut leader: Vec<Option<usize>> = vec![None; documents.len()];
    for &first in &order {
        if leader[first].is_some() {
            continue;
        }
        leader[first] = Some(first);
        let mut ask = vec![first];
        while let Some(asked) = ask.pop() {
            for other in 0..documents.len() {
                if leader[other].is_none() && similar(&documents[asked], &documents[other]) {
                    leader[other] = Some(first);
                    if linkage == Linkage::Connected {
                        ask.push(other);
                    }
                }
            }
        }
    }
    let mut clusters: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (at, leader) in leader.into_iter().enumerate() {
        clusters.entry(leader.expect("all have one")).or_default().push(documents[at].id.clone());
    }
    let mut clusters: Vec<(usize, Vec<String>)> =
        clusters.into_iter().filter(|(_, members)| members.len() > 1).collect();
    clusters.sort_by_key(|(leader, members)| (Reverse(members.len()), *leader));
    clusters.into_iter().map(|(at, members)| (documents[at].id.clone(), members)).collect()
}

const LINKAGES: [Linkage; 2] = [Linkage::Representative, Linkage::Connected];
const KEEPS: [Keep; 3] = [Keep::First, Keep::Longest, Keep::Id];

#[test]
fn clusters_are_those_of_brute_force() {
    for seed in [1, 2, 3] {
        let place = Place::new();
        let index = insert(&tiny(), &place, &texts(seed, 180), 23);
        let mut txn = index.begin_write().expect("begun");
        let gone: Vec<String> = index
            .snapshot()
            .expect("a snapshot")
            .ids()
            .step_by(7)
            .collect::<Result<_, _>>()
            .expect("readable");
        txn.remove_batch(&gone).expect("removed");
        txn.commit().expect("committed");
        let snapshot = index.snapshot().expect("a snapshot");
        let documents = all(&snapshot);
        // A third of them in a mixed order, one twice, and one that is gone.
        let third = (0..60).map(|n| documents[n * 7_919 % documents.len()].id.clone());
        let preferred: Vec<String> =
            third.chain([documents[0].id.clone(), gone[0].clone()]).collect();
        for threshold in [0.5, 0.8, 0.95] {
            let (bands, depth) = probe(snapshot.settings(), threshold);
            let similar = |a: &Known, b: &Known| {
                meet(&a.signature, &b.signature, bands, depth)
                    && estimate(&a.signature, &b.signature) >= threshold
            };
            for linkage in LINKAGES {
                for keep in KEEPS {
                    for preferred in [&[], &*preferred] {
                        let found = found_with(&snapshot, threshold, linkage, keep, preferred);
                        let expected = expected(&documents, &similar, linkage, keep, preferred);
                        assert!(!expected.is_empty());
                        assert_eq!(found, expected, "{seed} {threshold} {linkage:?} {keep:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_member_is_similar_to_its_representative() {
    let place = Place::new();
    let index = insert(&tiny(), &place, &texts(4, 300), 50);
    let snapshot = index.snapshot().expect("a snapshot");
    let signature = |id: &str| snapshot.get(id).expect("readable").expect("there").signature;
    for keep in KEEPS {
        for (representative, members) in found(&snapshot, 0.8, Linkage::Representative, keep) {
            assert!(members.contains(&representative));
            let own = signature(&representative);
            assert!(members.iter().all(|id| estimate(&own, &signature(id)) >= 0.8));
        }
    }
}

/// Signatures A, B and C. A and C each agree with B in nine of ten lanes, and with each other in
/// eight of ten.
fn chain(index: &Index) -> Snapshot {
    let lanes = index.settings().lanes();
    let base: Vec<u8> = (0..lanes).map(|lane| lane as u8).collect();
    let changed = |from: usize| {
        let mut lanes = base.clone();
        // Only later lanes differ, so the chain is certain to share the first bands.
        lanes[from..from + 26].iter_mut().for_each(|lane| *lane ^= 0xFF);
        Signature::from_lanes(lanes, 1_000)
    };
    let mut txn = index.begin_write().expect("begun");
    let members = [
        ("a", changed(200)),
        ("b", Signature::from_lanes(base.clone(), 1_000)),
        ("c", changed(130)),
    ];
    for (id, signature) in members {
        let document = Document::from_signature(id, signature).expect("valid");
        txn.insertion().document(document).expect("inserted");
    }
    txn.commit().expect("committed");
    index.snapshot().expect("a snapshot")
}

#[test]
fn the_ends_of_a_chain_are_not_in_one_cluster_by_representative() {
    let place = Place::new();
    let snapshot = chain(&Index::create(place.index()).expect("created"));
    let clusters = found(&snapshot, 0.85, Linkage::Representative, Keep::First);
    assert_eq!(clusters, [("a".to_owned(), vec!["a".to_owned(), "b".to_owned()])]);
}

#[test]
fn a_chain_is_one_connected_cluster() {
    let place = Place::new();
    let snapshot = chain(&Index::create(place.index()).expect("created"));
    let clusters = found(&snapshot, 0.85, Linkage::Connected, Keep::Id);
    assert_eq!(clusters, [("a".to_owned(), ["a", "b", "c"].map(str::to_owned).to_vec())]);
}

#[test]
fn clusters_do_not_depend_on_batches_merges_and_cache() {
    let texts = texts(5, 250);
    let answers = |options: IndexOptions, batch: usize, compact: bool| {
        let place = Place::new();
        let mut index = insert(&options, &place, &texts, batch);
        if compact {
            index.compact().run().expect("compacted");
        }
        let snapshot = index.snapshot().expect("a snapshot");
        let ask = |linkage| KEEPS.map(|keep| found(&snapshot, 0.8, linkage, keep));
        LINKAGES.map(ask)
    };
    let expected = answers(Index::options(), 1_000, false);
    for (batch, compact) in [(1, false), (17, true), (250, true)] {
        assert_eq!(answers(tiny(), batch, compact), expected, "{batch} {compact}");
    }
}

/// Signatures that all share their first lanes, so one bucket holds all of them. They agree to
/// different degrees in the other lanes.
fn one_bucket(index: &Index, count: usize) -> Snapshot {
    let mut random = Random(6);
    let lanes = index.settings().lanes();
    let mut base: Vec<u8> = (0..lanes).map(|_| random.next() as u8).collect();
    let document = |number: usize| {
        if number.is_multiple_of(20) {
            base[8..].fill_with(|| random.next() as u8);
        }
        let mut own = base.clone();
        for _ in 0..random.below(60) {
            own[8 + random.below(lanes as u64 - 8) as usize] = random.next() as u8;
        }
        let id = format!("{:04}", number * 7_919 % count);
        Document::from_signature(id, Signature::from_lanes(own, 1_000)).expect("valid")
    };
    let documents = (0..count).map(document).collect();
    let mut txn = index.begin_write().expect("begun");
    txn.insertion().documents(documents).expect("inserted");
    txn.commit().expect("committed");
    index.snapshot().expect("a snapshot")
}

#[test]
fn results_for_a_large_bucket_do_not_depend_on_the_memory() {
    let ask = |cache: usize| {
        let place = Place::new();
        let index = Index::options().cache_bytes(cache).create(place.index()).expect("created");
        let snapshot = one_bucket(&index, 1_500);
        let pairs: Vec<(String, String)> = snapshot
            .pairs(0.75)
            .expect("a threshold")
            .map(|pair| pair.map(|pair| (pair.a, pair.b)).expect("a pair"))
            .collect();
        let clusters = LINKAGES.map(|linkage| found(&snapshot, 0.75, linkage, Keep::Id));
        (all(&snapshot), pairs, clusters)
    };
    let (documents, mut pairs, clusters) = ask(64 << 20);
    let (_, with_little, same) = ask(64 << 10);
    assert!(pairs == with_little, "another order");
    assert_eq!(clusters, same);

    let mut expected = Vec::new();
    for (at, x) in documents.iter().enumerate() {
        for y in &documents[at + 1..] {
            // They share the first band.
            if estimate(&x.signature, &y.signature) >= 0.75 {
                expected.push((x.id.clone().min(y.id.clone()), x.id.clone().max(y.id.clone())));
            }
        }
    }
    expected.sort();
    pairs.sort();
    assert_eq!(pairs.len(), expected.len());
    assert!(pairs == expected, "other pairs");
}

#[test]
fn no_document_is_in_more_pairs_than_the_limit() {
    let place = Place::new();
    let snapshot = one_bucket(&Index::create(place.index()).expect("created"), 300);
    let named =
        |pair: twindex::Result<twindex::Pair>| pair.map(|pair| (pair.a, pair.b)).expect("a pair");
    let all: Vec<_> = snapshot.pairs(0.75).expect("a threshold").map(named).collect();
    for most in [1, 3, 50] {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let mut expected = all.clone();
        expected.retain(|(a, b)| {
            let fewer = [a, b].iter().all(|id| seen.get(*id).copied().unwrap_or(0) < most);
            if fewer {
                *seen.entry(a.clone()).or_default() += 1;
                *seen.entry(b.clone()).or_default() += 1;
            }
            fewer
        });
        let mut pairs = snapshot.pairs(0.75).expect("a threshold").max_per_document(most);
        let found: Vec<_> = pairs.by_ref().map(named).collect();
        assert!(found == expected, "at most {most}");
        assert_eq!(pairs.left_out(), (all.len() - found.len()) as u64);
    }
}

#[test]
fn a_watcher_can_stop_the_search() {
    let place = Place::new();
    let index = insert(&tiny(), &place, &texts(7, 60), 60);
    let snapshot = index.snapshot().expect("a snapshot");
    for linkage in LINKAGES {
        let clustering = snapshot.clusters(0.8).expect("a threshold").linkage(linkage);
        let mut seen = 0;
        let whole = clustering.clone().find().watch(|at| {
            assert!(at.done <= at.total);
            seen += 1;
            ControlFlow::Continue(())
        });
        assert!(seen > 0 && !whole.expect("found").is_empty());
        let stopped = clustering.find().watch(|_| ControlFlow::Break(()));
        assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{stopped:?}");
    }
}
