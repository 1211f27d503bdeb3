//! Reading one consistent state: tables of one transaction and the memory that belongs to it.

use super::chunk::Chunk;
use super::cursor::RunCursor;
use super::fault::{Doing, damaged, guard};
use super::filter::{Filter, FilterKey};
use super::record::{DocumentRecord, decode_signature};
use super::run::{BandRun, Run};
use super::schema::{BandNo, DocNo, Layout, Table, posting_key};
use super::segment::Segment;
use super::state::State;
use crate::error::Result;
use crate::hash::id_hash;
use crate::lsh::WordRange;
use crate::sketch::SetSize;
use redb::ReadableTable;
use std::path::Path;
use std::sync::Arc;

/// A table with document numbers for keys, in a read or a write transaction.
pub(crate) trait DocTable: ReadableTable<u32, &'static [u8]> {}
impl<T: ReadableTable<u32, &'static [u8]>> DocTable for T {}

/// The table of chunks, in a read or a write transaction.
pub(crate) trait ChunkTable: ReadableTable<u64, &'static [u8]> {}
impl<T: ReadableTable<u64, &'static [u8]>> ChunkTable for T {}

/// What is fixed for an index as long as it is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed<'a> {
    pub(super) path: &'a Path,
    pub(super) layout: Layout,
    pub(super) lanes: usize,
    pub(super) id_key: u64,
}

/// One consistent state of an index, to read from.
pub(crate) struct View<'a, P, D> {
    pub(super) fixed: Fixed<'a>,
    pub(super) state: &'a State,
    pub(super) postings: &'a P,
    pub(super) signatures: &'a D,
    pub(super) documents: &'a D,
}

impl<P: ChunkTable, D: DocTable> View<'_, P, D> {
    /// Whether the document is in this state. Numbers come from bands, which may hold dead ones.
    pub(crate) fn is_live(&self, doc: DocNo) -> bool {
        !self.state.dead.contains(doc)
    }

    /// The live documents in the union of some buckets, each once, by number. A bucket is a band
    /// and a range of its words.
    pub(crate) fn buckets(&self, buckets: &[(BandNo, WordRange)]) -> Result<Vec<DocNo>> {
        let mut found = Gathered::default();
        for segment in self.state.tail.segments() {
            for (band, range) in buckets {
                if let Some(column) = segment.column(*band) {
                    found.docs.extend_from_slice(column.within(*range));
                    found.tidy();
                }
            }
        }
        guard(self.fixed.path, || {
            let layout = self.fixed.layout;
            let wanted: Vec<Wanted> =
                buckets.iter().map(|(band, range)| Wanted::new(layout, *band, *range)).collect();
            // All filters are asked before the first page is read: they wait for memory together.
            let mut places = Vec::with_capacity(2 * wanted.len());
            for run in self.state.manifest.runs() {
                places.extend(wanted.iter().filter_map(|wanted| {
                    let content = run.band(wanted.band)?;
                    wanted.may_be_in(content).then_some((run, wanted, content))
                }));
            }
            for (run, wanted, content) in places {
                if wanted.filter.is_some() && content.filter.get().is_none() {
                    self.consider_filter(wanted.band, run, content)?;
                }
                self.bucket_of_run(run, wanted, content, &mut found.docs)?;
                found.tidy();
            }
            Ok(())
        })?;
        let mut docs = found.once();
        if !self.state.dead.is_empty() {
            docs.retain(|doc| self.is_live(*doc));
        }
        Ok(docs)
    }

    fn bucket_of_run(
        &self,
        run: &Run,
        wanted: &Wanted,
        content: &BandRun,
        out: &mut Vec<DocNo>,
    ) -> Result<()> {
        let Wanted { band, range, fence, .. } = *wanted;
        for number in content.first_chunk(fence)..content.chunks() {
            let key = posting_key(run.number, band, number);
            let more = self.with_chunk(key, |chunk| {
                for entry in chunk.lower_bound(range.first)..chunk.len() {
                    if chunk.word(entry) > range.last {
                        return false;
                    }
                    out.push(chunk.doc(entry));
                }
                true
            })?;
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// Builds the filter of a band of a run that was searched often enough.
    fn consider_filter(&self, band: BandNo, run: &Run, content: &Arc<BandRun>) -> Result<()> {
        let layout = self.fixed.layout;
        let deserved = || {
            let manifest = &self.state.manifest;
            band == layout.ids() || manifest.deserves_filter(band, content.entries, layout.bands)
        };
        if !content.filter.is_worth_building(content.chunks()) || !deserved() {
            return Ok(());
        }
        let shift = layout.fence_shift(band);
        let mut filter = Filter::new(content.entries);
        let mut entries = RunCursor::new(run, band, content);
        while let Some((word, _)) = entries.next(self.fixed.path, self.postings)? {
            filter.insert((word >> shift) as u32);
        }
        content.filter.set(filter);
        Ok(())
    }

    pub(super) fn with_chunk<T>(&self, key: u64, read: impl FnOnce(&Chunk<'_>) -> T) -> Result<T> {
        with_chunk(self.fixed.path, self.postings, key, read)
    }

    /// The keyed hash of an id, which is its word in the band of ids.
    pub(super) fn id_hash(&self, id: &str) -> u64 {
        id_hash(id, self.fixed.id_key)
    }

    /// The live document with this id.
    pub(crate) fn find(&self, id: &str) -> Result<Option<(DocNo, DocumentRecord)>> {
        let bucket = (self.fixed.layout.ids(), WordRange::only(self.id_hash(id)));
        self.named(id, &self.buckets(&[bucket])?)
    }

    /// The one of these documents that has the id.
    pub(super) fn named(
        &self,
        id: &str,
        docs: &[DocNo],
    ) -> Result<Option<(DocNo, DocumentRecord)>> {
        for &doc in docs {
            let record = self.document(doc)?;
            if record.id == id {
                return Ok(Some((doc, record)));
            }
        }
        Ok(None)
    }

    /// The record of a live document.
    pub(crate) fn document(&self, doc: DocNo) -> Result<DocumentRecord> {
        let path = self.fixed.path;
        let row = self.documents.get(doc.0).doing(path, "reading documents")?;
        let row =
            row.ok_or_else(|| damaged(path, Table::Documents, doc.0, "its row is missing"))?;
        DocumentRecord::decode(row.value(), doc)
            .map_err(|fault| damaged(path, Table::Documents, doc.0, fault))
    }

    /// Hands over the lanes and the set size of a live document.
    pub(crate) fn with_signature<T>(
        &self,
        doc: DocNo,
        read: impl FnOnce(&[u8], SetSize) -> T,
    ) -> Result<T> {
        let path = self.fixed.path;
        let fault = |detail| damaged(path, Table::Signatures, doc.0, detail);
        guard(path, || {
            let row = self.signatures.get(doc.0).doing(path, "reading signatures")?;
            let row = row.ok_or_else(|| fault("its row is missing"))?;
            let (lanes, size) =
                decode_signature(row.value(), doc, self.fixed.lanes).map_err(fault)?;
            Ok(read(lanes, size))
        })
    }

    /// Hands over every live document's lanes and set size, by number.
    pub(crate) fn for_each_signature(
        &self,
        mut visit: impl FnMut(DocNo, &[u8], SetSize) -> Result<()>,
    ) -> Result<()> {
        let path = self.fixed.path;
        guard(path, || {
            for row in self.signatures.iter().doing(path, "reading signatures")? {
                let (number, row) = row.doing(path, "reading signatures")?;
                let doc = DocNo(number.value());
                let (lanes, size) = decode_signature(row.value(), doc, self.fixed.lanes)
                    .map_err(|fault| damaged(path, Table::Signatures, doc.0, fault))?;
                visit(doc, lanes, size)?;
            }
            Ok(())
        })
    }

    /// The records of up to `count` live documents, by number, from `from` on.
    pub(crate) fn documents_from(
        &self,
        from: DocNo,
        count: usize,
    ) -> Result<Vec<(DocNo, DocumentRecord)>> {
        let path = self.fixed.path;
        guard(path, || {
            self.documents
                .range(from.0..)
                .doing(path, "reading documents")?
                .take(count)
                .map(|row| {
                    let (number, row) = row.doing(path, "reading documents")?;
                    let doc = DocNo(number.value());
                    let record = DocumentRecord::decode(row.value(), doc)
                        .map_err(|fault| damaged(path, Table::Documents, doc.0, fault))?;
                    Ok((doc, record))
                })
                .collect()
        })
    }
}

/// A bucket as runs are searched for it.
struct Wanted {
    band: BandNo,
    range: WordRange,
    /// The fence of its first word.
    fence: u32,
    /// What to ask filters; `None` where the range has words of several fences.
    filter: Option<FilterKey>,
}

impl Wanted {
    fn new(layout: Layout, band: BandNo, range: WordRange) -> Self {
        let shift = layout.fence_shift(band);
        let fence = (range.first >> shift) as u32;
        let single = (range.last >> shift) as u32 == fence && layout.has_filters(band);
        Self { band, range, fence, filter: single.then(|| FilterKey::new(fence)) }
    }

    fn may_be_in(&self, content: &BandRun) -> bool {
        match (&self.filter, content.filter.get()) {
            (Some(key), Some(filter)) => filter.may_contain(key),
            _ => true,
        }
    }
}

/// Whether there may be a document with an id of this hash, as far as memory tells.
pub(super) fn may_have_id(state: &State, layout: Layout, hash: u64) -> bool {
    let range = WordRange::only(hash);
    let wanted = Wanted::new(layout, layout.ids(), range);
    let in_tail = |segment: &Arc<Segment>| {
        segment.column(wanted.band).is_some_and(|column| !column.within(range).is_empty())
    };
    state.tail.segments().iter().any(in_tail)
        || state.manifest.with_band(wanted.band).any(|(_, content)| wanted.may_be_in(content))
}

/// Documents found in several buckets. A cluster of near copies is in every one of them: what is
/// gathered is made unique each time it has doubled.
#[derive(Default)]
struct Gathered {
    docs: Vec<DocNo>,
    unique: usize,
}

impl Gathered {
    fn tidy(&mut self) {
        const LEAST: usize = 1 << 12;
        if self.docs.len() >= LEAST.max(2 * self.unique) {
            self.docs.sort_unstable();
            self.docs.dedup();
            self.unique = self.docs.len();
        }
    }

    fn once(mut self) -> Vec<DocNo> {
        self.docs.sort_unstable();
        self.docs.dedup();
        self.docs
    }
}

/// Opens the chunk under a key and hands it over.
pub(super) fn with_chunk<T>(
    path: &Path,
    postings: &impl ChunkTable,
    key: u64,
    read: impl FnOnce(&Chunk<'_>) -> T,
) -> Result<T> {
    let fault = |detail| damaged(path, Table::Postings, format!("{key:#018x}"), detail);
    let row = postings.get(key).doing(path, "reading postings")?;
    let row = row.ok_or_else(|| fault("its row is missing"))?;
    Chunk::open(row.value(), key).map(|chunk| read(&chunk)).map_err(fault)
}
