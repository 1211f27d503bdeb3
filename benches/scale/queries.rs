//! `queries`: how long an index takes to say what is similar.

use crate::Outcome;
use crate::report::{Row, grouped, progress, quantile, time};
use crate::synthetic::{LANES, stranger};
use crate::system::{evict, peak_memory};
use std::path::Path;
use std::time::{Duration, Instant};
use twindex::{IndexOptions, ReadOnlyIndex, Signature, Snapshot};

/// Queries of each kind.
const QUERIES: u64 = 2_000;

/// The matches from which on a query is one for a crowd of copies. With a limit, it reads the
/// signatures of all, and what other queries need leaves the cache.
const CROWD: u64 = 1_000;

/// What is asked: documents of the index, and what nothing there is like.
pub struct Questions {
    pub hits: Vec<Signature>,
    pub misses: Vec<Signature>,
}

impl Questions {
    pub fn new(snapshot: &Snapshot) -> Outcome<Self> {
        let lanes = snapshot.settings().lanes();
        if lanes != LANES {
            return Err(format!("the index has {lanes} lanes; measured is with {LANES}").into());
        }
        let step = (snapshot.len() / QUERIES).max(1) as usize;
        let mut hits = Vec::new();
        for id in snapshot.ids().step_by(step).take(QUERIES as usize) {
            let found = snapshot.get(&id?)?;
            hits.push(found.ok_or("an id that is listed is not there")?.signature);
        }
        Ok(Self { hits, misses: (0..QUERIES).map(stranger).collect() })
    }
}

/// Asks for the 10 most similar, once.
pub fn ask(snapshot: &Snapshot, signature: &Signature) -> Outcome<Duration> {
    Ok(ask_and_count(snapshot, signature)?.0)
}

/// Asks for the 10 most similar, once. Returns also how many are similar.
fn ask_and_count(snapshot: &Snapshot, signature: &Signature) -> Outcome<(Duration, u64)> {
    let start = Instant::now();
    let found = snapshot.query().limit(10).by_signature(signature)?;
    Ok((start.elapsed(), found.len() as u64 + found.left_out))
}

pub fn run(index: &Path) -> Outcome<Vec<Row>> {
    measure(&ReadOnlyIndex::open(index)?.snapshot()?, "query")
}

/// Asks with a cache and filters of this many MiB, as often as it takes until the filters are
/// there.
pub fn with_cache(path: &Path, size: usize) -> Outcome<Vec<Row>> {
    let options = IndexOptions::new().cache_bytes(size << 20);
    let snapshot = options.open_read_only(path)?.snapshot()?;
    let mut seeds = QUERIES..;
    for round in 0..snapshot.len() / 10_000 / QUERIES {
        let signatures = seeds.by_ref().take(QUERIES as usize).map(stranger);
        let mut times =
            signatures.map(|signature| ask(&snapshot, &signature)).collect::<Outcome<Vec<_>>>()?;
        let middle = time(quantile(&mut times, 0.5)?);
        progress(&format!("round {round}: misses, p50 {middle}"));
    }
    let mut rows = measure(&snapshot, &format!("query with {size} MiB of cache"))?;
    rows.push(Row::new("peak memory", format!("{} MiB", peak_memory() >> 20)));
    Ok(rows)
}

/// Asks everything once, and all but crowds two more times, of which the last counts.
pub fn measure(snapshot: &Snapshot, what: &str) -> Outcome<Vec<Row>> {
    let questions = Questions::new(snapshot)?;
    let usage = snapshot.usage()?;
    let what = format!("{what}, {} documents, {} runs", grouped(usage.documents), usage.runs);
    let mut rows = Vec::new();
    // The times to reach are those of 1 and of 10 million documents.
    let most = if usage.documents <= 1_000_000 { 40 } else { 60 };
    for (kind, signatures, most) in
        [("hits", &questions.hits, most), ("misses", &questions.misses, 15)]
    {
        let (mut few, mut crowds) = (Vec::new(), Vec::new());
        for signature in signatures {
            match ask_and_count(snapshot, signature)? {
                (_, found) if found < CROWD => few.push(signature),
                (took, found) => crowds.push((took, found, signature)),
            }
        }
        let mut times = Vec::new();
        for _ in 0..2 {
            times = few
                .iter()
                .map(|signature| ask(snapshot, signature))
                .collect::<Outcome<Vec<_>>>()?;
        }
        if let Some((took, found, signature)) = crowds.iter().max_by_key(|(took, ..)| took) {
            let crowds = format!("slowest of {}, {} matches, once", crowds.len(), grouped(*found));
            rows.push(Row::new(format!("{what}: {kind}, {crowds}"), time(*took)));
            let start = Instant::now();
            snapshot.query().top(10).by_signature(signature)?;
            let crowd = format!("{what}: {kind}, the same by `top`, once");
            rows.push(Row::new(crowd, time(start.elapsed())));
        }
        if few.is_empty() {
            continue;
        }
        for (name, share, most) in [("p50", 0.5, most), ("p99", 0.99, 200)] {
            let took = quantile(&mut times, share)?;
            let most = Duration::from_micros(most);
            rows.push(Row::within(format!("{what}: {kind}, {name}"), took, most));
        }
    }
    Ok(rows)
}

/// Asks everything once, after the pages of the file were dropped from memory.
pub fn cold(path: &Path) -> Outcome<Vec<Row>> {
    let questions = Questions::new(&ReadOnlyIndex::open(path)?.snapshot()?)?;
    evict(path)?;
    let start = Instant::now();
    let snapshot = ReadOnlyIndex::open(path)?.snapshot()?;
    let opening = start.elapsed();
    let documents = grouped(snapshot.len());
    let mut rows = vec![Row::new(format!("open cold, {documents} documents"), time(opening))];
    for (kind, signatures) in [("hits", &questions.hits), ("misses", &questions.misses)] {
        let times = signatures.iter().map(|signature| ask(&snapshot, signature));
        let mut times = times.collect::<Outcome<Vec<_>>>()?;
        let first = times.first().copied().unwrap_or_default();
        rows.push(Row::new(format!("query, cold: the first of {kind}"), time(first)));
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            let took = time(quantile(&mut times, share)?);
            rows.push(Row::new(format!("query, cold: {kind}, {name}"), took));
        }
    }
    Ok(rows)
}
