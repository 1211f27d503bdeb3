//! The file as redb sees it: each page is verified when redb reads it, and a reader follows the
//! commits of a writer in another process.

use crate::store::pages::gathered::GatheredWrites;
use crate::store::pages::header::{HEADER_BYTES, Header, Slot};
use crate::store::pages::verifier::{PageFault, Verifier};
use redb::{BackendError, StorageBackend};
use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Tells an opening to read that a writer must recover the file first.
#[derive(Debug)]
pub(crate) struct NotClosed;

impl std::fmt::Display for NotClosed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the file was not closed cleanly")
    }
}

impl std::error::Error for NotClosed {}

/// Tells a reader that another process holds the header for longer than a commit takes.
#[derive(Debug)]
pub(crate) struct HeaderHeld;

impl std::fmt::Display for HeaderHeld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("another process holds the header of the file")
    }
}

impl std::error::Error for HeaderHeld {}

/// How long a reader waits for the header: long compared with a commit, which holds it for some
/// microseconds. Only shrinking the file holds it for longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// The commit that a reader's redb has read last.
#[derive(Debug, Default)]
pub(crate) struct Seen(Mutex<Option<Slot>>);

impl Seen {
    pub(crate) fn get(&self) -> Option<Slot> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, slot: Slot) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(slot);
    }
}

/// What redb does with the file.
#[derive(Debug)]
enum Role {
    Writes(GatheredWrites),
    /// It reads the file, which another process may write meanwhile.
    Follows {
        seen: Arc<Seen>,
        /// How long it waits for a lock.
        patience: Duration,
    },
    /// It reads the file, and locks it against writers, on systems that cannot lock bytes.
    ReadsAlone,
}

/// A file of redb whose pages are verified.
#[derive(Debug)]
pub(crate) struct PageFile {
    file: Box<dyn StorageBackend>,
    verifier: Arc<Verifier>,
    role: Role,
    /// Whether redb has read the header, which happens after it has locked the file.
    is_open: AtomicBool,
    /// The length of the file, as redb last asked for it or set it.
    length: AtomicU64,
}

impl PageFile {
    /// A file that is written.
    pub(crate) fn to_write(file: impl StorageBackend) -> Self {
        Self::new(file, Role::Writes(GatheredWrites::default()))
    }

    /// A file that is only read, beside other readers and a writer. `seen` will tell which commit
    /// redb has read last.
    pub(crate) fn to_follow(
        file: impl StorageBackend,
        seen: Arc<Seen>,
        patience: Duration,
    ) -> Self {
        Self::new(file, Role::Follows { seen, patience })
    }

    /// A file that is only read, beside other readers.
    pub(crate) fn to_read_alone(file: impl StorageBackend) -> Self {
        Self::new(file, Role::ReadsAlone)
    }

    fn new(file: impl StorageBackend, role: Role) -> Self {
        Self {
            file: Box::new(file),
            verifier: Arc::default(),
            role,
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

    /// Checks the header that redb has read to write, and remembers the roots that it names.
    fn check_own_header(&self, bytes: &[u8], length: u64) -> io::Result<()> {
        // A file of another program is redb's to refuse.
        let Some(header) = Header::read(bytes) else { return Ok(()) };
        let is_first = !self.is_open.swap(true, Ordering::AcqRel);
        if is_first {
            if let Some(fault) = header.fault(length) {
                return Err(self.damage(PageFault::of_file(fault)));
            }
            if header.needs_recovery() && matches!(self.role, Role::ReadsAlone) {
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

    /// Checks the header that another process may have written, and remembers the root of our
    /// tables in the commit that redb takes from it.
    ///
    /// Pages of redb's own tables are reused while a reader has the commit, so they are not to be
    /// read, and not remembered.
    fn check_followed_header(&self, bytes: &mut [u8], length: u64, seen: &Seen) -> io::Result<()> {
        let Some(header) = Header::read(bytes) else { return Ok(()) };
        if let Some(fault) = header.fault(length) {
            return Err(self.damage(PageFault::of_file(fault)));
        }
        // The pages of a commit of one phase may be missing after an unclean stop.
        if !header.is_two_phase {
            return Err(io::Error::other(NotClosed));
        }
        let Some(slot) = header.published() else {
            let fault = "the commit before the last in its header is damaged";
            return Err(self.damage(PageFault::of_file(fault)));
        };
        self.verifier.name_tables(&slot, length);
        seen.set(slot);
        // Recovery keeps a commit of two phases as it is, so a reader need not wait for it.
        Header::hide_unclean(bytes);
        Ok(())
    }

    /// What was written and waits, if the file is open to be written.
    fn writes(&self) -> io::Result<&GatheredWrites> {
        match &self.role {
            Role::Writes(writes) => Ok(writes),
            _ => Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is open to be read")),
        }
    }

    /// The length of the file. Fails if it is written and shorter than it was.
    fn checked_length(&self) -> io::Result<u64> {
        let length = self.file.len()?;
        let was = self.length.load(Ordering::Acquire);
        if length < was && matches!(self.role, Role::Writes(_)) {
            let detail = "another program has shortened the file";
            return Err(self.damage(PageFault::at("file", length, detail)));
        }
        Ok(length)
    }

    fn read_unverified(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        match &self.role {
            Role::Writes(writes) => writes.read(&*self.file, at, out),
            _ => self.file.read(at, out),
        }
    }
}

impl StorageBackend for PageFile {
    fn len(&self) -> io::Result<u64> {
        let length = self.checked_length()?;
        self.length.store(length, Ordering::Release);
        Ok(length)
    }

    fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        let length = self.length.load(Ordering::Acquire);
        if let Err(error) = self.read_unverified(at, out) {
            let is_beyond = error.kind() == io::ErrorKind::UnexpectedEof;
            let fault = || PageFault::at("file", at, "it lies beyond the end of the file");
            return Err(if is_beyond { self.damage(fault()) } else { error });
        }
        match (at, out.len(), &self.role) {
            // redb holds the lock of the header, so the length belongs to it.
            (0, HEADER_BYTES, Role::Follows { seen, .. }) => {
                self.check_followed_header(out, self.len()?, seen)
            }
            (0, HEADER_BYTES, _) => self.check_own_header(out, length),
            (0, ..) => Ok(()),
            _ => self.verifier.verify(at, out, length).map_err(|fault| self.damage(fault)),
        }
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let writes = self.writes()?;
        self.checked_length()?;
        writes.flush(&*self.file)?;
        self.file.set_len(length)?;
        self.length.store(length, Ordering::Release);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let writes = self.writes()?;
        self.checked_length()?;
        writes.flush(&*self.file)?;
        self.file.sync_data()
    }

    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.writes()?.write(&*self.file, at, bytes)?;
        if at > 0 {
            self.verifier.written(at, bytes);
        }
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    /// A reader tries until it has the lock or its patience ends. redb takes an error of a lock as
    /// that of one call, so the next one may succeed.
    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        const LONGEST_PAUSE: Duration = Duration::from_millis(2);
        let Role::Follows { patience, .. } = self.role else {
            return self.file.lock_shared_range(start, end);
        };
        let begun = Instant::now();
        let mut pause = Duration::from_micros(50);
        while !self.file.try_lock_shared_range(start, end)? {
            if begun.elapsed() >= patience {
                return Err(BackendError::Io(io::Error::other(HeaderHeld)));
            }
            sleep(pause);
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
        Ok(())
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}
