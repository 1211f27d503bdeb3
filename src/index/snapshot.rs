//! A consistent state of an index to ask.

use super::buckets::BucketSizes;
use super::document::DocumentInfo;
use super::pairs::Pairs;
use super::query::Query;
use crate::error::Result;
use crate::params::Threshold;
use crate::sketch::{Signature, Sketcher};
use crate::store::{ChunkTable, DocNo, DocTable, Reader, Settings, Usage, View};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// The state of an index after one commit. It stays as it is whatever is written, flushed or
/// merged meanwhile, can be sent to and shared between threads, and keeps the file open.
pub struct Snapshot {
    reader: Reader,
    sketcher: Arc<Sketcher>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("path", &self.reader.engine().path())
            .field("documents", &self.len())
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    pub(super) fn new(reader: Reader, sketcher: Arc<Sketcher>) -> Self {
        Self { reader, sketcher }
    }

    pub(super) fn view(&self) -> View<'_, impl ChunkTable + use<>, impl DocTable + use<>> {
        self.reader.view()
    }

    pub(super) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// What the index was created with.
    pub fn settings(&self) -> &Settings {
        self.reader.engine().settings()
    }

    /// The version of the file format.
    pub fn format_version(&self) -> u32 {
        crate::store::FORMAT_VERSION
    }

    /// When the index was created, in seconds since 1970.
    pub fn created(&self) -> i64 {
        self.reader.engine().created()
    }

    /// The sketcher that makes this index's signatures.
    pub fn sketcher(&self) -> &Sketcher {
        &self.sketcher
    }

    /// The number of documents.
    pub fn len(&self) -> u64 {
        self.reader.len()
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A question about similar documents.
    pub fn query(&self) -> Query<'_> {
        Query::new(self)
    }

    /// All pairs of documents with an estimated similarity of at least the threshold, one after
    /// the other. See [`Pairs`] for their order.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a threshold out of range.
    pub fn pairs(&self, threshold: f64) -> Result<Pairs<'_>> {
        Ok(Pairs::new(self, Threshold::new(threshold)?))
    }

    /// What is known of a document; `None` where there is none with this id.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io).
    pub fn get(&self, id: &str) -> Result<Option<DocumentInfo>> {
        let view = self.view();
        let Some((doc, record)) = view.find(id)? else { return Ok(None) };
        let signature =
            view.with_signature(doc, |lanes, size| Signature::new(lanes.into(), size))?;
        Ok(Some(DocumentInfo::new(record, signature)))
    }

    /// All ids in order of insertion.
    pub fn ids(&self) -> Ids<'_> {
        Ids { snapshot: self, next: Some(DocNo(0)), block: VecDeque::new(), seen: 0 }
    }

    /// How much space is used for what.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io).
    pub fn usage(&self) -> Result<Usage> {
        self.reader.usage()
    }

    /// How many documents the buckets of the first so many bands hold; of all with `usize::MAX`.
    ///
    /// Reads the postings of these bands, on all threads: some 90 ns an entry, which is 90 ms of one core
    /// for each band of a million documents.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io).
    pub fn bucket_sizes(&self, bands: usize) -> Result<BucketSizes> {
        BucketSizes::count(self, bands)
    }
}

/// The ids of a snapshot's documents, in order of insertion.
#[derive(Debug)]
pub struct Ids<'s> {
    snapshot: &'s Snapshot,
    /// Where to read on; `None` after the end or an error.
    next: Option<DocNo>,
    block: VecDeque<String>,
    seen: u64,
}

impl Iterator for Ids<'_> {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        const BLOCK: usize = 1024;
        if self.block.is_empty() {
            let from = self.next.take()?;
            match self.snapshot.view().documents_from(from, BLOCK) {
                Err(error) => return Some(Err(error)),
                Ok(records) => {
                    self.seen += records.len() as u64;
                    let last = records.last().map(|(doc, _)| *doc);
                    self.next = last.and_then(|doc| doc.0.checked_add(1)).map(DocNo);
                    self.block.extend(records.into_iter().map(|(_, record)| record.id));
                    if self.next.is_none() {
                        let counted = self.snapshot.reader().counted(self.seen);
                        if let Err(error) = counted {
                            return Some(Err(error));
                        }
                    }
                }
            }
        }
        self.block.pop_front().map(Ok)
    }
}
