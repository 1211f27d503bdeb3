//! A damaged file, read beneath redb: its pages are verified, and the rows that are left are found.

use crate::error::{Error, Result};
use crate::store::bytes::schema::Table;
use crate::store::file::{check_plausible, open_error};
use crate::store::identity::NamedFile;
use crate::store::pages::header::{HEADER_BYTES, Header, Slot};
use crate::store::pages::page::{Named, PAGE_BYTES, Page, PageNumber, STORAGE, Shape};
use crate::store::pages::verifier::PageFault;
use crate::store::pages::walk::{Leaf, Met, Tree, walk};
use crate::store::progress::Watch;
use crate::store::storage_error::{fault_error, io_error};
use redb::StorageBackend;
use redb::backends::FileBackend;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::fs;
use std::ops::{Bound, Range};
use std::path::Path;

const ACTION: &str = "reading the damaged file";

/// The bytes that a process locks which writes to a file of redb: the bytes of a writer alone, and
/// of one beside other writers. They lie far behind the end of the file. On Windows, a lock also
/// keeps others from reading, and an open file cannot be replaced, so readers are kept out too.
const WRITER_BYTES: (Bound<u64>, Bound<u64>) = if cfg!(windows) {
    (Bound::Unbounded, Bound::Unbounded)
} else {
    (Bound::Included(1 << 62), Bound::Included((1 << 62) + 1))
};

/// A file that nobody else writes to.
pub(crate) struct OldFile<'p> {
    path: &'p Path,
    file: FileBackend,
    named: NamedFile,
    header: Header,
    length: u64,
}

impl Drop for OldFile<'_> {
    fn drop(&mut self) {
        // Closing the file would unlock it too.
        let _ = self.file.close();
    }
}

impl<'p> OldFile<'p> {
    /// Opens the file and keeps writers out. Writes nothing.
    pub(crate) fn open(path: &'p Path) -> Result<Self> {
        check_plausible(path)?;
        let failed = |source| io_error(path, "opening", source);
        let file = fs::OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
        let named = NamedFile::new(&file, path).map_err(failed)?;
        let file = FileBackend::new(file).map_err(|error| open_error(error.into(), path))?;
        match file.try_lock_range(WRITER_BYTES.0, WRITER_BYTES.1) {
            Ok(false) => return Err(Error::Locked { path: path.to_owned() }),
            Err(redb::BackendError::Io(error)) => return Err(failed(error)),
            // Some systems have no locks.
            Ok(true) | Err(_) => {}
        }
        // Another repair may have replaced the file before it was locked.
        if !named.has_its_name() {
            return Err(Error::Locked { path: path.to_owned() });
        }
        let length = file.len().map_err(failed)?;
        let mut bytes = [0; HEADER_BYTES];
        let read = if length < HEADER_BYTES as u64 { Ok(()) } else { file.read(0, &mut bytes) };
        read.map_err(failed)?;
        let header = Header::read(&bytes).ok_or_else(|| Error::NotAnIndex {
            path: path.to_owned(),
            detail: "it does not begin as an index does".into(),
        })?;
        Ok(Self { path, file, named, header, length })
    }

    /// The file and its name.
    pub(crate) fn named(&self) -> &NamedFile {
        &self.named
    }

    /// The commits whose rows may be left, the last first, and whether each is the last one.
    pub(crate) fn commits(&self) -> impl Iterator<Item = (bool, Slot)> {
        self.header.commits()
    }

    /// Verifies the header and every page of the last commit. Returns the first damage.
    ///
    /// If redb recovers the file by going back to the commit before, and that one is whole, there
    /// is no damage.
    pub(crate) fn verify(&self, watch: &mut Watch<'_>) -> Result<Option<PageFault>> {
        if let Some(fault) = self.header.fault(self.length) {
            return Ok(Some(PageFault::of_file(fault)));
        }
        let Header { is_two_phase, primary, secondary, .. } = self.header;
        let mut found = None;
        for slot in [primary, secondary].iter().flatten() {
            let fault = self.first_fault(slot, watch)?;
            if fault.is_none() {
                return Ok(None);
            }
            found = found.or(fault);
            if is_two_phase {
                break;
            }
        }
        Ok(found)
    }

    fn first_fault(&self, slot: &Slot, watch: &mut Watch<'_>) -> Result<Option<PageFault>> {
        watch.begin("verifying pages", self.length / PAGE_BYTES)?;
        let mut first = None;
        self.walk(Tree::of(slot), false, &mut |met| {
            match met {
                Met::Fault(fault, _) => first = first.take().or(Some(fault)),
                Met::Leaf(leaf) => watch.advance_now(1 << leaf.number.order())?,
            }
            Ok(())
        })?;
        Ok(first)
    }

    fn walk(
        &self,
        trees: Vec<Tree>,
        is_lenient: bool,
        meet: &mut dyn FnMut(Met<'_>) -> Result<()>,
    ) -> Result<()> {
        walk(&self.file, trees, is_lenient, meet)?
            .map_err(|source| io_error(self.path, ACTION, source))
    }

    /// Finds the rows of a commit that are left.
    ///
    /// A page that is not where its parent says may lie elsewhere, if pages were exchanged or the
    /// parent is damaged. Its checksum is known, so the file is searched for it.
    pub(crate) fn rows_left(&self, slot: &Slot, watch: &mut Watch<'_>) -> Result<RowsLeft> {
        let mut left = RowsLeft::default();
        self.add_trees(Tree::of(slot), &mut left, watch)?;
        let mut known = FxHashSet::default();
        while !left.missing.is_empty() {
            let missing = std::mem::take(&mut left.missing);
            let missing = missing.into_iter().filter(|tree| known.insert(tree.root.checksum));
            let found = self.search(missing.collect(), watch)?;
            found.iter().for_each(|(place, _)| left.forget(*place));
            let found = found.into_iter().map(|(_, tree)| tree).collect();
            self.add_trees(found, &mut left, watch)?;
        }
        left.signatures.sound.sort_unstable();
        left.documents.sound.sort_unstable();
        left.texts.sound.sort_unstable();
        left.fingerprints.sound.sort_unstable();
        left.clusters.sound.sort_unstable();
        Ok(left)
    }

    fn add_trees(
        &self,
        trees: Vec<Tree>,
        left: &mut RowsLeft,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        watch.begin("reading whole pages", self.length / PAGE_BYTES)?;
        self.walk(trees, true, &mut |met| {
            match met {
                Met::Fault(fault, tree) => left.add_fault(fault, tree),
                Met::Leaf(leaf) => {
                    left.add_leaf(&leaf);
                    watch.advance_now(1 << leaf.number.order())?;
                }
            }
            Ok(())
        })
    }

    /// Searches the whole file for pages with the checksums of these trees. Returns those that it
    /// finds, each with the page at which it should have been.
    fn search(&self, missing: Vec<Tree>, watch: &mut Watch<'_>) -> Result<Vec<(PageNumber, Tree)>> {
        /// No page with rows of twindex is longer, except for texts, which are then lost.
        const LONGEST: usize = 256 << 20;
        let shapes: FxHashSet<Shape> = missing.iter().map(|tree| tree.shape).collect();
        let mut missing: FxHashMap<u128, Tree> =
            missing.into_iter().map(|tree| (tree.root.checksum, tree)).collect();
        let mut found = Vec::new();
        let mut bytes = vec![0; PAGE_BYTES as usize];
        watch.begin("searching for lost pages", self.length / PAGE_BYTES)?;
        for start in (PAGE_BYTES..self.length).step_by(PAGE_BYTES as usize) {
            if missing.is_empty() {
                break;
            }
            watch.advance_now(1)?;
            bytes.truncate(PAGE_BYTES as usize);
            let first = (self.length - start).min(PAGE_BYTES) as usize;
            let Some(page) = bytes.get_mut(..first) else { continue };
            self.read_bytes(start, page)?;
            for shape in &shapes {
                let Some(length) = bytes.get(..first).and_then(|page| Page::length(page, *shape))
                else {
                    continue;
                };
                if length > LONGEST || start + length as u64 > self.length {
                    continue;
                }
                // Content may look like the beginning of a long page. Few places are those of long
                // pages, so little of the file is read for that.
                let order = (length as u64).div_ceil(PAGE_BYTES).next_power_of_two();
                let Some(number) = PageNumber::at(start, order.trailing_zeros() as u8) else {
                    continue;
                };
                if length > bytes.len() {
                    bytes.resize(length, 0);
                    self.read_bytes(start, &mut bytes)?;
                }
                let Some(page) = Page::new(&bytes, *shape) else { continue };
                let Some(tree) = missing.remove(&page.checksum()) else { continue };
                let root = Named { number, ..tree.root };
                found.push((tree.root.number, Tree { root, ..tree }));
            }
        }
        Ok(found)
    }

    fn read_bytes(&self, start: u64, bytes: &mut [u8]) -> Result<()> {
        let read = self.file.read(start, bytes);
        read.map_err(|source| io_error(self.path, ACTION, source))
    }

    /// Reads the rows with these numbers that are left. Rows of sound pages come first: a damaged
    /// page may have numbers that are not its own.
    pub(crate) fn read(
        &self,
        table: &RowPages,
        numbers: Range<u64>,
    ) -> Result<BTreeMap<u32, Vec<u8>>> {
        let mut rows = BTreeMap::new();
        let wanted = |number: u32| numbers.contains(&u64::from(number));
        let before = |last: u32| u64::from(last) < numbers.start;
        let after = table.sound.partition_point(|(_, last, _)| before(*last));
        let leaves = table.sound.get(after..).unwrap_or_default();
        let leaves = leaves.iter().take_while(|(first, ..)| u64::from(*first) < numbers.end);
        for (_, _, page) in leaves {
            self.read_leaf(*page, &mut |number, row| {
                if wanted(number) {
                    rows.insert(number, row.to_vec());
                }
            })?;
        }
        let first = numbers.start.min(u64::from(u32::MAX)) as u32;
        let mut last = None;
        for (number, page) in table.strays.range(first..) {
            if !wanted(*number) {
                break;
            }
            // A page has many rows, and they come one after the other.
            if last.replace(*page) == Some(*page) {
                continue;
            }
            self.read_leaf(*page, &mut |number, row| {
                if wanted(number) {
                    rows.entry(number).or_insert_with(|| row.to_vec());
                }
            })?;
        }
        Ok(rows)
    }

    fn read_leaf(&self, page: u64, take: &mut dyn FnMut(u32, &[u8])) -> Result<()> {
        let Some(place) = PageNumber(page).bytes().filter(|place| place.end <= self.length) else {
            return Ok(());
        };
        let mut bytes = vec![0; (place.end - place.start) as usize];
        self.read_bytes(place.start, &mut bytes)?;
        if let Some(page) = Page::new(&bytes, NUMBERED) {
            page.rows().for_each(|(key, row)| take(number_of(key), row));
        }
        Ok(())
    }

    /// The error of a fault in this file.
    pub(crate) fn error(&self, fault: PageFault) -> Error {
        fault_error(self.path, fault)
    }
}

/// The shape of a table whose keys are document numbers.
const NUMBERED: Shape = Shape { key: Some(4), value: None, names_tables: false };

fn number_of(key: &[u8]) -> u32 {
    key.try_into().map_or(0, u32::from_le_bytes)
}

/// The leaves of a table whose keys are document numbers.
#[derive(Debug, Default)]
pub(crate) struct RowPages {
    /// The first and the last number of each sound leaf, and its page.
    sound: Vec<(u32, u32, u64)>,
    /// The numbers on leaves that are not sound, and their pages.
    strays: BTreeMap<u32, u64>,
}

impl RowPages {
    fn add(&mut self, leaf: &Leaf<'_>) {
        let mut numbers = leaf.page.rows().map(|(key, _)| number_of(key));
        if leaf.is_sound {
            if let Some(first) = numbers.next() {
                self.sound.push((first, numbers.last().unwrap_or(first), leaf.number.0));
            }
        } else {
            for number in numbers {
                self.strays.entry(number).or_insert(leaf.number.0);
            }
        }
    }

    /// The first number from `from` on that a row may have. A damaged page may have numbers far
    /// apart, so not every number is worth a look.
    pub(crate) fn next(&self, from: u64) -> Option<u64> {
        let after = self.sound.partition_point(|(_, last, _)| u64::from(*last) < from);
        let sound = self.sound.get(after).map(|(first, ..)| u64::from(*first).max(from));
        let stray = u32::try_from(from).ok().and_then(|from| self.strays.range(from..).next());
        let stray = stray.map(|(number, _)| u64::from(*number));
        [sound, stray].into_iter().flatten().min()
    }
}

/// The rows of a commit that are left.
#[derive(Debug, Default)]
pub(crate) struct RowsLeft {
    /// The rows of `meta` on sound pages.
    meta: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The rows of `meta` on other pages, which may be out of date.
    old_meta: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The rows of `dead`.
    pub(crate) dead: BTreeMap<u16, Vec<u8>>,
    pub(crate) signatures: RowPages,
    pub(crate) documents: RowPages,
    pub(crate) texts: RowPages,
    pub(crate) fingerprints: RowPages,
    pub(crate) clusters: RowPages,
    /// The first damage.
    pub(crate) fault: Option<PageFault>,
    /// Whether a page of documents may be at the wrong place, or out of date.
    pub(crate) has_misplaced: bool,
    /// The pages with rows that are not where they should be.
    missing: Vec<Tree>,
}

impl RowsLeft {
    fn add_fault(&mut self, fault: PageFault, tree: Tree) {
        self.fault.get_or_insert(fault);
        // What follows from other rows is made anew.
        let bands = [Table::Postings, Table::Runs, Table::Fences];
        let clusters = [Table::Members, Table::ClusterChanges];
        let mut derived = bands.into_iter().chain(clusters).map(Table::name);
        if tree.table != STORAGE && derived.all(|table| table != tree.table) {
            self.missing.push(tree);
        }
    }

    fn add_leaf(&mut self, leaf: &Leaf<'_>) {
        let pages = match leaf.table {
            table if table == Table::Signatures.name() => &mut self.signatures,
            table if table == Table::Documents.name() => &mut self.documents,
            table if table == Table::Texts.name() => &mut self.texts,
            table if table == Table::Fingerprints.name() => &mut self.fingerprints,
            table if table == Table::Clusters.name() => {
                self.clusters.add(leaf);
                return;
            }
            table if table == Table::Meta.name() => {
                let rows = if leaf.is_sound { &mut self.meta } else { &mut self.old_meta };
                rows.extend(leaf.page.rows().map(|(key, row)| (key.to_vec(), row.to_vec())));
                return;
            }
            table if table == Table::Dead.name() => {
                for (key, row) in leaf.page.rows() {
                    let key = key.try_into().map_or(0, u16::from_le_bytes);
                    self.dead.insert(key, row.to_vec());
                }
                return;
            }
            _ => return,
        };
        pages.add(leaf);
        self.has_misplaced |= !(leaf.is_sound && leaf.is_sure);
    }

    /// Forgets the rows of a page that is not sound, because the right one was found elsewhere.
    fn forget(&mut self, place: PageNumber) {
        let rows = [&mut self.signatures, &mut self.documents, &mut self.texts];
        for table in rows.into_iter().chain([&mut self.fingerprints, &mut self.clusters]) {
            table.strays.retain(|_, page| *page != place.0);
        }
    }

    /// A row of `meta` that changes with every commit.
    pub(crate) fn changing(&self, key: &str) -> Option<&[u8]> {
        self.meta.get(key.as_bytes()).map(Vec::as_slice)
    }

    /// The rows of `meta` on sound pages, with their keys.
    pub(crate) fn rows_of_meta(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let rows = self.meta.iter();
        rows.filter_map(|(key, row)| Some((std::str::from_utf8(key).ok()?, row.as_slice())))
    }

    /// A row of `meta` that never changes, so that an old one is as good.
    pub(crate) fn lasting(&self, key: &str) -> Option<&[u8]> {
        let old = || self.old_meta.get(key.as_bytes()).map(Vec::as_slice);
        self.changing(key).or_else(old)
    }
}
