//! Tests documents that an attacker made collide: memory stays bounded, and answers are right.

use crate::index::document::Document;
use crate::index::handle::Index;
use crate::index::options::IndexOptions;
use crate::index::trials::workload::peak_memory;
use crate::index::write::outcome::{Inserted, Outcome};
use crate::params::Threshold;
use crate::sketch::Signature;
use crate::store::Engine;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The number of documents: `long` in a long run, a fiftieth of it otherwise. Long runs:
/// `TWINDEX_HOSTILE=1 cargo test --release --lib -- hostile --nocapture --test-threads 1`.
fn count(long: u64) -> u64 {
    match std::env::var_os("TWINDEX_HOSTILE") {
        Some(_) => long,
        None => long / 50,
    }
}

/// Prints the memory used, and asserts its limit in a long run.
#[expect(clippy::print_stdout, reason = "prints a measurement")]
fn bounded(what: &str, index: &Index) {
    let peak = peak_memory("VmHWM") >> 20;
    let file = index.snapshot().expect("a snapshot").usage().expect("measured").file_bytes >> 20;
    println!("{what}: {peak} MiB of memory at most, a file of {file} MiB");
    if std::env::var_os("TWINDEX_HOSTILE").is_some() {
        assert!(peak < 512, "{peak} MiB");
    }
}

fn create(key: u64) -> (TempDir, Index) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path: PathBuf = folder.path().join("x.twx");
    let settings = crate::store::SettingsRequest::default().resolve().expect("the defaults");
    Engine::create_with_key(Path::new(&path), &settings, key).expect("created");
    let index = IndexOptions::new().cache_bytes(16 << 20).open(&path).expect("opened");
    (folder, index)
}

fn insert(index: &Index, documents: impl Iterator<Item = Document>) -> Vec<Inserted> {
    let mut all = Vec::new();
    let mut documents = documents.peekable();
    while documents.peek().is_some() {
        let batch: Vec<Document> = documents.by_ref().take(10_000).collect();
        let mut txn = index.begin_write().expect("begun");
        let outcomes = txn.insertion().documents(batch).expect("inserted");
        all.extend(outcomes.iter().filter_map(Outcome::inserted));
        txn.commit().expect("committed");
    }
    all
}

/// A document that is similar to no other one.
fn other(id: String, number: u64) -> Document {
    let mut random = fastrand::Rng::with_seed(number);
    let lanes: Vec<u8> = (0..256).map(|_| random.u8(..)).collect();
    Document::from_signature(id, Signature::from_lanes(lanes, 100)).expect("a valid id")
}

/// The first eight bytes of colliding ids. The hash of ids multiplies the second eight bytes by a
/// combination of the first eight, a constant and the key. With [`known_key`], that factor is 0 for
/// these bytes, so the following bytes do not change the hash.
const NOTHING: &[u8; 8] = b"01234567";

/// The key that makes the factor of [`NOTHING`] 0. The constant is the beginning of XXH3's secret.
fn known_key() -> u64 {
    let secret = u64::from_le_bytes([0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe]);
    u64::from_le_bytes(*NOTHING).wrapping_sub(secret)
}

fn id_of_one_hash(number: u64) -> String {
    format!("01234567{number:08}the same sixteen")
}

#[test]
fn ids_with_equal_hashes_are_distinguished_in_bounded_memory() {
    let key = known_key();
    assert_eq!(crate::hash::id_hash(&id_of_one_hash(1), key), {
        crate::hash::id_hash(&id_of_one_hash(99_999_999), key)
    });
    let count = count(1_000_000);
    let (_folder, index) = create(key);
    let documents = || (0..count).map(|number| other(id_of_one_hash(number), number));
    let first = insert(&index, documents());
    assert!(first.iter().all(|done| *done == Inserted::Added));
    let again = insert(&index, documents().take(10_000));
    assert!(again.iter().all(|done| *done == Inserted::Unchanged));
    let snapshot = index.snapshot().expect("a snapshot");
    assert_eq!(snapshot.len(), count);
    assert!(snapshot.get(&id_of_one_hash(count / 2)).expect("readable").is_some());
    assert!(snapshot.get(&id_of_one_hash(count)).expect("readable").is_none());
    let mut txn = index.begin_write().expect("begun");
    let gone: Vec<String> = (0..count).step_by(1000).map(id_of_one_hash).collect();
    assert_eq!(txn.remove_batch(&gone).expect("removed"), gone.len() as u64);
    txn.commit().expect("committed");
    assert!(index.check().run().expect("checked").is_clean());
    bounded(&format!("{count} ids of one hash"), &index);
}

#[test]
fn documents_that_share_every_bucket_are_compared_in_bounded_memory() {
    let count = count(100_000);
    let (_folder, index) = create(1);
    let plan = index.settings().plan;
    let depth = plan.depth() as usize;
    // Equal in the lanes of the bands, random in all others.
    let document = |number: u64| {
        let mut random = fastrand::Rng::with_seed(number);
        let lane = |lane: usize| {
            if lane % 8 < depth && lane / 8 < plan.bands() { lane as u8 } else { random.u8(..) }
        };
        let lanes: Vec<u8> = (0..256).map(lane).collect();
        Document::from_signature(number.to_string(), Signature::from_lanes(lanes, 100))
            .expect("a valid id")
    };
    insert(&index, (0..count).map(document));
    let snapshot = index.snapshot().expect("a snapshot");
    let asked = document(count);
    let share = (plan.bands() * depth) as f64 / 256.0;
    let threshold = Threshold::new((share - 0.1).max(0.05)).expect("a threshold").get();
    let none = snapshot.query().threshold(0.99).by_signature(asked.signature()).expect("asked");
    assert!(none.is_empty());
    let ten = snapshot.query().threshold(threshold).limit(10).by_signature(asked.signature());
    assert_eq!(ten.expect("asked").len(), 10);
    // This compares all pairs, which would take minutes for more documents.
    if count <= 2000 {
        assert_eq!(snapshot.pairs(0.99).expect("a threshold").count(), 0);
    }
    assert!(index.check().run().expect("checked").is_clean());
    bounded(&format!("{count} documents that meet in every bucket"), &index);
}

#[test]
fn identical_documents_are_listed_in_bounded_memory() {
    let count = count(100_000);
    let (_folder, index) = create(1);
    let text = "one and the same text, over and over again";
    let sketcher = index.sketcher().clone();
    let document =
        |number: u64| Document::sketch(number.to_string(), text, &sketcher).expect("a valid id");
    insert(&index, (0..count).map(document));
    let snapshot = index.snapshot().expect("a snapshot");
    let ten = snapshot.query().limit(10).by_text(text).expect("asked");
    assert_eq!(ten.len(), 10);
    assert_eq!(snapshot.query().by_text(text).expect("asked").len() as u64, count);
    let most = 1_000_000.min(count * (count - 1) / 2);
    let pairs = snapshot.pairs(0.8).expect("a threshold").take(most as usize);
    assert_eq!(
        pairs.filter(|pair| pair.as_ref().is_ok_and(|p| p.similarity == 1.0)).count(),
        most as usize
    );
    let mut txn = index.begin_write().expect("begun");
    let outcome = txn.insert_unless_similar("another", text).expect("done");
    assert!(matches!(outcome, Outcome::Duplicate { of, .. } if of.id == "0"));
    drop(txn);
    bounded(&format!("{count} identical documents"), &index);
}
