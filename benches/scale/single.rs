//! `single`: one document a commit, beside what the machine itself takes to make a write durable.

use crate::Outcome;
use crate::report::{Row, median, time};
use crate::synthetic::{UNUSED, id, stranger};
use crate::system::copy;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use twindex::{Document, Index};

/// Measurements of each kind.
const TIMES: u64 = 300;

pub fn run(index: &Path) -> Outcome<Vec<Row>> {
    let (folder, path) = copy(index)?;
    let index = Index::open(&path)?;
    let threshold = index.settings().threshold();
    let mut file = File::create(folder.path().join("synced"))?;
    let (mut syncs, mut inserts, mut checks) = (Vec::new(), Vec::new(), Vec::new());
    // One by one in turn, so that a slow spell of the machine meets all three.
    for number in 0..TIMES {
        let start = Instant::now();
        file.write_all(&[number as u8; 4096])?;
        file.sync_data()?;
        syncs.push(start.elapsed());

        let document = fresh(2 * number)?;
        let start = Instant::now();
        let mut txn = index.begin_write()?;
        txn.insertion().document(document)?;
        txn.commit()?;
        inserts.push(start.elapsed());

        let document = fresh(2 * number + 1)?;
        let start = Instant::now();
        let mut txn = index.begin_write()?;
        txn.insertion().unless_similar(threshold).document(document)?;
        txn.commit()?;
        checks.push(start.elapsed());
    }
    let (sync, insert) = (median(&mut syncs)?, median(&mut inserts)?);
    let check = median(&mut checks)?;
    let most = 3 * sync + Duration::from_millis(2);
    Ok(vec![
        Row::new("appending 4 KiB and syncing it, median", time(sync)),
        Row::new("durable insert of one document, median", time(insert))
            .reach(format!("<= 3 times that and 2 ms: {}", time(most)), insert <= most),
        Row::new("durable check-and-insert of one, median", time(check))
            .reach(format!("<= {}", time(most)), check <= most),
    ])
}

/// A document like no other, so that each is inserted.
fn fresh(number: u64) -> Outcome<Document> {
    let number = UNUSED + number;
    Ok(Document::from_signature(id(number), stranger(number))?)
}
