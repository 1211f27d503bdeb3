//! The header of redb's file: its geometry, and the two slots that hold the last two commits.

use crate::store::pages::page::{Named, PAGE_BYTES, REGION_PAGES, root_at};
use crate::store::pages::verifier::STORAGE;

/// The bytes of the header.
pub(crate) const HEADER_BYTES: usize = 320;

const MAGIC: [u8; 9] = *b"redb\x1A\x0A\xA9\x0D\x0A";
const SLOT_BYTES: usize = 128;
const FIRST_SLOT: usize = 64;

/// A commit: the roots of the two trees that list the tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
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
        Some((Self { tables: root(1, 8)?, system: root(2, 40)? }, is_whole))
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
        if bytes.get(..MAGIC.len())? != MAGIC {
            return None;
        }
        let number = |at: usize| -> Option<u32> {
            Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
        };
        let flags = *bytes.get(MAGIC.len())?;
        let slot = |number: usize| {
            let at = FIRST_SLOT + number * SLOT_BYTES;
            Slot::read(bytes.get(at..at + SLOT_BYTES)?)
        };
        let first = usize::from(flags & 1 != 0);
        let (primary, secondary) = (slot(first)?, slot(1 - first)?);
        let whole = |(slot, is_whole): (Slot, bool)| is_whole.then_some(slot);
        let pages = u64::from(number(24)?) * REGION_PAGES + u64::from(number(28)?);
        Some(Self {
            is_unclean: flags & 2 != 0,
            is_two_phase: flags & 4 != 0,
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
        (!self.is_unclean && self.length != length).then(|| match length < self.length {
            true => format!("it is cut short: {length} bytes instead of {}", self.length),
            false => format!("it is too long: {length} bytes instead of {}", self.length),
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
