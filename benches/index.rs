//! What an index does with ready signatures. `cargo bench --bench index`

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use tempfile::TempDir;
use twindex::Index;

#[path = "scale/synthetic.rs"]
#[expect(dead_code, reason = "the long runs use more of it")]
mod synthetic;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Documents of the index that is asked and changed.
const DOCUMENTS: u64 = 20_000;
const INSERTED: u64 = 10_000;
const ASKED: u64 = 1_000;
const REMOVED: u64 = 1_000;

fn folder() -> TempDir {
    // Not the system's folder, which may be in memory.
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder")
}

/// A closed index of this many documents.
fn build(folder: &TempDir) -> Outcome {
    let index = Index::create(folder.path().join("bench.twx"))?;
    synthetic::load(&index, 0..DOCUMENTS, INSERTED, |_, _| {})?;
    Ok(index.close()?)
}

fn open(folder: &TempDir) -> Index {
    Index::open(folder.path().join("bench.twx")).expect("an index")
}

fn insert(index: &Index, documents: Vec<twindex::Document>) -> twindex::Result<()> {
    let mut txn = index.begin_write()?;
    txn.insertion().documents(documents)?;
    txn.commit()
}

fn remove(index: &Index) -> twindex::Result<()> {
    let mut txn = index.begin_write()?;
    for number in 0..REMOVED {
        txn.remove(&synthetic::id(number * (DOCUMENTS / REMOVED)))?;
    }
    txn.commit()
}

fn writes(criterion: &mut Criterion) {
    let full = folder();
    build(&full).expect("an index");
    let mut group = criterion.benchmark_group("write");
    group.sample_size(10);
    group.throughput(Throughput::Elements(INSERTED));
    group.bench_function("10,000 signatures into a new index", |bencher| {
        let new = || {
            let folder = folder();
            let index = Index::create(folder.path().join("new.twx")).expect("a new index");
            // The folder comes last, to be removed when the index is closed.
            (index, synthetic::documents(0..INSERTED).expect("documents"), folder)
        };
        let take = |(index, documents, folder): (Index, _, TempDir)| {
            insert(&index, documents).expect("inserted");
            (index, folder)
        };
        bencher.iter_batched(new, take, BatchSize::PerIteration);
    });
    group.throughput(Throughput::Elements(REMOVED));
    group.bench_function("removal of 1,000 of 20,000", |bencher| {
        let copy = || {
            let folder = folder();
            let copied = folder.path().join("bench.twx");
            std::fs::copy(full.path().join("bench.twx"), copied).expect("a copy");
            (open(&folder), folder)
        };
        let take = |(index, folder): (Index, TempDir)| {
            remove(&index).expect("removed");
            (index, folder)
        };
        bencher.iter_batched(copy, take, BatchSize::PerIteration);
    });
    group.finish();
}

fn reads(criterion: &mut Criterion) {
    let full = folder();
    build(&full).expect("an index");
    let index = open(&full);
    let snapshot = index.snapshot().expect("a snapshot");
    let step = DOCUMENTS / ASKED;
    let hits = (0..ASKED).map(|number| synthetic::signature(number * step));
    let misses = (0..ASKED).map(synthetic::stranger);
    let questions: [(&str, Vec<_>); 2] = [("hits", hits.collect()), ("misses", misses.collect())];
    for (name, signatures) in questions {
        let mut next = signatures.iter().cycle();
        criterion.bench_function(&format!("query of 20,000: {name}"), |bencher| {
            bencher.iter(|| {
                let signature = next.next().expect("a cycle does not end");
                black_box(snapshot.query().limit(10).by_signature(signature)).expect("an answer")
            });
        });
    }
    let mut group = criterion.benchmark_group("pairs");
    group.sample_size(10);
    group.bench_function("all of 20,000", |bencher| {
        bencher.iter(|| snapshot.pairs(0.8).expect("a valid threshold").count());
    });
    group.finish();
}

criterion_group!(benches, writes, reads);
criterion_main!(benches);
