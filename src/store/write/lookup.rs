//! What an index has under the ids of new documents, as a write transaction sees it.

use crate::error::Result;
use crate::hash::id_hash;
use crate::store::bytes::record::DocumentRecord;
use crate::store::bytes::schema::DocNo;
use crate::store::parallel;
use crate::store::read::candidates::may_have_id;
use crate::store::read::view::Fixed;
use crate::store::write::writer::{NewDocument, Writer};
use std::collections::HashMap;

/// What is in the index under an id, compared with a new document.
pub(crate) enum Existing {
    /// Nothing.
    Absent,
    /// A document with the same text.
    Same(DocNo),
    /// A document with another text.
    Other(DocNo),
}

/// What the index has under one of several ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing.
    Absent,
    /// A document.
    Document(Former),
    /// It is the same as an earlier one of them.
    Repeated,
}

/// A document of the index, as far as it is compared with a new one of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Former {
    doc: DocNo,
    text_hash: u64,
    text_length: u64,
}

impl Known {
    /// The number of the document, if there is one.
    pub(crate) fn number(self) -> Option<DocNo> {
        match self {
            Self::Document(former) => Some(former.doc),
            Self::Absent | Self::Repeated => None,
        }
    }
}

impl Former {
    fn new(doc: DocNo, record: &DocumentRecord) -> Self {
        Self { doc, text_hash: record.text_hash, text_length: record.text_length }
    }
}

impl Known {
    /// Whether this is a document of the same text.
    pub(crate) fn is(&self, document: &NewDocument) -> bool {
        let same = |former: &Former| {
            (former.text_hash, former.text_length) == (document.text_hash, document.text_length)
        };
        matches!(self, Self::Document(former) if same(former))
    }
}

impl Writer<'_> {
    /// Whether there is a live document with this id.
    pub(crate) fn contains(&self, id: &str) -> Result<bool> {
        Ok(self.number_of(id)?.is_some())
    }

    /// The number of the live document with this id.
    pub(crate) fn number_of(&self, id: &str) -> Result<Option<DocNo>> {
        match self.fresh_ids.get(id) {
            Some(doc) => Ok(Some(*doc)),
            None => self.view(|view| Ok(view.find(id)?.map(|(doc, _)| doc))),
        }
    }

    /// Looks up what the index has under these ids, in the order of their hashes, so that each
    /// page is read once.
    ///
    /// What it finds holds for the next [`batch`](Self::batch) insertions.
    pub(crate) fn known(&mut self, ids: &[&str]) -> Result<Vec<Known>> {
        self.settle();
        let Fixed { id_key, layout, .. } = self.engine.fixed();
        let state = &self.state;
        // Most ids are new, which memory tells, on all threads.
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
                // Hardly ever more than one.
                if let [(_, at, possible)] = *equals {
                    if let (true, Some(id)) = (possible, ids.get(at))
                        && let Some((doc, record)) = view.find(id)?
                    {
                        set(at, Known::Document(Former::new(doc, &record)));
                    }
                    continue;
                }
                let mut wanted: HashMap<&str, usize> = HashMap::with_capacity(equals.len());
                // Equal hashes are in the order of the ids.
                for &(_, at, _) in equals {
                    let Some(id) = ids.get(at) else { continue };
                    if wanted.contains_key(id) {
                        set(at, Known::Repeated);
                    } else {
                        wanted.insert(id, at);
                    }
                }
                let Some(&(hash, _, true)) = equals.first() else { continue };
                // However many ids have one hash, their bucket is read once.
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

    /// Removes the documents with these ids; returns how many there were. Faster than one by one.
    pub(crate) fn remove_all(&mut self, ids: &[&str]) -> Result<u64> {
        let docs: Vec<DocNo> = self.known(ids)?.into_iter().filter_map(Known::number).collect();
        docs.iter().for_each(|doc| self.remove_number(*doc));
        Ok(docs.len() as u64)
    }

    /// Compares a new document with what the index has. `known` is what [`known`](Self::known)
    /// found before this transaction went on, if it was asked.
    pub(crate) fn compare(&self, document: &NewDocument, known: Option<Known>) -> Result<Existing> {
        let former = match (self.fresh_ids.get(&document.id), known) {
            (None, Some(Known::Document(former)))
                if !self.state.tombstones.contains(former.doc) =>
            {
                Some(former)
            }
            (None, Some(Known::Absent)) => None,
            (Some(doc), _) => Some(Former::new(*doc, &self.view(|view| view.document(*doc))?)),
            (None, _) => self
                .view(|view| view.find(&document.id))?
                .map(|(doc, record)| Former::new(doc, &record)),
        };
        let Some(Former { doc, text_hash, text_length }) = former else {
            return Ok(Existing::Absent);
        };
        let same = (text_hash, text_length) == (document.text_hash, document.text_length);
        Ok(if same { Existing::Same(doc) } else { Existing::Other(doc) })
    }
}
