//! Checks invariant 13, on the fingerprints of passages, and tells how their band is wrong.

use crate::error::Result;
use crate::store::bytes::fingerprints::decode_fingerprints;
use crate::store::bytes::schema::{BandNo, DOCUMENTS, DocNo, FINGERPRINTS};
use crate::store::care::check::EntrySum;
use crate::store::care::check_report::{CheckReport, Invariant};
use crate::store::progress::Watch;
use crate::store::read::band_entries::BandEntries;
use crate::store::read::reader::Reader;
use crate::store::storage_error::Doing;
use redb::ReadableTable;
use rustc_hash::FxHashMap;

/// Checks that every document has its fingerprints, and that there are no others. Returns the sum
/// of the entries that the runs should have.
pub(super) fn check_fingerprints(
    reader: &Reader,
    report: &mut CheckReport,
    watch: &mut Watch<'_>,
) -> Result<EntrySum> {
    watch.begin("checking fingerprints", 0)?;
    let (path, action) = (reader.engine().path(), "checking the fingerprints");
    let flushed = reader.state.counters.flushed_upto;
    let mut violation = |doc: u32, detail: &str| {
        report.add(Invariant::Fingerprints, format!("fingerprints {doc}"), detail);
    };
    let table = reader.txn.open_table(FINGERPRINTS).doing(path, action)?;
    let documents = reader.txn.open_table(DOCUMENTS).doing(path, action)?;
    let mut numbers = documents
        .iter()
        .doing(path, action)?
        .map(|row| Ok(row.doing(path, action)?.0.value()))
        .collect::<Result<Vec<u32>>>()?
        .into_iter()
        .peekable();
    let mut sum = EntrySum::default();
    for item in table.iter().doing(path, action)? {
        let (number, row) = item.doing(path, action)?;
        let doc = DocNo(number.value());
        watch.advance(1)?;
        while let Some(missing) = numbers.next_if(|number| *number < doc.0) {
            violation(missing, "the document has no fingerprint row");
        }
        if numbers.next_if_eq(&doc.0).is_none() {
            violation(doc.0, "there is no such document");
            continue;
        }
        match decode_fingerprints(row.value(), doc) {
            Err(fault) => violation(doc.0, fault),
            Ok(found) if u64::from(doc.0) < flushed => {
                found.words().iter().for_each(|word| sum.add((u64::from(*word), doc)));
            }
            Ok(_) => {}
        }
    }
    for missing in numbers {
        violation(missing, "the document has no fingerprint row");
    }
    Ok(sum)
}

/// Finds the entries that make the band of fingerprints differ from the documents (invariant 11).
pub(super) fn explain_fingerprints(
    reader: &Reader,
    band: BandNo,
    expected: EntrySum,
    found: EntrySum,
    report: &mut CheckReport,
) -> Result<()> {
    let view = reader.view();
    let place = format!("band {}", band.0);
    let detail = format!("{} entries of live documents instead of {}", found.count, expected.count);
    report.add(Invariant::Entries, &place, detail);
    let mut right: FxHashMap<DocNo, usize> = FxHashMap::default();
    let mut entries = BandEntries::runs_only(&view, band);
    while let Ok(Some((word, doc))) = entries.next(&view) {
        let words = view.fingerprints(doc).ok().flatten().map(|found| found.words());
        if words.is_some_and(|words| words.iter().any(|own| u64::from(*own) == word)) {
            *right.entry(doc).or_default() += 1;
        } else {
            let detail = format!("document {} has an entry under a wrong word", doc.0);
            report.add(Invariant::Entries, &place, detail);
        }
    }
    let flushed = reader.state.counters.flushed_upto;
    for (doc, _) in view.documents_from(DocNo(0), usize::MAX)? {
        let words = view.fingerprints(doc).ok().flatten().map_or(0, |found| found.words().len());
        if u64::from(doc.0) < flushed && right.get(&doc).copied().unwrap_or(0) < words {
            let detail = format!("document {} lacks entries", doc.0);
            report.add(Invariant::Entries, &place, detail);
        }
    }
    Ok(())
}
