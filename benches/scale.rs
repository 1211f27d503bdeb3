//! Long runs, as a program of its own.
//!
//! ```text
//! cargo bench --bench scale -- ingest 1000000 [FOLDER]
//! cargo bench --bench scale -- queries INDEX
//! ```
//!
//! `ingest N` puts N ready signatures with ids in random order into a new index, 10,000 in a commit,
//! and prints the rate of each tenth, the longest commit, bytes written by the process as the
//! operating system counts them, and peak memory; then queries, deletes, compacts, reopens.
//! `queries INDEX` times queries by signature of 2,000 documents of an index. Without arguments it
//! does nothing, so that `cargo bench` goes on to the others.
#![expect(clippy::print_stdout, reason = "a program that reports what it measured")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use twindex::{Document, Index, Lanes, OnConflict, ReadOnlyIndex, Signature, Snapshot};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ingest", count] => ingest(count.parse()?, Path::new("target")),
        ["ingest", count, folder] => ingest(count.parse()?, Path::new(folder)),
        ["queries", index] => queries(&ReadOnlyIndex::open(index)?.snapshot()?, "queries"),
        _ => Ok(()),
    }
}

/// A generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }
}

const LANES: usize = 256;

/// Signatures with the law of real ones: lanes of strangers are equal by chance once in 256 times, and
/// lanes of two documents of similarity J with probability J beside that. A third of the
/// documents are in clusters of four around J = 0.7 to 1; one in 200 is in one hot bucket.
fn lanes(number: u64) -> Box<[u8]> {
    let mut own = Random(number ^ 0x5EED);
    let kind = own.next() % 600;
    let base = match kind {
        0..3 => u64::MAX,
        3..200 => (number / 4) | (1 << 40),
        _ => number,
    };
    let mut base = Random(base);
    let similarity = match kind {
        0..3 => 100,
        3..200 => 70 + own.next() % 31,
        _ => 0,
    };
    let mut lanes = vec![0; LANES];
    for chunk in lanes.chunks_mut(8) {
        let word = base.next().to_le_bytes();
        for (lane, byte) in chunk.iter_mut().zip(word) {
            let kept = kind >= 200 || own.next() % 100 < (similarity + 100) / 2;
            *lane = if kept { byte } else { own.next() as u8 };
        }
    }
    lanes.into()
}

fn document(number: u64) -> Outcome<Document> {
    let sketch = Signature::from_lanes(lanes(number), 1000);
    let id = format!("{:016x}", Random(number).next());
    Ok(Document::from_signature(id, sketch)?)
}

fn ingest(count: u64, folder: &Path) -> Outcome {
    const BATCH: u64 = 10_000;
    let place = tempfile::Builder::new().prefix("scale-").tempdir_in(folder)?;
    let path: PathBuf = place.path().join("scale.twx");
    let index = Index::create(&path)?;
    assert_eq!(index.settings().lanes, Lanes::DEFAULT);
    let (mut writing, mut tenth) = (Duration::ZERO, Duration::ZERO);
    let (mut longest, mut rates) = (Duration::ZERO, Vec::new());
    let (mut done, written) = (0, bytes_written());
    while done < count {
        let batch = BATCH.min(count - done);
        let documents = (done..done + batch).map(document).collect::<Outcome<Vec<_>>>()?;
        let start = Instant::now();
        let mut txn = index.begin_write()?;
        txn.insert_documents(documents, OnConflict::Replace)?;
        txn.commit()?;
        let took = start.elapsed();
        (writing, tenth, longest) = (writing + took, tenth + took, longest.max(took));
        done += batch;
        if done * 10 / count > (done - batch) * 10 / count {
            rates.push((count as f64 / 10.0 / tenth.as_secs_f64()) as u64);
            tenth = Duration::ZERO;
        }
    }
    let mean = count as f64 / writing.as_secs_f64();
    println!("documents {count}, mean {mean:.0} a second, longest commit {longest:.0?}");
    println!("rate of each tenth {rates:?}");
    let written = (bytes_written() - written) as f64 / count as f64;
    println!("bytes written a document {written:.0}, peak memory {} MiB", peak_memory() >> 20);
    queries(&index.snapshot()?, "as loaded")?;
    drop(index);

    let start = Instant::now();
    let mut index = Index::open(&path)?;
    println!("open after a clean close {:.1?}", start.elapsed());
    let removed = (count / 10).min(100_000);
    let ids: Vec<String> = (0..removed)
        .map(|n| format!("{:016x}", Random(n * (count / removed.max(1))).next()))
        .collect();
    let start = Instant::now();
    let mut txn = index.begin_write()?;
    for id in &ids {
        assert!(txn.remove(id)?);
    }
    txn.commit()?;
    println!("removed {:.0} a second", removed as f64 / start.elapsed().as_secs_f64());
    let start = Instant::now();
    index.compact()?;
    println!("compacted in {:.1?}", start.elapsed());
    let snapshot = index.snapshot()?;
    let usage = snapshot.usage()?;
    let bytes = |bytes: u64| bytes as f64 / usage.documents as f64;
    println!(
        "bytes a document {:.0}: signatures {:.0}, postings {:.0}, documents {:.0}; file {:.0}",
        bytes(usage.signature_bytes + usage.posting_bytes),
        bytes(usage.signature_bytes),
        bytes(usage.posting_bytes),
        bytes(usage.document_bytes),
        bytes(usage.file_bytes)
    );
    queries(&snapshot, "compacted")?;
    let start = Instant::now();
    let pairs = snapshot.pairs(0.8)?.take(1_000_000).count();
    println!("{pairs} pairs in {:.2?}", start.elapsed());
    Ok(())
}

/// Times 2,000 documents' own signatures, and as many that nothing is like.
fn queries(snapshot: &Snapshot, what: &str) -> Outcome {
    let step = (snapshot.len() / 2_000).max(1) as usize;
    let mut hits = Vec::new();
    for id in snapshot.ids().step_by(step) {
        if let Some(info) = snapshot.get(&id?)? {
            hits.push(info.signature);
        }
    }
    let misses: Vec<Signature> =
        (0..2_000).map(|n| Signature::from_lanes(random_lanes(n), 1000)).collect();
    let runs = snapshot.usage()?.runs;
    for (kind, signatures) in [("hits", hits), ("misses", misses)] {
        let mut times = Vec::new();
        for round in 0..2 {
            for signature in &signatures {
                let start = Instant::now();
                std::hint::black_box(snapshot.query().limit(10).by_signature(signature)?);
                if round == 1 {
                    times.push(start.elapsed());
                }
            }
        }
        times.sort_unstable();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        println!("{what}, {runs} runs, {kind}: p50 {:.1?}, p99 {:.1?}", at(0.5), at(0.99));
    }
    Ok(())
}

fn random_lanes(seed: u64) -> Box<[u8]> {
    let mut random = Random(seed ^ 0xFFFF_0000_0000);
    (0..LANES).map(|_| random.next() as u8).collect()
}

/// Bytes that this process had written to storage, where the system tells.
fn bytes_written() -> u64 {
    proc_number("/proc/self/io", "write_bytes:")
}

/// The most memory this process had, in bytes, where the system tells.
fn peak_memory() -> u64 {
    proc_number("/proc/self/status", "VmHWM:") * 1024
}

fn proc_number(path: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
