//! Measures what sharing a file costs: commits beside one that shares nothing, and bringing a
//! reader up to date. `cargo test --release --lib -- --ignored sharing --nocapture`

use crate::index::document::Document;
use crate::index::handle::{Index, ReadOnlyIndex};
use crate::index::trials::workload::number_from;
use crate::sketch::{SetSize, Signature};
use crate::store::{Engine, SettingsRequest, Tuning};
use std::path::Path;
use std::time::{Duration, Instant};

fn documents(from: u64, count: u64) -> Vec<Document> {
    let document = |number: u64| {
        let mut random = fastrand::Rng::with_seed(number);
        let lanes: Vec<u8> = (0..256).map(|_| random.u8(..)).collect();
        let signature = Signature::new(lanes.into(), SetSize::about(100));
        Document::from_signature(format!("{number:08}"), signature).expect("a valid id")
    };
    (from..from + count).map(document).collect()
}

fn insert(index: &Index, documents: Vec<Document>) -> Duration {
    let start = Instant::now();
    let mut txn = index.begin_write().expect("begun");
    txn.insertion().documents(documents).expect("inserted");
    txn.commit().expect("committed");
    start.elapsed()
}

fn open(path: &Path, shares: bool) -> Index {
    let (request, tuning) = (SettingsRequest::default(), Tuning::default());
    let engine = if shares {
        Engine::open(path, &request, tuning)
    } else {
        Engine::open_alone(path, tuning)
    };
    Index::new(engine.expect("opened")).expect("a handle")
}

#[test]
#[ignore = "it measures"]
#[expect(clippy::print_stdout, reason = "the measurement")]
fn the_cost_of_sharing_a_file() {
    let folder = tempfile::tempdir_in(std::env::temp_dir()).expect("a temporary folder");
    let paths = [folder.path().join("alone.twx"), folder.path().join("shared.twx")];
    paths.iter().for_each(|path| drop(Index::create(path).expect("created")));
    let (mut single, mut bulk) = ([Duration::ZERO; 2], [Duration::ZERO; 2]);
    let mut next = 0;
    for _ in 0..number_from("TWINDEX_TURNS", 5) {
        for (shares, path) in paths.iter().enumerate() {
            let index = open(path, shares == 1);
            for document in documents(next, 100) {
                single[shares] += insert(&index, vec![document]);
            }
            let start = Instant::now();
            for batch in 0..4 {
                insert(&index, documents(next + 100 + batch * 5000, 5000));
            }
            index.close().expect("closed");
            bulk[shares] += start.elapsed();
        }
        next += 20_100;
    }
    let ratio = |[alone, shared]: [Duration; 2]| shared.as_secs_f64() / alone.as_secs_f64();
    println!("commits of one document: {single:?}, {:.2}", ratio(single));
    println!("bulk loading: {bulk:?}, {:.3}", ratio(bulk));
}

#[test]
#[ignore = "it measures"]
#[expect(clippy::print_stdout, reason = "the measurement")]
fn the_time_to_bring_a_reader_up_to_date_when_sharing() {
    let folder = tempfile::tempdir_in(std::env::temp_dir()).expect("a temporary folder");
    let path = folder.path().join("i.twx");
    let index = Index::create(&path).expect("created");
    let all = number_from("TWINDEX_DOCUMENTS", 1_000_000);
    for from in (0..all).step_by(20_000) {
        insert(&index, documents(from, 20_000.min(all - from)));
    }
    index.flush().expect("flushed");
    let reader = ReadOnlyIndex::open(&path).expect("opened");
    drop(reader.snapshot().expect("a snapshot"));
    let mut times = Vec::new();
    for turn in 0..90 {
        insert(&index, documents(all + turn * 1000, 1000));
        let start = Instant::now();
        let snapshot = reader.snapshot().expect("a snapshot");
        times.push(start.elapsed());
        assert_eq!(snapshot.len(), all + (turn + 1) * 1000);
    }
    times.sort();
    let same = Instant::now();
    (0..1000).for_each(|_| drop(reader.snapshot().expect("a snapshot")));
    let same = same.elapsed() / 1000;
    let start = Instant::now();
    drop(ReadOnlyIndex::open(&path).expect("opened").snapshot().expect("a snapshot"));
    println!(
        "{all} documents, commits of 1,000: median {:?}, greatest {:?}; nothing new: {same:?}; \
         opening: {:?}",
        times[times.len() / 2],
        times[times.len() - 1],
        start.elapsed()
    );
}
