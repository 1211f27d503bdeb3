//! Results as a table by columns.

use crate::run::column_format::ColumnFormat;
use crate::run::columns_file::{BATCH_BYTES, BATCH_ROWS, ColumnWriter};
use crate::run::failure::Failure;
use crate::run::results_file::ResultsFile;
use crate::run::results_table::{Column, Kind};
use crate::terminal::output::ResultsSink;
use anyhow::Context;
use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, ListBuilder, StringBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde_json::Value;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Results as a table by columns.
pub struct Table {
    writer: ColumnWriter<ResultsFile>,
    schema: SchemaRef,
    columns: Vec<(Column, Builder)>,
    rows: usize,
    /// The bytes of the texts in the batch.
    bytes: usize,
}

enum Builder {
    Text(StringBuilder),
    Number(Float64Builder),
    Count(UInt64Builder),
    Flag(BooleanBuilder),
    Texts(ListBuilder<StringBuilder>),
}

impl Table {
    /// Begins a file with these columns.
    pub fn new(
        path: &Path,
        format: ColumnFormat,
        file: ResultsFile,
        columns: &[Column],
    ) -> Result<Self, Failure> {
        let fields = columns.iter().map(|(name, kind)| Field::new(*name, kind.data_type(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let writer = ColumnWriter::new(format, file, &schema);
        let writer = writer.with_context(|| path.display().to_string())?;
        let columns = columns.iter().map(|column| (*column, column.1.builder())).collect();
        Ok(Self { writer, schema, columns, rows: 0, bytes: 0 })
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        (self.rows, self.bytes) = (0, 0);
        let columns = self.columns.iter_mut().map(|(_, builder)| builder.finish()).collect();
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        self.writer.write(&rows.map_err(io::Error::other)?)
    }
}

/// The bytes of the texts of a value.
fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(text_bytes).sum(),
        _ => 0,
    }
}

impl ResultsSink for Table {
    fn row(&mut self, fields: &[(&str, Value)]) -> io::Result<()> {
        for ((name, _), builder) in &mut self.columns {
            let value = fields.iter().find(|(field, _)| field == name).map(|(_, value)| value);
            let value = value.unwrap_or(&Value::Null);
            self.bytes += text_bytes(value);
            builder.append(value);
        }
        self.rows += 1;
        if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES { self.flush() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.flush()?;
        self.writer.finish()?.finish()
    }
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            Self::Number => DataType::Float64,
            Self::Count => DataType::UInt64,
            Self::Flag => DataType::Boolean,
            Self::Texts => DataType::new_list(DataType::Utf8, true),
        }
    }

    fn builder(self) -> Builder {
        match self {
            Self::Text => Builder::Text(StringBuilder::new()),
            Self::Number => Builder::Number(Float64Builder::new()),
            Self::Count => Builder::Count(UInt64Builder::new()),
            Self::Flag => Builder::Flag(BooleanBuilder::new()),
            Self::Texts => Builder::Texts(ListBuilder::new(StringBuilder::new())),
        }
    }
}

impl Builder {
    fn append(&mut self, value: &Value) {
        match self {
            Self::Text(column) => column.append_option(value.as_str()),
            Self::Number(column) => column.append_option(value.as_f64()),
            Self::Count(column) => column.append_option(value.as_u64()),
            Self::Flag(column) => column.append_option(value.as_bool()),
            Self::Texts(column) => {
                let texts = value.as_array().map(Vec::as_slice).unwrap_or_default();
                texts.iter().for_each(|text| column.values().append_option(text.as_str()));
                column.append(true);
            }
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(column) => ArrayBuilder::finish(column),
            Self::Number(column) => ArrayBuilder::finish(column),
            Self::Count(column) => ArrayBuilder::finish(column),
            Self::Flag(column) => ArrayBuilder::finish(column),
            Self::Texts(column) => ArrayBuilder::finish(column),
        }
    }
}
