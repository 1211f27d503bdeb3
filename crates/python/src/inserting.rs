//! Many documents on their way into an index: rows are read and sketched while the rows before them
//! are inserted.

use crate::error::{during, invalid, raise};
use crate::handle::Handle;
use crate::opened::Shared;
use crate::process::{Own, detached, forked};
use crate::reader::Reader;
use crate::row::Kind;
use crate::rows::Rows;
use crate::turn::Held;
use pyo3::prelude::*;
use std::process;
use twindex::{
    DEFAULT_MAX_CANDIDATES, Document, Insertion, OnConflict, Outcome, Settings, Sketcher, Snapshot,
    WriteTxn,
};

/// How documents are inserted.
#[derive(Clone)]
pub(crate) struct Manner {
    pub(crate) on_conflict: OnConflict,
    /// The similarity from which on a document is left out as a duplicate.
    pub(crate) unless_similar: Option<f64>,
    pub(crate) against: Vec<Shared>,
    pub(crate) estimate: bool,
    pub(crate) max_candidates: usize,
}

impl Manner {
    pub(crate) fn new(on_conflict: &str) -> PyResult<Self> {
        Ok(Self {
            on_conflict: conflict(on_conflict)?,
            unless_similar: None,
            against: Vec::new(),
            estimate: false,
            max_candidates: DEFAULT_MAX_CANDIDATES,
        })
    }

    /// The manner of a deduplication.
    pub(crate) fn deduplicating(
        py: Python<'_>,
        threshold: f64,
        against: Option<Vec<Bound<'_, Reader>>>,
        on_conflict: &str,
        estimate: bool,
        max_candidates: Option<usize>,
    ) -> PyResult<Self> {
        let against = against.unwrap_or_default();
        let against = against.iter().map(|other| other.get().shared(py));
        Ok(Self {
            unless_similar: Some(threshold),
            against: against.collect::<PyResult<_>>()?,
            estimate,
            max_candidates: max_candidates.unwrap_or(DEFAULT_MAX_CANDIDATES),
            ..Self::new(on_conflict)?
        })
    }

    /// Inserts documents, and returns the outcome for each.
    pub(crate) fn insert(
        &self,
        txn: &mut WriteTxn,
        documents: Vec<Document>,
    ) -> twindex::Result<Vec<Outcome>> {
        let against = self.against();
        self.of(txn.insertion(), &against).documents(documents)
    }

    /// The other indexes to compare with.
    pub(crate) fn against(&self) -> Vec<&Snapshot> {
        // They were made by this process: the transaction was.
        self.against.iter().filter_map(|shared| shared.get().ok()).collect()
    }

    /// An insertion in this manner.
    pub(crate) fn of<'t>(
        &self,
        insertion: Insertion<'t>,
        against: &'t [&'t Snapshot],
    ) -> Insertion<'t> {
        let insertion = insertion.on_conflict(self.on_conflict);
        let Some(threshold) = self.unless_similar else { return insertion };
        insertion
            .unless_similar(threshold)
            .against(against)
            .estimate(self.estimate)
            .max_candidates(self.max_candidates)
    }
}

/// What to do with a document whose id the index has with another text.
pub(crate) fn conflict(name: &str) -> PyResult<OnConflict> {
    match name {
        "replace" => Ok(OnConflict::Replace),
        "skip" => Ok(OnConflict::Skip),
        _ => Err(invalid(format!("on_conflict={name:?}: expected 'replace' or 'skip'"))),
    }
}

/// Where documents go.
pub(crate) trait Target {
    /// The transaction for the next documents.
    fn transaction(&mut self, py: Python<'_>) -> PyResult<&mut WriteTxn>;

    /// Called when documents have been inserted.
    fn inserted(&mut self, py: Python<'_>, documents: usize) -> PyResult<()>;
}

impl Target for WriteTxn {
    fn transaction(&mut self, _: Python<'_>) -> PyResult<&mut WriteTxn> {
        Ok(self)
    }

    fn inserted(&mut self, _: Python<'_>, _: usize) -> PyResult<()> {
        Ok(())
    }
}

/// Transactions of a number of documents each.
pub(crate) struct Committing<'h> {
    handle: &'h Handle,
    every: usize,
    begun: Option<(Own<WriteTxn>, Held, usize)>,
    committed: usize,
}

impl<'h> Committing<'h> {
    pub(crate) fn new(handle: &'h Handle, every: usize) -> PyResult<Self> {
        match every {
            0 => Err(invalid("commit_every: expected at least 1")),
            _ => Ok(Self { handle, every, begun: None, committed: 0 }),
        }
    }

    pub(crate) fn commit(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some((txn, held, inserted)) = self.begun.take() else { return Ok(()) };
        let txn = txn.take()?;
        let done = detached(py, || txn.commit()).map_err(raise);
        drop(held);
        done?;
        self.committed += inserted;
        Ok(())
    }

    /// The number of documents that are committed.
    pub(crate) fn committed(&self) -> usize {
        self.committed
    }
}

impl Target for Committing<'_> {
    fn transaction(&mut self, py: Python<'_>) -> PyResult<&mut WriteTxn> {
        let begun = match self.begun.take() {
            Some(begun) => begun,
            None => {
                let (txn, held) = self.handle.begin_write(py, None)?;
                (Own::new(txn), held, 0)
            }
        };
        self.begun.insert(begun).0.get_mut()
    }

    fn inserted(&mut self, py: Python<'_>, documents: usize) -> PyResult<()> {
        let Some((_, _, inserted)) = &mut self.begun else { return Ok(()) };
        *inserted += documents;
        if *inserted >= self.every { self.commit(py) } else { Ok(()) }
    }
}

/// What the rows are, and how they become documents.
pub(crate) struct Making<'m> {
    pub(crate) kind: Kind,
    pub(crate) sketcher: &'m Sketcher,
    pub(crate) settings: &'m Settings,
    /// Whether documents are named by the numbers of their rows, whatever ids these give.
    pub(crate) numbered: bool,
}

/// Inserts all rows. `told` gets the id of each document, the one that its row gives if documents
/// are named by their numbers, and what became of it, in order. When a row is bad or Python raises
/// an exception, the rows read before are inserted all the same.
pub(crate) fn insert_rows(
    py: Python<'_>,
    mut rows: Rows,
    making: &Making<'_>,
    manner: &Manner,
    target: &mut impl Target,
    progress: Option<&Bound<'_, PyAny>>,
    mut told: impl FnMut(String, Option<String>, Outcome) + Send,
) -> PyResult<()> {
    let total = rows.total;
    let own_process = process::id();
    // What feeds the rows must not write to the index meanwhile: it is told so at the first row.
    target.transaction(py)?;
    let mut ready: Vec<Document> = Vec::new();
    let mut given: Vec<Option<String>> = Vec::new();
    let mut bad: Option<PyErr> = None;
    let mut done = 0_u64;
    loop {
        let next = match bad.take() {
            Some(bad) => Err(bad),
            None => py.check_signals().and_then(|()| rows.next(py, making.kind)),
        };
        // What Python calls may fork. The documents and the transaction are the parent's.
        if own_process != process::id() {
            return Err(next.err().unwrap_or_else(forked));
        }
        let (batch, mut failed) = match next {
            Ok(batch) => (batch, None),
            Err(error) => (None, Some(error)),
        };
        let count = ready.len();
        let (documents, names) = (std::mem::take(&mut ready), std::mem::take(&mut given));
        let txn = match count {
            0 => None,
            _ => match target.transaction(py) {
                Ok(txn) => Some(txn),
                Err(error) => return Err(during(py, error, failed)),
            },
        };
        let make = || {
            let batch = batch.as_ref();
            batch.map(|batch| batch.documents(making.sketcher, making.settings, making.numbered))
        };
        let insert = || {
            let Some(txn) = txn else { return Ok(()) };
            let mut documents = documents;
            txn.give_ids(&mut documents)?;
            let ids: Vec<String> = documents.iter().map(|document| document.id().into()).collect();
            let outcomes = manner.insert(txn, documents)?;
            let names = names.into_iter().chain(std::iter::repeat(None));
            for ((id, name), outcome) in ids.into_iter().zip(names).zip(outcomes) {
                told(id, name, outcome);
            }
            Ok(())
        };
        let (inserted, made) = detached(py, || rayon::join(insert, make));
        let inserted = inserted.map_err(raise).and_then(|()| target.inserted(py, count));
        if let Err(error) = inserted {
            return Err(during(py, error, failed.or_else(|| rows.take_failed())));
        }
        if count > 0 {
            done += count as u64;
            // An exception is raised when what was read before it is in.
            if let (Some(progress), None) = (progress, &failed) {
                failed = progress.call1((done, total)).err();
                if own_process != process::id() {
                    return Err(failed.unwrap_or_else(forked));
                }
            }
        }
        match made {
            Some((documents, bad_row)) => {
                ready = documents;
                given = match (&batch, making.numbered) {
                    (Some(batch), true) => batch.given_ids(),
                    _ => Vec::new(),
                };
                bad = failed.or_else(|| bad_row.map(|row| row.raise()));
            }
            None => return failed.map_or(Ok(()), Err),
        }
    }
}
