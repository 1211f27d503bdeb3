//! Looks up documents by id inside a write transaction.

use crate::error::Result;
use crate::hash::TextHash;
use crate::hash::id_hash;
use crate::store::bytes::record::DocumentRecord;
use crate::store::bytes::schema::DocNo;
use crate::store::parallel;
use crate::store::read::candidates::may_have_id;
use crate::store::read::view::Fixed;
use crate::store::write::writer::Writer;
use std::collections::HashMap;

/// The result of looking up one of several ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The index has no document with this id.
    Absent,
    /// The index has a document with this id.
    Document(Former),
    /// The id repeats an earlier one in the list.
    Repeated,
}

/// The data of a stored document that an insertion compares with a new one of the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Former {
    pub(super) doc: DocNo,
    text_hash: TextHash,
    text_length: u64,
}

impl Known {
    /// The document, if one was found.
    pub(super) fn former(self) -> Option<Former> {
        match self {
            Self::Document(former) => Some(former),
            Self::Absent | Self::Repeated => None,
        }
    }
}

impl Former {
    fn new(doc: DocNo, record: &DocumentRecord) -> Self {
        Self { doc, text_hash: record.text_hash, text_length: record.text_length }
    }

    /// Whether its text has this hash and this length.
    pub(super) fn has_text(&self, hash: TextHash, length: u64) -> bool {
        (self.text_hash, self.text_length) == (hash, length)
    }
}

impl Writer {
    /// Whether there is a live document with this id.
    pub(crate) fn contains(&self, id: &str) -> Result<bool> {
        Ok(self.number_of(id)?.is_some())
    }

    /// The number of the live document with this id.
    pub(super) fn number_of(&self, id: &str) -> Result<Option<DocNo>> {
        match self.unsettled(id) {
            Some(doc) => Ok(Some(doc)),
            None => self.view(|view| Ok(view.find(id)?.map(|(doc, _)| doc))),
        }
    }

    /// Looks up one id.
    pub(super) fn known_under(&self, id: &str) -> Result<Known> {
        let found = match self.unsettled(id) {
            Some(doc) => Some((doc, self.view(|view| view.document(doc))?)),
            None => self.view(|view| view.find(id))?,
        };
        let found = found.map(|(doc, record)| Known::Document(Former::new(doc, &record)));
        Ok(found.unwrap_or(Known::Absent))
    }

    /// Looks up these ids. Goes through them in the order of their hashes, so each page is read
    /// once.
    pub(super) fn known(&mut self, ids: &[&str]) -> Result<Vec<Known>> {
        self.settle();
        let Fixed { id_key, layout, .. } = self.engine().fixed();
        let state = self.state();
        // Most ids are new. The filters in memory rule these out, on all threads.
        let shared = ids.len() >= parallel::MIN_DOCUMENTS;
        let hash = |(at, id): (usize, &&str)| (id_hash(id, id_key), at);
        let mut hashes = parallel::map(ids.iter().enumerate().collect(), shared, hash);
        hashes.sort_unstable();
        let hashes = parallel::map(hashes, shared, |(hash, at)| {
            (hash, at, may_have_id(state, layout, hash))
        });
        let mut known = vec![Known::Absent; ids.len()];
        self.view(|view| {
            let mut set = |at: usize, what| known.get_mut(at).map(|known| *known = what);
            for equals in hashes.chunk_by(|a, b| a.0 == b.0) {
                // Almost every hash belongs to a single id.
                if let [(_, at, possible)] = *equals {
                    if let (true, Some(id)) = (possible, ids.get(at))
                        && let Some((doc, record)) = view.find(id)?
                    {
                        set(at, Known::Document(Former::new(doc, &record)));
                    }
                    continue;
                }
                let mut wanted: HashMap<&str, usize> = HashMap::with_capacity(equals.len());
                // Ids with equal hashes are still in the order of the list, so the first one wins.
                for &(_, at, _) in equals {
                    let Some(id) = ids.get(at) else { continue };
                    if wanted.contains_key(id) {
                        set(at, Known::Repeated);
                    } else {
                        wanted.insert(id, at);
                    }
                }
                let Some(&(hash, _, true)) = equals.first() else { continue };
                // The bucket is read once, even if an attacker made many ids with the same hash.
                for doc in view.with_id_hash(hash)? {
                    let record = view.document(doc)?;
                    if let Some(at) = wanted.remove(record.id.as_str()) {
                        set(at, Known::Document(Former::new(doc, &record)));
                    }
                    if wanted.is_empty() {
                        break;
                    }
                }
            }
            Ok(())
        })?;
        Ok(known)
    }

    /// The numbers of the documents with these ids. Skips unknown ids.
    pub(super) fn numbers_of(&mut self, ids: &[&str]) -> Result<Vec<DocNo>> {
        let known = self.known(ids)?.into_iter();
        Ok(known.filter_map(|known| known.former()).map(|former| former.doc).collect())
    }
}
