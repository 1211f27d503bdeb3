//! The ids of all documents of a snapshot.

use crate::border::{call, free, handle, needed, place};
use crate::error::{ErrorHandle, Failure};
use crate::snapshot::SnapshotHandle;
use crate::status::Status;
use crate::view::{View, nul_terminated};
use self_cell::self_cell;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, TryLockError};
use twindex::{Ids, Snapshot};

self_cell!(
    struct IdsCell {
        owner: Arc<Snapshot>,
        #[not_covariant]
        dependent: Ids,
    }
);

/// A walk over the ids of all documents of a snapshot, in the order of insertion.
///
/// Threads: one at a time. A call meanwhile returns TWINDEX_BUSY.
pub struct IdsHandle(Mutex<(IdsCell, Vec<u8>)>);

/// Begins to list the ids of all documents, in the order of insertion.
///
/// Ownership: the caller frees `*ids` with twindex_ids_free. It is null after an error.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_ids_open(
    snapshot: Option<&SnapshotHandle>,
    ids: Option<&mut MaybeUninit<Option<Box<IdsHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let place = place(ids, "ids")?;
        let cell = IdsCell::new(needed(snapshot, "snapshot")?.share(), |snapshot| snapshot.ids());
        *place = Some(Box::new(IdsHandle(Mutex::new((cell, Vec::new())))));
        Ok(())
    })
}

/// Reads the next id. After the last one, `id->length` is 0, which no id has.
///
/// Ownership: the id belongs to `ids`, until the next call with them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_ids_next(
    ids: *mut IdsHandle,
    id: Option<&mut MaybeUninit<View>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let place = id.ok_or_else(|| Failure::null("id"))?.write(View::EMPTY);
        // SAFETY: the caller promises a handle.
        let mut reading =
            unsafe { handle(ids, "ids") }?.0.try_lock().map_err(|locked| match locked {
                TryLockError::WouldBlock => Failure::busy("another thread reads these ids"),
                TryLockError::Poisoned(_) => {
                    Failure::closed("an earlier call with these ids failed")
                }
            })?;
        let (cell, current) = &mut *reading;
        if let Some(id) = cell.with_dependent_mut(|_, ids| ids.next()).transpose()? {
            *current = nul_terminated(id.into_bytes());
            *place = View::of_terminated(current);
        }
        Ok(())
    })
}

/// Frees a list of ids. Null is fine.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_ids_free(ids: Option<Box<IdsHandle>>) {
    free(ids);
}
