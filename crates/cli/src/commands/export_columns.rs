//! An export as a table by columns, for other programs. `import` reads JSON Lines.

use crate::run::column_format::ColumnFormat;
use crate::run::columns_file::{BATCH_BYTES, BATCH_ROWS, ColumnWriter};
use crate::run::results_file::ResultsFile;
use arrow_array::builder::{
    FixedSizeBinaryBuilder, StringBuilder, TimestampMicrosecondBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use twindex::{Document, Signature, Snapshot};

/// Documents on their way to a file.
pub(crate) struct DocumentTable {
    writer: ColumnWriter<ResultsFile>,
    schema: SchemaRef,
    rows: usize,
    /// The bytes of the texts in the batch.
    bytes: usize,
    ids: StringBuilder,
    set_sizes: UInt64Builder,
    signatures: FixedSizeBinaryBuilder,
    text_bytes: UInt64Builder,
    text_hashes: StringBuilder,
    inserted: TimestampMicrosecondBuilder,
    texts: Option<StringBuilder>,
}

impl DocumentTable {
    /// Begins a file with the documents of a snapshot. `settings` is the first line of an export.
    pub(crate) fn new(
        format: ColumnFormat,
        file: ResultsFile,
        snapshot: &Snapshot,
        settings: String,
    ) -> io::Result<Self> {
        let width = signature_bytes(snapshot)?;
        let column = |name: &str, kind| Field::new(name, kind, false);
        let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        let has_texts = snapshot.settings().store_text;
        let mut fields = vec![
            column("id", DataType::Utf8),
            column("set_size", DataType::UInt64),
            column("signature", DataType::FixedSizeBinary(width)),
            column("text_bytes", DataType::UInt64),
            column("text_hash", DataType::Utf8),
            Field::new("inserted", time.clone(), true),
        ];
        fields.extend(has_texts.then(|| Field::new("text", DataType::Utf8, true)));
        let metadata = HashMap::from([("twindex_export".to_owned(), settings)]);
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        Ok(Self {
            writer: ColumnWriter::new(format, file, &schema)?,
            schema,
            rows: 0,
            bytes: 0,
            ids: StringBuilder::new(),
            set_sizes: UInt64Builder::new(),
            signatures: FixedSizeBinaryBuilder::new(width),
            text_bytes: UInt64Builder::new(),
            text_hashes: StringBuilder::new(),
            inserted: TimestampMicrosecondBuilder::new().with_data_type(time),
            texts: has_texts.then(StringBuilder::new),
        })
    }

    /// Adds a document.
    pub(crate) fn add(&mut self, document: &Document) -> anyhow::Result<()> {
        let signature = document.signature();
        self.ids.append_value(document.id());
        self.set_sizes.append_value(signature.set_size().estimate() as u64);
        self.signatures.append_value(bytes_of(signature))?;
        self.text_bytes.append_value(document.text_bytes());
        self.text_hashes.append_value(document.text_hash().to_string());
        let micros = document.inserted().map(|time| match time.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |m| -m),
        });
        self.inserted.append_option(micros);
        if let Some(texts) = &mut self.texts {
            let weights = document.weights()?.map(|weights| weights.to_export());
            let text = document.text().or(weights.as_deref());
            self.bytes += text.map_or(0, str::len);
            texts.append_option(text);
        }
        self.rows += 1;
        if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        (self.rows, self.bytes) = (0, 0);
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.ids.finish()),
            Arc::new(self.set_sizes.finish()),
            Arc::new(self.signatures.finish()),
            Arc::new(self.text_bytes.finish()),
            Arc::new(self.text_hashes.finish()),
            Arc::new(self.inserted.finish()),
        ];
        if let Some(texts) = &mut self.texts {
            columns.push(Arc::new(texts.finish()));
        }
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        self.writer.write(&rows.map_err(io::Error::other)?)
    }

    /// Completes the table; its file has no name yet.
    pub(crate) fn finish(mut self) -> io::Result<ResultsFile> {
        self.flush()?;
        self.writer.finish()
    }
}

/// The lanes of a signature and its packed set size, little-endian: as the Python package takes it.
fn bytes_of(signature: &Signature) -> Vec<u8> {
    [signature.lanes(), &signature.set_size().pack().to_le_bytes()].concat()
}

/// The number of bytes of a signature of an index.
fn signature_bytes(snapshot: &Snapshot) -> io::Result<i32> {
    let empty = Signature::empty(snapshot.settings().lanes()).map_err(io::Error::other)?;
    i32::try_from(bytes_of(&empty).len()).map_err(io::Error::other)
}
