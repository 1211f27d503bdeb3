//! The header of redb's file: its geometry, and the two slots that hold the last two commits.

use crate::store::pages::page::{Named, PAGE_BYTES, REGION_PAGES, STORAGE, root_at};

/// The bytes of the header.
pub(crate) const HEADER_BYTES: usize = 320;

/// The first bytes of every index file. Other databases of the storage library begin with them,
/// too.
pub const FILE_MAGIC: [u8; 9] = *b"redb\x1A\x0A\xA9\x0D\x0A";

const SLOT_BYTES: usize = 128;
const FIRST_SLOT: usize = 64;

/// Where the flags are: which slot has the last commit, and how it was written.
const FLAGS: usize = FILE_MAGIC.len();
const SECOND_IS_LAST: u8 = 1;
const UNCLEAN: u8 = 2;
const TWO_PHASE: u8 = 4;
const UNFLUSHED: u8 = 8;

/// A commit: the roots of the two trees that list the tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// redb's number of the commit.
    pub(crate) id: u64,
    /// The tree of our tables.
    pub(crate) tables: Option<Named>,
    /// The tree of redb's own tables.
    pub(crate) system: Option<Named>,
}

impl Slot {
    /// Reads a slot, and tells whether its checksum matches.
    fn read(bytes: &[u8]) -> Option<(Self, bool)> {
        let (content, checksum) = bytes.split_at_checked(SLOT_BYTES - 16)?;
        let checksum = u128::from_le_bytes(checksum.try_into().ok()?);
        let is_whole = xxhash_rust::xxh3::xxh3_128(content) == checksum;
        let root = |flag: usize, at| match content.get(flag)? {
            0 => Some(None),
            _ => root_at(content, at).map(Some),
        };
        let id = u64::from_le_bytes(content.get(104..112)?.try_into().ok()?);
        Some((Self { id, tables: root(1, 8)?, system: root(2, 40)? }, is_whole))
    }

    /// The roots that the slot names, with what messages call their pages.
    pub(crate) fn roots(&self) -> impl Iterator<Item = (&'static str, Named)> {
        let named = |name, root: Option<Named>| root.map(|root| (name, root));
        [named("file", self.tables), named(STORAGE, self.system)].into_iter().flatten()
    }
}

/// The header of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// Whether the last process that wrote did not close the file.
    pub(crate) is_unclean: bool,
    /// Whether the pages of the last commit were synced before the commit itself.
    pub(crate) is_two_phase: bool,
    /// Whether the writer has not synced yet that the last commit is the last one.
    is_unflushed: bool,
    /// The last commit; `None` if its slot is damaged.
    pub(crate) primary: Option<Slot>,
    /// The commit before, or one that was under way; `None` if its slot is damaged.
    pub(crate) secondary: Option<Slot>,
    /// Both slots, whether they are damaged or not.
    slots: [Slot; 2],
    /// The length of the file, as of its last closing.
    length: u64,
    /// Whether the sizes of pages and regions are those of every file of twindex.
    has_known_sizes: bool,
}

impl Header {
    /// Reads a header. Returns `None` if the bytes are not the header of a file of redb.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.get(..FILE_MAGIC.len())? != FILE_MAGIC {
            return None;
        }
        let number = |at: usize| -> Option<u32> {
            Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
        };
        let flags = *bytes.get(FLAGS)?;
        let slot = |number: usize| {
            let at = FIRST_SLOT + number * SLOT_BYTES;
            Slot::read(bytes.get(at..at + SLOT_BYTES)?)
        };
        let first = usize::from(flags & SECOND_IS_LAST != 0);
        let (primary, secondary) = (slot(first)?, slot(1 - first)?);
        let whole = |(slot, is_whole): (Slot, bool)| is_whole.then_some(slot);
        let pages = u64::from(number(24)?) * REGION_PAGES + u64::from(number(28)?);
        Some(Self {
            is_unclean: flags & UNCLEAN != 0,
            is_two_phase: flags & TWO_PHASE != 0,
            is_unflushed: flags & UNFLUSHED != 0,
            primary: whole(primary),
            secondary: whole(secondary),
            slots: [primary.0, secondary.0],
            length: PAGE_BYTES.saturating_add(pages.saturating_mul(PAGE_BYTES)),
            has_known_sizes: u64::from(number(12)?) == PAGE_BYTES
                && number(16)? == 0
                && u64::from(number(20)?) == REGION_PAGES,
        })
    }

    /// Whether redb recovers the file when it opens it. Closing a file ends in a commit of two
    /// phases, and recovery begins by clearing the mark of an unclean stop.
    pub(crate) fn needs_recovery(&self) -> bool {
        self.is_unclean || !self.is_two_phase
    }

    /// The last commit that no power cut can take back: the one that readers beside a writer see.
    /// `None` if its slot is damaged.
    pub(crate) fn published(&self) -> Option<Slot> {
        if self.is_unflushed { self.secondary } else { self.primary }
    }

    /// Whether the pages of this commit are as it wrote them, redb's own included: no later commit
    /// has begun to reuse what this one has freed.
    pub(crate) fn is_last(&self, slot: &Slot) -> bool {
        !self.is_unflushed && self.primary.is_some_and(|last| last.id == slot.id)
    }

    /// Clears the mark of an unclean stop in the bytes of a header.
    pub(crate) fn hide_unclean(bytes: &mut [u8]) {
        if let Some(flags) = bytes.get_mut(FLAGS) {
            *flags &= !UNCLEAN;
        }
    }

    /// What is wrong with the header of a file of this length; `None` if nothing is.
    pub(crate) fn fault(&self, length: u64) -> Option<String> {
        if !self.has_known_sizes {
            return Some("the sizes of pages in its header are wrong".into());
        }
        // Recovery goes back to the commit before, unless this one was synced in two phases.
        let can_go_back = !self.is_two_phase && self.secondary.is_some();
        if self.primary.is_none() && !can_go_back {
            return Some("the last commit in its header is damaged".into());
        }
        // After an unclean stop, the length in the header may be old.
        (!self.is_unclean && self.length != length).then(|| {
            if length < self.length {
                format!("it is cut short: {length} bytes instead of {}", self.length)
            } else {
                format!("it is too long: {length} bytes instead of {}", self.length)
            }
        })
    }

    /// The commits among which recovery chooses. It tries a slot whose checksum does not match if
    /// the other one leads to damaged pages.
    pub(crate) fn choices(&self) -> impl Iterator<Item = Slot> {
        self.slots.into_iter().rev()
    }

    /// The commits from which the rows of a damaged file can be read, the last first, and whether
    /// each is the last one.
    pub(crate) fn commits(&self) -> impl Iterator<Item = (bool, Slot)> {
        let slots = [(true, self.primary), (false, self.secondary)];
        slots.into_iter().filter_map(|(is_last, slot)| Some((is_last, slot?)))
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "made headers")]
mod tests {
    use super::*;

    /// A header whose first slot has commit 7 and whose second one has commit 8.
    fn header(flags: u8) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut put = |at: usize, content: &[u8]| {
            bytes[at..at + content.len()].copy_from_slice(content);
        };
        put(0, &FILE_MAGIC);
        put(FLAGS, &[flags]);
        for (at, id) in [(FIRST_SLOT, 7_u64), (FIRST_SLOT + SLOT_BYTES, 8)] {
            let mut slot = [0; SLOT_BYTES - 16];
            slot[104..].copy_from_slice(&id.to_le_bytes());
            put(at, &slot);
            put(at + slot.len(), &xxhash_rust::xxh3::xxh3_128(&slot).to_le_bytes());
        }
        bytes
    }

    fn published(bytes: &[u8]) -> Option<u64> {
        Header::read(bytes).expect("a header").published().map(|slot| slot.id)
    }

    #[test]
    fn readers_see_the_commit_before_one_that_is_not_synced() {
        assert_eq!(published(&header(SECOND_IS_LAST | TWO_PHASE)), Some(8));
        assert_eq!(published(&header(TWO_PHASE)), Some(7));
        assert_eq!(published(&header(SECOND_IS_LAST | TWO_PHASE | UNFLUSHED)), Some(7));
        assert_eq!(published(&header(TWO_PHASE | UNFLUSHED)), Some(8));
    }

    #[test]
    fn a_damaged_slot_is_never_published() {
        let mut bytes = header(SECOND_IS_LAST | TWO_PHASE);
        bytes[FIRST_SLOT + SLOT_BYTES] ^= 1;
        assert_eq!(published(&bytes), None);
        bytes[FLAGS] |= UNFLUSHED;
        assert_eq!(published(&bytes), Some(7));
    }

    #[test]
    fn the_mark_of_an_unclean_stop_is_hidden_and_no_other() {
        let mut bytes = header(SECOND_IS_LAST | UNCLEAN | TWO_PHASE | UNFLUSHED);
        Header::hide_unclean(&mut bytes);
        assert_eq!(bytes, header(SECOND_IS_LAST | TWO_PHASE | UNFLUSHED));
    }

    #[test]
    fn the_last_commit_is_last_once_it_is_synced() {
        let read = |flags| Header::read(&header(flags)).expect("a header");
        let slot = read(SECOND_IS_LAST).primary.expect("a slot");
        assert!(read(SECOND_IS_LAST).is_last(&slot));
        assert!(!read(0).is_last(&slot));
        assert!(!read(UNFLUSHED).is_last(&slot));
    }
}
