//! Rows that Python gives, one batch after the other: tables that speak Arrow, Hugging Face
//! datasets, and iterables of texts, of pairs (id, text) and of dicts.

use crate::arrow::{ArrowInput, Batch};
use crate::content::unless_stopped;
use crate::error::invalid;
use crate::row::{BYTES, Cell, Kind, Names, python_cells};
use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyIterator, PyString};
use rayon::prelude::*;
use std::borrow::Cow;
use std::fmt::Display;
use twindex::{Document, Settings, Signature, Sketcher};
use twindex_columns::{ContentColumn, IdColumn, SignatureColumn};

/// The rows of one batch, at most, unless the caller wants fewer: what is sketched together.
const ROWS: usize = 4096;

/// Rows that are read once, from the first to the last.
pub(crate) struct Rows {
    source: Source,
    names: Names,
    /// The number of rows that were returned.
    read: u64,
    /// The rows of a batch, at most.
    most: usize,
    /// What ended the rows early, after those that were returned.
    failed: Option<PyErr>,
    /// The number of all rows, if the input knows it.
    pub(crate) total: Option<usize>,
}

enum Source {
    Arrow {
        input: ArrowInput,
        batch: Option<(Batch, usize)>,
    },
    /// An iterator of tables.
    Tables {
        tables: Py<PyIterator>,
        batch: Option<(Batch, usize)>,
        input: Option<ArrowInput>,
    },
    Python(Py<PyIterator>),
}

/// Some rows: the number of the first, counted from 0, and what they hold.
pub(crate) struct RowBatch {
    pub(crate) first: u64,
    cells: Cells,
}

enum Cells {
    Arrow(Box<Columns>),
    Python(Vec<(Option<PyBackedStr>, Cell)>),
}

/// The columns of a table that are wanted.
struct Columns {
    ids: Option<IdColumn>,
    /// Whether a null id is an error.
    id_needed: bool,
    contents: Contents,
    rows: usize,
    /// The rows that are null as a whole.
    nulls: Option<NullBuffer>,
}

enum Contents {
    Documents(ContentColumn),
    Signatures(SignatureColumn),
}

/// Whether this is a dataset of Hugging Face that makes its rows by a function of the caller. As
/// Arrow it would give those that the function is made for.
fn has_transform(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Some(format) = data.getattr_opt("format")? else { return Ok(false) };
    let Ok(format) = format.cast::<PyDict>() else { return Ok(false) };
    format.get_item("type")?.map_or(Ok(false), |kind| kind.eq("custom"))
}

impl Rows {
    pub(crate) fn new(data: &Bound<'_, PyAny>, names: Names) -> PyResult<Self> {
        if data.is_instance_of::<PyString>() || data.is_instance_of::<PyDict>() {
            let got = data.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "expected a table or an iterable of rows, not a single {got}"
            )));
        }
        let wanted = wanted_columns(data, &names)?;
        let input = if has_transform(data)? {
            None
        } else {
            ArrowInput::new(wanted.as_ref().unwrap_or(data))?
        };
        let source = match input {
            Some(input) => Source::Arrow { input, batch: None },
            None if has_transform(data)? => Source::Python(iterator(data)?),
            None if data.hasattr("with_format")? && data.hasattr("iter")? => {
                let arrow = data.call_method1("with_format", ("arrow",))?;
                let tables = arrow.call_method1("iter", (ROWS,))?.try_iter()?.unbind();
                Source::Tables { tables, batch: None, input: None }
            }
            None => Source::Python(iterator(data)?),
        };
        let total = match data.len() {
            Ok(total) => Some(total),
            Err(error) => unless_stopped(data.py(), error).map(|()| None)?,
        };
        Ok(Self { source, names, read: 0, most: ROWS, failed: None, total })
    }

    /// The rows, in batches that end where a commit is due after every so many.
    pub(crate) fn for_commits_of(self, every: usize) -> Self {
        let batches = every.div_ceil(ROWS).max(1);
        Self { most: every.div_ceil(batches).max(1), ..self }
    }

    /// What ended the rows early and was not raised yet.
    pub(crate) fn take_failed(&mut self) -> Option<PyErr> {
        self.failed.take()
    }

    /// The next rows; `None` at the end.
    pub(crate) fn next(&mut self, py: Python<'_>, kind: Kind) -> PyResult<Option<RowBatch>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let first = self.read;
        let cells = match &mut self.source {
            Source::Arrow { input, batch } => {
                // The producer may need the interpreter, and may take long.
                let slice = py.detach(|| next_slice(input, batch, self.most))?;
                slice.map(|slice| arrow_cells(&slice, &self.names, kind)).transpose()?
            }
            Source::Tables { tables, batch, input } => loop {
                if let Some(input) = input
                    && let Some(slice) = py.detach(|| next_slice(input, batch, self.most))?
                {
                    break Some(arrow_cells(&slice, &self.names, kind)?);
                }
                let Some(table) = tables.bind(py).clone().next() else { break None };
                *input = ArrowInput::new(&table?)?;
            },
            Source::Python(rows) => {
                let mut cells = Vec::new();
                let read =
                    python_cells(rows.bind(py), &self.names, kind, (first, self.most), &mut cells);
                match (read, cells.is_empty()) {
                    (Ok(()), true) => None,
                    (Ok(()), false) => Some(Cells::Python(cells)),
                    (Err(error), true) => return Err(error),
                    (Err(error), false) => {
                        self.failed = Some(error);
                        Some(Cells::Python(cells))
                    }
                }
            }
        };
        let Some(cells) = cells else { return Ok(None) };
        let batch = RowBatch { first, cells };
        self.read += batch.len() as u64;
        Ok(Some(batch))
    }
}

/// The columns of a frame of polars that are read, if they are there. Other columns may be of types
/// that cannot be read.
fn wanted_columns<'py>(
    data: &Bound<'py, PyAny>,
    names: &Names,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let module = data.get_type().module()?;
    if !module.to_str()?.starts_with("polars.dataframe") {
        return Ok(None);
    }
    let columns: Vec<String> = data.getattr("columns")?.extract()?;
    let mut wanted: Vec<_> = names.id.iter().chain([&names.content]).collect();
    wanted.retain(|name| columns.contains(name));
    wanted.dedup();
    if wanted.contains(&&names.content) {
        data.call_method1("select", (wanted,)).map(Some)
    } else {
        Ok(None)
    }
}

/// An iterator of rows.
fn iterator(data: &Bound<'_, PyAny>) -> PyResult<Py<PyIterator>> {
    if !data.hasattr("__iter__")? && data.hasattr("collect")? {
        let got = data.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "expected a table or an iterable of rows, got {got}, whose rows are not computed yet: \
             collect() it first"
        )));
    }
    Ok(data.try_iter()?.unbind())
}

fn next_slice(
    input: &mut ArrowInput,
    current: &mut Option<(Batch, usize)>,
    most: usize,
) -> PyResult<Option<Batch>> {
    loop {
        if let Some((batch, at)) = current
            && *at < batch.len()
        {
            let rows = most.min(batch.len() - *at).min(batch.rows_of(BYTES));
            let slice = batch.slice(*at, rows);
            *at += rows;
            return Ok(Some(slice));
        }
        match input.next()? {
            Some(batch) => *current = Some((batch, 0)),
            None => return Ok(None),
        }
    }
}

fn bad_column(name: &str, error: &impl Display) -> PyErr {
    invalid(format!("column {name:?} {error}"))
}

/// A column of signatures.
pub(crate) fn signature_column(name: &str, array: &ArrayRef) -> PyResult<SignatureColumn> {
    SignatureColumn::new(array).map_err(|error| bad_column(name, &error))
}

fn arrow_cells(batch: &Batch, names: &Names, kind: Kind) -> PyResult<Cells> {
    for name in names.id.iter().chain([&names.content]) {
        if batch.has_several(name) {
            let all = batch.names();
            return Err(invalid(format!("several columns {name:?}: there are {all}")));
        }
    }
    let array = match batch.column(&names.content) {
        None => batch.array().clone(),
        Some(Some(column)) => column,
        Some(None) => return Err(no_column(&names.content, batch)),
    };
    let contents = match kind {
        Kind::Contents | Kind::Weights => Contents::Documents(
            ContentColumn::new(&array).map_err(|error| bad_column(&names.content, &error))?,
        ),
        Kind::Signatures => Contents::Signatures(signature_column(&names.content, &array)?),
    };
    let ids = match &names.id {
        None => None,
        Some(name) => match batch.column(name).flatten() {
            Some(column) => Some(IdColumn::new(&column).map_err(|error| bad_column(name, &error))?),
            None if names.id_needed => return Err(no_column(name, batch)),
            None => None,
        },
    };
    let (rows, nulls) = (batch.len(), batch.nulls());
    let id_needed = names.id_needed;
    Ok(Cells::Arrow(Box::new(Columns { ids, id_needed, contents, rows, nulls })))
}

fn no_column(name: &str, batch: &Batch) -> PyErr {
    match batch.names().as_str() {
        "" => invalid(format!("a single column has no column {name:?}: give a table")),
        names => invalid(format!("no column {name:?}: there are {names}")),
    }
}

/// A row that is no document: its number, counted from 0, and why.
pub(crate) struct BadRow {
    number: u64,
    why: String,
}

impl BadRow {
    pub(crate) fn raise(&self) -> PyErr {
        invalid(format!("row {}, counted from 0: {}", self.number, self.why))
    }
}

impl RowBatch {
    /// The ids that the rows give; `None` for a row without one.
    pub(crate) fn given_ids(&self) -> Vec<Option<String>> {
        match &self.cells {
            Cells::Arrow(columns) => (0..columns.rows)
                .map(|row| columns.ids.as_ref()?.get(row).ok()?.map(Cow::into_owned))
                .collect(),
            Cells::Python(cells) => {
                cells.iter().map(|(id, _)| id.as_ref().map(|id| id.to_string())).collect()
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.cells {
            Cells::Arrow(columns) => columns.rows,
            Cells::Python(cells) => cells.len(),
        }
    }

    /// The documents of the rows, in order, up to the first bad row. Rows without an id give
    /// documents without one. If asked for, all are named by their numbers.
    pub(crate) fn documents(
        &self,
        sketcher: &Sketcher,
        settings: &Settings,
        numbered: bool,
    ) -> (Vec<Document>, Option<BadRow>) {
        let document = |row: usize| {
            let number = self.first + row as u64;
            let made = self.document(row, number, sketcher, settings, numbered);
            made.map_err(|why| BadRow { number, why })
        };
        let made: Vec<Result<Document, BadRow>> =
            (0..self.len()).into_par_iter().map(document).collect();
        let mut documents = Vec::with_capacity(made.len());
        for document in made {
            match document {
                Ok(document) => documents.push(document),
                Err(bad) => return (documents, Some(bad)),
            }
        }
        (documents, None)
    }

    fn document(
        &self,
        row: usize,
        number: u64,
        sketcher: &Sketcher,
        settings: &Settings,
        numbered: bool,
    ) -> Result<Document, String> {
        let (id, document) = match &self.cells {
            Cells::Arrow(columns) => {
                if columns.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                    return Err("the row is null".into());
                }
                let id = match &columns.ids {
                    Some(ids) => ids.get(row)?,
                    None => None,
                };
                if id.is_none() && columns.id_needed {
                    return Err("the id is null".into());
                }
                let document = match &columns.contents {
                    Contents::Documents(contents) => {
                        let content = contents.get(row)?.ok_or(
                            "the text is null; leave such rows out, or fill in an empty text",
                        )?;
                        Document::prepare("?", content.content(), sketcher, settings)
                    }
                    Contents::Signatures(signatures) => {
                        let bytes = signatures.get(row).ok_or("the signature is null")?;
                        Document::from_signature("?", signature_of(bytes)?)
                    }
                };
                (id, document)
            }
            Cells::Python(cells) => {
                let Some((id, cell)) = cells.get(row) else { return Err("no such row".into()) };
                let document = match cell {
                    Cell::Content(given) => {
                        Document::prepare("?", given.content(), sketcher, settings)
                    }
                    Cell::Signature(bytes) => Document::from_signature("?", signature_of(bytes)?),
                };
                (id.as_ref().map(|id| Cow::Borrowed(&**id)), document)
            }
        };
        let document = document.map_err(|error| error.with_causes())?;
        let named = match id {
            _ if numbered => document.with_id(number.to_string()),
            Some(id) => document.with_id(id),
            None => Ok(document.without_id()),
        };
        named.map_err(|error| error.with_causes())
    }
}

/// The signature with these bytes: a byte for each lane, and four for the size of the set.
pub(crate) fn signature_of(bytes: &[u8]) -> Result<Signature, String> {
    let wrong = || {
        format!(
            "{} bytes are no signature, which has a byte for each lane and 4 for the size",
            bytes.len()
        )
    };
    Signature::from_bytes(bytes).ok_or_else(wrong)
}
