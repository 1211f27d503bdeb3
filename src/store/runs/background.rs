//! Prepares the next merge step on another thread while the writer goes on.

use crate::error::{Error, Result, panic_text};
use crate::store::lock::lock;
use crate::store::read::fixed::Fixed;
use crate::store::runs::merges::{PreparedSteps, prepare_all};
use crate::store::state::State;
use crate::store::storage_error::guard;
use redb::ReadOnlyTable;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

/// At most one merge step: in preparation, or prepared and waiting for the writer.
#[derive(Default)]
pub(crate) struct BackgroundMerge {
    pending: Mutex<Option<JoinHandle<Result<PreparedSteps>>>>,
}

impl BackgroundMerge {
    /// Starts to prepare a step, unless one is pending. `postings` is the table as of `state`.
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
        let Fixed { layout, lanes, id_key, texts, filter_bytes, .. } = fixed;
        let prepare = move || {
            let fixed = Fixed { path: &path, layout, lanes, id_key, texts, filter_bytes };
            guard(&path, || prepare_all(fixed, &postings, &state, budget))
        };
        // If no thread can be started, the writer prepares the step itself.
        *pending = Builder::new().name("twindex merge".into()).spawn(prepare).ok();
    }

    /// Takes the prepared step and waits for it if necessary. Empty if no step was started.
    ///
    /// The merge may have moved on since the step began, or an aborted transaction may have taken
    /// an earlier step. [`BandStep`](super::merge::BandStep) says where it fits.
    pub(crate) fn take(&self, path: &Path) -> Result<PreparedSteps> {
        let Some(pending) = lock(&self.pending).take() else { return Ok(PreparedSteps::new()) };
        pending.join().unwrap_or_else(|panic| {
            let detail = panic_text(&*panic).to_owned();
            Err(Error::Panicked { path: path.to_owned(), detail })
        })
    }
}
