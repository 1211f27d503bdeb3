//! Looks up documents by id inside a write transaction.

use crate::error::Result;
use crate::hash::{TextKey, id_hash};
use crate::store::bytes::record::DocumentRecord;
use crate::store::bytes::schema::DocNo;
use crate::store::parallel;
use crate::store::read::view::View;
use crate::store::write::writer::Writer;
use std::collections::{HashMap, HashSet};

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
    pub(super) text: TextKey,
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
        Self { doc, text: record.text_key() }
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
            None => self.read_settled(|view| Ok(view.find(id)?.map(|(doc, _)| doc))),
        }
    }

    /// Looks up one id.
    pub(super) fn known_under(&self, id: &str) -> Result<Known> {
        let found = match self.unsettled(id) {
            Some(doc) => Some((doc, self.read_settled(|view| view.document(doc))?)),
            None => self.read_settled(|view| view.find(id))?,
        };
        let found = found.map(|(doc, record)| Known::Document(Former::new(doc, &record)));
        Ok(found.unwrap_or(Known::Absent))
    }

    /// Looks up these ids, on all threads. Goes through them in the order of their hashes, so each
    /// page is read once, and through the documents in the order of their numbers.
    pub(super) fn known(&mut self, ids: &[&str]) -> Result<Vec<Known>> {
        /// The ids that are looked up together: they share the work of opening chunks.
        const PIECE: usize = 2048;
        self.settle();
        let id_key = self.engine().fixed().id_key;
        let shared = ids.len() >= parallel::MIN_DOCUMENTS;
        let hash = |(at, id): (usize, &&str)| (id_hash(id, id_key), at);
        let mut hashes = parallel::map(ids.iter().enumerate().collect(), shared, hash);
        hashes.sort_unstable();
        let mut known = vec![Known::Absent; ids.len()];
        self.read_settled(|view| {
            let look_up = |piece| look_up(view, ids, piece);
            for found in parallel::map(pieces(&hashes, PIECE), shared, look_up) {
                for (at, what) in found? {
                    if let Some(known) = known.get_mut(at) {
                        *known = what;
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

/// Divides sorted hashes, with the places of their ids, into pieces of at least `size`. Equal
/// hashes are in one piece.
fn pieces(mut rest: &[(u64, usize)], size: usize) -> Vec<&[(u64, usize)]> {
    let mut pieces = Vec::with_capacity(rest.len() / size + 1);
    while let Some((last, _)) = rest.get(size.min(rest.len()).saturating_sub(1)) {
        let (piece, others) = rest.split_at(rest.partition_point(|(hash, _)| hash <= last));
        pieces.push(piece);
        rest = others;
    }
    pieces
}

/// Looks up ids, of which the sorted hashes and the places in the list are given. Returns those
/// that are not absent.
fn look_up(view: &View<'_>, ids: &[&str], piece: &[(u64, usize)]) -> Result<Vec<(usize, Known)>> {
    let mut found = Vec::new();
    let groups = piece.chunk_by(|a, b| a.0 == b.0);
    for group in groups.clone().filter(|group| group.len() > 1) {
        // Equal hashes are in the order of the list, so the first of equal ids is looked up.
        let mut earlier = HashSet::new();
        for (_, at) in group {
            if ids.get(*at).is_some_and(|id| !earlier.insert(*id)) {
                found.push((*at, Known::Repeated));
            }
        }
    }
    let hashes: Vec<u64> = groups.filter_map(|group| Some(group.first()?.0)).collect();
    // Most ids are new: filters in memory rule them out.
    let docs = view.with_id_hashes(&hashes)?;
    if docs.is_empty() {
        return Ok(found);
    }
    let mut wanted: HashMap<&str, usize> = HashMap::with_capacity(piece.len());
    for (_, at) in piece {
        if let Some(id) = ids.get(*at) {
            wanted.entry(id).or_insert(*at);
        }
    }
    for doc in docs {
        let record = view.document(doc)?;
        if let Some(at) = wanted.remove(record.id.as_str()) {
            found.push((at, Known::Document(Former::new(doc, &record))));
        }
        if wanted.is_empty() {
            break;
        }
    }
    Ok(found)
}
