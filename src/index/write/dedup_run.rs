//! Deduplication over many transactions, which can be resumed after an interruption.

use crate::error::{Error, Result};
use crate::hash::{GOLDEN, fmix64, xxh3};
use crate::index::document::Document;
use crate::index::write::insertion::Insertion;
use crate::index::write::outcome::{Inserted, Outcome};
use crate::index::write::transaction::WriteTxn;
use crate::store::{Committed, DedupRow, DedupStage, OwnNumbers, Writer};
use std::fmt;

/// The number of documents that a deduplication has received, and a hash of them in order.
///
/// Two inputs are equal if they have the same ids and texts in the same order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DedupInput {
    documents: u64,
    hash: u64,
}

impl DedupInput {
    /// Adds the next document, by its id and the hash of its text.
    pub fn add(&mut self, document: &Document) {
        let id = if document.id.is_empty() { "#" } else { document.id.as_str() };
        let hash = xxh3(id.as_bytes()).rotate_left(1) ^ document.text_hash.word();
        self.hash = (self.hash ^ hash).rotate_left(23).wrapping_mul(GOLDEN);
        self.documents += 1;
    }

    /// The number of documents.
    pub fn len(&self) -> u64 {
        self.documents
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }
}

/// The result for one document of a [`DedupRun`].
#[derive(Clone, Debug, PartialEq)]
pub struct DedupOutcome {
    /// The id of the document, which may be an automatic one.
    pub id: String,
    /// Whether the document was inserted or is a duplicate.
    pub outcome: Outcome,
}

/// What tells an index from others, however it is opened: the key of its hashes of ids. A copy of
/// its file has the same.
#[derive(Clone, Copy, PartialEq, Eq)]
struct IndexKey(u64);

impl IndexKey {
    fn new(txn: &WriteTxn) -> Self {
        Self(txn.writer().engine().fixed().id_key)
    }
}

impl fmt::Debug for IndexKey {
    /// Leaves out the key, which is secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexKey").finish_non_exhaustive()
    }
}

/// A deduplication of a long input that commits in parts and can be resumed after a crash.
///
/// The run stores its progress under a key, in the same transaction as the documents. After an
/// interruption, the caller passes the same input again from the beginning. The run skips the
/// documents that it has already judged and continues with the next one.
///
/// The caller can store ten numbers with the progress ([`notes`](Self::notes)), such as counts and
/// the length of an output file. On resuming, the caller truncates its output to that length.
///
/// A run belongs to one index: that of the first transaction it is given. The index can be closed
/// and opened again meanwhile. A transaction of another index is refused. After a transaction that
/// was dropped, or whose commit failed, [`resume`](Self::resume) the run: the value at hand counts
/// documents that the index does not have, and is refused.
///
/// If a document appears twice in the input with the same id and text, the second is a duplicate of
/// the first. A document that was in the index before the run began is unchanged.
///
/// # Steps
///
/// 1. [`resume`](Self::resume) the run of a key, or [`begin`](Self::begin) one.
/// 2. For each part of the input: [`insert`](Self::insert) the documents, write the output,
///    [`save`](Self::save), and commit.
/// 3. [`save_judged`](Self::save_judged) after the last part, and commit.
/// 4. Complete the output, for instance by giving a file its name.
/// 5. [`finish`](Self::finish) the run, or [`remember`](Self::remember) it, and commit.
///
/// A process can be killed after step 5 and before its caller notices that the run has finished. A
/// run that is remembered is [found](Self::finished) then and need not be done again.
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let path = folder.path().join("run.twx");
/// use twindex::{DedupRun, Index};
///
/// /// Returns the lines that are not duplicates; stops after `parts` parts, as if it were killed.
/// fn dedup(index: &Index, lines: &[&str], parts: usize) -> twindex::Result<Vec<String>> {
///     const KEY: &str = "lines.txt, threshold 0.8";
///     let mut txn = index.begin_write()?;
///     let mut run = match DedupRun::resume(&txn, KEY)? {
///         Some(run) => run,
///         None => DedupRun::begin(KEY),
///     };
///     let mut kept = Vec::new();
///     for part in lines.chunks(2).take(parts) {
///         let documents = part.iter().map(|line| Ok(index.prepare("?", line)?.without_id()));
///         let documents = documents.collect::<twindex::Result<Vec<_>>>()?;
///         let insertion = txn.insertion().unless_similar(0.8);
///         for (judged, line) in run.insert(insertion, documents)?.into_iter().zip(part) {
///             // `None` means that the line was judged before the interruption.
///             if judged.is_some_and(|judged| judged.outcome.inserted().is_some()) {
///                 kept.push(line.to_string());
///             }
///         }
///         run.save(&mut txn, [0; 10])?;
///         txn.commit()?;
///         txn = index.begin_write()?;
///     }
///     if parts < lines.len() {
///         return Ok(kept);
///     }
///     run.save_judged(&mut txn, [0; 10])?;
///     txn.commit()?;
///     // Complete the output here.
///     let mut txn = index.begin_write()?;
///     run.finish(&mut txn)?;
///     txn.commit()?;
///     Ok(kept)
/// }
///
/// let lines = ["the first line of them all", "the second one, which is another", "a third line",
///              "The first  line of them all", "and a fourth line, the last"];
/// let index = Index::create(&path)?;
/// assert_eq!(dedup(&index, &lines, 1)?, lines[..2]);
/// assert_eq!(dedup(&index, &lines, usize::MAX)?, [lines[2], lines[4]]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DedupRun {
    /// The hash of the caller's key, under which the row is stored.
    key: u64,
    /// The index that has the documents; `None` if the run was begun and has none yet.
    index: Option<IndexKey>,
    /// The stored progress, or the initial progress of a new run.
    row: DedupRow,
    /// The documents that this run has received.
    given: DedupInput,
    /// Whether the caller still has to pass documents again that an interrupted run has judged.
    passing: bool,
    /// The last transaction that the run has written to. The index has what this value counts only
    /// if it was committed.
    last: Option<Committed>,
}

impl DedupRun {
    /// Begins a run. The first [`save`](Self::save) replaces the progress of an interrupted run
    /// with the same key.
    ///
    /// The key should contain everything that determines the result: the input, the threshold, the
    /// other indexes, and the destination of the output. The index stores a hash of it.
    pub fn begin(key: impl AsRef<[u8]>) -> Self {
        let (key, row) = (xxh3(key.as_ref()), DedupRow::default());
        Self { key, index: None, row, given: DedupInput::default(), passing: false, last: None }
    }

    /// Resumes the interrupted run with this key. Returns `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`] if the index cannot be read.
    pub fn resume(txn: &WriteTxn, key: impl AsRef<[u8]>) -> Result<Option<Self>> {
        let run = Self::stored_run(txn, key)?;
        Ok(run.filter(|run| !matches!(run.row.stage, DedupStage::Finished(_))))
    }

    /// Finds the finished run with this key that was [remembered](Self::remember) with the same
    /// `circumstances`. Returns `None` if there is none, or if a document was removed from the
    /// index or replaced since.
    ///
    /// The caller compares its input with [`judged`](Self::judged): if they are equal, and the
    /// output is still there, there is nothing to do. Otherwise, it [begins](Self::begin) a run.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`] if the index cannot be read.
    pub fn finished(
        txn: &WriteTxn,
        key: impl AsRef<[u8]>,
        circumstances: impl AsRef<[u8]>,
    ) -> Result<Option<Self>> {
        let now = DedupStage::Finished(circumstances_hash(txn.writer(), circumstances.as_ref()));
        Ok(Self::stored_run(txn, key)?.filter(|run| run.row.stage == now))
    }

    /// Finds the finished run with this key that was remembered last, whatever has changed since.
    /// Its [`judged`](Self::judged) input and [`notes`](Self::notes) tell what it has done.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`] if the index cannot be read.
    pub fn last_finished(txn: &WriteTxn, key: impl AsRef<[u8]>) -> Result<Option<Self>> {
        let run = Self::stored_run(txn, key)?;
        Ok(run.filter(|run| matches!(run.row.stage, DedupStage::Finished(_))))
    }

    /// All interrupted runs, whatever their keys, in no particular order. Their
    /// [`notes`](Self::notes) tell which output each has begun, so that another run does not
    /// replace what only that output has.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`] if the index cannot be read.
    pub fn interrupted(txn: &WriteTxn) -> Result<Vec<Self>> {
        let rows = txn.writer().dedup_rows()?.into_iter();
        let runs = rows.map(|(key, row)| Self::of_row(txn, key, row));
        Ok(runs.filter(|run| !matches!(run.row.stage, DedupStage::Finished(_))).collect())
    }

    fn stored_run(txn: &WriteTxn, key: impl AsRef<[u8]>) -> Result<Option<Self>> {
        let key = xxh3(key.as_ref());
        Ok(txn.writer().dedup_row(key)?.map(|row| Self::of_row(txn, key, row)))
    }

    fn of_row(txn: &WriteTxn, key: u64, row: DedupRow) -> Self {
        let (index, passing) = (Some(IndexKey::new(txn)), row.documents > 0);
        Self { key, index, passing, row, given: DedupInput::default(), last: None }
    }

    /// Checks that a transaction is of the index that the run belongs to, and that the index has
    /// what the run has written.
    fn check_index(&self, txn: &WriteTxn) -> Result<()> {
        let refused =
            |got, expected| Err(Error::InvalidSetting { setting: "transaction", got, expected });
        if self.index.is_some_and(|index| index != IndexKey::new(txn)) {
            let expected = "one of the index that the run was begun or resumed in";
            return refused(format!("of {}", txn.path().display()), expected);
        }
        let writer = txn.writer();
        let is_lost = |last: &Committed| !last.is_so() && !last.is_same(writer.committed());
        // A copy of the file may be older than what the run has committed.
        let is_older = self.row.own.end() > writer.next_number();
        if self.last.as_ref().is_some_and(is_lost) || is_older {
            let expected = "one after the commit of all that the run has written, or the run \
                            resumed if there was none";
            return refused("after one of the run that was not committed".to_owned(), expected);
        }
        Ok(())
    }

    /// Lets the run belong to the index of a transaction, if it belongs to none yet.
    fn bind(&mut self, txn: &WriteTxn) -> Result<()> {
        self.check_index(txn)?;
        self.index = Some(IndexKey::new(txn));
        Ok(())
    }

    /// The documents that this run has received since it was begun or resumed.
    pub fn given(&self) -> DedupInput {
        self.given
    }

    /// The documents that the run has judged, including those before an interruption.
    pub fn judged(&self) -> DedupInput {
        if self.passing { self.stored() } else { self.given }
    }

    /// The numbers that the caller saved last.
    pub fn notes(&self) -> [u64; 10] {
        self.row.notes
    }

    /// Replaces these numbers in memory. [`remember`](Self::remember) stores them.
    pub fn set_notes(&mut self, notes: [u64; 10]) {
        self.row.notes = notes;
    }

    /// The same run under another key, so that it can be [remembered](Self::remember) under both.
    pub fn with_key(self, key: impl AsRef<[u8]>) -> Self {
        Self { key: xxh3(key.as_ref()), ..self }
    }

    /// Whether all documents are judged, so that only the output remains to be completed.
    pub fn is_judged(&self) -> bool {
        self.row.stage != DedupStage::Judging
    }

    /// Whether the caller still has to pass documents again that were judged before an
    /// interruption.
    pub fn is_catching_up(&self) -> bool {
        self.passing
    }

    fn stored(&self) -> DedupInput {
        DedupInput { documents: self.row.documents, hash: self.row.input }
    }

    /// Inserts the next documents of the input. Pass an insertion with
    /// [`unless_similar`](Insertion::unless_similar), or with an option of passages. Returns one
    /// result per document, in order; `None` for a document that was judged before an interruption.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] for an insertion that compares nothing, that is of another index
    /// than the run, or whose transaction comes after one of the run that was not committed;
    /// [`Error::InputDiffers`] if the documents differ from those judged before the interruption,
    /// or if a run that has judged its whole input receives more; those of
    /// [`Insertion::documents`].
    pub fn insert(
        &mut self,
        mut insertion: Insertion<'_>,
        documents: Vec<Document>,
    ) -> Result<Vec<Option<DedupOutcome>>> {
        if !insertion.judges() {
            return Err(Error::InvalidSetting {
                setting: "unless_similar",
                got: "none".to_owned(),
                expected: "a threshold, or an option of passages, as a run removes duplicates",
            });
        }
        self.bind(insertion.txn())?;
        let mut results: Vec<Option<DedupOutcome>> = Vec::with_capacity(documents.len());
        let mut documents = documents.into_iter();
        let mut rest: Vec<Document> = Vec::new();
        let mut given = self.given;
        while self.passing
            && let Some(document) = documents.next()
        {
            given.add(&document);
            self.given = given;
            results.push(None);
            if given.documents == self.row.documents {
                if given != self.stored() {
                    return Err(self.differs());
                }
                self.passing = false;
            }
        }
        for document in documents {
            given.add(&document);
            rest.push(document);
        }
        if rest.is_empty() {
            return Ok(results);
        }
        if self.is_judged() {
            return Err(self.differs());
        }
        insertion.txn().give_ids(&mut rest)?;
        let ids: Vec<String> = rest.iter().map(|document| document.id.clone()).collect();
        let (first, committed) = {
            let writer = insertion.txn().writer();
            (writer.next_number(), writer.committed().clone())
        };
        let mut own = self.row.own.clone();
        own.add(first..u64::MAX);
        let outcomes = insertion.of_run(own).documents(rest);
        let outcomes = outcomes.map_err(|error| error.after(results.len()))?;
        let is_new = |outcome: &&Outcome| {
            matches!(outcome.inserted(), Some(Inserted::Added | Inserted::Replaced))
        };
        self.row.own.add(first..first + outcomes.iter().filter(is_new).count() as u64);
        (self.given, self.last) = (given, Some(committed));
        let judged = ids.into_iter().zip(outcomes);
        results.extend(judged.map(|(id, outcome)| Some(DedupOutcome { id, outcome })));
        Ok(results)
    }

    /// Stores the progress of the run and the caller's notes, in the transaction that has inserted
    /// the documents. Does nothing while the run [is behind](Self::is_catching_up), because the
    /// stored progress is further ahead.
    ///
    /// # Errors
    ///
    /// - [`Error::InvalidSetting`] if the transaction is of another index than the run, or comes
    ///   after one of the run that was not committed. Nothing is stored then.
    /// - [`Error::Io`] or [`Error::Storage`] if writing fails. The transaction cannot be committed
    ///   then.
    pub fn save(&mut self, txn: &mut WriteTxn, notes: [u64; 10]) -> Result<()> {
        if self.passing {
            self.check_index(txn)
        } else {
            self.store(txn, DedupStage::Judging, notes)
        }
    }

    /// Does the same as [`save`](Self::save), and records that the input has ended.
    ///
    /// # Errors
    ///
    /// Those of [`save`](Self::save), and [`Error::InputDiffers`] if the input ended before the
    /// point of the interruption.
    pub fn save_judged(&mut self, txn: &mut WriteTxn, notes: [u64; 10]) -> Result<()> {
        if self.passing { Err(self.differs()) } else { self.store(txn, DedupStage::Judged, notes) }
    }

    /// Stores other notes of a run that was [interrupted](Self::resume). Its progress stays.
    ///
    /// # Errors
    ///
    /// Those of [`save`](Self::save).
    pub fn save_notes(&mut self, txn: &mut WriteTxn, notes: [u64; 10]) -> Result<()> {
        self.bind(txn)?;
        self.row.notes = notes;
        self.last = Some(txn.writer().committed().clone());
        txn.writer_mut().set_dedup_row(self.key, Some(&self.row))
    }

    fn store(&mut self, txn: &mut WriteTxn, stage: DedupStage, notes: [u64; 10]) -> Result<()> {
        self.bind(txn)?;
        let DedupInput { documents, hash: input } = self.given;
        let own = self.row.own.clone();
        let row = DedupRow { stage, documents, input, notes, own };
        txn.writer_mut().set_dedup_row(self.key, Some(&row))?;
        (self.row, self.last) = (row, Some(txn.writer().committed().clone()));
        Ok(())
    }

    /// Deletes the stored progress. The next run with this key starts from the beginning.
    ///
    /// # Errors
    ///
    /// - [`Error::InvalidSetting`] if the transaction is of another index than the run, or comes
    ///   after one of the run that was not committed. Nothing is deleted then.
    /// - [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`] if reading or writing fails.
    pub fn finish(self, txn: &mut WriteTxn) -> Result<()> {
        self.check_index(txn)?;
        let writer = txn.writer_mut();
        match writer.dedup_row(self.key)? {
            Some(_) => writer.set_dedup_row(self.key, None),
            None => Ok(()),
        }
    }

    /// Does the same as [`finish`](Self::finish), but remembers the run: its input and its notes,
    /// so that [`finished`](Self::finished) finds it. The run must be [judged](Self::is_judged); of
    /// any other run nothing is remembered.
    ///
    /// The `circumstances` are what decides the result besides the key and the input, and may
    /// change from run to run, for instance the state of other indexes. The index stores a hash of
    /// them. It keeps the run until another one with the same key saves its progress, or until it
    /// is rebuilt.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("run.twx"))?;
    /// use twindex::DedupRun;
    /// let mut txn = index.begin_write()?;
    /// let mut run = DedupRun::begin("a.txt");
    /// let documents = vec![index.prepare("a", "the only line")?];
    /// run.insert(txn.insertion().unless_similar(0.8), documents)?;
    /// run.save_judged(&mut txn, [0; 10])?;
    /// let input = run.judged();
    /// run.remember(&mut txn, "")?;
    /// assert!(DedupRun::resume(&txn, "a.txt")?.is_none());
    /// let finished = DedupRun::finished(&txn, "a.txt", "")?;
    /// assert_eq!(finished.map(|run| run.judged()), Some(input));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`finish`](Self::finish).
    pub fn remember(self, txn: &mut WriteTxn, circumstances: impl AsRef<[u8]>) -> Result<()> {
        if !self.is_judged() {
            return self.finish(txn);
        }
        self.check_index(txn)?;
        let writer = txn.writer_mut();
        let stage = DedupStage::Finished(circumstances_hash(writer, circumstances.as_ref()));
        let row = DedupRow { stage, own: OwnNumbers::default(), ..self.row };
        writer.set_dedup_row(self.key, Some(&row))
    }

    fn differs(&self) -> Error {
        Error::InputDiffers { documents: self.row.documents }
    }
}

/// A hash of what the caller names and of how many documents were removed from the index or
/// replaced since its creation.
fn circumstances_hash(writer: &Writer, named: &[u8]) -> u64 {
    // On a damaged file the count of documents can be too large, which `check` reports.
    let removed = writer.next_number().saturating_sub(writer.len());
    fmix64(xxh3(named) ^ removed.wrapping_mul(GOLDEN))
}
