//! The pages of redb's trees: their numbers, what their checksums cover, their children and rows.

use std::ops::Range;

/// The size of the smallest page. A page of order n has 2^n times as many bytes.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// The greatest order of a page: that of a whole region.
pub(crate) const MAX_ORDER: u8 = 20;
/// The number of smallest pages in a region.
pub(crate) const REGION_PAGES: u64 = 1 << 20;

/// The name of redb's own tables in messages: they say which pages are free.
pub(crate) const STORAGE: &str = "storage";

const LEAF: u8 = 1;
const BRANCH: u8 = 2;
const CHECKSUM_BYTES: usize = 16;
const NUMBER_BYTES: usize = 8;

/// The number of a page as its parent stores it: a region, an index within it and an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageNumber(pub(crate) u64);

impl PageNumber {
    pub(crate) fn order(self) -> u8 {
        (self.0 >> 59) as u8
    }

    /// The bytes of the file that the page takes. `None` if no page has such an order.
    pub(crate) fn bytes(self) -> Option<Range<u64>> {
        let order = self.order();
        if order > MAX_ORDER {
            return None;
        }
        let index = self.0 & ((REGION_PAGES - 1) >> order);
        let region = (self.0 >> 20) & 0xF_FFFF;
        let length = PAGE_BYTES << order;
        let start = PAGE_BYTES + region * REGION_PAGES * PAGE_BYTES + index * length;
        Some(start..start + length)
    }
}

impl PageNumber {
    /// The number of the page of this order that begins at this byte. `None` if none does.
    pub(crate) fn at(start: u64, order: u8) -> Option<Self> {
        let page = start.checked_sub(PAGE_BYTES)? / PAGE_BYTES;
        let (region, index) = (page / REGION_PAGES, page % REGION_PAGES);
        let number = Self(u64::from(order) << 59 | region << 20 | index >> order);
        (number.bytes()?.start == start).then_some(number)
    }
}

/// A page, and the checksum that the place which names it stores for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) number: PageNumber,
    pub(crate) checksum: u128,
}

/// How the rows of a tree are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// The bytes of a key; `None` if they differ.
    pub(crate) key: Option<u32>,
    /// The bytes of a value; `None` if they differ.
    pub(crate) value: Option<u32>,
    /// Whether the values are definitions of tables.
    pub(crate) names_tables: bool,
}

impl Shape {
    /// A tree that lists tables. A commit has two: one for our tables, one for those of redb.
    pub(crate) const MASTER: Self = Self { key: None, value: None, names_tables: true };
}

/// A page of a tree whose lengths lie within it.
pub(crate) struct Page<'a> {
    bytes: &'a [u8],
    shape: Shape,
    is_branch: bool,
    /// The number of rows of a leaf, or of keys of a branch.
    count: usize,
    /// Where the bytes end that the checksum covers.
    end: usize,
}

impl<'a> Page<'a> {
    /// Returns `None` if the bytes are no page of a tree of this shape.
    pub(crate) fn new(bytes: &'a [u8], shape: Shape) -> Option<Self> {
        Self::beginning(bytes, shape).filter(|page| page.end <= bytes.len())
    }

    /// The bytes of a page of which these are the first. `None` if they are none, or too few.
    pub(crate) fn length(bytes: &'a [u8], shape: Shape) -> Option<usize> {
        Self::beginning(bytes, shape).map(|page| page.end)
    }

    fn beginning(bytes: &'a [u8], shape: Shape) -> Option<Self> {
        let kind = *bytes.first()?;
        let count = usize::from(u16::from_le_bytes(bytes.get(2..4)?.try_into().ok()?));
        if count == 0 || !matches!(kind, LEAF | BRANCH) {
            return None;
        }
        let mut page = Self { bytes, shape, is_branch: kind == BRANCH, count, end: 0 };
        page.end = if page.is_branch {
            page.branch_key_end(count - 1)?
        } else {
            page.value_end(count - 1)?
        };
        Some(page)
    }

    pub(crate) fn is_branch(&self) -> bool {
        self.is_branch
    }

    /// The checksum of the page, as redb computes it.
    pub(crate) fn checksum(&self) -> u128 {
        xxhash_rust::xxh3::xxh3_128(self.bytes.get(..self.end).unwrap_or_default())
    }

    fn end_at(&self, at: usize) -> Option<usize> {
        Some(u32::from_le_bytes(self.bytes.get(at..at + 4)?.try_into().ok()?) as usize)
    }

    fn branch_key_end(&self, key: usize) -> Option<usize> {
        let numbers = 8 + (CHECKSUM_BYTES + NUMBER_BYTES) * (self.count + 1);
        match self.shape.key {
            Some(width) => Some(numbers + width as usize * (key + 1)),
            None => self.end_at(numbers + 4 * key),
        }
    }

    fn key_end(&self, row: usize) -> Option<usize> {
        match self.shape.key {
            Some(width) => Some(self.first_key() + width as usize * (row + 1)),
            None => self.end_at(4 + 4 * row),
        }
    }

    fn value_end(&self, row: usize) -> Option<usize> {
        match self.shape.value {
            Some(width) => Some(self.key_end(self.count - 1)? + width as usize * (row + 1)),
            None => {
                let key_ends = if self.shape.key.is_none() { 4 * self.count } else { 0 };
                self.end_at(4 + key_ends + 4 * row)
            }
        }
    }

    /// Where the first key of a leaf begins.
    fn first_key(&self) -> usize {
        let ends = usize::from(self.shape.key.is_none()) + usize::from(self.shape.value.is_none());
        4 + 4 * ends * self.count
    }

    /// The children of a branch that lie within the page. A leaf has none.
    pub(crate) fn children(&self) -> impl Iterator<Item = Named> {
        let children = if self.is_branch { self.count + 1 } else { 0 };
        (0..children).filter_map(move |child| {
            let sum = 8 + CHECKSUM_BYTES * child;
            let number = 8 + CHECKSUM_BYTES * children + NUMBER_BYTES * child;
            let sum = self.bytes.get(sum..sum + CHECKSUM_BYTES)?;
            let number = self.bytes.get(number..number + NUMBER_BYTES)?;
            Some(Named {
                number: PageNumber(u64::from_le_bytes(number.try_into().ok()?)),
                checksum: u128::from_le_bytes(sum.try_into().ok()?),
            })
        })
    }

    /// The rows of a leaf, keys and values, as far as they lie within the page. A branch has none.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let rows = if self.is_branch { 0 } else { self.count };
        (0..rows).filter_map(move |row| {
            let (key, value) = match row.checked_sub(1) {
                None => (self.first_key(), self.key_end(self.count - 1)?),
                Some(before) => (self.key_end(before)?, self.value_end(before)?),
            };
            let key = self.bytes.get(key..self.key_end(row)?)?;
            Some((key, self.bytes.get(value..self.value_end(row)?)?))
        })
    }

    /// The tables that a leaf of a master tree defines: name, root and shape. A table without rows
    /// has no root and is left out.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (&'a [u8], Named, Shape)> {
        let rows = self.shape.names_tables.then(|| self.rows());
        rows.into_iter().flatten().filter_map(|(name, definition)| {
            let (root, shape) = table_of(definition)?;
            Some((name, root, shape))
        })
    }
}

/// The root and the shape in the definition of a table. `None` without a root, and for a kind of
/// table that twindex does not use.
fn table_of(definition: &[u8]) -> Option<(Named, Shape)> {
    const NORMAL: u8 = 3;
    if *definition.first()? != NORMAL || *definition.get(9)? == 0 {
        return None;
    }
    let width = |at: usize| -> Option<Option<u32>> {
        let width = u32::from_le_bytes(definition.get(at + 1..at + 5)?.try_into().ok()?);
        Some((*definition.get(at)? != 0).then_some(width))
    };
    let shape = Shape { key: width(42)?, value: width(47)?, names_tables: false };
    // No fixed width is as long as a page: this keeps sums of lengths small.
    let bounded = |width: Option<u32>| width.is_none_or(|width| width < 1 << 16);
    (bounded(shape.key) && bounded(shape.value)).then_some(())?;
    Some((root_at(definition, 10)?, shape))
}

/// The root of a tree as redb stores it: page number, checksum, number of rows.
pub(crate) fn root_at(bytes: &[u8], at: usize) -> Option<Named> {
    let number = u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
    let checksum = u128::from_le_bytes(bytes.get(at + 8..at + 24)?.try_into().ok()?);
    Some(Named { number: PageNumber(number), checksum })
}
