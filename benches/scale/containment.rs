//! `containment`: what the first containment query of an index and of a later snapshot costs.

use crate::Outcome;
use crate::report::{Row, grouped, median, time};
use crate::synthetic::{UNUSED, id, signature, stranger};
use crate::system::copy;
use std::path::Path;
use std::time::{Duration, Instant};
use twindex::{Document, Index, Signature};

/// Queries after the first of a snapshot.
const LATER: u64 = 401;

/// Commits of 1,000 documents, each followed by a query.
const COMMITS: u64 = 5;

pub fn run(index: &Path) -> Outcome<Vec<Row>> {
    let (_folder, path) = copy(index)?;
    let index = Index::open(&path)?;
    let what = format!("containment query, {} documents", grouped(index.snapshot()?.len()));
    let first = ask(&index, &signature(1))?;
    let snapshot = index.snapshot()?;
    snapshot.query().containment(true).by_signature(&signature(2))?;
    let mut later = Vec::new();
    for number in 0..LATER {
        let start = Instant::now();
        snapshot.query().containment(true).by_signature(&signature(1000 * number))?;
        later.push(start.elapsed());
    }
    drop(snapshot);
    let (mut after_inserts, mut after_removals) = (Vec::new(), Vec::new());
    for commit in 0..COMMITS {
        let mut txn = index.begin_write()?;
        let numbers = UNUSED + 1000 * commit..UNUSED + 1000 * (commit + 1);
        let documents = numbers.clone().map(|n| Document::from_signature(id(n), stranger(n)));
        txn.insertion().documents(documents.collect::<Result<Vec<_>, _>>()?)?;
        txn.commit()?;
        after_inserts.push(ask(&index, &signature(commit))?);
        let mut txn = index.begin_write()?;
        let ids: Vec<String> = numbers.step_by(2).map(id).collect();
        txn.remove_batch(&ids)?;
        txn.commit()?;
        after_removals.push(ask(&index, &signature(commit))?);
    }
    Ok(vec![
        Row::new(format!("first {what}"), time(first)),
        Row::new("a later one of the same snapshot, median", time(median(&mut later)?)),
        Row::new("the first after 1,000 inserts, median", time(median(&mut after_inserts)?)),
        Row::new("the first after 500 removals, median", time(median(&mut after_removals)?)),
    ])
}

/// The time of the first query of a new snapshot.
fn ask(index: &Index, signature: &Signature) -> Outcome<Duration> {
    let snapshot = index.snapshot()?;
    let start = Instant::now();
    std::hint::black_box(snapshot.query().containment(true).by_signature(signature)?);
    Ok(start.elapsed())
}
