//! The texts that a report shows: of removed records, and of documents that are kept.

use super::id_hash;
use super::reading::{LONGEST_TEXT, beginning};
use super::removed::Removed;
use crate::run::failure::Failure;
use std::collections::{HashMap, HashSet};
use twindex::Snapshot;

/// Where texts are stored.
#[derive(Clone, Copy)]
pub(super) struct Stores<'a> {
    /// The index.
    pub(super) snapshot: &'a Snapshot,
    /// Other indexes that records were compared with, by their names.
    pub(super) others: &'a [(String, &'a Snapshot)],
    /// Whether the removed records are documents of the index. Else it may have another text with
    /// the id of a removed record.
    pub(super) has_removed: bool,
}

/// Texts by the hash of their id, or of the [kept document](Removed::kept_hash), cut to
/// [`LONGEST_TEXT`].
///
/// A removed record may have the id of a document that is kept, with another text.
#[derive(Default)]
pub(super) struct Texts {
    pub(super) removed: HashMap<u64, String>,
    pub(super) kept: HashMap<u64, String>,
}

impl Texts {
    /// Takes the texts that the list has, and those that are stored. Returns the hashes of removed
    /// and of kept ids whose texts are missing.
    pub(super) fn find<'r>(
        pairs: impl Iterator<Item = (&'r Removed, bool)>,
        stores: Stores<'_>,
    ) -> Result<(Self, [HashSet<u64>; 2]), Failure> {
        let mut texts = Self::default();
        let mut missing = [HashSet::new(), HashSet::new()];
        for (pair, both_kept) in pairs {
            let hash = id_hash(&pair.id);
            if both_kept {
                texts.add_kept(hash, stores.snapshot, &pair.id, &mut missing[1])?;
            } else if let Some(text) = &pair.text {
                texts.removed.entry(hash).or_insert_with(|| text.clone());
            } else if !texts.removed.contains_key(&hash) && !missing[0].contains(&hash) {
                let stored =
                    if stores.has_removed { stored_text(stores.snapshot, &pair.id)? } else { None };
                match stored {
                    Some(text) => drop(texts.removed.insert(hash, text)),
                    None => drop(missing[0].insert(hash)),
                }
            }
            let kept = pair.kept_hash();
            match &pair.against {
                None => texts.add_kept(kept, stores.snapshot, &pair.of, &mut missing[1])?,
                Some(index) => {
                    // The input may have another text with the id of a document elsewhere.
                    let other = stores.others.iter().find(|(name, _)| name == index);
                    if let Some((_, snapshot)) = other {
                        texts.add_kept(kept, snapshot, &pair.of, &mut HashSet::new())?;
                    }
                }
            }
        }
        Ok((texts, missing))
    }

    /// Takes the text that an index has stored for an id, or notes that it has none.
    fn add_kept(
        &mut self,
        hash: u64,
        snapshot: &Snapshot,
        id: &str,
        missing: &mut HashSet<u64>,
    ) -> Result<(), Failure> {
        if !self.kept.contains_key(&hash) && !missing.contains(&hash) {
            match stored_text(snapshot, id)? {
                Some(text) => drop(self.kept.insert(hash, text)),
                None => drop(missing.insert(hash)),
            }
        }
        Ok(())
    }

    /// The text of a removed record.
    pub(super) fn removed(&self, id: &str) -> Option<&str> {
        self.removed.get(&id_hash(id)).map(String::as_str)
    }

    /// The text of a document that is kept, by its hash.
    pub(super) fn kept(&self, hash: u64) -> Option<&str> {
        self.kept.get(&hash).map(String::as_str)
    }
}

/// The text that an index stores for an id, if it does.
fn stored_text(snapshot: &Snapshot, id: &str) -> Result<Option<String>, Failure> {
    let settings = snapshot.settings();
    if !settings.store_text || settings.weighted {
        return Ok(None);
    }
    let text = snapshot.text(id)?;
    Ok(text.map(|text| beginning(&text, LONGEST_TEXT).to_owned()))
}
