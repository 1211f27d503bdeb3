//! Measures the tables of a commit. Reads the branches of their trees and no leaves, which are
//! nearly all pages.

use crate::store::pages::header::Slot;
use crate::store::pages::page::{Named, Page, PageNumber, Shape};
use crate::store::pages::verifier::{PageFault, STORAGE, Visited, table_name};
use redb::StorageBackend;
use std::io;

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
        let mut bytes = size(root.number);
        let mut pending = vec![(root, height)];
        while let Some((named, height)) = pending.pop().filter(|(_, height)| *height > 0) {
            for child in self.read(named, shape, table)?.children() {
                bytes += size(child.number);
                if height > 1 {
                    pending.push((child, height - 1));
                }
            }
        }
        Ok(bytes)
    }

    /// Reads and verifies a page.
    fn read(&mut self, named: Named, shape: Shape, table: &'static str) -> io::Result<Page<'_>> {
        let start = named.number.bytes().map_or(0, |place| place.start);
        let fault = |detail| {
            let fault = PageFault::at(table, start, detail);
            io::Error::new(io::ErrorKind::InvalidData, fault)
        };
        let place = named.number.bytes().filter(|place| place.end <= self.length);
        let place = place.ok_or_else(|| fault("it lies beyond the end of the file"))?;
        if !self.visited.insert(named.number) {
            return Err(fault("two places name it"));
        }
        self.page.clear();
        self.page.resize((place.end - place.start) as usize, 0);
        self.file.read(place.start, &mut self.page)?;
        let page = Page::new(&self.page, shape);
        let page = page.ok_or_else(|| fault("it is not a page of its table"))?;
        match page.checksum() == named.checksum {
            true => Ok(page),
            false => Err(fault("its content does not match its checksum")),
        }
    }
}

/// The bytes of a page.
fn size(page: PageNumber) -> u64 {
    page.bytes().map_or(0, |place| place.end - place.start)
}
