//! Batches, by the Arrow C stream interface: documents in, outcomes and pairs out.

use crate::border::{call, contained, free, handle, needed, reason};
use crate::care::{Progress, watch};
use crate::error::{ErrorHandle, Failure};
use crate::insertion::{CountsStruct, InsertionStruct, Manner};
use crate::pairs::{PairsCell, PairsHandle};
use crate::snapshot::SnapshotHandle;
use crate::status::Status;
use crate::transaction::{Making, TxnHandle, Writing};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{
    Array, ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, RecordBatchReader,
    StringArray, StructArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use rayon::prelude::*;
use std::ffi::c_void;
use std::fmt::Display;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use twindex::{Document, Inserted, Outcome, Signature};
use twindex_columns::{
    ContentColumn, IdColumn, RowContent, SignatureColumn, pair_batch, pair_schema,
};

/// A stream of the Arrow C stream interface, as
/// <https://arrow.apache.org/docs/format/CStreamInterface.html> declares it.
pub struct ArrowArrayStream {
    _private: FFI_ArrowArrayStream,
}

/// The documents that are sketched and inserted at once.
const ROWS: usize = 16 << 10;

/// The pairs of one batch.
const PAIRS: usize = 8 << 10;

/// Takes a stream over. The caller's is released from then on.
///
/// # Safety
///
/// A pointer that is not null points to a stream.
unsafe fn take(stream: *mut ArrowArrayStream) -> Result<ArrayStreamReader, Failure> {
    if stream.is_null() {
        return Err(Failure::null("stream"));
    }
    // SAFETY: it is a stream, and this moves it out.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.cast()) };
    // Arrow panics at a schema that breaks the rules, such as one with a name that is not UTF-8.
    let reader = catch_unwind(AssertUnwindSafe(|| ArrayStreamReader::try_new(stream)));
    reader.map_err(|panic| unreadable(reason(&*panic)))?.map_err(unreadable)
}

fn unreadable(error: impl Display) -> Failure {
    Failure::invalid(format_args!("the Arrow stream cannot be read: {error}"))
}

/// The place for a stream that goes out. It is a released one until it is filled.
struct StreamPlace(*mut FFI_ArrowArrayStream);

impl StreamPlace {
    /// # Safety
    ///
    /// A pointer that is not null has room for a stream.
    unsafe fn new(stream: *mut ArrowArrayStream) -> Self {
        let stream = stream.cast();
        if !ptr::addr_eq(stream, ptr::null::<()>()) {
            // SAFETY: there is room.
            unsafe { ptr::write(stream, FFI_ArrowArrayStream::empty()) };
        }
        Self(stream)
    }

    fn is_wanted(&self) -> bool {
        !self.0.is_null()
    }

    fn fill(self, batches: Box<dyn RecordBatchReader + Send>) {
        if self.is_wanted() {
            // SAFETY: there is room, and what is there is released.
            unsafe { ptr::write(self.0, FFI_ArrowArrayStream::new(batches)) };
        }
    }
}

/// The columns of some rows.
struct Rows {
    ids: Option<IdColumn>,
    contents: Contents,
    table: StructArray,
    /// The number of the first row.
    first: u64,
}

enum Contents {
    Documents(ContentColumn),
    Signatures(SignatureColumn),
}

impl Rows {
    fn new(batch: ArrayRef, first: u64, manner: &Manner<'_>) -> Result<Self, Failure> {
        let Some(table) = batch.as_struct_opt().cloned() else {
            let kind = batch.data_type();
            return Err(unreadable(format_args!("its batches are {kind}: expected tables")));
        };
        let column = |name: &str| {
            table.column_by_name(name).ok_or_else(|| {
                let names = table.column_names().join(", ");
                unreadable(format_args!("no column {name:?}: there are {names}"))
            })
        };
        let bad =
            |name: &str, error: &dyn Display| unreadable(format_args!("column {name:?} {error}"));
        let contents = match manner.signature_column {
            Some(name) => Contents::Signatures(
                SignatureColumn::new(column(name)?).map_err(|error| bad(name, &error))?,
            ),
            None => {
                let name = manner.text_column;
                let contents = ContentColumn::new(column(name)?);
                Contents::Documents(contents.map_err(|error| bad(name, &error))?)
            }
        };
        let (name, ids) = match manner.id_column {
            Some(name) => (name, Some(column(name)?)),
            None => ("id", table.column_by_name("id")),
        };
        let ids = ids.map(IdColumn::new).transpose().map_err(|error| bad(name, &error))?;
        Ok(Self { ids, contents, table, first })
    }

    /// The document of a row.
    fn document(&self, row: usize, making: &Making) -> Result<Document, Failure> {
        let at = |why: &dyn Display| {
            let number = self.first + row as u64;
            Failure::invalid(format_args!("row {number}, counted from 0: {why}"))
        };
        if self.table.is_null(row) {
            return Err(at(&"the row is null"));
        }
        let document = match &self.contents {
            Contents::Documents(contents) => {
                let content = contents.get(row).map_err(|why| at(&why))?;
                let content = content.ok_or_else(|| at(&"the text is null"))?;
                let document = match &content {
                    RowContent::Text(text) => making.document("?", text),
                    content => making.prepare("?", content.content()),
                };
                document.map_err(|failure| at(&failure.message))?
            }
            Contents::Signatures(signatures) => {
                let bytes = signatures.get(row).ok_or_else(|| at(&"the signature is null"))?;
                let signature = Signature::from_bytes(bytes);
                let wrong = || at(&format_args!("{} bytes are no signature", bytes.len()));
                Document::from_signature("?", signature.ok_or_else(wrong)?)?
            }
        };
        let Some(ids) = &self.ids else { return Ok(document.without_id()) };
        let id = ids.get(row).map_err(|why| at(&why))?.ok_or_else(|| at(&"the id is null"))?;
        document.with_id(id).map_err(|error| at(&error))
    }

    fn documents(&self, making: &Making) -> Result<Vec<Document>, Failure> {
        (0..self.table.len()).into_par_iter().map(|row| self.document(row, making)).collect()
    }
}

/// What became of the rows of a stream.
type Told = Vec<Result<RecordBatch, ArrowError>>;

/// Inserts all rows of a stream, and counts them. Adds what became of each to `told`, if that is
/// wanted.
fn insert_stream(
    writing: &mut Writing,
    stream: ArrayStreamReader,
    manner: &Manner<'_>,
    mut told: Option<&mut Told>,
) -> Result<(), Failure> {
    let mut first = 0;
    for batch in stream {
        let batch = batch.map_err(unreadable)?;
        for from in (0..batch.len()).step_by(ROWS) {
            let slice = batch.slice(from, ROWS.min(batch.len() - from));
            let mut documents = Rows::new(slice, first, manner)?.documents(&writing.making)?;
            first += documents.len() as u64;
            writing.txn.give_ids(&mut documents)?;
            let ids = told.is_some().then(|| {
                StringArray::from_iter_values(documents.iter().map(|document| document.id()))
            });
            let outcomes = manner.insert(&mut writing.txn, documents)?;
            outcomes.iter().for_each(|outcome| writing.counts.count(outcome));
            if let (Some(ids), Some(told)) = (ids, &mut told) {
                told.push(outcome_batch(ids, &outcomes));
            }
        }
    }
    Ok(())
}

/// Inserts all rows of an Arrow stream (the Arrow C stream interface), sketched on all threads: a
/// column of ids, and one of texts or of signatures. Without a column "id", documents get the ids
/// "#1", "#2" and so on, which an index never gives twice. This is the fast way to insert many
/// documents.
///
/// `outcomes` may be null, or points to a stream that is filled with a row for each document: `id`,
/// `outcome` ("added", "replaced", "unchanged", "skipped" or "duplicate"), `duplicate_of` and
/// `similarity`. `counts` may be null.
///
/// After an error, `counts` tells how many of the rows before the bad one are inserted. It is null
/// if the call has not begun to read. End the transaction without a commit to undo them. An error
/// of the stream itself is TWINDEX_INVALID_INPUT, with its message.
///
/// Ownership: the call takes over `stream` and releases it, also after an error. The caller
/// releases `outcomes`, which is released already after an error. `*counts` belongs to the
/// transaction, until the next call with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_txn_insert_arrow(
    txn: *mut TxnHandle,
    stream: *mut ArrowArrayStream,
    insertion: *const InsertionStruct,
    outcomes: *mut ArrowArrayStream,
    counts: Option<&mut MaybeUninit<*const CountsStruct>>,
    error: *mut ErrorHandle,
) -> Status {
    let counts = counts.map(|counts| counts.write(ptr::null()));
    call(error, || {
        // SAFETY: the caller promises a stream, options and room for a stream.
        unsafe {
            let place = StreamPlace::new(outcomes);
            let stream = take(stream)?;
            let manner = Manner::new(insertion)?;
            handle(txn, "txn")?.with(|writing| {
                writing.counts = CountsStruct::default();
                let mut told = Told::new();
                let wanted = place.is_wanted().then_some(&mut told);
                let inserted = insert_stream(writing, stream, &manner, wanted);
                // Also after an error: they count what was inserted before.
                if let Some(counts) = counts {
                    *counts = ptr::from_ref(&writing.counts);
                }
                inserted?;
                place.fill(Box::new(RecordBatchIterator::new(told, outcome_schema())));
                Ok(())
            })
        }
    })
}

/// Inserts the documents of another index with equal settings, as twindex_txn_merge does, and
/// leaves out those that are similar to a known one, in the index or earlier in the transaction: so
/// parts that were deduplicated apart become one. `insertion` may be null: the threshold of the
/// index counts then. The progress counts documents. `outcomes` is filled as by
/// twindex_txn_insert_arrow; it and `counts` may be null.
///
/// After an error, TWINDEX_INTERRUPTED included, the transaction has a part of the documents.
///
/// Ownership: the caller releases `outcomes`, which is released already after an error. `*counts`
/// belongs to the transaction, until the next call with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_txn_merge_unless_similar(
    txn: *mut TxnHandle,
    source: Option<&SnapshotHandle>,
    insertion: *const InsertionStruct,
    progress: Progress,
    data: *mut c_void,
    outcomes: *mut ArrowArrayStream,
    counts: Option<&mut MaybeUninit<*const CountsStruct>>,
    error: *mut ErrorHandle,
) -> Status {
    let counts = counts.map(|counts| counts.write(ptr::null()));
    call(error, || {
        // SAFETY: the caller promises options, a handle, and room for a stream.
        unsafe {
            let place = StreamPlace::new(outcomes);
            let source = needed(source, "source")?.get();
            let mut manner = Manner::new(insertion)?;
            handle(txn, "txn")?.with(|writing| {
                let threshold = writing.making.settings.threshold();
                manner.unless_similar.get_or_insert(threshold);
                let (mut told, wanted) = (Told::new(), place.is_wanted());
                let mut batch: (Vec<String>, Vec<Outcome>) = Default::default();
                let tell = |id: &str, outcome| {
                    if wanted {
                        batch.0.push(id.to_owned());
                        batch.1.push(outcome);
                        if batch.0.len() == ROWS {
                            told.push(told_of(&mut batch));
                        }
                    }
                };
                let work = manner.of(&mut writing.txn).merge(source, tell);
                writing.counts = watch(work, progress, data)?.into();
                told.push(told_of(&mut batch));
                if let Some(counts) = counts {
                    *counts = ptr::from_ref(&writing.counts);
                }
                place.fill(Box::new(RecordBatchIterator::new(told, outcome_schema())));
                Ok(())
            })
        }
    })
}

/// What became of these documents.
fn told_of((ids, outcomes): &mut (Vec<String>, Vec<Outcome>)) -> Result<RecordBatch, ArrowError> {
    let names = StringArray::from_iter_values(std::mem::take(ids));
    outcome_batch(names, &std::mem::take(outcomes))
}

fn outcome_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Utf8, false),
        Field::new("outcome", DataType::Utf8, false),
        Field::new("duplicate_of", DataType::Utf8, true),
        Field::new("similarity", DataType::Float64, true),
    ]))
}

fn outcome_batch(ids: StringArray, outcomes: &[Outcome]) -> Result<RecordBatch, ArrowError> {
    let what = outcomes.iter().map(|outcome| match outcome.inserted() {
        Some(Inserted::Added) => "added",
        Some(Inserted::Replaced) => "replaced",
        Some(Inserted::Unchanged) => "unchanged",
        Some(Inserted::Skipped) => "skipped",
        None => "duplicate",
    });
    let similar = |outcome: &Outcome| match outcome {
        Outcome::Duplicate { of, .. } => Some((of.id.clone(), of.similarity)),
        _ => None,
    };
    let similar: Vec<_> = outcomes.iter().map(similar).collect();
    let of: StringArray = similar.iter().map(|of| of.as_ref().map(|(id, _)| id)).collect();
    let similarity: Float64Array = similar.iter().map(|of| of.as_ref().map(|of| of.1)).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(ids),
        Arc::new(StringArray::from_iter_values(what)),
        Arc::new(of),
        Arc::new(similarity),
    ];
    RecordBatch::try_new(outcome_schema(), columns)
}

/// Pairs as batches. Arrow calls it outside of any call of this library, so panics stop here.
struct PairBatches {
    /// `None` after an error.
    pairs: Option<Box<PairsCell>>,
    schema: SchemaRef,
}

impl Drop for PairBatches {
    fn drop(&mut self) {
        free(self.pairs.take());
    }
}

impl Iterator for PairBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut pairs = self.pairs.take()?;
        let read = contained(|| -> Result<Vec<_>, Failure> {
            Ok(pairs.by_ref().take(PAIRS).collect::<twindex::Result<_>>()?)
        });
        match read {
            Ok(Ok(found)) if found.is_empty() => None,
            Ok(Ok(found)) => {
                self.pairs = Some(pairs);
                Some(pair_batch(&self.schema, &found))
            }
            // The message crosses as a C string.
            Ok(Err(failure)) | Err(failure) => {
                Some(Err(ArrowError::ComputeError(failure.message.replace('\0', "\\0"))))
            }
        }
    }
}

impl RecordBatchReader for PairBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Gives the pairs that are left as an Arrow stream with the columns `a`, `b`, `similarity`, `low`,
/// `high` and `exact`. They are found while the stream is read. The handle remains, and is freed
/// with twindex_pairs_free.
///
/// Ownership: the caller releases `stream`, which is released already after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_pairs_arrow(
    pairs: *mut PairsHandle,
    stream: *mut ArrowArrayStream,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        // SAFETY: the caller promises room for a stream.
        let place = unsafe { StreamPlace::new(stream) };
        if !place.is_wanted() {
            return Err(Failure::null("stream"));
        }
        // SAFETY: the caller promises a handle.
        let pairs = unsafe { handle(pairs, "pairs") }?.take()?;
        place.fill(Box::new(PairBatches { pairs: Some(Box::new(pairs)), schema: pair_schema() }));
        Ok(())
    })
}
