//! `change`: removing, replacing, compacting, all pairs, opening.

use crate::Outcome;
use crate::ingest::BATCH;
use crate::queries;
use crate::report::{Row, grouped, median, progress, time};
use crate::synthetic::{Random, UNUSED, id, load, signature};
use crate::system::copy;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use twindex::{Document, Index, ReadOnlyIndex, Snapshot};

/// Documents that are removed, and replaced, of an index of at least ten times as many.
const CHANGED: u64 = 100_000;

/// Documents that go in before the process is aborted: nearly as many as stay in memory.
const ABORTED: u64 = 60_000;

/// Where the numbers of documents begin that replace others.
const REPLACING: u64 = UNUSED * 2;

/// Counting pairs ends here: large synthetic indexes have billions, of one hot bucket.
const MOST_PAIRS: usize = 20_000_000;

pub fn run(index: &Path) -> Outcome<Vec<Row>> {
    let mut rows = unchanged(index)?;
    let (_folder, path) = copy(index)?;
    let mut index = Index::open(&path)?;
    let (removed, replaced) = choose(&index.snapshot()?)?;

    progress("removing");
    let start = Instant::now();
    let mut txn = index.begin_write()?;
    let number = txn.remove_batch(&removed)?;
    txn.commit()?;
    let took = start.elapsed();
    if number != removed.len() as u64 {
        return Err(format!("of {} documents only {number} were removed", removed.len()).into());
    }
    rows.push(
        Row::rate(format!("removal of {} in one transaction", grouped(number)), number, took)
            .reach(">= 50,000", number as f64 >= 50_000.0 * took.as_secs_f64()),
    );

    progress("replacing");
    let number = replaced.len() as u64;
    let documents = replaced
        .into_iter()
        .zip(REPLACING..)
        .map(|(id, number)| Ok(Document::from_signature(id, signature(number))?))
        .collect::<Outcome<Vec<_>>>()?;
    let start = Instant::now();
    let mut txn = index.begin_write()?;
    txn.insertion().documents(documents)?;
    txn.commit()?;
    rows.push(Row::rate("replacement of as many in one transaction", number, start.elapsed()));

    progress("compacting");
    rows.push(compact(&mut index, "compaction, changed")?);
    let snapshot = index.snapshot()?;
    let (_, figures) = space(&snapshot)?;
    rows.push(Row::new("bytes a document, changed and compacted", figures));
    progress("asking");
    rows.extend(queries::measure(&snapshot, "query, changed and compacted")?);
    progress("all pairs");
    rows.push(pairs(&snapshot)?.0);
    drop(snapshot);
    index.close()?;

    progress("opening");
    rows.extend(opening(&path)?);
    Ok(rows)
}

/// What a document takes in an index from which nothing was removed.
fn unchanged(index: &Path) -> Outcome<Vec<Row>> {
    progress("compacting as loaded");
    let (_folder, path) = copy(index)?;
    let mut index = Index::open(path)?;
    let compaction = compact(&mut index, "compaction, as loaded")?;
    let (bytes, figures) = space(&index.snapshot()?)?;
    let row = Row::new("bytes a document, as loaded and compacted", figures);
    Ok(vec![compaction, row.reach("signatures and postings <= 400", bytes <= 400.0)])
}

fn compact(index: &mut Index, what: &str) -> Outcome<Row> {
    let start = Instant::now();
    index.compact().run()?;
    Ok(Row::new(what, time(start.elapsed())))
}

/// Bytes a document of signatures and postings, and all of them in words.
fn space(snapshot: &Snapshot) -> Outcome<(f64, String)> {
    let usage = snapshot.usage()?;
    let each = |bytes: u64| bytes as f64 / usage.documents.max(1) as f64;
    let (signatures, postings) = (each(usage.signature_bytes), each(usage.posting_bytes));
    let both = signatures + postings;
    let (records, file) = (each(usage.document_bytes), each(usage.file_bytes));
    let figures = format!(
        "{both:.0}: signatures {signatures:.0}, postings {postings:.0}; document records \
         {records:.0}; the whole file {file:.0}"
    );
    Ok((both, figures))
}

/// Random ids to remove and as many others to replace, in random order.
fn choose(snapshot: &Snapshot) -> Outcome<(Vec<String>, Vec<String>)> {
    let each = CHANGED.min(snapshot.len() / 10);
    let (mut wanted, mut left) = (2 * each, snapshot.len());
    let mut random = Random(1);
    let mut chosen = Vec::new();
    for id in snapshot.ids() {
        let id = id?;
        if random.next() % left < wanted {
            chosen.push(id);
            wanted -= 1;
        }
        left -= 1;
    }
    for at in (1..chosen.len()).rev() {
        chosen.swap(at, (random.next() % (at as u64 + 1)) as usize);
    }
    let replaced = chosen.split_off(each as usize);
    Ok((chosen, replaced))
}

fn pairs(snapshot: &Snapshot) -> Outcome<(Row, Duration)> {
    let threshold = snapshot.settings().threshold();
    let start = Instant::now();
    let pairs = snapshot.pairs(threshold)?.take(MOST_PAIRS);
    let count = pairs.map(|pair| pair.map(|_| 1)).sum::<twindex::Result<usize>>()?;
    let took = start.elapsed();
    let which = if count == MOST_PAIRS { "the first" } else { "all" };
    let figure = format!("{which} {} in {}", grouped(count as u64), time(took));
    let documents = grouped(snapshot.len());
    Ok((Row::new(format!("pairs at {threshold} of {documents} documents"), figure), took))
}

/// All pairs of an index of real documents, three times.
pub fn all_pairs(index: &Path) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for _ in 0..3 {
        let (row, took) = pairs(&ReadOnlyIndex::open(index)?.snapshot()?)?;
        rows.push((took, row));
    }
    rows.sort_by_key(|(took, _)| *took);
    let (took, row) = rows.swap_remove(1);
    Ok(vec![row.reach("165 k kernel files: <= 1 s", took <= Duration::from_secs(1))])
}

/// Opens the index after it was closed, and after the process that wrote to it died.
fn opening(path: &Path) -> Outcome<Vec<Row>> {
    let mut times = Vec::new();
    let mut before = 0;
    for _ in 0..5 {
        let start = Instant::now();
        let index = Index::open(path)?;
        times.push(start.elapsed());
        before = index.snapshot()?.len();
    }
    let clean = median(&mut times)?;

    let status = Command::new(std::env::current_exe()?).arg("abort").arg(path).status()?;
    let start = Instant::now();
    let index = Index::open(path)?;
    let unclean = start.elapsed();
    let snapshot = index.snapshot()?;
    if status.success() || snapshot.len() != before + ABORTED {
        return Err(format!(
            "the process that was to be aborted ended with {status}, and the index has {} \
             documents instead of {}",
            snapshot.len(),
            before + ABORTED
        )
        .into());
    }
    for number in UNUSED..UNUSED + ABORTED {
        let id = id(number);
        let found = snapshot.get(&id)?.is_some_and(|info| info.signature == signature(number));
        if !found {
            return Err(format!("{id}: was committed before the abort and is lost").into());
        }
    }
    let opened = format!("open after an abort, {} documents in the log", grouped(ABORTED));
    Ok(vec![
        Row::within("open after a clean close, median of 5", clean, Duration::from_millis(20)),
        Row::within(opened, unclean, Duration::from_millis(200)),
    ])
}

/// What the child process does: inserts, commits, and dies.
pub fn abort(index: &Path) -> Outcome<Vec<Row>> {
    let index = Index::open(index)?;
    load(&index, UNUSED..UNUSED + ABORTED, BATCH, |_, _| {})?;
    std::process::abort()
}
