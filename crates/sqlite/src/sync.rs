//! `twindex_sync(path, 'SELECT id, text ...')`: makes an index follow the rows of a query.
#![expect(unsafe_code, reason = "a function runs a query on the connection that called it")]

use crate::error::{failure, guarded_here, of_library, of_query};
use crate::values::text;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result, Statement};
use std::fmt::Display;
use std::panic::resume_unwind;
#[cfg(unix)]
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;
use twindex::{Index, SyncRun, Weights, with_threads};

/// How long it waits for another process that writes to the index.
const WAIT: Duration = Duration::from_secs(5);

/// The rows that are compared with the index at once, and the bytes after which fewer are.
const ROWS: usize = 8 << 10;
const BYTES: usize = 4 << 20;

pub(crate) fn register(db: &Connection) -> Result<()> {
    // It writes files and runs SQL: views and triggers of a stranger's database must not use it.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    db.create_scalar_function(c"twindex_sync", 2, flags, |context| guarded_here(|| sync(context)))
}

fn sync(context: &Context<'_>) -> Result<String> {
    let path = text(context.get_raw(0), "the path")?;
    let path = path.ok_or_else(|| failure("twindex_sync: the path is NULL"))?;
    let sql = text(context.get_raw(1), "the query")?;
    let sql = sql.ok_or_else(|| failure("twindex_sync: the query is NULL"))?;
    if sql.contains('\0') {
        return Err(failure("twindex_sync: the query holds a NUL, where SQLite would end it"));
    }
    // SAFETY: the connection is used during this call only, on its thread.
    let db = unsafe { context.get_connection() }?;
    let mut select = db.prepare(&sql).map_err(of_query)?;
    let columns = select.column_count();
    if !select.readonly() {
        return Err(failure("twindex_sync: the query changes the database; expected a SELECT"));
    }
    if columns != 2 {
        return Err(failure(format!(
            "twindex_sync: expected a query of two columns, the id and the text, \
             such as SELECT id, text FROM documents; got {columns} columns"
        )));
    }
    #[cfg(unix)]
    crate::databases::refuse_database(Path::new(&*path))?;
    // The rows are read by this thread, which has locked the connection; the index may be worked on
    // by others.
    let index = with_threads(|| Index::options().wait(WAIT).open_or_create(&*path));
    let index = index.map_err(of_library)?;
    let mut txn = with_threads(|| index.begin_write()).map_err(of_library)?;
    let weighted = index.settings().weighted;
    let mut as_text = db.prepare("SELECT CAST(?1 AS TEXT)").map_err(of_query)?;
    let (run, left_out) = follow((&mut select, &mut as_text), txn.sync(), weighted)?;
    let synced = with_threads(|| run.finish()).map_err(of_library)?;
    with_threads(|| txn.commit()).map_err(of_library)?;
    // What is in memory goes into sorted runs, so that the next opening does not read it again.
    // An error changes nothing of what was committed.
    let _ = with_threads(|| index.close());
    Ok(format!(
        "{{\"added\":{},\"replaced\":{},\"unchanged\":{},\"removed\":{},\"left_out\":{left_out}}}",
        synced.added, synced.replaced, synced.unchanged, synced.removed
    ))
}

/// Gives all rows of the query to the index, which compares a batch of them on another thread while
/// the next one is read. `as_text` makes ids of real numbers. Returns the run, and how many rows
/// have a NULL and were left out.
fn follow<'t>(
    (select, as_text): (&mut Statement<'_>, &mut Statement<'_>),
    mut run: SyncRun<'t>,
    weighted: bool,
) -> Result<(SyncRun<'t>, u64)> {
    let (send, batches) = sync_channel::<Batch>(1);
    thread::scope(|scope| {
        let compare = move || -> Result<SyncRun<'t>> {
            batches.iter().try_for_each(|batch| compare(&mut run, &batch, weighted))?;
            Ok(run)
        };
        let compare = || with_threads(compare);
        let compared = thread::Builder::new().name("twindex_sync".into());
        let compared = compared.spawn_scoped(scope, compare);
        let compared = compared.map_err(|error| failure(format!("no thread: {error}")))?;
        let read = read(select, as_text, &send);
        drop(send);
        let compared = compared.join().unwrap_or_else(|panic| resume_unwind(panic));
        let left_out = read?;
        Ok((compared?, left_out))
    })
}

/// Gives a batch to the index.
fn compare(run: &mut SyncRun<'_>, batch: &Batch, weighted: bool) -> Result<()> {
    let rows = batch.rows();
    if !weighted {
        return run.contents(&rows).map_err(|error| batch.error(error));
    }
    let weights = |(id, text)| match Weights::from_export(text) {
        Ok(weights) => Ok((id, weights)),
        Err(error) => Err(failure(format!("id {id}: {}", error.with_causes()))),
    };
    let rows = rows.into_iter().map(weights).collect::<Result<Vec<_>>>()?;
    run.contents(&rows).map_err(|error| batch.error(error))
}

/// Sends the rows in batches. Returns how many were left out.
fn read(
    select: &mut Statement<'_>,
    as_text: &mut Statement<'_>,
    send: &SyncSender<Batch>,
) -> Result<u64> {
    let (mut batch, mut left_out, mut number) = (Batch::default(), 0, 0);
    let mut rows = select.query([]).map_err(of_query)?;
    while let Some(row) = rows.next().map_err(of_query)? {
        number += 1;
        let id = match row.get_ref(0)? {
            // The text of a number is that of this SQLite, so that joins find it.
            ValueRef::Real(number) => {
                let id: String = as_text.query_row([number], |row| row.get(0)).map_err(of_query)?;
                Some(id.into())
            }
            value => text(value, "the id").map_err(|error| of_row(number, error))?,
        };
        let Some(id) = id else {
            left_out += 1;
            continue;
        };
        let content = text(row.get_ref(1)?, "the text");
        let content = content.map_err(|error| failure(format!("id {id}: {error}")))?;
        let Some(content) = content else {
            left_out += 1;
            continue;
        };
        batch.push(number, &id, &content);
        if batch.rows.len() >= ROWS || batch.text.len() >= BYTES {
            // Nobody listens any more if the comparison has failed, which the caller finds.
            if send.send(std::mem::take(&mut batch)).is_err() {
                return Ok(left_out);
            }
        }
    }
    // As above.
    let _ = send.send(batch);
    Ok(left_out)
}

/// What is wrong with a row that cannot be named by its id.
fn of_row(number: u64, what: impl Display) -> Error {
    failure(format!("row {number} of the query: {what}"))
}

/// Rows of a query, in one piece of memory.
#[derive(Default)]
struct Batch {
    text: String,
    rows: Vec<Row>,
}

/// Where a row is.
struct Row {
    /// Its number among all rows of the query, from 1.
    number: u64,
    id_end: usize,
    content_end: usize,
}

impl Batch {
    fn push(&mut self, number: u64, id: &str, content: &str) {
        self.text.push_str(id);
        let id_end = self.text.len();
        self.text.push_str(content);
        self.rows.push(Row { number, id_end, content_end: self.text.len() });
    }

    /// The id and the content of each row.
    fn rows(&self) -> Vec<(&str, &str)> {
        let mut start = 0;
        let row = |row: &Row| {
            let (id, content) = (start..row.id_end, row.id_end..row.content_end);
            start = row.content_end;
            (&self.text[id], &self.text[content])
        };
        self.rows.iter().map(row).collect()
    }

    /// An error of the library. Its batches are none of the query.
    fn error(&self, error: twindex::Error) -> Error {
        if let twindex::Error::RefusedDocument { place, id, source, .. } = &error
            && id.is_empty()
            && let Some(row) = self.rows.get(*place)
        {
            return of_row(row.number, source.with_causes());
        }
        of_library(error)
    }
}
