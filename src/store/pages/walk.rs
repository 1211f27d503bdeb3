//! Walks all pages of a commit beneath redb: without recursion, each page once, within the file.

use crate::error::Result;
use crate::store::pages::header::Slot;
use crate::store::pages::page::{Named, Page, PageNumber, STORAGE, Shape};
use crate::store::pages::verifier::{PageFault, Visited, table_name};
use redb::StorageBackend;
use std::io;

/// A leaf of a table.
pub(crate) struct Leaf<'a> {
    /// The table: `file` if it is one of redb's own.
    pub(crate) table: &'static str,
    pub(crate) number: PageNumber,
    pub(crate) page: Page<'a>,
    /// Whether the content of the page matches its checksum.
    pub(crate) is_sound: bool,
    /// Whether all pages above it are sound. Otherwise it may be a leaf of an old tree.
    pub(crate) is_sure: bool,
}

/// What a walk meets.
pub(crate) enum Met<'a> {
    Leaf(Leaf<'a>),
    /// A page that is damaged. The tree is the one whose page is missing.
    Fault(PageFault, Tree),
}

/// The root of a tree, or of a part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tree {
    pub(crate) root: Named,
    /// The table.
    pub(crate) table: &'static str,
    pub(crate) shape: Shape,
}

impl Tree {
    /// The two trees of a commit, which list the tables.
    pub(crate) fn of(slot: &Slot) -> Vec<Self> {
        let tree = |(table, root)| Self { root, table, shape: Shape::MASTER };
        slot.roots().map(tree).collect()
    }
}

/// Visits the pages of trees in order of their keys. Reports each page that is damaged, and each
/// leaf.
///
/// A page whose checksum does not match is skipped with all that it names, unless `is_lenient`:
/// then its rows, which have checksums of their own, are worth reading. A page is visited once,
/// whatever names it. So the walk ends, and takes no more memory than the largest page, a bit for
/// each page and the children of one path.
pub(crate) fn walk(
    file: &dyn StorageBackend,
    trees: Vec<Tree>,
    is_lenient: bool,
    meet: &mut dyn FnMut(Met<'_>) -> Result<()>,
) -> Result<io::Result<()>> {
    let length = match file.len() {
        Ok(length) => length,
        Err(error) => return Ok(Err(error)),
    };
    let mut visited = Visited::new(length);
    // The pages that are still to be visited, and whether all pages above each are sound.
    let mut pending: Vec<(Tree, bool)> = trees.into_iter().map(|tree| (tree, true)).collect();
    let mut bytes = Vec::new();
    while let Some((tree, is_sure)) = pending.pop() {
        let Tree { root: named, table, shape } = tree;
        let Some(place) = named.number.bytes() else {
            let fault = PageFault::of_file("it names a page of a size that none has");
            meet(Met::Fault(fault, tree))?;
            continue;
        };
        let fault = |detail| Met::Fault(PageFault::at(table, place.start, detail), tree);
        if place.end > length {
            meet(fault("it lies beyond the end of the file"))?;
            continue;
        }
        if !visited.insert(named.number) {
            meet(fault("two places name it"))?;
            continue;
        }
        let length_of_page = (place.end - place.start) as usize;
        bytes.clear();
        if bytes.try_reserve(length_of_page).is_err() {
            return Ok(Err(io::ErrorKind::OutOfMemory.into()));
        }
        bytes.resize(length_of_page, 0);
        if let Err(error) = file.read(place.start, &mut bytes) {
            return Ok(Err(error));
        }
        let Some(page) = Page::new(&bytes, shape) else {
            meet(fault("it is not a page of its table"))?;
            continue;
        };
        let is_sound = page.checksum() == named.checksum;
        if !is_sound {
            meet(fault("its content does not match its checksum"))?;
            if !is_lenient {
                continue;
            }
        }
        if page.is_branch() {
            let first = pending.len();
            pending
                .extend(page.children().map(|root| (Tree { root, ..tree }, is_sure && is_sound)));
            // The last one pushed is visited first.
            if let Some(children) = pending.get_mut(first..) {
                children.reverse();
            }
            continue;
        }
        for (name, root, shape) in page.tables() {
            // A table of redb's own has no name of ours, whatever it is called.
            let table = if table == STORAGE { STORAGE } else { table_name(name) };
            pending.push((Tree { root, table, shape }, is_sure && is_sound));
        }
        meet(Met::Leaf(Leaf { table, number: named.number, page, is_sound, is_sure }))?;
    }
    Ok(Ok(()))
}
