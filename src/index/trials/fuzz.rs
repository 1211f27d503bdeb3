//! Fuzzes an index with changed rows under valid checksums: it must return errors and not panic.

use crate::error::{Error, Result};
use crate::index::{Index, ReadOnlyIndex, Snapshot};

/// Changes rows of an index according to the input; then opens, queries, checks and writes it.
pub fn damage(input: &[u8]) {
    let (_folder, path) = crate::store::sim::fuzz::damaged(input);
    tolerate(ReadOnlyIndex::open(&path).and_then(|index| {
        tolerate(index.check().run());
        ask(&index.snapshot()?);
        Ok(())
    }));
    let tiny = Index::options().flush_documents(8).merge_runs(2);
    tolerate(tiny.open(&path).and_then(|mut index| {
        for round in 0..3 {
            tolerate(write(&index, round));
        }
        ask(&index.snapshot()?);
        tolerate(index.check().run());
        index.compact().run()
    }));
}

/// Accepts every error except that of a caught panic: the file is intact, only its rows are not.
fn tolerate<T>(result: Result<T>) {
    if let Err(Error::Damaged { table: "file", detail, .. }) = result {
        panic!("a panic became an error: {detail}");
    }
}

fn ask(snapshot: &Snapshot) {
    for id in ["7", "42", "105", "none"] {
        tolerate(snapshot.get(id));
        tolerate(snapshot.query().by_id(id));
        tolerate(snapshot.query().threshold(0.5).by_text(&format!("document number {id}")));
    }
    tolerate(snapshot.query().scan(true).by_text("document number 42"));
    tolerate(snapshot.usage());
    tolerate(snapshot.ids().collect::<Result<Vec<_>>>());
    tolerate(snapshot.pairs(0.7).and_then(|pairs| pairs.take(1000).collect::<Result<Vec<_>>>()));
}

fn write(index: &Index, round: u32) -> Result<()> {
    let mut txn = index.begin_write()?;
    tolerate(txn.insert_unless_similar("new", "document number 43"));
    for id in 0..10 {
        txn.insert(&format!("{}", 10 * id + round), &format!("another text {id} of {round}"))?;
    }
    txn.remove("42")?;
    txn.remove("107")?;
    txn.commit()
}
