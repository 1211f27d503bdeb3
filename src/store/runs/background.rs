//! The next step of merging, prepared on another thread while the writer goes on.

use crate::error::Result;
use crate::store::bytes::schema::Table;
use crate::store::engine::lock;
use crate::store::read::view::Fixed;
use crate::store::runs::merge::{Prepared, prepare_all};
use crate::store::state::State;
use crate::store::storage_error::{damaged, guard};
use redb::ReadOnlyTable;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

/// At most one step that is being prepared, or waits to be written.
#[derive(Default)]
pub(crate) struct Ahead {
    pending: Mutex<Option<JoinHandle<Result<Prepared>>>>,
}

impl Ahead {
    /// Starts preparing, unless something waits already. `postings` is the table as of `state`.
    pub(crate) fn start(
        &self,
        postings: ReadOnlyTable<u64, &'static [u8]>,
        fixed: Fixed<'_>,
        state: Arc<State>,
        budget: u64,
    ) {
        let mut pending = lock(&self.pending);
        if pending.is_some() {
            return;
        }
        let path = fixed.path.to_owned();
        let Fixed { layout, lanes, id_key, texts, .. } = fixed;
        let prepare = move || {
            let fixed = Fixed { path: &path, layout, lanes, id_key, texts };
            guard(&path, || prepare_all(fixed, &postings, &state, budget))
        };
        // Without a thread the writer prepares the step itself.
        *pending = Builder::new().name("twindex merge".into()).spawn(prepare).ok();
    }

    /// What was prepared, waiting for it if need be; nothing if nothing was started. It may be for
    /// a place that the merge has left, as what an aborted transaction took, which its parts tell.
    pub(crate) fn take(&self, path: &Path) -> Result<Prepared> {
        let Some(pending) = lock(&self.pending).take() else { return Ok(Prepared::new()) };
        let ended = "the thread that merges has ended";
        pending.join().unwrap_or_else(|_| Err(damaged(path, Table::Postings, "all", ended)))
    }
}
