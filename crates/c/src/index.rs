//! Indexes: open files.

use crate::border::{call, free, handle, needed, path, place};
use crate::error::{ErrorHandle, Failure};
use crate::settings::{SettingsStruct, SettingsTexts, options};
use crate::status::Status;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::{RwLock, TryLockError};
use twindex::{CheckReport, Index, IndexOptions, ReadOnlyIndex, Sketcher, Snapshot, Work};

/// An open index: one file with documents, their signatures and what finds them.
///
/// Threads: any number may use it at once. One process writes to a file, others read it meanwhile.
pub struct IndexHandle {
    /// `None` after it was closed.
    opened: RwLock<Option<Opened>>,
    settings: SettingsTexts,
}

pub(crate) enum Opened {
    Writing(Index),
    Reading(ReadOnlyIndex),
}

impl Opened {
    pub(crate) fn snapshot(&self) -> twindex::Result<Snapshot> {
        match self {
            Self::Writing(index) => index.snapshot(),
            Self::Reading(index) => index.snapshot(),
        }
    }

    pub(crate) fn check(&self) -> Work<'_, CheckReport> {
        match self {
            Self::Writing(index) => index.check(),
            Self::Reading(index) => index.check(),
        }
    }

    pub(crate) fn sketcher(&self) -> &Sketcher {
        match self {
            Self::Writing(index) => index.sketcher(),
            Self::Reading(index) => index.sketcher(),
        }
    }

    pub(crate) fn settings(&self) -> &twindex::Settings {
        match self {
            Self::Writing(index) => index.settings(),
            Self::Reading(index) => index.settings(),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Writing(index) => index.path(),
            Self::Reading(index) => index.path(),
        }
    }

    /// The index, for a call that writes.
    pub(crate) fn writing(&self) -> Result<&Index, Failure> {
        match self {
            Self::Writing(index) => Ok(index),
            Self::Reading(_) => Err(self.read_only()),
        }
    }

    fn read_only(&self) -> Failure {
        let path = self.path().display();
        Failure::invalid(format_args!("{path}: opened for reading only; open it for writing"))
    }
}

fn closed() -> Failure {
    Failure::closed("the index was closed; open it again")
}

impl IndexHandle {
    fn new(opened: Opened) -> Box<Self> {
        let settings = SettingsTexts::new(opened.settings());
        Box::new(Self { opened: RwLock::new(Some(opened)), settings })
    }

    /// Uses the open index, beside other calls.
    pub(crate) fn opened<T>(
        &self,
        work: impl FnOnce(&Opened) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let opened = match self.opened.try_read() {
            Ok(opened) => opened,
            // A defect has left it in no known state.
            Err(TryLockError::Poisoned(_)) => return Err(closed()),
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::busy("the index is being compacted or closed; try again"));
            }
        };
        work(opened.as_ref().ok_or_else(closed)?)
    }

    /// Uses the open index for writing, while no other call uses it.
    pub(crate) fn alone<T>(
        &self,
        work: impl FnOnce(&mut Index) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut opened = self.for_itself()?;
        match opened.as_mut().ok_or_else(closed)? {
            Opened::Writing(index) => work(index),
            reading => Err(reading.read_only()),
        }
    }

    fn for_itself(&self) -> Result<std::sync::RwLockWriteGuard<'_, Option<Opened>>, Failure> {
        match self.opened.try_write() {
            Ok(opened) => Ok(opened),
            Err(TryLockError::Poisoned(_)) => Err(closed()),
            Err(TryLockError::WouldBlock) => {
                Err(Failure::busy("another call uses the index; wait until it has returned"))
            }
        }
    }
}

/// Opens or creates an index by one of the ways of the library.
unsafe fn open(
    (data, length): (*const c_char, usize),
    settings: *const SettingsStruct,
    index: Option<&mut MaybeUninit<Option<Box<IndexHandle>>>>,
    error: *mut ErrorHandle,
    open: impl FnOnce(&IndexOptions, &Path) -> twindex::Result<Opened>,
) -> Status {
    call(error, || {
        let place = place(index, "index")?;
        // SAFETY: the caller promises a path and settings.
        let (path, options) = unsafe { (path("path", data, length)?, options(settings)?) };
        *place = Some(IndexHandle::new(open(&options, path)?));
        Ok(())
    })
}

/// Creates an index, and opens it for reading and writing. `settings` may be null.
///
/// Ownership: the caller frees `*index` with twindex_index_free. It is null after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_index_create(
    path: *const c_char,
    path_length: usize,
    settings: *const SettingsStruct,
    index: Option<&mut MaybeUninit<Option<Box<IndexHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    let create = |options: &IndexOptions, path: &Path| options.create(path).map(Opened::Writing);
    // SAFETY: the caller promises the same.
    unsafe { open((path, path_length), settings, index, error, create) }
}

/// Opens an index for reading and writing. `settings` may be null; one that differs from the
/// setting of the index is an error.
///
/// Ownership: the caller frees `*index` with twindex_index_free. It is null after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_index_open(
    path: *const c_char,
    path_length: usize,
    settings: *const SettingsStruct,
    index: Option<&mut MaybeUninit<Option<Box<IndexHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    let write = |options: &IndexOptions, path: &Path| options.open(path).map(Opened::Writing);
    // SAFETY: the caller promises the same.
    unsafe { open((path, path_length), settings, index, error, write) }
}

/// Opens an index for reading and writing, and creates it if there is none at the path.
///
/// Ownership: the caller frees `*index` with twindex_index_free. It is null after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_index_open_or_create(
    path: *const c_char,
    path_length: usize,
    settings: *const SettingsStruct,
    index: Option<&mut MaybeUninit<Option<Box<IndexHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    let either =
        |options: &IndexOptions, path: &Path| options.open_or_create(path).map(Opened::Writing);
    // SAFETY: the caller promises the same.
    unsafe { open((path, path_length), settings, index, error, either) }
}

/// Opens an index for reading only, also while another process writes to it. Needs no permission to
/// write.
///
/// Ownership: the caller frees `*index` with twindex_index_free. It is null after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_index_open_read_only(
    path: *const c_char,
    path_length: usize,
    settings: *const SettingsStruct,
    index: Option<&mut MaybeUninit<Option<Box<IndexHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    let read =
        |options: &IndexOptions, path: &Path| options.open_read_only(path).map(Opened::Reading);
    // SAFETY: the caller promises the same.
    unsafe { open((path, path_length), settings, index, error, read) }
}

/// Fills `settings`, whose `size` is set, with those of an index, also of a closed one. The fields
/// that only concern opening are 0.
///
/// Ownership: the texts belong to the index, until it is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_index_settings(
    index: Option<&IndexHandle>,
    settings: *mut SettingsStruct,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let index = needed(index, "index")?;
        // SAFETY: the caller promises a structure.
        unsafe { index.settings.fill(settings) }
    })
}

/// Closes an index: ends what goes on in the background, so that the next opening is fast. All that
/// was committed is durable without it. Every later call with the index returns TWINDEX_CLOSED.
///
/// After TWINDEX_BUSY, because a transaction is in use or another call is running, the index is
/// still open. After any other error it is closed.
///
/// Snapshots, and pairs, ids and clusters that read them, stay valid. As long as there are any, the
/// file stays open, and no other process can write to it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_index_close(
    index: *mut IndexHandle,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        // SAFETY: the caller promises a handle.
        let mut opened = unsafe { handle(index, "index") }?.for_itself()?;
        let closing = opened.take().ok_or_else(closed)?;
        let Opened::Writing(index) = closing else { return Ok(()) };
        // Nobody can begin a transaction meanwhile, so closing does not wait for one.
        if let Ok(None) = index.try_begin_write() {
            *opened = Some(Opened::Writing(index));
            return Err(Failure::busy("a write transaction is in use; commit or free it first"));
        }
        Ok(index.close()?)
    })
}

/// Frees an index, and closes its file when the last transaction and snapshot, and what reads a
/// snapshot, are freed. Leaves the work of twindex_index_close to the next writer if it was not
/// called. Null is fine.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_index_free(index: Option<Box<IndexHandle>>) {
    free(index);
}

/// The version of the library, such as "0.1.0". NUL-terminated; it belongs to the library.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

// Any number of threads may use it at once.
const _: () = {
    const fn can_be_shared<T: Send + Sync>() {}
    can_be_shared::<IndexHandle>();
};
