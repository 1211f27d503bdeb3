//! The file that the segments of a spool become.

use crate::commands::outputs::partial_file::PartialFile;
use crate::commands::outputs::rows_segments::{self, Placed, encoded};
use crate::input::Seekable;
use crate::run::columns_file::{of_arrow, of_parquet, parquet_properties};
use crate::run::failure::Failure;
use anyhow::Context;
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::reader::ChunkReader;
use parquet::file::writer::SerializedFileWriter;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// Segments with fewer bytes and rows than these are decoded, and encoded together: readers want
/// large row groups.
const SMALL_BYTES: i64 = 4 << 20;
const SMALL_ROWS: usize = 100_000;

impl Placed {
    fn rows(&self) -> i64 {
        self.metadata.metadata().row_groups().iter().map(RowGroupMetaData::num_rows).sum()
    }

    /// The bytes of its values.
    fn values(&self) -> i64 {
        self.metadata.metadata().row_groups().iter().map(RowGroupMetaData::total_byte_size).sum()
    }

    fn is_small(&self) -> bool {
        are_small([self])
    }

    /// Whether its columns are those of all rows: a table that came later may have allowed nulls.
    fn has_columns(&self, schema: &Schema) -> bool {
        let mut fields = self.metadata.schema().fields().iter().zip(schema.fields());
        fields.all(|(own, all)| own.is_nullable() == all.is_nullable())
    }

    /// Its row groups as parts of the spool.
    fn row_groups(&self) -> impl Iterator<Item = Result<RowGroupMetaData, ParquetError>> {
        let start = self.start as i64;
        let moved = move |column: &ColumnChunkMetaData| {
            let dictionary = column.dictionary_page_offset().map(|place| place + start);
            let data = column.data_page_offset() + start;
            let column = column.clone().into_builder().set_data_page_offset(data);
            column.set_dictionary_page_offset(dictionary).build()
        };
        self.metadata.metadata().row_groups().iter().map(move |group| {
            let columns = group.columns().iter().map(moved).collect::<Result<_, _>>()?;
            let place = group.file_offset().map_or(start, |place| place + start);
            let group = group.clone().into_builder().set_column_metadata(columns);
            group.set_file_offset(place).build()
        })
    }
}

/// Whether segments are small on average.
fn are_small<'a>(segments: impl IntoIterator<Item = &'a Placed>) -> bool {
    let sizes = segments.into_iter().map(|segment| (1, segment.values(), segment.rows()));
    let add = |(a, b, c), (d, e, f)| (a + d, b + e, c + f);
    let (count, values, rows) = sizes.fold((0, 0, 0), add);
    values < SMALL_BYTES * count && rows < SMALL_ROWS as i64 * count
}

/// Completes a spool as a file of these columns: writes what a reader needs to find the row groups
/// at its end. Returns false and writes nothing if it has several segments that are small on
/// average, or some whose columns differ.
pub(crate) fn complete(
    spool: &mut PartialFile,
    schema: &SchemaRef,
    name: &str,
) -> Result<bool, Failure> {
    let place = || name.to_owned();
    let footer = spool.read_anywhere(|file| Ok(footer(file, schema).with_context(place)?))?;
    footer.map_or(Ok(false), |footer| spool.write(&footer).map(|()| true))
}

/// What completes a spool; `None` if its row groups are not as readers want them.
fn footer(spool: File, schema: &Schema) -> io::Result<Option<Vec<u8>>> {
    let segments = rows_segments::all(&Seekable::of(spool)?)?;
    let Some(last) = segments.last() else { return Ok(None) };
    let are_small = segments.len() > 1 && are_small(&segments);
    if are_small || !segments.iter().all(|one| one.has_columns(schema)) {
        return Ok(None);
    }
    let groups = segments.iter().flat_map(Placed::row_groups).zip(0..);
    let groups = groups.map(|(group, at)| group?.into_builder().set_ordinal(at).build());
    let groups = groups.collect::<Result<Vec<_>, _>>().map_err(of_parquet)?;
    let of_file = last.metadata.metadata().file_metadata().clone();
    let metadata = ParquetMetaData::new(of_file, groups);
    let mut footer = Vec::new();
    // The indexes of pages tell places in their segment.
    let writer = ParquetMetaDataWriter::new(&mut footer, &metadata);
    writer.with_preserve_page_index_locations(false).finish().map_err(of_parquet)?;
    Ok(Some(footer))
}

/// Joins the segments of a spool to one file with these columns. Large ones are copied as they are.
pub(crate) fn join<W: Write + Send>(
    spool: &mut PartialFile,
    out: W,
    schema: &SchemaRef,
    name: &str,
) -> Result<W, Failure> {
    spool.read_anywhere(|file| {
        let each = || {
            let mut joined = Joined::begin(out, schema)?;
            for segment in rows_segments::all(&Seekable::of(file)?)? {
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
    fn add(&mut self, segment: &Placed) -> io::Result<()> {
        if !segment.is_small() && segment.has_columns(&self.schema) {
            self.flush()?;
            return self.copy(&segment.bytes, &segment.metadata);
        }
        // Parquet has other types for some of Arrow, so the rows are taken as they are read.
        let fields = segment.metadata.schema().fields().iter().zip(self.schema.fields());
        let fields = fields.map(|(own, all)| own.as_ref().clone().with_nullable(all.is_nullable()));
        let as_read = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(
            segment.bytes.clone(),
            segment.metadata.clone(),
        );
        for rows in reader.with_batch_size(SMALL_ROWS).build().map_err(of_parquet)? {
            let columns = rows.map_err(of_arrow)?.columns().to_vec();
            let rows = RecordBatch::try_new(Arc::clone(&as_read), columns);
            self.small.push(rows.map_err(of_arrow)?);
        }
        self.small_bytes += segment.values();
        let rows: usize = self.small.iter().map(RecordBatch::num_rows).sum();
        if self.small_bytes >= SMALL_BYTES || rows >= SMALL_ROWS { self.flush() } else { Ok(()) }
    }

    /// Writes the rows of small segments.
    fn flush(&mut self) -> io::Result<()> {
        let Some(first) = self.small.first() else { return Ok(()) };
        let schema = first.schema();
        self.small_bytes = 0;
        let small = std::mem::take(&mut self.small);
        let segment =
            encoded(&schema, |writer| small.iter().try_for_each(|rows| writer.write(rows)));
        let segment = Bytes::from(segment?);
        let found = ArrowReaderMetadata::load(&segment, Default::default()).map_err(of_parquet)?;
        self.copy(&segment, &found)
    }

    /// Copies the row groups of a segment as they are.
    fn copy<R: ChunkReader>(&mut self, segment: &R, found: &ArrowReaderMetadata) -> io::Result<()> {
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
