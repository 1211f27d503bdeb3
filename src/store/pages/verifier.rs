//! Which checksum each page must have: told by its parent when that is read, and by every write.

use crate::store::bytes::schema::Table;
use crate::store::pages::header::Slot;
use crate::store::pages::page::{Named, PAGE_BYTES, Page, PageNumber, STORAGE, Shape};
use crate::threads::is_forked;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// Damage of the file beneath redb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageFault {
    /// The table that the page belongs to; `file` for the list of tables, `storage` for what redb
    /// keeps for itself.
    pub(crate) table: &'static str,
    /// The page, or another part of the file.
    pub(crate) place: String,
    pub(crate) detail: String,
}

impl PageFault {
    /// The fault of a page that begins at this byte.
    pub(crate) fn at(table: &'static str, start: u64, detail: &str) -> Self {
        let place = format!("page {}", start / PAGE_BYTES);
        Self { table, place, detail: detail.to_owned() }
    }

    /// The fault of the header, or of the length of the file.
    pub(crate) fn of_file(detail: impl Into<String>) -> Self {
        Self { table: "file", place: "header".into(), detail: detail.into() }
    }
}

impl fmt::Display for PageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.table, self.place, self.detail)
    }
}

impl std::error::Error for PageFault {}

/// The name of a table in messages.
pub(crate) fn table_name(name: &[u8]) -> &'static str {
    let known = Table::ALL.into_iter().map(Table::name);
    known.into_iter().find(|known| known.as_bytes() == name).unwrap_or(STORAGE)
}

/// What is known of a page, in 8 bytes for each smallest page of the file:
///
/// ```text
/// bits 0..51   the low bits of the checksum
/// bits 51..56  the order
/// bits 56..64  0: nothing, 1: this process wrote the page, 2 and above: the tree it belongs to
/// ```
///
/// 51 bits let one damaged page in 2^51 pass. A page of a tree has redb's checksum; of a page that
/// this process wrote, the checksum is that of all its bytes, because redb writes pages before it
/// knows the checksums in them.
#[derive(Debug, Default)]
pub(crate) struct Verifier {
    known: RwLock<Vec<AtomicU64>>,
    trees: RwLock<Vec<(&'static str, Shape)>>,
    /// Whether a page that does not match is passed on, because redb verifies it itself: while it
    /// decides which of two commits is whole.
    lenient: AtomicBool,
    fault: Mutex<Option<PageFault>>,
}

const CHECKSUM_BITS: u32 = 51;
const CHECKSUM_MASK: u64 = (1 << CHECKSUM_BITS) - 1;
const WRITTEN: u64 = 1;
const MISMATCH: &str = "its content does not match its checksum";

fn packed(checksum: u64, order: u8, kind: u64) -> u64 {
    (checksum & CHECKSUM_MASK) | u64::from(order) << CHECKSUM_BITS | kind << 56
}

impl Verifier {
    pub(crate) fn set_lenient(&self, lenient: bool) {
        self.lenient.store(lenient, Ordering::Release);
    }

    /// The first damage that was found.
    pub(crate) fn fault(&self) -> Option<PageFault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the first damage, and returns this one.
    pub(crate) fn keep(&self, fault: PageFault) -> PageFault {
        let mut kept = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert_with(|| fault.clone());
        fault
    }

    /// Remembers the roots of a commit.
    pub(crate) fn name_roots(&self, slot: &Slot, file: u64) {
        for (table, root) in slot.roots() {
            self.name(root, (table, Shape::MASTER), file);
        }
    }

    /// Remembers the root of our tables in a commit.
    pub(crate) fn name_tables(&self, slot: &Slot, file: u64) {
        self.name_roots(&Slot { system: None, ..*slot }, file);
    }

    /// Remembers a page that another names, in a file of this length.
    fn name(&self, page: Named, (table, shape): (&'static str, Shape), file: u64) {
        let Some(bytes) = page.number.bytes().filter(|bytes| bytes.end <= file) else { return };
        let Some(tree) = self.tree(table, shape) else { return };
        self.set(&bytes, packed(page.checksum as u64, page.number.order(), tree + WRITTEN + 1));
    }

    /// The number of a tree of this name and shape.
    fn tree(&self, table: &'static str, shape: Shape) -> Option<u64> {
        let number = |trees: &Vec<_>| trees.iter().position(|tree| *tree == (table, shape));
        let found = number(&self.trees.read().unwrap_or_else(PoisonError::into_inner));
        let found = found.or_else(|| {
            let mut trees = self.trees.write().unwrap_or_else(PoisonError::into_inner);
            // Ours are 8 and redb's some 10, so 254 are never reached.
            number(&trees).or_else(|| {
                trees.push((table, shape));
                Some(trees.len() - 1)
            })
        });
        found.map(|number| number as u64).filter(|number| *number < 250)
    }

    fn get(&self, start: u64) -> u64 {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get((start / PAGE_BYTES) as usize).map_or(0, |known| known.load(Ordering::Acquire))
    }

    fn set(&self, bytes: &Range<u64>, value: u64) {
        let index = (bytes.start / PAGE_BYTES) as usize;
        {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = known.get(index) {
                return known.store(value, Ordering::Release);
            }
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() <= index {
            known.resize_with(index + 1, AtomicU64::default);
        }
        if let Some(known) = known.get(index) {
            known.store(value, Ordering::Release);
        }
    }

    /// Remembers what was written.
    pub(crate) fn written(&self, start: u64, bytes: &[u8]) {
        let order = (bytes.len() as u64 / PAGE_BYTES).trailing_zeros() as u8;
        let checksum = xxhash_rust::xxh3::xxh3_64(bytes);
        self.set(&(start..start + bytes.len() as u64), packed(checksum, order, WRITTEN));
    }

    /// Verifies a page that was read from a file of this length, and remembers the checksums that
    /// it holds of others.
    pub(crate) fn verify(&self, start: u64, bytes: &[u8], file: u64) -> Result<(), PageFault> {
        let known = self.get(start);
        let fault = |table, detail| {
            if self.lenient.load(Ordering::Acquire) {
                Ok(())
            } else {
                Err(PageFault::at(table, start, detail))
            }
        };
        let order = ((known >> CHECKSUM_BITS) & 0x1F) as u8;
        let kind = known >> 56;
        if kind == 0 {
            return fault("file", "it is read, but no page that was read names it");
        }
        if PAGE_BYTES << order != bytes.len() as u64 {
            return fault("file", "it is read with another size than its own");
        }
        if kind == WRITTEN {
            let matches = packed(xxhash_rust::xxh3::xxh3_64(bytes), order, WRITTEN) == known;
            return if matches { Ok(()) } else { fault("file", MISMATCH) };
        }
        let tree = {
            let trees = self.trees.read().unwrap_or_else(PoisonError::into_inner);
            trees.get((kind - WRITTEN - 1) as usize).copied()
        };
        let Some((table, shape)) = tree else { return fault("file", MISMATCH) };
        let page = Page::new(bytes, shape);
        let page = page.filter(|page| packed(page.checksum() as u64, order, kind) == known);
        let Some(page) = page else { return fault(table, MISMATCH) };
        page.children().for_each(|child| self.name(child, (table, shape), file));
        for (name, root, shape) in page.tables() {
            self.name(root, (table_name(name), shape), file);
        }
        Ok(())
    }
}

/// The open files and their verifiers.
static OPEN: Mutex<OpenFiles> = Mutex::new(Vec::new());

type OpenFiles = Vec<(PathBuf, Weak<Verifier>)>;

/// The open files, unless they stay locked: a child that was forked while another thread had them
/// has a copy that nobody ever unlocks. Without them, an error of damage tells less.
fn open_files() -> Option<MutexGuard<'static, OpenFiles>> {
    const PATIENCE: Duration = Duration::from_millis(100);
    if !is_forked() {
        return Some(OPEN.lock().unwrap_or_else(PoisonError::into_inner));
    }
    let begun = Instant::now();
    loop {
        match OPEN.try_lock() {
            Ok(open) => return Some(open),
            Err(TryLockError::Poisoned(open)) => return Some(open.into_inner()),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => thread::yield_now(),
            Err(TryLockError::WouldBlock) => return None,
        }
    }
}

/// Remembers the verifier of an open file. After damage redb answers every call with "an earlier
/// call failed"; with this, the message can say what failed.
pub(crate) fn register(path: &Path, verifier: &Arc<Verifier>) {
    let Some(mut open) = open_files() else { return };
    open.retain(|(_, verifier)| verifier.strong_count() > 0);
    open.push((path.to_owned(), Arc::downgrade(verifier)));
}

/// The damage that was found in the file that was opened last under this path.
pub(crate) fn fault_of(path: &Path) -> Option<PageFault> {
    let open = open_files()?;
    let (_, verifier) = open.iter().rev().find(|(other, _)| other == path)?;
    verifier.upgrade()?.fault()
}

/// Which smallest pages were visited: a bit for each.
pub(crate) struct Visited(Vec<u64>);

impl Visited {
    pub(crate) fn new(file: u64) -> Self {
        Self(vec![0; (file / PAGE_BYTES / 64 + 1) as usize])
    }

    /// Marks a page. Returns `false` if a part of it was marked before, or lies beyond the file.
    pub(crate) fn insert(&mut self, number: PageNumber) -> bool {
        let Some(bytes) = number.bytes() else { return false };
        let mut is_new = true;
        for page in bytes.start / PAGE_BYTES..bytes.end / PAGE_BYTES {
            let Some(word) = self.0.get_mut((page / 64) as usize) else { return false };
            is_new &= *word & 1 << (page % 64) == 0;
            *word |= 1 << (page % 64);
        }
        is_new
    }
}
