//! `twindex_sync(path, 'SELECT id, text ...')`: makes an index follow the rows of a query.
#![expect(unsafe_code, reason = "a function runs a query on the connection that called it")]

use crate::error::{failure, guarded, of_library};
use crate::values::text;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, Result, Statement};
use std::time::Duration;
use twindex::{Index, SyncRun};

/// How long it waits for another process that writes to the index.
const WAIT: Duration = Duration::from_secs(5);

/// The rows that are compared with the index at once, and the bytes after which fewer are.
const ROWS: usize = 4096;
const BYTES: usize = 16 << 20;

pub(crate) fn register(db: &Connection) -> Result<()> {
    // It writes files and runs SQL: views and triggers of a stranger's database must not use it.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    db.create_scalar_function(c"twindex_sync", 2, flags, |context| guarded(|| sync(context)))
}

fn sync(context: &Context<'_>) -> Result<String> {
    let path = text(context.get_raw(0), "the path")?;
    let path = path.ok_or_else(|| failure("twindex_sync: the path is NULL"))?;
    let sql = text(context.get_raw(1), "the query")?;
    let sql = sql.ok_or_else(|| failure("twindex_sync: the query is NULL"))?;
    // SAFETY: the connection is used during this call only, on its thread.
    let db = unsafe { context.get_connection() }?;
    let mut select = db.prepare(&sql)?;
    let columns = select.column_count();
    if !select.readonly() || columns != 2 {
        return Err(failure(format!(
            "twindex_sync: expected a query of two columns, the id and the text, \
             such as SELECT id, text FROM documents; got {columns} columns"
        )));
    }
    let index = Index::options().wait(WAIT).open_or_create(&*path).map_err(of_library)?;
    let mut txn = index.begin_write().map_err(of_library)?;
    let mut run = txn.sync();
    let left_out = follow(&mut select, &mut run)?;
    let synced = run.finish().map_err(of_library)?;
    txn.commit().map_err(of_library)?;
    Ok(format!(
        "{{\"added\":{},\"replaced\":{},\"unchanged\":{},\"removed\":{},\"left_out\":{left_out}}}",
        synced.added, synced.replaced, synced.unchanged, synced.removed
    ))
}

/// Gives all rows of the query to the index. Returns how many have a NULL and were left out.
fn follow(select: &mut Statement<'_>, run: &mut SyncRun<'_>) -> Result<u64> {
    let (mut batch, mut bytes, mut left_out) = (Vec::new(), 0, 0);
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let Some(id) = text(row.get_ref(0)?, "an id")? else {
            left_out += 1;
            continue;
        };
        let Some(content) = text(row.get_ref(1)?, &format!("the text of id {id}"))? else {
            left_out += 1;
            continue;
        };
        bytes += content.len();
        batch.push((id.into_owned(), content.into_owned()));
        if batch.len() >= ROWS || bytes >= BYTES {
            run.contents(&batch).map_err(of_library)?;
            (batch, bytes) = (Vec::new(), 0);
        }
    }
    run.contents(&batch).map_err(of_library)?;
    Ok(left_out)
}
