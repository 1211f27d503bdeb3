//! The file as redb sees it: each page is verified when redb reads it, and a reader changes
//! nothing.

use crate::store::pages::header::{HEADER_BYTES, Header};
use crate::store::pages::verifier::{PageFault, Verifier};
use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};
use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Tells an opening to read that the file was not closed cleanly.
#[derive(Debug)]
pub(crate) struct NotClosed;

impl std::fmt::Display for NotClosed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the file was not closed cleanly")
    }
}

impl std::error::Error for NotClosed {}

/// What a reader would have written. redb opens a file for writing only, so its writes go here and
/// are dropped when the file is closed.
#[derive(Debug)]
struct Overlay {
    length: u64,
    /// By the place where each begins. redb reads what it wrote in the pieces that it wrote.
    written: BTreeMap<u64, Vec<u8>>,
}

/// A file of redb whose pages are verified.
#[derive(Debug)]
pub(crate) struct PageFile {
    file: Box<dyn StorageBackend>,
    verifier: Arc<Verifier>,
    /// What a reader wrote; `None` if the file is open for writing.
    overlay: Option<Mutex<Overlay>>,
    /// Whether redb has read the header, which happens after it has locked the file.
    is_open: AtomicBool,
    /// The length of the file, as redb last asked for it or set it.
    length: AtomicU64,
}

impl PageFile {
    /// A file that is written.
    pub(crate) fn to_write(file: impl StorageBackend) -> Self {
        Self::new(Box::new(file), None)
    }

    /// A file that is only read, and shared with other readers.
    pub(crate) fn to_read(file: std::fs::File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let file = FileBackend::new(file).map_err(io::Error::other)?;
        let overlay = Overlay { length, written: BTreeMap::new() };
        let new = Self::new(Box::new(file), Some(Mutex::new(overlay)));
        new.length.store(length, Ordering::Release);
        Ok(new)
    }

    fn new(file: Box<dyn StorageBackend>, overlay: Option<Mutex<Overlay>>) -> Self {
        Self {
            file,
            verifier: Arc::default(),
            overlay,
            is_open: AtomicBool::new(false),
            length: AtomicU64::new(0),
        }
    }

    pub(crate) fn verifier(&self) -> &Arc<Verifier> {
        &self.verifier
    }

    fn damage(&self, fault: PageFault) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, self.verifier.keep(fault))
    }

    /// Checks the header that redb has read, and remembers the roots that it names.
    fn check_header(&self, bytes: &[u8], length: u64) -> io::Result<()> {
        // A file of another program is redb's to refuse.
        let Some(header) = Header::read(bytes) else { return Ok(()) };
        let is_first = !self.is_open.swap(true, Ordering::AcqRel);
        if is_first {
            if let Some(fault) = header.fault(length) {
                return Err(self.damage(PageFault::of_file(fault)));
            }
            if header.needs_recovery() && self.overlay.is_some() {
                return Err(io::Error::other(NotClosed));
            }
            // redb verifies the pages itself, to decide which of two commits is whole.
            self.verifier.set_lenient(!header.is_two_phase);
        }
        // The last commit comes last: its pages may lie where the one before had others.
        let choices = header.choices().filter(|_| is_first && !header.is_two_phase);
        for slot in choices.chain(header.primary) {
            self.verifier.name_roots(&slot, length);
        }
        Ok(())
    }
}

impl StorageBackend for PageFile {
    fn len(&self) -> io::Result<u64> {
        if let Some(overlay) = &self.overlay {
            return Ok(lock(overlay).length);
        }
        let length = self.file.len()?;
        self.length.store(length, Ordering::Release);
        Ok(length)
    }

    fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        if let Some(overlay) = &self.overlay
            && let Some(written) = lock(overlay).written.get(&at)
            && let Some(written) = written.get(..out.len())
        {
            out.copy_from_slice(written);
            return Ok(());
        }
        let length = self.length.load(Ordering::Acquire);
        if let Err(error) = self.file.read(at, out) {
            let is_beyond = error.kind() == io::ErrorKind::UnexpectedEof;
            let fault = || PageFault::at("file", at, "it lies beyond the end of the file");
            return Err(if is_beyond { self.damage(fault()) } else { error });
        }
        match (at, out.len()) {
            (0, HEADER_BYTES) => self.check_header(out, length),
            (0, _) => Ok(()),
            _ => self.verifier.verify(at, out, length).map_err(|fault| self.damage(fault)),
        }
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        match &self.overlay {
            Some(overlay) => {
                lock(overlay).length = length;
                Ok(())
            }
            None => {
                self.file.set_len(length)?;
                self.length.store(length, Ordering::Release);
                Ok(())
            }
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        if self.overlay.is_some() { Ok(()) } else { self.file.sync_data() }
    }

    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if let Some(overlay) = &self.overlay {
            lock(overlay).written.insert(at, bytes.to_vec());
            return Ok(());
        }
        self.file.write(at, bytes)?;
        if at > 0 {
            self.verifier.written(at, bytes);
        }
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        match self.overlay {
            Some(_) => self.file.try_lock_shared_range(start, end),
            None => self.file.try_lock_range(start, end),
        }
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        match self.overlay {
            Some(_) => self.file.lock_shared_range(start, end),
            None => self.file.lock_range(start, end),
        }
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
