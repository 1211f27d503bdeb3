//! Merges runs of a tier into a run of the next tier, a bounded step in each commit
//! (`docs/format.md`, section "Life of a run").
//!
//! Bands are merged one after the other. The commit that ends a band lists it under the target and
//! deletes it from the sources. Until then the band's new chunks are unlisted, so readers ignore
//! them if the process ends.
//!
//! A step has two halves. `prepare` reads, merges and packs; it takes any view of the postings, so
//! it can run on another thread (`background`). `apply` writes the result in the writer's
//! transaction.

use crate::error::Result;
use crate::store::bytes::schema::{BandNo, DocNo, Layout, POSTINGS, RunNo};
use crate::store::read::fixed::Fixed;
use crate::store::read::tables::Rows;
use crate::store::runs::build::{BandBuilder, ChunkRow};
use crate::store::runs::cursor::{MergeCursor, Source};
use crate::store::runs::filter::FilterBuilder;
use crate::store::runs::flush::RunWriter;
use crate::store::runs::run::{Manifest, Run};
use crate::store::runs::tombstones::Tombstones;
use crate::store::storage_error::Doing;
use std::sync::Arc;

/// A merge in progress. A clone shares its contents.
#[derive(Clone, Debug)]
pub(crate) struct MergeTask {
    target: RunNo,
    /// The tier of the target.
    tier: u8,
    first: DocNo,
    last: DocNo,
    sources: Vec<RunNo>,
    /// The tombstones when the merge began. Entries of these documents are dropped in every band.
    tombstones: Tombstones,
    /// Whether this task merges all bands. If so, the tombstones can be deleted at the end.
    /// Otherwise another process merged the first bands, and its tombstones are not known.
    purges: bool,
    /// The band in progress, once a step has been written.
    band: Option<Arc<BandMerge>>,
}

/// The state of a merge within one band.
#[derive(Clone, Debug)]
struct BandMerge {
    cursor: MergeCursor,
    builder: BandBuilder,
}

/// The result of a merge step in one band: chunks to append, and the state of the merge after them.
#[derive(Debug)]
pub(crate) struct BandStep {
    /// The number of chunks of the band before the step: the step applies only there.
    chunks_before: u32,
    rows: Vec<ChunkRow>,
    after: Arc<BandMerge>,
    ended: bool,
    /// The number of entries that were read.
    entries: u64,
}

impl MergeTask {
    /// A merge of neighbouring runs.
    pub(crate) fn new(
        target: RunNo,
        tier: u8,
        sources: &[Arc<Run>],
        tombstones: &Tombstones,
    ) -> Self {
        Self {
            target,
            tier,
            first: sources.iter().map(|run| run.first).min().unwrap_or(DocNo(0)),
            last: sources.iter().map(|run| run.last).max().unwrap_or(DocNo(0)),
            sources: sources.iter().map(|run| run.number).collect(),
            tombstones: tombstones.clone(),
            purges: true,
            band: None,
        }
    }

    /// Resumes a merge that an earlier process did not finish.
    pub(crate) fn resume(target: &Run, manifest: &Manifest, tombstones: &Tombstones) -> Self {
        Self {
            target: target.number,
            tier: target.tier,
            first: target.first,
            last: target.last,
            sources: manifest.sources_of(target),
            tombstones: tombstones.clone(),
            purges: false,
            band: None,
        }
    }

    pub(crate) fn tier(&self) -> u8 {
        self.tier
    }

    pub(crate) fn target(&self) -> RunNo {
        self.target
    }

    pub(crate) fn reads(&self, run: RunNo) -> bool {
        self.sources.contains(&run)
    }

    /// The first band that is not merged yet.
    fn next_band(&self, manifest: &Manifest, layout: Layout) -> Option<BandNo> {
        let run = manifest.get(self.target);
        layout.all().find(|band| run.is_none_or(|run| run.band(*band).is_none()))
    }

    /// Merges at least `budget` entries, or all that are left. Writes nothing.
    pub(crate) fn prepare(
        &self,
        fixed: Fixed<'_>,
        postings: &dyn Rows<u64>,
        manifest: &Manifest,
        budget: u64,
    ) -> Result<Vec<BandStep>> {
        let (mut steps, mut left) = (Vec::new(), budget);
        let mut next = self.next_band(manifest, fixed.layout);
        let mut progress = self.band.clone();
        while let (Some(band), true) = (next, left > 0) {
            let before =
                progress.take().unwrap_or_else(|| Arc::new(self.begin(band, manifest, fixed)));
            let step = self.advance(fixed, postings, before, left)?;
            left = left.saturating_sub(step.entries);
            if step.ended {
                next =
                    (usize::from(band.0) + 1 < fixed.layout.count()).then_some(BandNo(band.0 + 1));
            } else {
                progress = Some(Arc::clone(&step.after));
            }
            steps.push(step);
        }
        Ok(steps)
    }

    fn begin(&self, band: BandNo, manifest: &Manifest, fixed: Fixed<'_>) -> BandMerge {
        let layout = fixed.layout;
        let (mut sources, mut entries) = (Vec::new(), 0);
        for run in self.sources.iter().filter_map(|number| manifest.get(*number)) {
            if let Some(content) = run.band(band) {
                sources.push(Source::run(run, band, content));
                entries += content.entries;
            }
        }
        let filter = manifest
            .deserves_filter((layout, fixed.filter_bytes), band, entries, &self.sources)
            .then(|| FilterBuilder::in_steps(layout, band, entries));
        BandMerge {
            cursor: MergeCursor::new(sources),
            builder: BandBuilder::new(layout, self.target, band, filter),
        }
    }

    /// Merges entries of a band until the budget is used up or the band ends.
    fn advance(
        &self,
        fixed: Fixed<'_>,
        postings: &dyn Rows<u64>,
        mut progress: Arc<BandMerge>,
        budget: u64,
    ) -> Result<BandStep> {
        let BandMerge { cursor, builder } = Arc::make_mut(&mut progress);
        let chunks_before = builder.chunks();
        let (mut block, mut read) = (Vec::new(), 0);
        let ended = loop {
            if read >= budget {
                break false;
            }
            cursor.read(fixed.path, postings, &mut block)?;
            if block.is_empty() {
                break true;
            }
            read += block.len() as u64;
            for (word, doc) in block.drain(..) {
                if !self.tombstones.contains(doc) {
                    builder.push(word, doc);
                }
            }
        };
        let rows = builder.take_rows();
        Ok(BandStep { chunks_before, rows, after: progress, ended, entries: read })
    }

    /// Whether a step begins where the merge stands now.
    ///
    /// At most one preparation is pending, no merge step comes between the state that it is made
    /// from and the step that takes it, and a transaction that is not committed takes it in vain.
    /// So a prepared step fits. The comparison alone would not do: a step that drops all its
    /// entries writes no chunk, and the one after it begins at the same number of chunks.
    fn fits(&self, step: &BandStep, manifest: &Manifest, layout: Layout) -> bool {
        let builder = &step.after.builder;
        let chunks = self.band.as_ref().map_or(0, |progress| progress.builder.chunks());
        (builder.run, Some(builder.band), step.chunks_before)
            == (self.target, self.next_band(manifest, layout), chunks)
    }

    /// Writes a step, which must fit.
    fn apply(
        &mut self,
        step: BandStep,
        writer: RunWriter<'_>,
        manifest: &mut Manifest,
    ) -> Result<()> {
        let band = step.after.builder.band;
        if self.band.take().is_none() {
            writer.delete_chunks(self.target, band)?;
        }
        writer.append(self.target, band, &step.rows)?;
        if step.ended {
            self.complete(step.after, writer, manifest)?;
        } else {
            self.band = Some(step.after);
        }
        Ok(())
    }

    /// Lists the merged band under the target and deletes it from the sources.
    fn complete(
        &self,
        progress: Arc<BandMerge>,
        writer: RunWriter<'_>,
        manifest: &mut Manifest,
    ) -> Result<()> {
        let builder = Arc::unwrap_or_clone(progress).builder;
        let band = builder.band;
        let content = Arc::new(builder.into_content());
        if manifest.get(self.target).is_none() {
            let count = writer.layout.count();
            manifest.add(Run::new(self.target, self.tier, self.first, self.last, count));
        }
        manifest.set(self.target, band, Some(Arc::clone(&content)));
        if let Some(run) = manifest.get(self.target) {
            writer.list(run, band, &content)?;
        }
        for source in &self.sources {
            writer.delete(*source, band)?;
            manifest.set(*source, band, None);
        }
        Ok(())
    }

    /// Writes the prepared steps that fit. If none fits, merges and writes `budget` entries.
    /// Returns whether the merge is finished.
    pub(super) fn step(
        &mut self,
        context: MergeContext<'_>,
        (manifest, tombstones): (&mut Manifest, &mut Tombstones),
        prepared: Vec<BandStep>,
        budget: u64,
    ) -> Result<bool> {
        let MergeContext { fixed, writer } = context;
        let mut advanced = false;
        for step in prepared {
            if self.fits(&step, manifest, fixed.layout) {
                self.apply(step, writer, manifest)?;
                advanced = true;
            }
        }
        // Prepared steps have the budget of the last commit instead of `budget`: near enough.
        if !advanced {
            let steps = {
                let postings = writer.txn.open_table(POSTINGS).doing(fixed.path, "merging runs")?;
                self.prepare(fixed, &postings, manifest, budget)?
            };
            for step in steps {
                self.apply(step, writer, manifest)?;
            }
        }
        let finished = self.next_band(manifest, fixed.layout).is_none();
        if finished && self.purges {
            tombstones.delete(&self.tombstones, self.first, self.last);
        }
        Ok(finished)
    }
}

/// What a merge reads from and writes to.
#[derive(Clone, Copy)]
pub(crate) struct MergeContext<'a> {
    pub(crate) fixed: Fixed<'a>,
    pub(crate) writer: RunWriter<'a>,
}
