//! What an index finds, in a form that is easy to compare.

use std::collections::BTreeMap;
use twindex::Snapshot;

/// All pairs that an index finds, with their similarities.
pub fn similar_pairs(snapshot: &Snapshot, threshold: f64) -> BTreeMap<(String, String), f64> {
    let pairs = snapshot.pairs(threshold).expect("a threshold");
    let pairs = pairs.map(|pair| pair.expect("a pair"));
    pairs.map(|pair| ((pair.a, pair.b), pair.similarity)).collect()
}
