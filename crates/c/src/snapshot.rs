//! Snapshots: the state of an index after one commit.

use crate::border::{call, free, needed, path, place, text};
use crate::care::{Progress, watch};
use crate::document::{Document, DocumentStruct};
use crate::error::ErrorHandle;
use crate::index::IndexHandle;
use crate::status::Status;
use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use twindex::Snapshot;

/// The state of an index after one commit. Later writes do not change it. It keeps the file open,
/// and the space of what was deleted since.
///
/// Threads: any number may use it at once.
pub struct SnapshotHandle(Arc<Snapshot>);

impl SnapshotHandle {
    pub(crate) fn get(&self) -> &Snapshot {
        &self.0
    }

    pub(crate) fn share(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0)
    }
}

/// Takes a snapshot of the last commit, by any process. Never waits for a writer; takes
/// microseconds unless another process has committed since.
///
/// Ownership: the caller frees `*snapshot` with twindex_snapshot_free, before or after it closes
/// the index. It is null after an error.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_snapshot_take(
    index: Option<&IndexHandle>,
    snapshot: Option<&mut MaybeUninit<Option<Box<SnapshotHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let place = place(snapshot, "snapshot")?;
        let snapshot = needed(index, "index")?.opened(|opened| Ok(opened.snapshot()?))?;
        *place = Some(Box::new(SnapshotHandle(Arc::new(snapshot))));
        Ok(())
    })
}

/// The number of documents; 0 for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_snapshot_count(snapshot: Option<&SnapshotHandle>) -> u64 {
    snapshot.map_or(0, |snapshot| snapshot.0.len())
}

/// Reads what the index tells of a document: sizes, time, signature, and the text if it is stored.
/// `*document` is null if there is no document with this id.
///
/// Ownership: the caller frees `*document` with twindex_document_free. It is null after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_snapshot_get(
    snapshot: Option<&SnapshotHandle>,
    id: *const c_char,
    id_length: usize,
    document: Option<&mut MaybeUninit<*const DocumentStruct>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let place = document.ok_or_else(|| crate::error::Failure::null("document"))?;
        let place = place.write(ptr::null());
        let snapshot = needed(snapshot, "snapshot")?.get();
        // SAFETY: the caller promises an id.
        let id = unsafe { text("id", id, id_length) }?;
        if let Some(found) = Document::find(snapshot, id)? {
            *place = Document::into_raw(found);
        }
        Ok(())
    })
}

/// Writes a copy of the snapshot to a new file, without free space. Writers may change the index
/// meanwhile. The progress counts rows; no copy is left after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_snapshot_backup(
    snapshot: Option<&SnapshotHandle>,
    path: *const c_char,
    path_length: usize,
    progress: Progress,
    data: *mut c_void,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let snapshot = needed(snapshot, "snapshot")?.get();
        // SAFETY: the caller promises a path.
        let path = unsafe { self::path("path", path, path_length) }?;
        watch(snapshot.backup(path), progress, data)
    })
}

/// The number of the commit that a snapshot shows; 0 for a null pointer. Each commit has a greater
/// number than the one before, whichever process made it.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_snapshot_commit_number(snapshot: Option<&SnapshotHandle>) -> u64 {
    snapshot.map_or(0, |snapshot| snapshot.0.commit_number())
}

/// Frees a snapshot. Null is fine. Matches, pairs, clusters and documents that came from it stay
/// valid.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_snapshot_free(snapshot: Option<Box<SnapshotHandle>>) {
    free(snapshot);
}

// Any number of threads may use it at once.
const _: () = {
    const fn can_be_shared<T: Send + Sync>() {}
    can_be_shared::<SnapshotHandle>();
};
