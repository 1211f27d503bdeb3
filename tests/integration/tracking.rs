//! Tracked clusters: at any time they equal clusters found anew, and their ids stay.

use crate::support::{Place, tiny};
use std::collections::{BTreeMap, BTreeSet};
use twindex::{
    CheckReport, ClusterEvent, ClusterPlace, IndexOptions, Linkage, Result, Shingle, Snapshot,
};

/// The cluster of each document that has one.
type Places = BTreeMap<String, u64>;

fn options(store_text: bool) -> IndexOptions {
    let shingle = Shingle::Words(1);
    tiny().lanes(64).threshold(0.8).shingle(shingle).store_text(store_text)
}

/// A window of a long text. Windows that lie near each other are similar, so windows form chains
/// that a removal can break.
fn window(place: usize) -> String {
    let words: Vec<String> = (place..place + 20).map(|word| format!("word{word}")).collect();
    words.join(" ")
}

/// The clusters of two or more documents, found anew.
fn found_anew(snapshot: &Snapshot) -> Result<BTreeSet<Vec<String>>> {
    let threshold = snapshot.settings().threshold();
    let clusters = snapshot.clusters(threshold)?.linkage(Linkage::Connected).find().run()?;
    clusters.iter().map(|cluster| cluster.members().collect()).collect()
}

/// The tracked clusters of two or more documents.
fn tracked(snapshot: &Snapshot) -> Result<BTreeSet<Vec<String>>> {
    snapshot.tracked_clusters()?.iter().map(|cluster| Ok(cluster?.members)).collect()
}

/// The cluster of each document, read one by one.
fn places(snapshot: &Snapshot) -> Result<Places> {
    let clusters = snapshot.tracked_clusters()?;
    let mut places = Places::new();
    for id in snapshot.ids() {
        let id = id?;
        if let Some(cluster) = clusters.cluster_of(&id)? {
            places.insert(id, cluster);
        }
    }
    Ok(places)
}

/// Applies the changes after a commit to places that were right at that commit.
fn follow(snapshot: &Snapshot, since: u64, places: &mut Places) -> Result<()> {
    for change in snapshot.tracked_clusters()?.changes(since)? {
        let change = change?;
        assert!(change.commit > since, "{change:?} after {since}");
        match change.place {
            ClusterPlace::Cluster(cluster) => places.insert(change.id, cluster),
            ClusterPlace::Alone | ClusterPlace::Removed => places.remove(&change.id),
        };
    }
    Ok(())
}

fn checked(snapshot: &Snapshot) -> Result<()> {
    let report: CheckReport = snapshot.check().run()?;
    assert!(report.is_clean(), "{:?}", report.violations);
    Ok(())
}

/// The ids that the rule gives, by brute force over all documents: each group of documents claims
/// the ids that its documents had; the claim with the most documents goes first, then the least id,
/// then the group with the oldest document. `stayed` has the documents that were neither inserted
/// nor replaced, and `order` all of them by age.
fn kept_ids(
    groups: &BTreeSet<Vec<String>>,
    before: &Places,
    stayed: &BTreeSet<String>,
    order: &[String],
) -> BTreeMap<Vec<String>, u64> {
    let in_groups: BTreeSet<&String> = groups.iter().flatten().collect();
    let alone = order.iter().filter(|id| !in_groups.contains(id)).map(|id| vec![id.clone()]);
    let all: Vec<Vec<String>> = groups.iter().cloned().chain(alone).collect();
    let age = |id: &String| order.iter().position(|other| other == id);
    let mut claims = Vec::new();
    for group in &all {
        let mut counts: BTreeMap<u64, i64> = BTreeMap::new();
        for id in group.iter().filter(|id| stayed.contains(*id)) {
            before.get(id).into_iter().for_each(|id| *counts.entry(*id).or_default() += 1);
        }
        let oldest = group.iter().map(age).min();
        claims.extend(counts.into_iter().map(|(id, count)| (-count, id, oldest, group.clone())));
    }
    claims.sort();
    let mut kept: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for (_, id, _, group) in claims {
        if !kept.contains_key(&group) && !kept.values().any(|other| *other == id) {
            kept.insert(group, id);
        }
    }
    kept
}

/// Takes random steps and compares with the model after each commit.
fn random_steps(seed: u64, store_text: bool, commits: usize) -> Result<()> {
    let folder = Place::new();
    let index = options(store_text).create(folder.index())?;
    let mut random = fastrand::Rng::with_seed(seed);
    index.track_clusters().run()?;
    let mut places_before = Places::new();
    let mut followed = Places::new();
    let (mut seen, mut used) = (index.snapshot()?.commit_number(), BTreeSet::new());
    let mut kinds = BTreeSet::new();
    for _ in 0..commits {
        let mut stayed: BTreeSet<String> = index.snapshot()?.ids().collect::<Result<_>>()?;
        let mut txn = index.begin_write()?;
        for _ in 0..random.usize(1..6) {
            let id = format!("document {}", random.u32(..40));
            if random.u32(..5) < 3 {
                let text = window(random.usize(..60));
                if txn.insert(&id, &*text)? != twindex::Inserted::Unchanged {
                    stayed.remove(&id);
                }
            } else if txn.remove(&id)? {
                stayed.remove(&id);
            }
        }
        let events = txn.update_clusters()?;
        txn.commit()?;
        let snapshot = index.snapshot()?;
        let groups = found_anew(&snapshot)?;
        assert_eq!(tracked(&snapshot)?, groups, "clusters found anew");
        checked(&snapshot)?;

        let now = places(&snapshot)?;
        follow(&snapshot, seen, &mut followed)?;
        assert_eq!(followed, now, "a program that follows the changes");
        seen = snapshot.commit_number();

        let order: Vec<String> = snapshot.ids().collect::<Result<_>>()?;
        let kept = kept_ids(&groups, &places_before, &stayed, &order);
        for group in &groups {
            let ids: BTreeSet<u64> = group.iter().map(|id| now[id]).collect();
            assert_eq!(ids.len(), 1, "{group:?} has one id");
            let id = *ids.first().expect("an id");
            match kept.get(group) {
                Some(kept) => assert_eq!(id, *kept, "{group:?}"),
                None => assert!(used.insert(id), "{id} is new"),
            }
        }
        let expected_ids: BTreeSet<u64> = now.values().copied().collect();
        let before: BTreeSet<u64> = places_before.values().copied().collect();
        let (mut begun, mut gone) = (BTreeSet::new(), BTreeSet::new());
        for event in events {
            match event {
                ClusterEvent::Formed { cluster } => assert!(begun.insert(cluster)),
                ClusterEvent::Split { cluster, from } => {
                    assert!(begun.insert(cluster) && before.contains(&from));
                }
                ClusterEvent::Joined { cluster, into } => {
                    assert!(gone.insert(cluster) && expected_ids.contains(&into));
                }
                ClusterEvent::Ended { cluster } => assert!(gone.insert(cluster)),
                other => panic!("{other:?}"),
            }
            kinds.insert(format!("{event:?}").split(' ').next().unwrap_or_default().to_owned());
        }
        assert_eq!(begun, expected_ids.difference(&before).copied().collect());
        assert_eq!(gone, before.difference(&expected_ids).copied().collect());
        places_before = now;
    }
    assert_eq!(kinds.len(), 4, "every kind of event has occurred: {kinds:?}");
    // A program that knows nothing yet gets everything.
    let mut anew = Places::new();
    follow(&index.snapshot()?, 0, &mut anew)?;
    assert_eq!(anew, places_before);
    Ok(())
}

#[test]
fn tracked_clusters_equal_those_found_anew_after_every_commit() -> Result<()> {
    random_steps(1, false, 150)?;
    random_steps(2, true, 150)
}

#[test]
fn documents_of_an_aborted_transaction_are_not_compared_with_later_ones() -> Result<()> {
    let place = Place::new();
    let index = options(false).create(place.index())?;
    index.track_clusters().run()?;
    // The numbers of the aborted documents are given to the next ones.
    let mut txn = index.begin_write()?;
    for number in 0..20 {
        txn.insert(&number.to_string(), &window(1))?;
    }
    txn.update_clusters()?;
    txn.abort();
    for round in 0..2 {
        let mut txn = index.begin_write()?;
        for number in 0..20 {
            txn.insert(&format!("{round} {number}"), &window(100 * number))?;
        }
        txn.commit()?;
    }
    let snapshot = index.snapshot()?;
    assert_eq!(tracked(&snapshot)?.len(), 20);
    assert_eq!(tracked(&snapshot)?, found_anew(&snapshot)?);
    checked(&snapshot)
}

#[test]
fn clusters_that_all_threads_find_equal_those_found_anew() -> Result<()> {
    for (store_text, flush) in [(false, 100_000), (false, 700), (false, 1000), (true, 700)] {
        let place = Place::new();
        let index = options(store_text).flush_documents(flush).create(place.index())?;
        index.track_clusters().run()?;
        for commit in 0..4 {
            let mut txn = index.begin_write()?;
            // Chains of 40 windows, of which each commit brings one in four.
            for number in (commit..2400).step_by(4) {
                txn.insert(&number.to_string(), &window(number + number / 40 * 40))?;
            }
            // It removes some of what the one before brought.
            for number in (0..2400).skip(commit + 3).step_by(100).filter(|_| commit > 0) {
                txn.remove(&number.to_string())?;
            }
            txn.commit()?;
            let snapshot = index.snapshot()?;
            assert!(tracked(&snapshot)? == found_anew(&snapshot)?, "commit {commit}, {flush}");
            checked(&snapshot)?;
        }
        assert!(tracked(&index.snapshot()?)?.len() >= 60);
    }
    Ok(())
}

#[test]
fn a_copy_tracks_the_clusters_of_its_source() -> Result<()> {
    let place = Place::new();
    let index = options(false).create(place.index())?;
    index.track_clusters().run()?;
    let mut txn = index.begin_write()?;
    for number in (0..40).chain(100..140) {
        txn.insert(&number.to_string(), &window(number))?;
    }
    txn.commit()?;
    let mut txn = index.begin_write()?;
    txn.remove("20")?;
    txn.commit()?;
    let source = index.snapshot()?;
    let path = place.path("copy.twx");
    source.backup(&path).run()?;
    let copy = options(false).open(path)?.snapshot()?;
    checked(&copy)?;
    assert!(!places(&source)?.is_empty());
    assert_eq!(places(&copy)?, places(&source)?);
    let all = |snapshot: &Snapshot| -> Result<Vec<_>> {
        snapshot.tracked_clusters()?.changes(0)?.collect()
    };
    assert_eq!(all(&copy)?, all(&source)?);
    Ok(())
}
