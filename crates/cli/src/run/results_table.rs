//! Results in a file instead of on standard output: a table by columns, or lines, by its name.

use crate::input::{STANDARD_INPUT, same_file};
use crate::run::columns_file::{ColumnFormat, ColumnWriter};
use crate::run::compressor::Compressor;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::results_file::ResultsFile;
use crate::terminal::escape::cell;
use crate::terminal::output::{Results, ResultsSink, json_line, plain};
use anyhow::{Context, anyhow};
use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, ListBuilder, StringBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The rows of a batch.
const ROWS: usize = 8192;

/// What a column of results holds.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Text,
    Number,
    Count,
    Flag,
    Texts,
}

/// A column of results: its name, and what it holds.
pub type Column = (&'static str, Kind);

/// Where results go.
#[derive(Debug, clap::Args)]
pub struct ResultsOption {
    /// Write the results to this file, which appears when it is complete: Parquet or Arrow if its
    /// name ends in .parquet or .arrow, tab-separated columns if in .tsv, else JSON Lines; text is
    /// compressed if the name ends in .gz or .zst [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ResultsOption {
    /// The file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Prepares to write results of an index with these columns. Neither the index nor an input may
    /// be the file.
    pub fn results(
        &self,
        global: &GlobalOptions,
        index: &Path,
        inputs: &[PathBuf],
        columns: &[Column],
    ) -> Result<Results, Failure> {
        let Some(path) = self.output.as_ref().filter(|path| path.as_os_str() != STANDARD_INPUT)
        else {
            return Ok(Results::new(global));
        };
        let name = path.display();
        if same_file(path, index) {
            return Err(anyhow!("{name}: it is the index itself; choose another file").into());
        }
        if inputs.iter().any(|input| same_file(path, input)) {
            return Err(anyhow!("{name}: is an input; write to another file").into());
        }
        refuse_packed(path)?;
        let file = ResultsFile::new(Some(path))?;
        let sink: Box<dyn ResultsSink> = match ColumnFormat::of(path) {
            Some(format) => Box::new(Table::new(path, format, file, columns)?),
            None => Box::new(Lines { file, tabs: is_named_tsv(path) }),
        };
        Ok(Results::to_file(sink))
    }
}

/// Fails if a file would be a table by columns that is compressed as a whole.
pub fn refuse_packed(path: &Path) -> Result<(), Failure> {
    if Compressor::of(path).is_some() && ColumnFormat::of(&path.with_extension("")).is_some() {
        let name = path.display();
        return Err(anyhow!("{name}: is compressed within; leave out its last extension").into());
    }
    Ok(())
}

fn is_named_tsv(path: &Path) -> bool {
    let packed = Compressor::of(path).is_some();
    let path = if packed { path.with_extension("") } else { path.to_owned() };
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"))
}

/// Results as lines.
struct Lines {
    file: ResultsFile,
    tabs: bool,
}

impl ResultsSink for Lines {
    fn row(&mut self, fields: &[(&str, Value)]) -> io::Result<()> {
        let line = match self.tabs {
            true => {
                let values = fields.iter().flat_map(|(_, value)| match value {
                    Value::Array(items) => items.as_slice(),
                    value => std::slice::from_ref(value),
                });
                values.map(|value| plain(value, cell)).collect::<Vec<_>>().join("\t") + "\n"
            }
            false => json_line(fields)?,
        };
        self.file.write_all(line.as_bytes())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.file.finish()
    }
}

/// Results as a table by columns.
struct Table {
    writer: ColumnWriter<ResultsFile>,
    schema: SchemaRef,
    columns: Vec<(Column, Builder)>,
    rows: usize,
}

enum Builder {
    Text(StringBuilder),
    Number(Float64Builder),
    Count(UInt64Builder),
    Flag(BooleanBuilder),
    Texts(ListBuilder<StringBuilder>),
}

impl Table {
    fn new(
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
        Ok(Self { writer, schema, columns, rows: 0 })
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let columns = self.columns.iter_mut().map(|(_, builder)| builder.finish()).collect();
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        self.writer.write(&rows.map_err(io::Error::other)?)
    }
}

impl ResultsSink for Table {
    fn row(&mut self, fields: &[(&str, Value)]) -> io::Result<()> {
        for ((name, _), builder) in &mut self.columns {
            let value = fields.iter().find(|(field, _)| field == name).map(|(_, value)| value);
            builder.append(value.unwrap_or(&Value::Null));
        }
        self.rows += 1;
        if self.rows >= ROWS { self.flush() } else { Ok(()) }
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
