//! Files of rows by columns: Parquet and Arrow, by the name of the file.

use crate::input::unless_panicked;
use crate::run::column_format::ColumnFormat;
use arrow_array::{RecordBatch, new_null_array};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use std::io::{self, Write};
use std::sync::Arc;

/// The most rows of a row group of Parquet, and about the most bytes.
const GROUP_ROWS: usize = 1 << 20;
const GROUP_BYTES: usize = 64 << 20;

/// The rows of a batch, and the bytes of texts after which it ends earlier. A column of texts holds
/// 2 GiB at most.
pub const BATCH_ROWS: usize = 8192;
pub const BATCH_BYTES: usize = 64 << 20;

/// Fails with the reason if a file cannot hold these columns.
pub fn check(format: ColumnFormat, schema: &Schema) -> Result<(), String> {
    if format == ColumnFormat::Parquet
        && let Some(field) = schema.fields().iter().find(|field| {
            has_inner_dictionary(field, |keys| keys.primitive_width().is_some_and(|it| it < 4))
        })
    {
        return Err(format!(
            "column `{}` has dictionaries of few keys within; a reader of Parquet makes one of \
             them, which may need more keys; end the name of the output in .arrows",
            field.name()
        ));
    }
    if format == ColumnFormat::Arrow
        && let Some(field) =
            schema.fields().iter().find(|field| has_inner_dictionary(field, |_| true))
    {
        return Err(format!(
            "column `{}` has dictionaries within, of which an Arrow file holds one for all rows; \
             end the name of the output in .arrows or .parquet",
            field.name()
        ));
    }
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let written = unless_panicked(|| {
        let nulls = schema.fields().iter().map(|field| new_null_array(field.data_type(), 1));
        let row = RecordBatch::try_new(Arc::clone(&schema), nulls.collect()).map_err(of_arrow)?;
        let mut writer = ColumnWriter::new(format, io::sink(), &schema)?;
        writer.write(&row)?;
        writer.finish().map(drop)
    });
    match written {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!("{format:?} cannot hold all of its columns: {error}")),
        Err(_) => Err(format!("{format:?} cannot hold all of its columns")),
    }
}

fn has_inner_dictionary(field: &Field, of: fn(&DataType) -> bool) -> bool {
    match field.data_type() {
        DataType::Dictionary(_, values) => has_dictionary(values, of),
        kind => has_dictionary(kind, of),
    }
}

/// Whether a type has dictionaries whose type of keys fulfils `of`.
fn has_dictionary(kind: &DataType, of: fn(&DataType) -> bool) -> bool {
    match kind {
        DataType::Dictionary(keys, values) => of(keys) || has_dictionary(values, of),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => has_dictionary(field.data_type(), of),
        DataType::Struct(fields) => {
            fields.iter().any(|field| has_dictionary(field.data_type(), of))
        }
        _ => false,
    }
}

/// The columns without the order of their dictionaries. Parquet has the values of a dictionary in
/// the order in which rows have them, which a reader would take for their own order.
pub fn without_order(schema: &SchemaRef) -> SchemaRef {
    let unordered = |field: &FieldRef| match field.dict_is_ordered() {
        Some(true) => {
            let new = Field::new(field.name(), field.data_type().clone(), field.is_nullable());
            Arc::new(new.with_metadata(field.metadata().clone()))
        }
        _ => Arc::clone(field),
    };
    let fields: Vec<_> = schema.fields().iter().map(unordered).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Writes a file of rows by columns.
pub enum ColumnWriter<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    Arrow(Box<FileWriter<W>>),
    ArrowStream(Box<StreamWriter<W>>),
}

impl<W: Write + Send> ColumnWriter<W> {
    /// Begins a file with these columns.
    pub fn new(format: ColumnFormat, out: W, schema: &Schema) -> io::Result<Self> {
        Ok(match format {
            ColumnFormat::Parquet => {
                let properties = parquet_properties(schema);
                let writer = ArrowWriter::try_new(out, schema.clone().into(), Some(properties));
                Self::Parquet(Box::new(writer.map_err(of_parquet)?))
            }
            ColumnFormat::Arrow => {
                Self::Arrow(Box::new(FileWriter::try_new(out, schema).map_err(of_arrow)?))
            }
            ColumnFormat::ArrowStream => {
                Self::ArrowStream(Box::new(StreamWriter::try_new(out, schema).map_err(of_arrow)?))
            }
        })
    }

    /// Writes rows.
    pub fn write(&mut self, rows: &RecordBatch) -> io::Result<()> {
        match self {
            Self::Parquet(writer) => writer.write(rows).map_err(of_parquet),
            Self::Arrow(writer) => writer.write(rows).map_err(of_arrow),
            Self::ArrowStream(writer) => writer.write(rows).map_err(of_arrow),
        }
    }

    /// Completes the file.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Self::Parquet(writer) => writer.into_inner().map_err(of_parquet),
            Self::Arrow(writer) => writer.into_inner().map_err(of_arrow),
            Self::ArrowStream(writer) => writer.into_inner().map_err(of_arrow),
        }
    }
}

/// How Parquet is written: compressed with zstd at its fastest level, with the metadata of the
/// schema where readers without Arrow look for them.
pub fn parquet_properties(schema: &Schema) -> WriterProperties {
    let metadata = schema.metadata().iter();
    let metadata = metadata.map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_max_row_group_bytes(Some(GROUP_BYTES))
        // Statistics of pages would be lost where files are joined, and texts do not need them.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        // Seconds and dates with times have no type of their own in Parquet.
        .set_coerce_types(true)
        .set_key_value_metadata(Some(metadata.collect()))
        .build()
}

/// An error of Parquet, as that of the file if it is one.
pub fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        error => io::Error::other(error),
    }
}

/// An error of Arrow, as that of the file if it is one.
pub fn of_arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, cause) => cause,
        error => io::Error::other(error),
    }
}
