//! The rows of a table by columns, as records.

use super::arrow::{ArrowBatches, MAGIC};
use super::parquet::ParquetBatches;
use super::seekable::Seekable;
use crate::input::ahead::Ahead;
use crate::input::names::shortened;
use crate::input::record::{
    BadRecord, Body, Naming, RawRecord, Record, RecordName, TableHead, too_long,
};
use crate::input::text_form::TextForm;
use crate::input::wanted::{Head, Wanted};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use twindex::{Tokens, Weights};
use twindex_columns::{ContentColumn, IdColumn, NoContent, NoId, RowContent};

/// About how many bytes of texts are passed on at once, and the most rows.
const PIECE_BYTES: usize = 8 << 20;
const PIECE_ROWS: usize = 8192;

/// Where the wanted columns are.
pub(super) struct Selection {
    text: usize,
    id: Option<usize>,
}

impl Selection {
    /// Finds the wanted columns among all columns.
    pub(super) fn of(names: &[&str], wanted: &Wanted) -> Result<Self, String> {
        let find = |name: &str, option: &str| {
            let mut found = (0..names.len()).filter(|column| names.get(*column) == Some(&name));
            match (found.next(), found.next()) {
                (Some(_), Some(_)) => Err(format!("two columns are called `{name}`")),
                (Some(column), None) => Ok(column),
                (None, _) => Err(format!(
                    "no column `{name}`, but {}; name another with {option}",
                    shortened(names.iter().copied())
                )),
            }
        };
        let text = find(&wanted.text, "--text-field")?;
        let id = match &wanted.id {
            Some(id) if wanted.id_required || names.contains(&id.as_str()) => {
                Some(find(id, "--id-field")?)
            }
            _ => None,
        };
        Ok(Self { text, id })
    }

    /// The columns to decode, in their order.
    pub(super) fn read(&self) -> Vec<usize> {
        let mut columns: Vec<_> = self.id.into_iter().chain([self.text]).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

/// Some rows.
pub struct Piece {
    batch: Arc<RecordBatch>,
    ids: Option<IdColumn>,
    contents: ContentColumn,
    /// The number of the first row in the table, from 1.
    first: u64,
}

impl Piece {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// What a null is.
    fn empty(&self) -> Body<'_> {
        match self.contents {
            ContentColumn::Texts(_) => Body::Text(Cow::Borrowed("")),
            ContentColumn::Sets(..) => Body::Set(Tokens::default()),
            ContentColumn::Weights(..) => Body::Weights(Weights::default()),
        }
    }

    fn new(batch: RecordBatch, wanted: &Wanted, has_id: bool, first: u64) -> Result<Self, String> {
        let column = |name: &str| {
            let column = batch.column_by_name(name);
            column.ok_or_else(|| format!("lacks its column `{name}` in some rows"))
        };
        let contents = ContentColumn::new(column(&wanted.text)?);
        let contents =
            contents.map_err(|error: NoContent| format!("column `{}` {error}", wanted.text))?;
        let ids = match &wanted.id {
            Some(id) if has_id => {
                let ids = IdColumn::new(column(id)?);
                Some(ids.map_err(|NoId(kind)| {
                    format!(
                        "column `{id}` is of type {kind}: ids are strings or whole numbers; name \
                         another with --id-field, or say --id hash"
                    )
                })?)
            }
            _ => None,
        };
        Ok(Self { batch: Arc::new(batch), ids, contents, first })
    }
}

/// How the rows of a table become records.
#[derive(Debug)]
pub struct ColumnTable {
    /// The name of the table in messages.
    pub path: String,
    /// All its columns.
    pub schema: SchemaRef,
    /// Whether it is a stream of Arrow.
    pub is_stream: bool,
    wanted: Wanted,
    naming: Naming,
    most: usize,
    /// Whether the texts can be exchanged.
    form: TextForm,
}

impl ColumnTable {
    /// Its columns.
    pub fn head(&self) -> TableHead {
        TableHead::Columns(Arc::clone(&self.schema))
    }

    /// The record of a row.
    pub fn record<'p>(&self, piece: &'p Piece, row: usize) -> Result<Record<'p>, BadRecord> {
        let number = piece.first + row as u64;
        let place = format!("{}:{number}", self.path);
        let bad = |name: &str, cause: &str| BadRecord {
            place: place.clone(),
            cause: format!("column `{name}` is {cause}"),
        };
        let id_name = self.wanted.id.as_deref().unwrap_or_default();
        let id = match &piece.ids {
            Some(ids) => ids.get(row).map_err(|cause| bad(id_name, cause))?,
            None => None,
        };
        let name = match id {
            Some(id) => RecordName::Id(id.into_owned()),
            None => self.naming.name(number).ok_or_else(|| bad(id_name, "null"))?,
        };
        let content = piece.contents.get(row).map_err(|cause| bad(&self.wanted.text, &cause))?;
        if piece.contents.bytes(row) > self.most {
            return Err(BadRecord { place, cause: too_long(self.most) });
        }
        let body = match content {
            Some(RowContent::Text(text)) => Body::Text(Cow::Borrowed(text)),
            Some(RowContent::Tokens(tokens)) => Body::Set(tokens),
            Some(RowContent::Weights(weights)) => Body::Weights(weights),
            None => piece.empty(),
        };
        let raw = RawRecord::Columns { batch: &piece.batch, row };
        let form = self.form;
        Ok(Record { name, body, place, raw, form })
    }
}

/// The rows of a batch, cut so that the texts of each piece have about so many bytes: a value that
/// is stored once may stand in many rows.
fn cut(batch: RecordBatch, wanted: &Wanted) -> Vec<RecordBatch> {
    let contents = batch.column_by_name(&wanted.text).map(ContentColumn::new);
    let Some(Ok(contents)) = contents else { return vec![batch] };
    let (mut pieces, mut first, mut bytes) = (Vec::new(), 0, 0);
    for row in 0..batch.num_rows() {
        bytes += contents.bytes(row);
        if bytes >= PIECE_BYTES || row - first >= PIECE_ROWS || row + 1 == batch.num_rows() {
            pieces.push(batch.slice(first, row + 1 - first));
            (first, bytes) = (row + 1, 0);
        }
    }
    pieces
}

/// A table that is being read. Its rows are decoded on other threads.
pub struct Columns {
    /// How its rows become records.
    pub table: Arc<ColumnTable>,
    pieces: Ahead<Result<Piece, String>>,
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, String>> + Send>;

impl Columns {
    /// Begins to read Parquet.
    pub fn parquet(file: Seekable, head: &Head) -> Result<Self, BadRecord> {
        let opened = || {
            let (batches, schema, selection) = ParquetBatches::open(file, &head.wanted)?;
            let batches: Batches = Box::new(batches);
            Ok((batches, schema, selection))
        };
        Self::begin(head, false, opened)
    }

    /// Begins to read Arrow. `whole` is the input as a file that can be read at any place, if it is
    /// one.
    pub fn arrow(
        start: Vec<u8>,
        rest: Box<dyn Read + Send>,
        whole: Option<Seekable>,
        head: &Head,
    ) -> Result<Self, BadRecord> {
        let is_stream = !start.starts_with(MAGIC);
        let opened = || {
            let opened = ArrowBatches::open(start, rest, whole, &head.wanted)?;
            let (batches, schema, selection) = opened;
            let batches: Batches = Box::new(batches);
            Ok((batches, schema, selection))
        };
        Self::begin(head, is_stream, opened)
    }

    fn begin(
        head: &Head,
        is_stream: bool,
        open: impl FnOnce() -> Result<(Batches, SchemaRef, Selection), String>,
    ) -> Result<Self, BadRecord> {
        let bad = |cause| BadRecord { place: head.path.clone(), cause };
        let opened = unless_panicked(open).and_then(|opened| opened);
        let (mut batches, schema, selection) = opened.map_err(bad)?;
        let Head { path, wanted, naming, most } = head.clone();
        // The types of the columns are checked before any row is read.
        let empty = RecordBatch::new_empty(Arc::clone(&schema));
        let mut begun = Some(Piece::new(empty, &wanted, selection.id.is_some(), 1).map_err(bad)?);
        let kind = schema.field_with_name(&wanted.text).map(|field| field.data_type());
        let form = match kind {
            Ok(DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => TextForm::Column,
            _ => TextForm::Fixed,
        };
        let of_table = wanted.clone();
        let table = ColumnTable { path, schema, is_stream, wanted: of_table, naming, most, form };
        let (mut waiting, mut first, mut ended) = (VecDeque::new(), 1, false);
        let next = move || {
            if let Some(begun) = begun.take() {
                return Some(Ok(begun));
            }
            if ended {
                return None;
            }
            while waiting.is_empty() {
                let batch = unless_panicked(|| batches.next());
                match batch.unwrap_or_else(|panic| Some(Err(panic)))? {
                    Ok(batch) => waiting.extend(cut(batch, &wanted)),
                    Err(cause) => {
                        ended = true;
                        return Some(Err(cause));
                    }
                }
            }
            let batch = waiting.pop_front()?;
            let rows = batch.num_rows() as u64;
            let piece = Piece::new(batch, &wanted, selection.id.is_some(), first);
            first += rows;
            ended = piece.is_err();
            Some(piece)
        };
        let pieces = Ahead::start("decoder", next).map_err(|error| bad(error.to_string()))?;
        Ok(Self { table: Arc::new(table), pieces })
    }

    /// The next rows. The first ones are none, so that a table without rows is passed on too.
    pub fn next(&mut self) -> Result<Option<Piece>, String> {
        let next = self.pieces.next();
        if let Some(Err(_)) = next {
            // The other thread ends, and has counted the whole file then.
            self.pieces.by_ref().for_each(drop);
        }
        next.transpose()
    }
}

/// Calls a function of another library on data that nobody has checked. A panic is an error.
pub fn unless_panicked<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|_| "is damaged; its reader failed".to_owned())
}

/// What is wrong with a table, if its reader says that it does not know the type of a column.
pub(super) fn unread_type(cause: &str) -> Option<String> {
    let (_, said) = cause.split_once("Parser error: ")?;
    said.ends_with("not supported").then(|| {
        format!("has a column of a type that is not read: {said}; write it as another type first")
    })
}
