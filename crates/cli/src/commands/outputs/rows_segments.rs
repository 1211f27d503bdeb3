//! Kept rows on their way to Parquet: segments, each a complete file, that are joined at the end.

use crate::commands::outputs::partial_file::PartialFile;
use crate::commands::outputs::picked_rows::PickedRows;
use crate::input::unless_panicked;
use crate::run::column_format::ColumnFormat;
use crate::run::columns_file::{ColumnWriter, of_arrow, of_parquet, parquet_properties};
use crate::run::failure::Failure;
use anyhow::Context;
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::writer::SerializedFileWriter;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Segments with fewer bytes and rows than these are decoded, and encoded together: readers want
/// large row groups.
const SMALL_BYTES: i64 = 4 << 20;
const SMALL_ROWS: usize = 100_000;

/// How many batches may wait to be encoded.
const WAITING: usize = 2;

/// A segment that is being encoded, on a thread of its own.
pub(crate) struct Segment {
    rows: SyncSender<PickedRows>,
    encoder: JoinHandle<io::Result<Vec<u8>>>,
}

impl Segment {
    /// Begins a segment of rows with these columns.
    pub(crate) fn begin(schema: &SchemaRef) -> io::Result<Self> {
        let (rows, waiting) = sync_channel::<PickedRows>(WAITING);
        let schema = Arc::clone(schema);
        let encode = move || {
            let select = |rows: PickedRows| rows.select(&schema).map_err(of_arrow);
            encoded(&schema, waiting.into_iter().map(select))
        };
        let encoder = Builder::new().name("encoder".to_owned()).spawn(encode)?;
        Ok(Self { rows, encoder })
    }

    /// Adds rows.
    pub(crate) fn write(&self, rows: PickedRows) {
        // If the encoder has failed, its end tells why.
        let _ = self.rows.send(rows);
    }

    /// Ends the segment. Returns it with its length before it.
    pub(crate) fn end(self) -> io::Result<Vec<u8>> {
        drop(self.rows);
        let encoded = self.encoder.join();
        let encoded = encoded.map_err(|_| io::Error::other("the encoder of Parquet failed"))??;
        Ok([&(encoded.len() as u64).to_le_bytes(), &*encoded].concat())
    }
}

/// A Parquet file of some rows.
fn encoded(
    schema: &Schema,
    rows: impl IntoIterator<Item = io::Result<RecordBatch>>,
) -> io::Result<Vec<u8>> {
    let encode = || {
        let mut writer = ColumnWriter::new(ColumnFormat::Parquet, Vec::new(), schema)?;
        rows.into_iter().try_for_each(|rows| writer.write(&rows?))?;
        writer.finish()
    };
    unless_panicked(encode).map_err(io::Error::other)?
}

/// The columns of the first segment of a spool; `None` if it has none.
pub(crate) fn schema(spool: &mut dyn BufRead) -> io::Result<Option<SchemaRef>> {
    let Some(segment) = next(spool)? else { return Ok(None) };
    let found = ArrowReaderMetadata::load(&segment, Default::default()).map_err(of_parquet)?;
    Ok(Some(Arc::clone(found.schema())))
}

/// The next segment of a spool; `None` at the end.
fn next(spool: &mut dyn BufRead) -> io::Result<Option<Bytes>> {
    if spool.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut length = [0; 8];
    spool.read_exact(&mut length)?;
    let length = usize::try_from(u64::from_le_bytes(length)).map_err(io::Error::other)?;
    let mut segment = vec![0; length];
    spool.read_exact(&mut segment)?;
    Ok(Some(segment.into()))
}

/// Joins the segments of a spool to one file with these columns. Large ones are copied as they are.
pub(crate) fn join<W: Write + Send>(
    spool: &mut PartialFile,
    out: W,
    schema: &SchemaRef,
    name: &str,
) -> Result<W, Failure> {
    spool.read_back(|spool| {
        let each = || {
            let mut joined = Joined::begin(out, schema)?;
            while let Some(segment) = next(spool)? {
                joined.add(&segment)?;
            }
            joined.finish()
        };
        Ok(each().with_context(|| name.to_owned())?)
    })
}

/// A file that segments are added to.
struct Joined<W: Write + Send> {
    schema: SchemaRef,
    writer: SerializedFileWriter<W>,
    /// Rows of small segments that are not written yet, and about their bytes.
    small: Vec<RecordBatch>,
    small_bytes: i64,
}

impl<W: Write + Send> Joined<W> {
    fn begin(out: W, schema: &SchemaRef) -> io::Result<Self> {
        let mut properties = parquet_properties(schema);
        add_encoded_arrow_schema_to_metadata(schema, &mut properties);
        let coerces = properties.coerce_types();
        let converter = ArrowSchemaConverter::new().with_coerce_types(coerces);
        let columns = converter.convert(schema).map_err(of_parquet)?.root_schema_ptr();
        let writer = SerializedFileWriter::new(out, columns, Arc::new(properties));
        let writer = writer.map_err(of_parquet)?;
        Ok(Self { schema: Arc::clone(schema), writer, small: Vec::new(), small_bytes: 0 })
    }

    /// Adds the rows of a segment.
    fn add(&mut self, segment: &Bytes) -> io::Result<()> {
        let found = ArrowReaderMetadata::load(segment, Default::default()).map_err(of_parquet)?;
        let groups = found.metadata().row_groups();
        let rows: i64 = groups.iter().map(|group| group.num_rows()).sum();
        let bytes: i64 = groups.iter().map(|group| group.total_byte_size()).sum();
        let is_small = bytes < SMALL_BYTES && rows < SMALL_ROWS as i64;
        // A table that came later may have allowed nulls in a column.
        let fields = found.schema().fields().iter().zip(self.schema.fields());
        let is_as_wanted = fields.clone().all(|(own, all)| own.is_nullable() == all.is_nullable());
        if !is_small && is_as_wanted {
            self.flush()?;
            return self.copy(segment, &found);
        }
        // Parquet has other types for some of Arrow, so the rows are taken as they are read.
        let fields = fields.map(|(own, all)| own.as_ref().clone().with_nullable(all.is_nullable()));
        let as_read = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(segment.clone(), found);
        for rows in reader.with_batch_size(SMALL_ROWS).build().map_err(of_parquet)? {
            let columns = rows.map_err(of_arrow)?.columns().to_vec();
            let rows = RecordBatch::try_new(Arc::clone(&as_read), columns);
            self.small.push(rows.map_err(of_arrow)?);
        }
        self.small_bytes += bytes;
        let rows: usize = self.small.iter().map(RecordBatch::num_rows).sum();
        match self.small_bytes >= SMALL_BYTES || rows >= SMALL_ROWS {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Writes the rows of small segments.
    fn flush(&mut self) -> io::Result<()> {
        let Some(first) = self.small.first() else { return Ok(()) };
        let schema = first.schema();
        self.small_bytes = 0;
        let segment: Bytes = encoded(&schema, self.small.drain(..).map(Ok))?.into();
        let found = ArrowReaderMetadata::load(&segment, Default::default()).map_err(of_parquet)?;
        self.copy(&segment, &found)
    }

    /// Copies the row groups of a segment as they are.
    fn copy(&mut self, segment: &Bytes, found: &ArrowReaderMetadata) -> io::Result<()> {
        for group in found.metadata().row_groups() {
            let mut writer = self.writer.next_row_group().map_err(of_parquet)?;
            for column in group.columns() {
                let close = ColumnCloseResult {
                    bytes_written: column.compressed_size() as u64,
                    rows_written: group.num_rows() as u64,
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                writer.append_column(segment, close).map_err(of_parquet)?;
            }
            writer.close().map_err(of_parquet)?;
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.writer.into_inner().map_err(of_parquet)
    }
}
