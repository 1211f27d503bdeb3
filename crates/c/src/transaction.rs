//! Write transactions: documents go in and out, durably and all at once.

use crate::border::{call, flag, free, handle, needed, place, text};
use crate::care::{Progress, watch};
use crate::document::Given;
use crate::error::{ErrorHandle, Failure};
use crate::index::IndexHandle;
use crate::insertion::{
    self, CountsStruct, InsertionStruct, Manner, OutcomeStruct, TWINDEX_ADDED, TWINDEX_DUPLICATE,
    TWINDEX_REPLACED, TWINDEX_SKIPPED, TWINDEX_UNCHANGED,
};
use crate::matches::Match;
use crate::query::signature_at;
use crate::snapshot::SnapshotHandle;
use crate::status::Status;
use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Mutex, TryLockError};
use std::time::Duration;
use twindex::{Content, Document, Index, Inserted, Outcome, Settings, Sketcher, WriteTxn};

/// A write transaction. An index has one at a time. Nobody else sees its changes before the commit.
///
/// After TWINDEX_MISUSE, TWINDEX_INVALID_INPUT, TWINDEX_MISMATCH and TWINDEX_BUSY, a call for one
/// document has changed nothing, and the transaction goes on. After other errors it may be one that
/// cannot be committed.
///
/// Threads: one at a time; it may move to another. A call meanwhile returns TWINDEX_BUSY.
pub struct TxnHandle(Mutex<Option<Box<Writing>>>);

/// What makes documents.
pub(crate) struct Making {
    pub(crate) sketcher: Sketcher,
    pub(crate) settings: Settings,
}

impl Making {
    /// The document of a text.
    pub(crate) fn document(&self, id: &str, text: &str) -> Result<Document, Failure> {
        self.prepare(id, Given::new(text, &self.settings)?.content())
    }

    /// The document of a content.
    pub(crate) fn prepare(&self, id: &str, content: Content<'_>) -> Result<Document, Failure> {
        Ok(Document::prepare(id, content, &self.sketcher, &self.settings)?)
    }
}

/// A transaction, and the results of its last call.
pub(crate) struct Writing {
    pub(crate) txn: WriteTxn,
    pub(crate) making: Making,
    similar: Option<Match>,
    outcome: Option<OutcomeStruct>,
    pub(crate) counts: CountsStruct,
}

impl TxnHandle {
    /// Uses the transaction.
    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&mut Writing) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match self.0.try_lock() {
            Ok(mut writing) => work(writing.as_mut().ok_or_else(ended)?),
            Err(locked) => Err(refused(&locked)),
        }
    }

    /// Takes the transaction, which ends.
    fn take(&self) -> Result<Box<Writing>, Failure> {
        match self.0.try_lock() {
            Ok(mut writing) => writing.take().ok_or_else(ended),
            Err(locked) => Err(refused(&locked)),
        }
    }
}

fn ended() -> Failure {
    Failure::closed("the transaction has ended; begin another one")
}

fn refused<T>(locked: &TryLockError<T>) -> Failure {
    match locked {
        TryLockError::WouldBlock => Failure::busy("another call uses the transaction"),
        TryLockError::Poisoned(_) => {
            Failure::closed("an earlier call failed by a defect; free the transaction")
        }
    }
}

impl Writing {
    /// Inserts one document, and keeps its outcome for the caller.
    fn insert(
        &mut self,
        document: Document,
        manner: &Manner<'_>,
        out: Option<&mut *const OutcomeStruct>,
    ) -> Result<(), Failure> {
        let outcome = manner.insert(&mut self.txn, vec![document])?.pop();
        let (what, against) = match &outcome {
            Some(Outcome::Duplicate { against, .. }) => {
                (TWINDEX_DUPLICATE, against.and_then(|place| i32::try_from(place).ok()))
            }
            Some(outcome) => (outcome.inserted().map_or(TWINDEX_SKIPPED, what), None),
            None => (TWINDEX_SKIPPED, None),
        };
        self.similar = match outcome {
            Some(Outcome::Duplicate { of, .. }) => Some(Match::new(of)),
            _ => None,
        };
        let similar = self.similar.as_ref().map_or(ptr::null(), Match::fields);
        let fields = OutcomeStruct { what, against: against.unwrap_or(-1), similar };
        let kept = ptr::from_ref(self.outcome.insert(fields));
        if let Some(out) = out {
            *out = kept;
        }
        Ok(())
    }
}

fn what(inserted: Inserted) -> u32 {
    match inserted {
        Inserted::Added => TWINDEX_ADDED,
        Inserted::Replaced => TWINDEX_REPLACED,
        Inserted::Unchanged => TWINDEX_UNCHANGED,
        Inserted::Skipped => TWINDEX_SKIPPED,
    }
}

/// Begins a write transaction. With `wait` 1, waits until the one before has ended; with 0, returns
/// TWINDEX_BUSY if there is one.
///
/// A thread that holds the transaction would wait for ever, so it gets TWINDEX_BUSY with `wait` 1,
/// too. The library takes the thread that used the transaction last for the one that holds it. A
/// program that moves transactions between threads, or whose tasks change threads as those of Go
/// do, should call this with `wait` 0 and try again, or keep a lock of its own.
///
/// Ownership: the caller frees `*txn` with twindex_txn_free. It is null after an error.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_txn_begin(
    index: Option<&IndexHandle>,
    wait: i32,
    txn: Option<&mut MaybeUninit<Option<Box<TxnHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let place = place(txn, "txn")?;
        let waits = flag("wait", wait)?;
        *place = Some(begin(needed(index, "index")?, |index| {
            if waits { index.begin_write().map(Some) } else { index.try_begin_write() }
        })?);
        Ok(())
    })
}

/// Begins a write transaction like `twindex_txn_begin`, but waits at most `wait_ms` milliseconds
/// for the one before to end. After that it returns TWINDEX_BUSY.
///
/// Ownership: the caller frees `*txn` with twindex_txn_free. It is null after an error.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_txn_begin_within(
    index: Option<&IndexHandle>,
    wait_ms: u32,
    txn: Option<&mut MaybeUninit<Option<Box<TxnHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let place = place(txn, "txn")?;
        let wait = Duration::from_millis(wait_ms.into());
        *place = Some(begin(needed(index, "index")?, |index| index.begin_write_within(wait))?);
        Ok(())
    })
}

/// Begins a transaction. `wait` gives none if another one is in use.
fn begin(
    index: &IndexHandle,
    wait: impl FnOnce(&Index) -> twindex::Result<Option<WriteTxn>>,
) -> Result<Box<TxnHandle>, Failure> {
    let writing = index.opened(|opened| {
        let index = opened.writing()?;
        let txn = wait(index)?.ok_or_else(|| {
            Failure::busy("another write transaction is in use; try again, or wait longer")
        })?;
        Ok(Box::new(Writing {
            txn,
            making: Making { sketcher: index.sketcher().clone(), settings: *index.settings() },
            similar: None,
            outcome: None,
            counts: CountsStruct::default(),
        }))
    })?;
    Ok(Box::new(TxnHandle(Mutex::new(Some(writing)))))
}

/// Inserts a document, or replaces the one with the same id. A text is UTF-8 and may hold NULs; an
/// id has 1 to 4,096 bytes. `outcome` may be null.
///
/// Ownership: `*outcome` belongs to the transaction, until the next call with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_txn_insert(
    txn: *mut TxnHandle,
    id: *const c_char,
    id_length: usize,
    data: *const c_char,
    length: usize,
    insertion: *const InsertionStruct,
    outcome: Option<&mut MaybeUninit<*const OutcomeStruct>>,
    error: *mut ErrorHandle,
) -> Status {
    // SAFETY: the caller promises the same.
    unsafe {
        let inputs = ((id, id_length), (data, length), insertion);
        insert_text(txn, inputs, |_| None, outcome, error)
    }
}

/// Inserts a document unless a similar one is known, in the index or earlier in the transaction.
/// `insertion` may be null: the threshold of the index counts then. `outcome` may be null.
///
/// Ownership: `*outcome` belongs to the transaction, until the next call with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_txn_insert_unless_similar(
    txn: *mut TxnHandle,
    id: *const c_char,
    id_length: usize,
    data: *const c_char,
    length: usize,
    insertion: *const InsertionStruct,
    outcome: Option<&mut MaybeUninit<*const OutcomeStruct>>,
    error: *mut ErrorHandle,
) -> Status {
    // SAFETY: the caller promises the same.
    unsafe {
        let inputs = ((id, id_length), (data, length), insertion);
        insert_text(txn, inputs, |settings| Some(settings.threshold()), outcome, error)
    }
}

/// An id, a text and how it is inserted.
type Inputs = ((*const c_char, usize), (*const c_char, usize), *const InsertionStruct);

unsafe fn insert_text(
    txn: *mut TxnHandle,
    (id, data, insertion): Inputs,
    threshold: impl FnOnce(&Settings) -> Option<f64>,
    outcome: Option<&mut MaybeUninit<*const OutcomeStruct>>,
    error: *mut ErrorHandle,
) -> Status {
    let outcome = outcome.map(|outcome| outcome.write(ptr::null()));
    call(error, || {
        // SAFETY: the caller promises texts and options.
        let (id, text, mut manner) = unsafe {
            (text("id", id.0, id.1)?, text("text", data.0, data.1)?, Manner::new(insertion)?)
        };
        // SAFETY: the caller promises a handle.
        unsafe { handle(txn, "txn") }?.with(|writing| {
            let default = threshold(&writing.making.settings);
            manner.unless_similar = manner.unless_similar.or(default);
            let document = writing.making.document(id, text)?;
            writing.insert(document, &manner, outcome)
        })
    })
}

/// Inserts a document by its signature, which the sketcher of this index made. An index that stores
/// texts, or has passages, takes none. `insertion` and `outcome` may be null.
///
/// Ownership: `*outcome` belongs to the transaction, until the next call with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_txn_insert_signature(
    txn: *mut TxnHandle,
    id: *const c_char,
    id_length: usize,
    signature: *const u8,
    length: usize,
    insertion: *const InsertionStruct,
    outcome: Option<&mut MaybeUninit<*const OutcomeStruct>>,
    error: *mut ErrorHandle,
) -> Status {
    let outcome = outcome.map(|outcome| outcome.write(ptr::null()));
    call(error, || {
        // SAFETY: the caller promises an id, a signature and options.
        let (id, signature, manner) = unsafe {
            (
                text("id", id, id_length)?,
                signature_at("signature", signature, length)?,
                Manner::new(insertion)?,
            )
        };
        // SAFETY: the caller promises a handle.
        unsafe { handle(txn, "txn") }?.with(|writing| {
            writing.insert(Document::from_signature(id, signature)?, &manner, outcome)
        })
    })
}

/// Removes the document with this id. `removed` may be null; it becomes 1 if there was one, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_txn_remove(
    txn: *mut TxnHandle,
    id: *const c_char,
    id_length: usize,
    removed: Option<&mut MaybeUninit<i32>>,
    error: *mut ErrorHandle,
) -> Status {
    let removed = removed.map(|removed| removed.write(0));
    call(error, || {
        // SAFETY: the caller promises an id.
        let id = unsafe { text("id", id, id_length) }?;
        // SAFETY: the caller promises a handle.
        let was_there =
            unsafe { handle(txn, "txn") }?.with(|writing| Ok(writing.txn.remove(id)?))?;
        if let Some(removed) = removed {
            *removed = was_there.into();
        }
        Ok(())
    })
}

/// Inserts all documents of another index with equal settings, with their signatures and insertion
/// times. With `attach` 1, takes over its sorted runs instead of inserting one document after the
/// other, which is faster for documents that the index does not have. The progress counts
/// documents. `counts` may be null.
///
/// TWINDEX_MISUSE, TWINDEX_INVALID_INPUT, TWINDEX_MISMATCH and TWINDEX_BUSY change nothing. After
/// another error, TWINDEX_INTERRUPTED included, the transaction has a part of the documents; with
/// `attach` 1 it cannot be committed, and the commit returns TWINDEX_IO.
///
/// Ownership: `*counts` belongs to the transaction, until the next call with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_txn_merge(
    txn: *mut TxnHandle,
    source: Option<&SnapshotHandle>,
    on_conflict: u32,
    attach: i32,
    progress: Progress,
    data: *mut c_void,
    counts: Option<&mut MaybeUninit<*const CountsStruct>>,
    error: *mut ErrorHandle,
) -> Status {
    let counts = counts.map(|counts| counts.write(ptr::null()));
    call(error, || {
        let source = needed(source, "source")?.get();
        let on_conflict = insertion::on_conflict(on_conflict)?;
        let attaches = flag("attach", attach)?;
        // SAFETY: the caller promises a handle.
        unsafe { handle(txn, "txn") }?.with(|writing| {
            let work = if attaches {
                writing.txn.attach(source, on_conflict)
            } else {
                writing.txn.merge(source, on_conflict)
            };
            writing.counts = watch(work, progress, data)?.into();
            if let Some(counts) = counts {
                *counts = ptr::from_ref(&writing.counts);
            }
            Ok(())
        })
    })
}

/// Makes all changes durable, then visible, and ends the transaction. Takes at least the time of a
/// disk sync. The handle remains, and is freed with twindex_txn_free.
///
/// An error ends it, too, and undoes its changes, with two exceptions. After TWINDEX_BUSY, because
/// another call uses the transaction, it goes on. After TWINDEX_MOVED the changes are in the file
/// that is open, which has lost its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_txn_commit(
    txn: *mut TxnHandle,
    error: *mut ErrorHandle,
) -> Status {
    // SAFETY: the caller promises a handle.
    call(error, || Ok(unsafe { handle(txn, "txn") }?.take()?.txn.commit()?))
}

/// Undoes all changes and ends the transaction. The handle remains, and is freed with
/// twindex_txn_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_txn_abort(txn: *mut TxnHandle, error: *mut ErrorHandle) -> Status {
    call(error, || {
        // SAFETY: the caller promises a handle.
        unsafe { handle(txn, "txn") }?.take()?.txn.abort();
        Ok(())
    })
}

/// Frees a transaction, and undoes its changes if it has not ended. Null is fine.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_txn_free(txn: Option<Box<TxnHandle>>) {
    free(txn);
}
