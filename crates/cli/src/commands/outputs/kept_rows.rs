//! The kept rows of tables by columns: in a spool until the run is judged, then in a file.

use crate::commands::outputs::kept_output::NewText;
use crate::commands::outputs::partial_file::{LengthAndHash, PartialFile};
use crate::commands::outputs::picked_rows::PickedRows;
use crate::commands::outputs::rows_joined;
use crate::commands::outputs::rows_segments::{self, Segments};
use crate::commands::outputs::rows_spool::spool_path;
use crate::commands::outputs::whole_dictionary::{DistinctValues, WholeDictionary};
use crate::input::Seekable;
use crate::run::column_format::ColumnFormat;
use crate::run::columns_file::{ColumnWriter, of_arrow, without_order};
use crate::run::failure::Failure;
use anyhow::{Context, anyhow};
use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The output of kept rows.
///
/// A file of Parquet or Arrow cannot be continued after an interruption, because what tells where
/// its parts are stands at its end. So the rows go to a spool first, which can be cut and continued
/// like lines: one segment of Parquet or one stream of Arrow IPC after the other, each complete. A
/// spool of segments of Parquet becomes the output itself, if readers want its row groups.
pub(crate) struct KeptRows {
    format: ColumnFormat,
    path: PathBuf,
    spool: PartialFile,
    schema: Option<SchemaRef>,
    /// Whether the schema was read from the spool, and no table has begun since.
    restored: bool,
    /// The part of the spool that is being written.
    part: Option<Part>,
    /// Kept rows of the last batch that are not written yet.
    pending: Option<PickedRows>,
    sealed: Sealed,
}

/// The output, complete but for its name.
enum Sealed {
    /// There is none yet.
    No,
    /// The spool, which has become the output.
    Spool,
    File(Box<PartialFile>),
}

/// A part of a spool.
enum Part {
    /// For Parquet: encoded only once.
    Segments(Segments),
    /// For Arrow, and for columns that are given one dictionary at the end.
    Stream(Box<StreamWriter<Vec<u8>>>),
}

/// What a stream of Arrow IPC begins with, which no segment does.
const STREAM_BEGINS: [u8; 4] = [0xFF; 4];

impl KeptRows {
    /// Starts an output.
    pub(crate) fn create(path: &Path, format: ColumnFormat) -> Result<Self, Failure> {
        Ok(Self::new(path, format, PartialFile::create(&spool_path(path))?))
    }

    /// Continues the spool that an interrupted run has left, if it is as that run has stored it.
    pub(crate) fn resume(
        path: &Path,
        format: ColumnFormat,
        content: LengthAndHash,
    ) -> Result<Option<Self>, Failure> {
        let mut found = PartialFile::resume(&spool_path(path), content)?;
        if found.is_none() && format == ColumnFormat::Parquet {
            // It may have become the output just before the run was interrupted.
            found = PartialFile::resume(path, content)?;
            found.iter_mut().try_for_each(|spool| spool.rename_to(&spool_path(path)))?;
        }
        let Some(mut spool) = found else { return Ok(None) };
        let place = || spool_path(path).display().to_string();
        let stream = spool.read_back(|spool| {
            if spool.fill_buf().with_context(place)?.starts_with(&STREAM_BEGINS) {
                return Ok(Some(StreamReader::try_new(spool, None).with_context(place)?.schema()));
            }
            Ok(None)
        })?;
        let schema = match stream {
            Some(schema) => Some(schema),
            None => spool.read_anywhere(|file| {
                let schema = Seekable::of(file).and_then(|file| rows_segments::schema(&file));
                Ok(schema.with_context(place)?)
            })?,
        };
        let restored = schema.is_some();
        Ok(Some(Self { schema, restored, ..Self::new(path, format, spool) }))
    }

    fn new(path: &Path, format: ColumnFormat, spool: PartialFile) -> Self {
        let (part, pending, sealed) = (None, None, Sealed::No);
        let (path, schema, restored) = (path.to_owned(), None, false);
        Self { format, path, spool, schema, restored, part, pending, sealed }
    }

    /// Says that all rows come from one input, and whether that is a stream of Arrow.
    pub(crate) fn follow(&mut self, is_stream: bool) {
        self.format = self.format.as_input(is_stream);
    }

    /// Says which columns the rows of the next table have. The first table decides, but a column
    /// may be null in the output if it may be in any table.
    pub(crate) fn begin_table(&mut self, schema: &SchemaRef) -> Result<(), Failure> {
        let Some(own) = &self.schema else {
            self.schema = Some(match self.format {
                ColumnFormat::Parquet => without_order(schema),
                ColumnFormat::Arrow | ColumnFormat::ArrowStream => Arc::clone(schema),
            });
            return Ok(());
        };
        if Arc::ptr_eq(own, schema) || !self.admits(schema) {
            return Ok(());
        }
        let both = own.fields().iter().zip(schema.fields());
        let fields: Vec<_> = both
            .map(|(own, other)| {
                let nullable = own.is_nullable() || other.is_nullable();
                let field = own.as_ref().clone().with_data_type(other.data_type().clone());
                field.with_nullable(nullable)
            })
            .collect();
        self.restored = false;
        let widened = Schema::new_with_metadata(fields, own.metadata().clone());
        if widened != **own {
            self.end_part()?;
            self.schema = Some(Arc::new(widened));
        }
        Ok(())
    }

    /// Whether the rows of a table with these columns can be written.
    pub(crate) fn admits(&self, schema: &Schema) -> bool {
        let Some(own) = &self.schema else { return true };
        let both = || own.fields().iter().zip(schema.fields());
        let is_like = |(own, other): (&FieldRef, &FieldRef)| {
            let (one, two) = (own.data_type(), other.data_type());
            own.name() == other.name()
                && (one == two || self.restored && is_same_read_back(one, two))
        };
        own.fields().len() == schema.fields().len() && both().all(is_like)
    }

    /// Writes a row, or the row with another text.
    pub(crate) fn write(
        &mut self,
        batch: &Arc<RecordBatch>,
        row: usize,
        text: Option<&NewText>,
    ) -> Result<(), Failure> {
        if !self.pending.as_ref().is_some_and(|pending| Arc::ptr_eq(&pending.batch, batch)) {
            self.flush()?;
        }
        self.pending.get_or_insert_with(|| PickedRows::of(batch)).add(row, text);
        Ok(())
    }

    /// Whether the spool has segments.
    fn has_segments(&self, schema: &Schema) -> bool {
        let kinds = || schema.fields().iter().map(|field| field.data_type());
        self.format == ColumnFormat::Parquet && !kinds().any(has_few_keys)
    }

    /// Writes the rows that wait.
    fn flush(&mut self) -> Result<(), Failure> {
        let Some(rows) = self.pending.take() else { return Ok(()) };
        let schema = Arc::clone(self.schema.get_or_insert_with(|| rows.batch.schema()));
        let part = match self.part.take() {
            Some(part) => part,
            None if self.has_segments(&schema) => Part::Segments(Segments::new(&schema)),
            None => {
                let stream = StreamWriter::try_new(Vec::new(), &schema);
                Part::Stream(Box::new(stream.map_err(|error| self.failed(&error))?))
            }
        };
        let written = match self.part.insert(part) {
            Part::Segments(segments) => {
                let ready = segments.write(rows);
                let ready = ready.with_context(|| self.path.display().to_string())?;
                return ready.iter().try_for_each(|segment| self.spool.write(segment));
            }
            Part::Stream(stream) => rows
                .select(&schema)
                .and_then(|rows| stream.write(&rows))
                .map(|()| std::mem::take(stream.get_mut())),
        };
        let bytes = written.map_err(|error| self.failed(&error))?;
        self.spool.write(&bytes)
    }

    /// Ends the part, and makes the rows durable. Returns the length and hash of the spool.
    pub(crate) fn sync(&mut self) -> Result<LengthAndHash, Failure> {
        self.end_part()?;
        self.spool.sync()
    }

    /// Writes the rows that wait, and ends the part.
    fn end_part(&mut self) -> Result<(), Failure> {
        self.flush()?;
        let rest = match self.part.take() {
            None => return Ok(()),
            Some(Part::Segments(segments)) => {
                let ready = segments.end().with_context(|| self.path.display().to_string())?;
                return ready.iter().try_for_each(|segment| self.spool.write(segment));
            }
            Some(Part::Stream(stream)) => {
                stream.into_inner().map_err(|error| self.failed(&error))?
            }
        };
        self.spool.write(&rest)
    }

    /// Writes all rows to the output, which lacks only its name then. Returns its length and hash.
    pub(crate) fn seal(&mut self) -> Result<LengthAndHash, Failure> {
        self.end_part()?;
        let schema = self.schema.clone().unwrap_or_else(|| Arc::new(Schema::empty()));
        let name = self.path.display().to_string();
        if self.has_segments(&schema) {
            if rows_joined::complete(&mut self.spool, &schema, &name)? {
                self.spool.rename_to(&self.path)?;
                self.sealed = Sealed::Spool;
                return self.spool.sync();
            }
            let out = PartialFile::create(&self.path)?;
            let out = rows_joined::join(&mut self.spool, out, &schema, &name)?;
            return self.seal_as(out);
        }
        self.spool.sync()?;
        let mut dictionaries = match self.format {
            ColumnFormat::Arrow => self.whole_dictionaries(&schema, is_dictionary, 0)?,
            // A reader makes one dictionary of a row group, which the type of keys may not hold.
            // That of Rust needs a key more than there are values.
            ColumnFormat::Parquet => self.whole_dictionaries(&schema, has_few_keys, 1)?,
            ColumnFormat::ArrowStream => Vec::new(),
        };
        let schema = with_kinds(&schema, &dictionaries);
        let out = PartialFile::create(&self.path)?;
        let place = || self.path.display().to_string();
        let mut writer = ColumnWriter::new(self.format, out, &schema).with_context(place)?;
        for_each_batch(&mut self.spool, &name, |rows| {
            let mut columns = rows.columns().to_vec();
            for (column, whole) in &mut dictionaries {
                if let Some(column) = columns.get_mut(*column) {
                    *column = whole.apply(column).map_err(of_arrow)?;
                }
            }
            let rows = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(of_arrow)?;
            writer.write(&rows)
        })?;
        let out = writer.finish().with_context(place)?;
        self.seal_as(out)
    }

    fn seal_as(&mut self, mut out: PartialFile) -> Result<LengthAndHash, Failure> {
        let content = out.sync()?;
        self.sealed = Sealed::File(Box::new(out));
        Ok(content)
    }

    /// One dictionary for each of some columns, with all values of its rows: an Arrow file has only
    /// one for a column.
    fn whole_dictionaries(
        &mut self,
        schema: &Schema,
        of: fn(&DataType) -> bool,
        spare: usize,
    ) -> Result<Vec<(usize, WholeDictionary)>, Failure> {
        let columns = schema.fields().iter().enumerate();
        let columns = columns.filter(|(_, field)| of(field.data_type()));
        let mut values: Vec<_> =
            columns.map(|column| (column, DistinctValues::default())).collect();
        if values.is_empty() {
            return Ok(Vec::new());
        }
        let name = self.path.display().to_string();
        for_each_batch(&mut self.spool, &name, |rows| {
            let mut values = values.iter_mut();
            values
                .try_for_each(|((column, _), values)| values.add(rows.column(*column)))
                .map_err(of_arrow)
        })?;
        let whole = values.into_iter().map(|((column, field), values)| {
            let whole = values.into_dictionary(field.data_type(), spare);
            let column = whole.map(|whole| (column, whole));
            column.map_err(|error| anyhow!("{name}: column `{}`: {error}", field.name()).into())
        });
        whole.collect()
    }

    /// Deletes what was written, which no later run needs.
    pub(crate) fn discard(self) -> Result<(), Failure> {
        if let Sealed::File(out) = self.sealed {
            out.discard()?;
        }
        self.spool.discard()
    }

    /// Gives the sealed output its name.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        if matches!(self.sealed, Sealed::No) {
            self.seal()?;
        }
        match self.sealed {
            Sealed::Spool => self.spool.finish(),
            Sealed::File(out) => {
                out.finish()?;
                self.spool.discard()
            }
            Sealed::No => Ok(()),
        }
    }

    fn failed(&self, error: &ArrowError) -> Failure {
        anyhow!("{}: {error}", self.path.display()).into()
    }
}

/// Whether two types are the same but for the names of what lists and maps hold, which Parquet
/// prescribes, and for whether that may be null.
fn is_same_read_back(one: &DataType, two: &DataType) -> bool {
    let is_same =
        |one: &FieldRef, two: &FieldRef| is_same_read_back(one.data_type(), two.data_type());
    match (one, two) {
        (DataType::List(one), DataType::List(two))
        | (DataType::LargeList(one), DataType::LargeList(two)) => is_same(one, two),
        (DataType::FixedSizeList(one, n), DataType::FixedSizeList(two, m)) => {
            n == m && is_same(one, two)
        }
        (DataType::Map(one, _), DataType::Map(two, _)) => {
            match (one.data_type(), two.data_type()) {
                (DataType::Struct(one), DataType::Struct(two)) => {
                    one.len() == two.len()
                        && one.iter().zip(two).all(|(one, two)| is_same(one, two))
                }
                _ => false,
            }
        }
        (DataType::Struct(one), DataType::Struct(two)) => {
            let is_like =
                |(one, two): (&FieldRef, &FieldRef)| one.name() == two.name() && is_same(one, two);
            one.len() == two.len() && one.iter().zip(two).all(is_like)
        }
        _ => one == two,
    }
}

/// The columns of a schema, with the types of dictionaries that some of them have.
fn with_kinds(schema: &SchemaRef, dictionaries: &[(usize, WholeDictionary)]) -> SchemaRef {
    let mut fields = schema.fields().to_vec();
    for (column, whole) in dictionaries {
        if let Some(field) = fields.get_mut(*column) {
            *field = Arc::new(field.as_ref().clone().with_data_type(whole.kind.clone()));
        }
    }
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn is_dictionary(kind: &DataType) -> bool {
    matches!(kind, DataType::Dictionary(..))
}

/// Whether a dictionary's type of keys holds less than many rows may need.
fn has_few_keys(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(keys, _) => keys.primitive_width().is_some_and(|width| width < 4),
        _ => false,
    }
}

/// Passes the rows of a spool, some at a time, to a function.
fn for_each_batch(
    spool: &mut PartialFile,
    name: &str,
    mut take: impl FnMut(RecordBatch) -> io::Result<()>,
) -> Result<(), Failure> {
    let name = name.to_owned();
    spool.read_back(|spool| {
        let mut each = || {
            while !spool.fill_buf()?.is_empty() {
                for rows in StreamReader::try_new(&mut *spool, None).map_err(of_arrow)? {
                    take(rows.map_err(of_arrow)?)?;
                }
            }
            Ok::<_, io::Error>(())
        };
        Ok(each().with_context(|| name.clone())?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, StringArray, UInt64Array};
    use arrow_schema::Field;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use std::collections::HashMap;
    use std::fs::{self, File};

    const FORMAT: ColumnFormat = ColumnFormat::Parquet;

    /// Rows with texts of so many bytes each.
    fn rows(numbers: std::ops::Range<u64>, bytes: usize) -> Arc<RecordBatch> {
        let metadata = |of: &str| HashMap::from([("of".to_owned(), of.to_owned())]);
        let field = |name: &str, kind| Field::new(name, kind, false).with_metadata(metadata(name));
        let fields = vec![field("n", DataType::UInt64), field("text", DataType::Utf8)];
        let schema = Schema::new_with_metadata(fields, metadata("all"));
        let texts = numbers.clone().map(|number| format!("{number}{}", "x".repeat(bytes)));
        let texts: ArrayRef = Arc::new(texts.map(Some).collect::<StringArray>());
        let numbers: ArrayRef = Arc::new(numbers.collect::<UInt64Array>());
        let rows = RecordBatch::try_new(Arc::new(schema), vec![numbers, texts]);
        Arc::new(rows.expect("rows of these columns"))
    }

    /// Keeps every row but one of ten.
    fn keep(kept: &mut KeptRows, batch: &Arc<RecordBatch>) {
        assert!(kept.begin_table(&batch.schema()).is_ok());
        for row in (0..batch.num_rows()).filter(|row| row % 10 != 3) {
            assert!(kept.write(batch, row, None).is_ok());
        }
    }

    /// The columns of a file, the numbers of its rows, and the rows of each row group.
    fn read(path: &Path) -> (SchemaRef, Vec<u64>, Vec<i64>) {
        let file = File::open(path).expect("a file");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
        let schema = Arc::clone(reader.schema());
        let groups = reader.metadata().row_groups().iter();
        let groups = groups.map(|group| group.num_rows()).collect();
        let mut numbers = Vec::new();
        for batch in reader.build().expect("a reader") {
            let batch = batch.expect("rows");
            let column = batch.column(0).as_any().downcast_ref::<UInt64Array>();
            numbers.extend(column.expect("numbers").values());
        }
        (schema, numbers, groups)
    }

    #[test]
    fn a_spool_that_became_the_output_is_a_spool_again_if_the_run_was_killed_before_its_commit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.parquet");
        let [first, second] = [rows(0..100, 1 << 16), rows(100..200, 1 << 16)];
        let mut kept = KeptRows::create(&path, FORMAT).ok().expect("created");
        keep(&mut kept, &first);
        let content = kept.sync().ok().expect("synced");
        keep(&mut kept, &second);
        let whole = kept.seal().ok().expect("sealed");
        drop(kept);
        let names = || {
            let found = fs::read_dir(&folder).expect("a folder");
            found.map(|found| found.expect("a name").file_name()).collect::<Vec<_>>()
        };
        assert_eq!(names(), ["out.parquet.part"]);
        let mut kept = KeptRows::resume(&path, FORMAT, content).ok().flatten().expect("resumed");
        assert_eq!(kept.schema, Some(first.schema()));
        keep(&mut kept, &second);
        assert_eq!(kept.seal().ok(), Some(whole));
        assert!(kept.finish().is_ok());
        assert_eq!(names(), ["out.parquet"]);
        let (schema, numbers, groups) = read(&path);
        assert_eq!(schema, first.schema());
        assert!(numbers.into_iter().eq((0..200).filter(|number| number % 10 != 3)));
        assert_eq!(groups, [90, 90]);
    }

    #[test]
    fn many_rows_of_one_commit_become_row_groups_of_some_megabytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.parquet");
        let mut kept = KeptRows::create(&path, FORMAT).ok().expect("created");
        for first in (0..60).step_by(10) {
            keep(&mut kept, &rows(first..first + 10, 1 << 20));
        }
        assert!(kept.finish().is_ok());
        let (_, numbers, groups) = read(&path);
        assert!(numbers.into_iter().eq((0..60).filter(|number| number % 10 != 3)));
        assert_eq!(groups, [18, 18, 18]);
    }
}
