//! Measures the tables of a commit. Reads the branches of their trees, and of the leaves, which are
//! nearly all pages, only the first of each table.

use crate::store::pages::header::Slot;
use crate::store::pages::page::{Named, Page, PageNumber, STORAGE, Shape};
use crate::store::pages::verifier::{PageFault, Visited, table_name};
use redb::StorageBackend;
use std::io;
use std::ops::Range;

/// The bytes of the pages of each table of a commit, by name. A table without rows has none. An
/// error of the kind `InvalidData` contains the [`PageFault`] of a damaged page.
pub(crate) fn table_bytes(
    file: &dyn StorageBackend,
    commit: &Slot,
) -> io::Result<Vec<(&'static str, u64)>> {
    let length = file.len()?;
    let mut measure = Measure { file, length, visited: Visited::new(length), page: Vec::new() };
    let mut tables: Vec<(&'static str, Named, Shape)> = Vec::new();
    let mut list: Vec<Named> = commit.tables.into_iter().collect();
    while let Some(named) = list.pop() {
        let page = measure.read(named, Shape::MASTER, "file")?;
        list.extend(page.children());
        let found = page.tables().map(|(name, root, shape)| (table_name(name), root, shape));
        tables.extend(found.filter(|(table, ..)| *table != STORAGE));
    }
    // A forged list may have a name several times.
    tables.sort_by_key(|(table, ..)| *table);
    tables.dedup_by_key(|(table, ..)| *table);
    tables
        .into_iter()
        .map(|(table, root, shape)| Ok((table, measure.tree(root, shape, table)?)))
        .collect()
}

struct Measure<'f> {
    file: &'f dyn StorageBackend,
    /// The length of the file.
    length: u64,
    /// The pages that were read, so that a forged file cannot lead in circles.
    visited: Visited,
    page: Vec<u8>,
}

impl Measure<'_> {
    /// The bytes of the pages of a tree. All leaves of a tree have the same depth.
    fn tree(&mut self, root: Named, shape: Shape, table: &'static str) -> io::Result<u64> {
        let (mut height, mut first) = (0, root);
        while let Some(child) = self.read(first, shape, table)?.children().next() {
            (height, first) = (height + 1, child);
        }
        // The pages on the way to the first leaf are read again.
        self.visited = Visited::new(self.length);
        let mut bytes = self.size(root.number, table)?;
        let (mut pending, mut children) = (vec![(root, height)], Vec::new());
        while let Some((named, height)) = pending.pop().filter(|(_, height)| *height > 0) {
            children.clear();
            children.extend(self.read(named, shape, table)?.children());
            for child in &children {
                bytes += self.size(child.number, table)?;
            }
            if height > 1 {
                pending.extend(children.iter().map(|child| (*child, height - 1)));
            }
        }
        Ok(bytes)
    }

    /// The bytes of a page.
    fn size(&self, page: PageNumber, table: &'static str) -> io::Result<u64> {
        self.place(page, table).map(|place| place.end - place.start)
    }

    /// Where a page lies in the file.
    fn place(&self, page: PageNumber, table: &'static str) -> io::Result<Range<u64>> {
        let place = page.bytes().ok_or_else(|| fault(table, 0, "no page has its number"))?;
        if place.end <= self.length {
            Ok(place)
        } else {
            Err(fault(table, place.start, "it lies beyond the end of the file"))
        }
    }

    /// Reads and verifies a page.
    fn read(&mut self, named: Named, shape: Shape, table: &'static str) -> io::Result<Page<'_>> {
        let place = self.place(named.number, table)?;
        let fault = |detail| fault(table, place.start, detail);
        if !self.visited.insert(named.number) {
            return Err(fault("two places name it"));
        }
        let length = (place.end - place.start) as usize;
        self.page.clear();
        self.page.try_reserve(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.page.resize(length, 0);
        self.file.read(place.start, &mut self.page)?;
        let page = Page::new(&self.page, shape);
        let page = page.ok_or_else(|| fault("it is not a page of its table"))?;
        if page.checksum() == named.checksum {
            Ok(page)
        } else {
            Err(fault("its content does not match its checksum"))
        }
    }
}

fn fault(table: &'static str, start: u64, detail: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, PageFault::at(table, start, detail))
}
