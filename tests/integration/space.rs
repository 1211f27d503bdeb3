//! Compares the planned size of an index with files that were built, and compacted files with
//! others.

use crate::found::similar_pairs;
use crate::support::{Place, Random, all_ids, assert_clean, text, tiny};
use std::ops::{ControlFlow, Range};
use twindex::{Document, Error, Index, ReadOnlyIndex, Result, Signature, Space};

/// Inserts documents with random lanes and ids of 8 bytes in one commit.
fn insert(index: &Index, numbers: Range<u64>, random: &mut Random) -> Result<()> {
    let lanes = index.settings().lanes();
    let document = |number| {
        let lanes: Vec<u8> = (0..lanes).map(|_| random.next() as u8).collect();
        Document::from_signature(format!("{number:08}"), Signature::from_lanes(lanes, 100))
    };
    let mut txn = index.begin_write()?;
    txn.insertion().documents(numbers.map(document).collect::<Result<Vec<_>>>()?)?;
    txn.commit()
}

/// A compacted index of documents with random lanes.
fn built(place: &Place, lanes: usize, threshold: f64, documents: u64) -> Result<Index> {
    let options = Index::options().lanes(lanes).threshold(threshold);
    let mut index = options.create(place.index())?;
    insert(&index, 0..documents, &mut Random(lanes as u64))?;
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
            // The length of no text takes a byte less than that of a usual one.
            ("documents", space.documents, usage.document_bytes, 0.03),
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

#[test]
fn compaction_packs_what_removals_and_replacements_left() -> Result<()> {
    const DOCUMENTS: u64 = 20_000;
    let place = Place::new();
    let mut index = built(&place, 256, 0.8, DOCUMENTS)?;
    let fresh = index.snapshot()?.usage()?;

    let mut random = Random(1);
    let removed = (0..DOCUMENTS).filter(|_| random.below(10) == 0);
    let removed: Vec<String> = removed.map(|number| format!("{number:08}")).collect();
    let mut txn = index.begin_write()?;
    assert_eq!(txn.remove_batch(&removed)?, removed.len() as u64);
    txn.commit()?;
    for number in (0..DOCUMENTS).filter(|_| random.below(9) == 0).collect::<Vec<_>>() {
        insert(&index, number..number + 1, &mut Random(number))?;
    }
    let ids = all_ids(&index.snapshot()?);
    let loose = index.snapshot()?.usage()?;
    index.compact().run()?;

    let snapshot = index.snapshot()?;
    let usage = snapshot.usage()?;
    let each = |bytes: u64, documents: u64| bytes as f64 / documents as f64;
    for (what, before, after) in [
        ("signatures", fresh.signature_bytes, usage.signature_bytes),
        ("documents", fresh.document_bytes, usage.document_bytes),
        ("postings", fresh.posting_bytes, usage.posting_bytes),
        ("file", fresh.file_bytes, usage.file_bytes),
    ] {
        let (before, after) = (each(before, DOCUMENTS), each(after, usage.documents));
        assert!(after <= 1.05 * before, "{what}: {before:.1} fresh, {after:.1} changed");
    }
    assert!(usage.signature_bytes < loose.signature_bytes, "{usage:?}, before {loose:?}");
    assert_eq!(all_ids(&snapshot), ids);
    drop(snapshot);
    assert_clean(&index.check().run()?);
    Ok(())
}

#[test]
fn packing_keeps_every_row_of_every_table_and_can_be_stopped() -> Result<()> {
    let place = Place::new();
    let mut index = tiny().store_text(true).passages(24).create(place.index())?;
    index.track_clusters().run()?;
    for batch in 0..20 {
        let mut txn = index.begin_write()?;
        for number in batch * 50..batch * 50 + 50 {
            txn.insert(&number.to_string(), &text(number / 4, number, 60))?;
        }
        txn.commit()?;
    }
    let mut txn = index.begin_write()?;
    for number in (0..1000).filter(|number| number % 7 > 2) {
        assert!(txn.remove(&number.to_string())?);
    }
    txn.commit()?;
    let answers = |index: &Index| -> Result<_> {
        let snapshot = index.snapshot()?;
        let texts = all_ids(&snapshot).into_iter().map(|id| Ok((snapshot.text(&id)?, id)));
        let texts = texts.collect::<Result<Vec<_>>>()?;
        let clusters = snapshot.tracked_clusters()?.iter().collect::<Result<Vec<_>>>()?;
        let passages = snapshot.passages().by_text(&text(3, 12, 60))?;
        Ok((texts, similar_pairs(&snapshot, 0.8), format!("{clusters:?} {passages:?}")))
    };
    let expected = answers(&index)?;
    assert!(expected.0.len() > 400 && expected.1.len() > 100);

    let stopped = index.compact().watch(|now| match now.phase {
        "packing pages" => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{stopped:?}");
    assert_eq!(answers(&index)?, expected);
    let before = index.snapshot()?.usage()?;
    index.compact().run()?;
    assert_eq!(answers(&index)?, expected);
    let after = index.snapshot()?.usage()?;
    assert!(after.signature_bytes < before.signature_bytes, "{after:?}, before {before:?}");
    assert!(after.text_bytes < before.text_bytes, "{after:?}, before {before:?}");
    drop(index);
    let index = Index::open(place.index())?;
    assert_eq!(answers(&index)?, expected);
    assert_clean(&index.check().run()?);
    Ok(())
}

#[test]
fn a_closed_index_never_grows_by_compaction() -> Result<()> {
    for documents in [0, 1, 3, 10, 40, 200, 1000, 6000] {
        let place = Place::new();
        let size = || std::fs::metadata(place.index()).expect("a file").len();
        let index = Index::create(place.index())?;
        insert(&index, 0..documents, &mut Random(documents))?;
        index.close()?;
        let mut before = size();
        for time in 0..3 {
            let mut index = Index::open(place.index())?;
            index.compact().run()?;
            assert_clean(&index.check().run()?);
            index.close()?;
            let after = size();
            assert!(after <= before, "{documents}, {time}: {after} after {before} bytes");
            before = after;
        }
    }
    Ok(())
}

#[test]
fn readers_measure_tables_as_the_writer_does() -> Result<()> {
    let place = Place::new();
    let options = Index::options().store_text(true);
    let mut index = options.create(place.index())?;
    let texts = (0..6_000).map(|number: u64| {
        // Each text is there twice, and some fill pages of their own.
        let length = if number.is_multiple_of(500) { 2_000 } else { 20 };
        (number.to_string(), text(number / 2, 0, length))
    });
    index.track_clusters().run()?;
    let mut txn = index.begin_write()?;
    for (id, text) in texts {
        txn.insert(&id, text.as_str())?;
    }
    txn.commit()?;
    index.compact().run()?;
    let of_writer = index.snapshot()?.usage()?;
    assert!(of_writer.text_bytes > 1 << 18 && of_writer.cluster_bytes > 1 << 16, "{of_writer:?}");
    let of_reader = ReadOnlyIndex::open(place.index())?.snapshot()?.usage()?;
    assert_eq!(of_reader, of_writer);
    Ok(())
}
