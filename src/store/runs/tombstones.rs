//! Tombstones: the numbers of removed documents whose entries a run or the tail still has.

use crate::store::bytes::codec::{DecodeError, seal, unseal};
use crate::store::bytes::schema::{DocNo, Table};
use roaring::RoaringBitmap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The tombstones of an index, in pieces of 65,536 document numbers. Clones share the pieces, so a
/// clone is cheap and a removal copies one piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tombstones {
    pieces: BTreeMap<u16, Arc<RoaringBitmap>>,
}

const fn piece(doc: DocNo) -> u16 {
    (doc.0 >> 16) as u16
}

impl Tombstones {
    #[inline]
    pub(crate) fn contains(&self, doc: DocNo) -> bool {
        self.pieces.get(&piece(doc)).is_some_and(|bitmap| bitmap.contains(doc.0))
    }

    pub(crate) fn insert(&mut self, doc: DocNo) {
        Arc::make_mut(self.pieces.entry(piece(doc)).or_default()).insert(doc.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The number of pieces, which is the number of rows in the table `dead`.
    pub(crate) fn pieces(&self) -> u64 {
        self.pieces.len() as u64
    }

    pub(crate) fn len(&self) -> u64 {
        self.pieces.values().map(|bitmap| bitmap.len()).sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = DocNo> + '_ {
        self.pieces.values().flat_map(|bitmap| bitmap.iter().map(DocNo))
    }

    /// Deletes the tombstones from `first` to `last` that are also in `purged`.
    pub(crate) fn delete(&mut self, purged: &Tombstones, first: DocNo, last: DocNo) {
        for (number, bitmap) in purged.pieces.range(piece(first)..=piece(last)) {
            let Some(remaining) = self.pieces.get_mut(number) else { continue };
            let mut within = RoaringBitmap::clone(bitmap);
            within.remove_range(..first.0);
            if let Some(after) = last.0.checked_add(1) {
                within.remove_range(after..);
            }
            *Arc::make_mut(remaining) -= &within;
            if remaining.is_empty() {
                self.pieces.remove(number);
            }
        }
    }

    /// The pieces that differ from an earlier version, with their rows. `None` stands for a piece
    /// that has become empty: its row is to be deleted.
    pub(crate) fn changed_rows(&self, before: &Tombstones) -> Vec<(u16, Option<Vec<u8>>)> {
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

    /// Adds the tombstones of a stored row (`docs/format.md`, section "Dead row").
    pub(crate) fn add_row(&mut self, number: u16, sealed: &[u8]) -> Result<(), DecodeError> {
        let row = unseal(sealed, Table::Dead, u64::from(number))?;
        let mut rest = row;
        let bitmap =
            RoaringBitmap::deserialize_from(&mut rest).map_err(|_| "its bitmap is malformed")?;
        if !rest.is_empty() {
            return Err("too long");
        }
        let bounds = [bitmap.min(), bitmap.max()];
        if bounds.iter().any(|bound| bound.map(|n| piece(DocNo(n))) != Some(number)) {
            return Err("it has a number outside its piece");
        }
        self.pieces.insert(number, Arc::new(bitmap));
        Ok(())
    }
}

/// Encodes a piece in the portable Roaring format, which has a specification of its own.
fn encode(bitmap: &RoaringBitmap, number: u16) -> Vec<u8> {
    let mut row = Vec::with_capacity(bitmap.serialized_size() + 4);
    let written = bitmap.serialize_into(&mut row);
    debug_assert!(written.is_ok(), "writing to a Vec cannot fail");
    seal(row, Table::Dead, u64::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(docs: &[u32]) -> Tombstones {
        let mut set = Tombstones::default();
        docs.iter().for_each(|doc| set.insert(DocNo(*doc)));
        set
    }

    #[test]
    fn only_changed_pieces_are_written() {
        let before = set(&[1, 70_000, 200_000]);
        let mut after = before.clone();
        after.insert(DocNo(70_001));
        after.delete(&set(&[200_000]), DocNo(0), DocNo(u32::MAX));
        let rows = after.changed_rows(&before);
        let numbers: Vec<(u16, bool)> = rows.iter().map(|(n, row)| (*n, row.is_some())).collect();
        assert_eq!(numbers, [(1, true), (3, false)]);
        let mut read = Tombstones::default();
        for (number, row) in after.changed_rows(&Tombstones::default()) {
            read.add_row(number, &row.expect("not empty")).expect("just written");
        }
        assert_eq!(read.iter().collect::<Vec<_>>(), after.iter().collect::<Vec<_>>());
    }

    #[test]
    fn deletion_keeps_to_its_range() {
        let mut tombstones = set(&[1, 2, 3, 65_536, 65_537]);
        tombstones.delete(&set(&[1, 2, 3, 65_536, 65_537]), DocNo(2), DocNo(65_536));
        assert_eq!(tombstones.iter().map(|doc| doc.0).collect::<Vec<_>>(), [1, 65_537]);
    }
}
