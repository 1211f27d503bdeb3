//! What the summary of a containment query says of documents about which estimates cannot tell.

use crate::index::{Document, Index, IndexOptions};
use crate::params::Recall;
use crate::sketch::Signature;
use fastrand::Rng;

/// The number of documents of a size that estimates cannot tell about, if they are compared one by
/// one with a query of 1,000 elements for a share of 0.9.
fn undecidable(lanes: usize, elements: u64) -> u64 {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = IndexOptions::new().threshold(0.95).recall(0.5).lanes(lanes);
    let index: Index = options.create(folder.path().join("i.twx")).expect("created");
    let mut random = Rng::with_seed(elements);
    let mut signature = |elements| {
        let lanes: Vec<u8> = (0..lanes).map(|_| random.u8(..)).collect();
        Signature::from_lanes(lanes, elements)
    };
    let mut txn = index.begin_write().expect("begun");
    for id in 0..20 {
        let document = Document::from_signature(id.to_string(), signature(elements));
        txn.insertion().document(document.expect("valid")).expect("inserted");
    }
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let query = snapshot.query().threshold(0.9).recall(Recall::DEFAULT.get()).containment(true);
    let found = query.by_signature(&signature(1_000)).expect("answered");
    let sizes = found.sizes.expect("classes of sizes");
    assert_eq!((sizes.scanned, sizes.documents_scanned), (1, 20), "{elements} elements");
    sizes.undecidable
}

#[test]
fn documents_that_are_too_large_for_an_estimate_are_counted() {
    for lanes in [256, 512] {
        assert_eq!((undecidable(lanes, 1_000), undecidable(lanes, 200_000)), (0, 20));
    }
}

#[test]
fn documents_that_are_too_small_for_the_share_are_not_called_too_large() {
    for lanes in [64, 256, 512] {
        assert_eq!(undecidable(lanes, 890), 0, "{lanes} lanes");
    }
}
