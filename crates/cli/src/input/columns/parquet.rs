//! The row groups of a Parquet file, decoded on all threads.

use super::seekable::Seekable;
use super::table::{Selection, unless_panicked, unread_type};
use crate::input::share;
use crate::input::wanted::Wanted;
use crate::remote::{BLOCK, BLOCKS};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef, TimeUnit};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ProjectionMask};
use parquet::basic::Type;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use std::collections::VecDeque;
use std::sync::Arc;

/// About how many bytes of values a batch has.
const BATCH_BYTES: u64 = 8 << 20;

/// The most rows of a batch; fewer if all columns are read, because the sizes in some files do not
/// tell how often a value is repeated. Only texts are read as views, which repeat no value.
const BATCH_ROWS: u64 = 8192;
const BATCH_WHOLE_ROWS: u64 = 1024;

/// Row groups of up to so many bytes are decoded as a whole, several at a time.
const SMALL_GROUP: u64 = 16 << 20;

/// The row groups of a file, and the columns that are read of them.
struct RowGroups {
    file: Seekable,
    metadata: ArrowReaderMetadata,
    columns: ProjectionMask,
    /// The most rows of a batch.
    most_rows: u64,
}

/// The batches of a file, in order.
pub(super) struct ParquetBatches {
    groups: RowGroups,
    next_group: usize,
    /// Batches that were decoded already.
    ready: VecDeque<RecordBatch>,
    /// What is wrong after these batches.
    failed: Option<ParquetError>,
    /// The row group that is decoded batch by batch.
    open: Option<ParquetRecordBatchReader>,
}

impl RowGroups {
    /// The number of row groups.
    fn len(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// The bytes of the columns that are read of a row group, and its rows: before compression, and
    /// if the writer has told so, before encoding too, which stores a repeated value once.
    fn size(&self, group: usize) -> (u64, u64) {
        let group = self.metadata.metadata().row_group(group);
        let columns = group.columns().iter().enumerate();
        let read = columns.filter(|(leaf, _)| self.columns.leaf_included(*leaf));
        let bytes = |column: &ColumnChunkMetaData| {
            let decoded = column.unencoded_byte_array_data_bytes().unwrap_or_default();
            column.uncompressed_size().max(decoded).max(0) as u64
        };
        let bytes = read.map(|(_, column)| bytes(column)).fold(0, u64::saturating_add);
        (bytes, group.num_rows().max(0) as u64)
    }

    /// Whether more columns are read of a row group than blocks of a file behind an address are
    /// kept. They are read in turns, so each block would be fetched again and again.
    fn is_scattered(&self, group: usize) -> bool {
        let group = self.metadata.metadata().row_group(group);
        let columns = group.columns().iter().enumerate();
        let read = columns.filter(|(leaf, _)| self.columns.leaf_included(*leaf));
        let bytes: Vec<u64> =
            read.map(|(_, column)| column.compressed_size().max(0) as u64).collect();
        bytes.len() >= BLOCKS && bytes.iter().sum::<u64>() > BLOCKS as u64 * BLOCK
    }

    /// Starts to decode a row group.
    fn reader(&self, group: usize) -> Result<ParquetRecordBatchReader> {
        let (bytes, rows) = self.size(group);
        let of_bytes =
            (u128::from(BATCH_BYTES) * u128::from(rows) / u128::from(bytes.max(1))) as u64;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.file.clone(),
            self.metadata.clone(),
        );
        builder
            .with_row_groups(vec![group])
            .with_projection(self.columns.clone())
            .with_batch_size(of_bytes.clamp(1, self.most_rows) as usize)
            .build()
    }

    /// The most rows of a row group that is decoded as a whole.
    fn most_small_rows(&self) -> u64 {
        if self.most_rows == BATCH_ROWS { 8 * BATCH_ROWS } else { self.most_rows }
    }

    /// The row groups from this one on that are small enough to be decoded as a whole, one for each
    /// thread.
    fn small_from(&self, first: usize) -> Vec<usize> {
        let rest = first..self.len();
        let is_small = |group: &usize| {
            let (bytes, rows) = self.size(*group);
            bytes <= SMALL_GROUP && rows <= self.most_small_rows()
        };
        let small = rest.take_while(is_small);
        small.take(rayon::current_num_threads()).collect()
    }

    /// All batches of a row group.
    fn decode(&self, group: usize) -> Result<Vec<RecordBatch>> {
        let decode = || Ok(self.reader(group)?.collect::<std::result::Result<_, _>>()?);
        unless_panicked(decode).unwrap_or_else(|panic| Err(ParquetError::General(panic)))
    }
}

impl ParquetBatches {
    /// Opens a file, and finds the columns that are wanted.
    pub(super) fn open(
        file: Seekable,
        wanted: &Wanted,
    ) -> std::result::Result<(Self, SchemaRef, Selection), String> {
        let options = ArrowReaderOptions::new();
        let mut metadata = ArrowReaderMetadata::load(&file, options).map_err(explained)?;
        if let Some(schema) = in_microseconds(&metadata) {
            metadata = with_schema(&metadata, schema).map_err(explained)?;
        }
        let names = metadata.schema().fields().iter().map(|field| field.name().as_str());
        let selection = Selection::of(&names.collect::<Vec<_>>(), wanted)?;
        let schema = metadata.parquet_schema();
        let columns = if wanted.whole_rows {
            ProjectionMask::all()
        } else {
            ProjectionMask::roots(schema, selection.read())
        };
        let schema = metadata.schema().clone();
        let (ready, open) = (VecDeque::new(), None);
        let most_rows = if wanted.whole_rows { BATCH_WHOLE_ROWS } else { BATCH_ROWS };
        if !wanted.whole_rows {
            metadata = with_views(&metadata, &selection).map_err(explained)?;
        }
        let mut groups = RowGroups { file, metadata, columns, most_rows };
        if groups.file.is_remote() && (0..groups.len()).any(|group| groups.is_scattered(group)) {
            groups.file = groups.file.copied().map_err(|error| error.to_string())?;
        }
        let batches = Self { groups, next_group: 0, ready, failed: None, open };
        Ok((batches, schema, selection))
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if let Some(batch) = self.open.as_mut().and_then(Iterator::next) {
                return Ok(Some(batch?));
            }
            self.open = None;
            let groups = &self.groups;
            let small = groups.small_from(self.next_group);
            if small.is_empty() {
                if self.next_group >= groups.len() {
                    return Ok(None);
                }
                self.open = Some(groups.reader(self.next_group)?);
                self.next_group += 1;
                continue;
            }
            self.next_group += small.len();
            let decoded = share::map(small, |group| groups.decode(group));
            for batches in decoded {
                match batches {
                    Ok(batches) => self.ready.extend(batches),
                    Err(error) => {
                        self.failed = Some(error);
                        break;
                    }
                }
            }
        }
    }
}

/// Yields the next batch of rows, or why the rest cannot be read.
impl Iterator for ParquetBatches {
    type Item = std::result::Result<RecordBatch, String>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().map_err(explained).transpose()
    }
}

/// Reads columns of plain strings as views.
fn with_views(
    metadata: &ArrowReaderMetadata,
    selection: &Selection,
) -> Result<ArrowReaderMetadata> {
    let mut fields: Vec<FieldRef> = metadata.schema().fields().iter().cloned().collect();
    for column in selection.read() {
        if let Some(field) = fields.get_mut(column)
            && matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8)
        {
            *field = Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View));
        }
    }
    let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
    with_schema(metadata, schema)
}

/// Reads columns as these types.
fn with_schema(metadata: &ArrowReaderMetadata, schema: Schema) -> Result<ArrowReaderMetadata> {
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)
}

/// The columns with timestamps of 96 bits in microseconds; `None` if there are none, or if the file
/// says itself what its types are. The reader makes nanoseconds of them, and in these the years
/// before 1677 and after 2262 would become others.
fn in_microseconds(metadata: &ArrowReaderMetadata) -> Option<Schema> {
    let file = metadata.metadata().file_metadata();
    let mut says = file.key_value_metadata().into_iter().flatten();
    let leaves = || file.schema_descr().columns().iter().map(|leaf| leaf.physical_type());
    if says.any(|entry| entry.key == ARROW_SCHEMA_META_KEY)
        || !leaves().any(|leaf| leaf == Type::INT96)
    {
        return None;
    }
    let mut leaves = leaves();
    let fields = metadata.schema().fields().iter();
    let fields: Vec<_> = fields.map(|field| field_in_microseconds(field, &mut leaves)).collect();
    Some(Schema::new_with_metadata(fields, metadata.schema().metadata().clone()))
}

/// A column or a field within one. `leaves` are the types that Parquet has for the values of this
/// field and of those behind it.
fn field_in_microseconds(field: &FieldRef, leaves: &mut impl Iterator<Item = Type>) -> FieldRef {
    let mut inner = |field| field_in_microseconds(field, leaves);
    let kind = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        DataType::List(field) => DataType::List(inner(field)),
        DataType::Map(field, sorted) => DataType::Map(inner(field), *sorted),
        kind => match leaves.next() {
            Some(Type::INT96) => DataType::Timestamp(TimeUnit::Microsecond, None),
            _ => kind.clone(),
        },
    };
    Arc::new(field.as_ref().clone().with_data_type(kind))
}

/// What is wrong with a file, and what to do.
fn explained(error: ParquetError) -> String {
    match error {
        ParquetError::NYI(cause) => format!("uses a feature of Parquet that is not read: {cause}"),
        error => {
            // The reader wraps this error in others.
            let cause = error.to_string();
            if let Some((_, feature)) = cause.split_once("Disabled feature at compile time: ") {
                return format!("uses a feature of Parquet that is not read: {feature}");
            }
            if let Some(unread) = unread_type(&cause) {
                return unread;
            }
            // The head of an encrypted page reads as one without a kind.
            let what = match cause.ends_with("Required field type_ is missing") {
                true => "has encrypted columns, or is damaged or incomplete Parquet",
                false => "is damaged or incomplete Parquet",
            };
            format!("{what}; its reader says: {cause}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::ArrowError;

    #[test]
    fn a_feature_that_is_not_read_is_no_damage() {
        let cause = "Parquet error: Disabled feature at compile time: brotli".to_owned();
        let wrapped = ParquetError::External(Box::new(ArrowError::ParquetError(cause)));
        let expected = "uses a feature of Parquet that is not read: brotli";
        assert_eq!(explained(wrapped), expected);
        let damaged = explained(ParquetError::General("too short".to_owned()));
        assert!(damaged.starts_with("is damaged or incomplete Parquet"), "{damaged}");
        let cause = "Required field type_ is missing".to_owned();
        let encrypted = explained(ParquetError::General(cause));
        assert!(encrypted.starts_with("has encrypted columns, or is damaged"), "{encrypted}");
        let cause = "Int type with bit width of 128 and signed of true not supported".to_owned();
        let unread = explained(ParquetError::External(Box::new(ArrowError::ParseError(cause))));
        assert!(unread.starts_with("has a column of a type that is not read: Int"), "{unread}");
    }
}
