//! Compares the planned size of an index with files that were built.

use crate::support::{Place, Random};
use twindex::{Document, Index, Result, Signature, Space};

/// A compacted index of documents with random lanes and ids of 8 bytes.
fn built(place: &Place, lanes: usize, threshold: f64, documents: u64) -> Result<Index> {
    let options = Index::options().lanes(lanes).threshold(threshold);
    let mut index = options.create(place.index())?;
    let mut random = Random(lanes as u64);
    let mut txn = index.begin_write()?;
    let document = |number| {
        let lanes: Vec<u8> = (0..lanes).map(|_| random.next() as u8).collect();
        Document::from_signature(format!("{number:08}"), Signature::from_lanes(lanes, 100))
    };
    let all = (0..documents).map(document).collect::<Result<Vec<_>>>()?;
    txn.insertion().documents(all)?;
    txn.commit()?;
    index.compact().run()?;
    Ok(index)
}

#[test]
fn a_built_index_has_the_planned_size() -> Result<()> {
    for (lanes, threshold, documents) in [(256, 0.8, 20_000), (64, 0.9, 20_000), (128, 0.6, 9_000)]
    {
        let place = Place::new();
        let index = built(&place, lanes, threshold, documents)?;
        let settings = index.settings();
        let space = Space::new(settings.plan, settings.lanes(), documents, 8).expect("valid");
        let usage = index.snapshot()?.usage()?;
        let per_document = |bytes: u64| bytes as f64 / documents as f64;
        for (what, planned, built, tolerance) in [
            ("signatures", space.signatures, usage.signature_bytes, 0.02),
            ("documents", space.documents, usage.document_bytes, 0.02),
            ("postings", space.postings + space.ids, usage.posting_bytes, 0.05),
            ("file", space.total(), usage.file_bytes, 0.08),
        ] {
            let built = per_document(built);
            let off = (planned / built - 1.0).abs();
            assert!(
                off < tolerance,
                "{what} of {lanes} lanes: {planned:.1} planned, {built:.1} built"
            );
        }
    }
    Ok(())
}
