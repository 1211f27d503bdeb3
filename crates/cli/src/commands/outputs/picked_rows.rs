//! Rows that were picked out of a batch of a table by columns, some of them with another text.

use crate::commands::outputs::kept_output::NewText;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, LargeStringArray, RecordBatch, StringArray, StringViewArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use arrow_select::dictionary::garbage_collect_any_dictionary;
use arrow_select::take::take_record_batch;
use std::sync::Arc;

/// Shorter runs of rows than this, on average, are copied together rather than taken as slices.
const SHORT_RUN: usize = 8;

/// Some rows of a batch.
pub(crate) struct PickedRows {
    pub(crate) batch: Arc<RecordBatch>,
    /// Their numbers, in order.
    rows: Vec<u64>,
    /// Other texts, with their positions in `rows`, in order.
    texts: Vec<(usize, NewText)>,
}

impl PickedRows {
    /// No rows of a batch.
    pub(crate) fn of(batch: &Arc<RecordBatch>) -> Self {
        Self { batch: Arc::clone(batch), rows: Vec::new(), texts: Vec::new() }
    }

    /// Adds the next row, or the row with another text.
    pub(crate) fn add(&mut self, row: usize, text: Option<&NewText>) {
        self.texts.extend(text.map(|text| (self.rows.len(), text.clone())));
        self.rows.push(row as u64);
    }

    /// About how many bytes their values have.
    pub(crate) fn bytes(&self) -> usize {
        let columns = self.batch.columns().iter();
        let bytes = columns.map(|column| column.to_data().get_slice_memory_size().unwrap_or(0));
        let each = bytes.sum::<usize>() / self.batch.num_rows().max(1);
        each * self.rows.len()
    }

    /// The rows, with the metadata of this schema, as slices of the batch if few of its rows are
    /// missing: these need no copy.
    pub(crate) fn slices(self, schema: &SchemaRef) -> Result<Vec<RecordBatch>, ArrowError> {
        let runs = || self.rows.chunk_by(|row, next| row + 1 == *next);
        if !self.texts.is_empty() || runs().count() * SHORT_RUN > self.rows.len() {
            return Ok(vec![self.select(schema)?]);
        }
        let slice = |run: &[u64]| {
            let first = run.first().map_or(0, |first| *first as usize);
            let columns = self.batch.slice(first, run.len()).columns().to_vec();
            RecordBatch::try_new(Arc::clone(schema), columns)
        };
        runs().map(slice).collect()
    }

    /// The rows, with the metadata of this schema, without what only other rows of the batch have.
    pub(crate) fn select(self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let Self { batch, rows, texts } = self;
        let rows = if rows.len() == batch.num_rows() {
            (*batch).clone()
        } else {
            take_record_batch(&batch, &UInt64Array::from(rows))?
        };
        let mut columns: Vec<ArrayRef> = rows.columns().to_vec();
        if let Some((_, first)) = texts.first() {
            let column = schema.index_of(&first.column)?;
            if let Some(column) = columns.get_mut(column) {
                *column = with_texts(column, &texts)?;
            }
        }
        let columns = columns.iter().zip(schema.fields());
        let columns = columns.map(|(column, field)| compact(column, field));
        let columns = columns.collect::<Result<_, _>>()?;
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}

/// A column of texts with other texts in some rows.
fn with_texts(column: &ArrayRef, texts: &[(usize, NewText)]) -> Result<ArrayRef, ArrowError> {
    fn each<'a>(
        old: impl Iterator<Item = Option<&'a str>>,
        texts: &'a [(usize, NewText)],
    ) -> impl Iterator<Item = Option<&'a str>> {
        let mut texts = texts.iter().peekable();
        old.enumerate().map(move |(row, old)| {
            let new = texts.next_if(|(changed, _)| *changed == row);
            new.map(|(_, new)| new.text.as_str()).or(old)
        })
    }
    Ok(match column.data_type() {
        DataType::Utf8 => {
            Arc::new(each(column.as_string::<i32>().iter(), texts).collect::<StringArray>())
        }
        DataType::LargeUtf8 => {
            Arc::new(each(column.as_string::<i64>().iter(), texts).collect::<LargeStringArray>())
        }
        DataType::Utf8View => {
            Arc::new(each(column.as_string_view().iter(), texts).collect::<StringViewArray>())
        }
        other => {
            return Err(ArrowError::NotYetImplemented(format!(
                "texts of the type {other} cannot be changed; write them as plain strings first"
            )));
        }
    })
}

/// A column without what none of its rows has: rows that were taken or cut out of a column still
/// hold all of its dictionary, or of the buffers of its views. An ordered dictionary keeps all of
/// its values, so that those of several batches have the same order.
fn compact(column: &ArrayRef, field: &Field) -> Result<ArrayRef, ArrowError> {
    Ok(match column.data_type() {
        DataType::Utf8View => Arc::new(column.as_string_view().gc()),
        DataType::BinaryView => Arc::new(column.as_binary_view().gc()),
        DataType::Dictionary(..) if field.dict_is_ordered() != Some(true) => {
            garbage_collect_any_dictionary(column.as_any_dictionary())?
        }
        _ => Arc::clone(column),
    })
}
