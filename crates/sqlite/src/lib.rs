//! twindex in SQL: a loadable extension of SQLite.
//!
//! `docs/embedding.md` has a tour. Table-valued functions read an index (`table` is what they have
//! in common), scalar functions compare texts, and `twindex_sync` makes an index follow a query.

mod clusters;
#[cfg(unix)]
mod databases;
mod error;
mod indexes;
mod pairs;
mod query;
mod scalars;
mod sync;
mod table;
mod values;

use indexes::Indexes;
use rusqlite::vtab::Module;
use rusqlite::{Connection, Result, ffi};
use std::ffi::{c_char, c_int};
use table::Table;

/// Where SQLite enters: `.load ./libtwindex_sqlite` or `load_extension('./libtwindex_sqlite')`.
///
/// # Safety
///
/// SQLite calls it, with a connection and its functions.
#[expect(unsafe_code, reason = "SQLite finds the function by its name and passes pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqlite3_extension_init(
    db: *mut ffi::sqlite3,
    message: *mut *mut c_char,
    api: *mut ffi::sqlite3_api_routines,
) -> c_int {
    // SAFETY: the pointers are those of SQLite, and `register` only registers.
    unsafe {
        if is_old(api) {
            // Nothing of `rusqlite` may be used, not even for a message.
            if let (Some(print), false) = ((*api).mprintf, message.is_null()) {
                *message = print(c"twindex needs SQLite 3.34.1 or newer".as_ptr());
            }
            return ffi::SQLITE_ERROR;
        }
        Connection::extension_init2(db, message, api, register)
    }
}

/// Whether SQLite is older than what `rusqlite` was made for.
#[expect(unsafe_code, reason = "SQLite passes its functions by pointer")]
unsafe fn is_old(api: *mut ffi::sqlite3_api_routines) -> bool {
    // SAFETY: the pointer is that of SQLite.
    let version = unsafe { api.as_ref().and_then(|api| api.libversion_number).map(|of| of()) };
    version.is_none_or(|version| version < ffi::SQLITE_VERSION_NUMBER)
}

fn register(db: Connection) -> Result<bool> {
    const QUERY: Module<'_, Table<query::Similar>> = Module::eponymous_only_module();
    const PAIRS: Module<'_, Table<pairs::AllPairs>> = Module::eponymous_only_module();
    const CLUSTERS: Module<'_, Table<clusters::AllClusters>> = Module::eponymous_only_module();
    error::silence_panics();
    let indexes = Indexes::default();
    db.create_module(c"twindex_query", &QUERY, Some(indexes.clone()))?;
    db.create_module(c"twindex_pairs", &PAIRS, Some(indexes.clone()))?;
    db.create_module(c"twindex_clusters", &CLUSTERS, Some(indexes))?;
    scalars::register(&db)?;
    sync::register(&db)?;
    // The threads of the library outlive the connection, so it is never unloaded.
    Ok(true)
}
