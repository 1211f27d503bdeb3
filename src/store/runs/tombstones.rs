//! The numbers of removed documents that a run or the tail still holds.

use crate::store::bytes::codec::{Fault, seal, unseal};
use crate::store::bytes::schema::{DocNo, Table};
use roaring::RoaringBitmap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Dead document numbers, in pieces of 65,536 numbers that are shared between versions: a copy
/// is cheap, and a removal rewrites one piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeadSet {
    pieces: BTreeMap<u16, Arc<RoaringBitmap>>,
}

const fn piece(doc: DocNo) -> u16 {
    (doc.0 >> 16) as u16
}

impl DeadSet {
    pub(crate) fn contains(&self, doc: DocNo) -> bool {
        self.pieces.get(&piece(doc)).is_some_and(|bitmap| bitmap.contains(doc.0))
    }

    pub(crate) fn insert(&mut self, doc: DocNo) {
        Arc::make_mut(self.pieces.entry(piece(doc)).or_default()).insert(doc.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Pieces of 65,536 numbers that have any, each of which is a row.
    pub(crate) fn pieces(&self) -> u64 {
        self.pieces.len() as u64
    }

    pub(crate) fn len(&self) -> u64 {
        self.pieces.values().map(|bitmap| bitmap.len()).sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = DocNo> + '_ {
        self.pieces.values().flat_map(|bitmap| bitmap.iter().map(DocNo))
    }

    /// Forgets the numbers from `first` to `last` that are also in `gone`.
    pub(crate) fn forget(&mut self, gone: &DeadSet, first: DocNo, last: DocNo) {
        for (number, bitmap) in gone.pieces.range(piece(first)..=piece(last)) {
            let Some(mine) = self.pieces.get_mut(number) else { continue };
            let mut within = RoaringBitmap::clone(bitmap);
            within.remove_range(..first.0);
            if let Some(after) = last.0.checked_add(1) {
                within.remove_range(after..);
            }
            *Arc::make_mut(mine) -= &within;
            if mine.is_empty() {
                self.pieces.remove(number);
            }
        }
    }

    /// The pieces that differ from an earlier version, with their rows; `None` where a piece has
    /// become empty and its row goes.
    pub(crate) fn changed_rows(&self, before: &DeadSet) -> Vec<(u16, Option<Vec<u8>>)> {
        let numbers: BTreeSet<u16> =
            self.pieces.keys().chain(before.pieces.keys()).copied().collect();
        numbers
            .into_iter()
            .filter_map(|number| match (self.pieces.get(&number), before.pieces.get(&number)) {
                (Some(new), Some(old)) if Arc::ptr_eq(new, old) => None,
                (Some(new), _) => Some((number, Some(encode(new, number)))),
                (None, _) => Some((number, None)),
            })
            .collect()
    }

    /// Takes a stored row.
    pub(crate) fn add_row(&mut self, number: u16, sealed: &[u8]) -> Result<(), Fault> {
        let row = unseal(sealed, Table::Dead, u64::from(number))?;
        let mut rest = row;
        let bitmap =
            RoaringBitmap::deserialize_from(&mut rest).map_err(|_| "its bitmap cannot be read")?;
        if !rest.is_empty() {
            return Err("too long");
        }
        let bounds = [bitmap.min(), bitmap.max()];
        if bounds.iter().any(|bound| bound.map(|n| piece(DocNo(n))) != Some(number)) {
            return Err("its numbers lie outside its piece");
        }
        self.pieces.insert(number, Arc::new(bitmap));
        Ok(())
    }
}

/// The bitmap in the portable format of Roaring, which is specified apart from any library.
fn encode(bitmap: &RoaringBitmap, number: u16) -> Vec<u8> {
    let mut row = Vec::with_capacity(bitmap.serialized_size() + 4);
    let written = bitmap.serialize_into(&mut row);
    debug_assert!(written.is_ok(), "writing to memory does not fail");
    seal(row, Table::Dead, u64::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(docs: &[u32]) -> DeadSet {
        let mut set = DeadSet::default();
        docs.iter().for_each(|doc| set.insert(DocNo(*doc)));
        set
    }

    #[test]
    fn only_touched_pieces_are_written() {
        let before = set(&[1, 70_000, 200_000]);
        let mut after = before.clone();
        after.insert(DocNo(70_001));
        after.forget(&set(&[200_000]), DocNo(0), DocNo(u32::MAX));
        let rows = after.changed_rows(&before);
        let numbers: Vec<(u16, bool)> = rows.iter().map(|(n, row)| (*n, row.is_some())).collect();
        assert_eq!(numbers, [(1, true), (3, false)]);
        let mut read = DeadSet::default();
        for (number, row) in after.changed_rows(&DeadSet::default()) {
            read.add_row(number, &row.expect("not empty")).expect("just written");
        }
        assert_eq!(read.iter().collect::<Vec<_>>(), after.iter().collect::<Vec<_>>());
    }

    #[test]
    fn forgetting_keeps_to_its_range() {
        let mut dead = set(&[1, 2, 3, 65_536, 65_537]);
        dead.forget(&set(&[1, 2, 3, 65_536, 65_537]), DocNo(2), DocNo(65_536));
        assert_eq!(dead.iter().map(|doc| doc.0).collect::<Vec<_>>(), [1, 65_537]);
    }
}
