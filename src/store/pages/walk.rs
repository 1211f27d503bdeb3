//! Walks all pages of a commit beneath redb: without recursion, each page once, within the file.

use crate::error::Result;
use crate::store::pages::header::Slot;
use crate::store::pages::page::{Named, Page, PageNumber, Shape};
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
    /// Whether the page that names it is sound, and so is the checksum that it stores.
    pub(crate) is_sure: bool,
}

/// What a walk meets.
pub(crate) enum Met<'a> {
    Leaf(Leaf<'a>),
    Fault(PageFault),
}

/// A page that is still to be visited.
struct Pending {
    page: Named,
    table: &'static str,
    shape: Shape,
    /// Whether the page that names it is sound.
    is_sure: bool,
}

/// Visits the pages of a commit in order of their keys. Reports each page that is damaged, and each
/// leaf.
///
/// A page whose checksum does not match is skipped with all that it names, unless `is_lenient`:
/// then its rows, which have checksums of their own, are worth reading. A page is visited once,
/// whatever names it. So the walk ends, and takes no more memory than the largest page, a bit for
/// each page and the children of one path.
pub(crate) fn walk(
    file: &dyn StorageBackend,
    slot: &Slot,
    is_lenient: bool,
    meet: &mut dyn FnMut(Met<'_>) -> Result<()>,
) -> Result<io::Result<()>> {
    let length = match file.len() {
        Ok(length) => length,
        Err(error) => return Ok(Err(error)),
    };
    let mut visited = Visited::new(length);
    let mut pending: Vec<Pending> = Vec::new();
    for (table, page) in slot.roots() {
        pending.push(Pending { page, table, shape: Shape::MASTER, is_sure: true });
    }
    let mut bytes = Vec::new();
    while let Some(Pending { page: named, table, shape, is_sure }) = pending.pop() {
        let Some(place) = named.number.bytes() else {
            meet(Met::Fault(PageFault::of_file("it names a page of a size that none has")))?;
            continue;
        };
        let fault = |detail| Met::Fault(PageFault::at(table, place.start, detail));
        if place.end > length {
            meet(fault("it lies beyond the end of the file"))?;
            continue;
        }
        if !visited.insert(named.number) {
            meet(fault("two places name it"))?;
            continue;
        }
        bytes.resize((place.end - place.start) as usize, 0);
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
            let named = |page| Pending { page, table, shape, is_sure: is_sound };
            pending.extend(page.children().map(named));
            // The last one pushed is visited first.
            if let Some(children) = pending.get_mut(first..) {
                children.reverse();
            }
            continue;
        }
        for (name, page, shape) in page.tables() {
            let table = table_name(name);
            pending.push(Pending { page, table, shape, is_sure: is_sound });
        }
        meet(Met::Leaf(Leaf { table, number: named.number, page, is_sound, is_sure }))?;
    }
    Ok(Ok(()))
}
