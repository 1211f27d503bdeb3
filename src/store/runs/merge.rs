//! Merging runs of a tier into one of the next, a bounded step in each commit.
//!
//! Bands are merged one after the other. A band that is done is listed under the new run and
//! taken from the old ones in the same commit; chunks of a band that is not done are not listed,
//! so they do not exist if the process ends there.
//!
//! A step has two halves: `prepare` reads, merges and packs, from any view of the postings and so
//! also on another thread (`ahead`); `apply` writes what was prepared in the writer's transaction.

use crate::error::Result;
use crate::store::bytes::schema::{BandNo, DocNo, Layout, POSTINGS, RunNo, Table, posting_owner};
use crate::store::read::view::{ChunkTable, Fixed};
use crate::store::runs::build::{BandBuilder, Row};
use crate::store::runs::cursor::{MergeCursor, Source};
use crate::store::runs::flush::RunWriter;
use crate::store::runs::run::{Manifest, Run};
use crate::store::runs::tombstones::DeadSet;
use crate::store::state::State;
use crate::store::storage_error::{Doing, damaged};
use redb::{ReadableTable, WriteTransaction};
use std::path::Path;
use std::sync::Arc;

/// A merge under way. Cloning it copies pointers.
#[derive(Clone, Debug)]
pub(crate) struct MergeTask {
    target: RunNo,
    /// The tier of the new run.
    tier: u8,
    first: DocNo,
    last: DocNo,
    sources: Vec<RunNo>,
    /// The dead when the merge began: these are dropped from every band.
    dead: DeadSet,
    /// Whether all bands are merged by this task, so that afterwards no run holds `dead`. One
    /// that goes on where another process stopped cannot know what was dead for the first bands.
    purges: bool,
    band: Option<Arc<BandProgress>>,
}

/// A band that is being merged.
#[derive(Clone, Debug)]
struct BandProgress {
    cursor: MergeCursor,
    builder: BandBuilder,
}

/// What a step makes of one band: chunks to append, and where the merge stands after them.
#[derive(Debug)]
pub(crate) struct Part {
    /// The chunks that the band has before: the part fits there only.
    from: u32,
    rows: Vec<Row>,
    after: Arc<BandProgress>,
    ended: bool,
    /// How many entries were read for it.
    entries: u64,
}

impl MergeTask {
    /// A merge of neighbouring runs.
    pub(crate) fn new(target: RunNo, tier: u8, sources: &[Arc<Run>], dead: &DeadSet) -> Self {
        Self {
            target,
            tier,
            first: sources.iter().map(|run| run.first).min().unwrap_or(DocNo(0)),
            last: sources.iter().map(|run| run.last).max().unwrap_or(DocNo(0)),
            sources: sources.iter().map(|run| run.number).collect(),
            dead: dead.clone(),
            purges: true,
            band: None,
        }
    }

    /// The rest of a merge that an earlier process did not finish.
    pub(crate) fn resume(target: &Run, manifest: &Manifest, dead: &DeadSet) -> Self {
        Self {
            target: target.number,
            tier: target.tier,
            first: target.first,
            last: target.last,
            sources: manifest.sources_of(target),
            dead: dead.clone(),
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

    /// Merges at least `budget` entries, or what is left, without writing anything.
    pub(crate) fn prepare(
        &self,
        fixed: Fixed<'_>,
        postings: &impl ChunkTable,
        manifest: &Manifest,
        budget: u64,
    ) -> Result<Vec<Part>> {
        let (mut parts, mut left) = (Vec::new(), budget);
        let mut next = self.next_band(manifest, fixed.layout);
        let mut progress = self.band.clone();
        while let (Some(band), true) = (next, left > 0) {
            let before =
                progress.take().unwrap_or_else(|| Arc::new(self.begin(band, manifest, fixed)));
            let part = self.advance(fixed, postings, before, left)?;
            left = left.saturating_sub(part.entries);
            if part.ended {
                next = (band.0 < fixed.layout.ids().0).then_some(BandNo(band.0 + 1));
            } else {
                progress = Some(Arc::clone(&part.after));
            }
            parts.push(part);
        }
        Ok(parts)
    }

    fn begin(&self, band: BandNo, manifest: &Manifest, fixed: Fixed<'_>) -> BandProgress {
        let layout = fixed.layout;
        let (mut sources, mut entries) = (Vec::new(), 0);
        for run in self.sources.iter().filter_map(|number| manifest.get(*number)) {
            if let Some(content) = run.band(band) {
                sources.push(Source::run(run, band, content));
                entries += content.entries;
            }
        }
        let filtered = manifest.deserves_filter(layout, band, entries, &self.sources);
        BandProgress {
            cursor: MergeCursor::new(sources),
            builder: BandBuilder::new(layout, self.target, band, entries, filtered),
        }
    }

    /// Merges entries of a band until the budget or the band ends.
    fn advance(
        &self,
        fixed: Fixed<'_>,
        postings: &impl ChunkTable,
        mut before: Arc<BandProgress>,
        budget: u64,
    ) -> Result<Part> {
        let BandProgress { cursor, builder } = Arc::make_mut(&mut before);
        let from = builder.chunks();
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
                if !self.dead.contains(doc) {
                    builder.push(word, doc);
                }
            }
        };
        let rows = builder.take_rows();
        Ok(Part { from, rows, after: before, ended, entries: read })
    }

    /// Whether a part was prepared for where the merge stands.
    fn fits(&self, part: &Part, manifest: &Manifest, layout: Layout) -> bool {
        let builder = &part.after.builder;
        let from = self.band.as_ref().map_or(0, |progress| progress.builder.chunks());
        (builder.run, Some(builder.band), part.from)
            == (self.target, self.next_band(manifest, layout), from)
    }

    /// Writes a part, which must fit.
    fn apply(&mut self, part: Part, writer: RunWriter<'_>, state: &mut State) -> Result<()> {
        let band = part.after.builder.band;
        if self.band.take().is_none() {
            writer.delete_chunks(self.target, band)?;
        }
        writer.append(self.target, band, &part.rows)?;
        match part.ended {
            true => self.complete(part.after, writer, state)?,
            false => self.band = Some(part.after),
        }
        Ok(())
    }

    /// Lists the merged band and drops what it was made of.
    fn complete(
        &self,
        progress: Arc<BandProgress>,
        writer: RunWriter<'_>,
        state: &mut State,
    ) -> Result<()> {
        let builder = Arc::unwrap_or_clone(progress).builder;
        let band = builder.band;
        let content = Arc::new(builder.into_content());
        if state.manifest.get(self.target).is_none() {
            let count = writer.layout.count();
            state.manifest.add(Run::new(self.target, self.tier, self.first, self.last, count));
        }
        state.manifest.set(self.target, band, Some(Arc::clone(&content)));
        if let Some(run) = state.manifest.get(self.target) {
            writer.list(run, band, &content)?;
        }
        for source in &self.sources {
            writer.delete(*source, band)?;
            state.manifest.set(*source, band, None);
        }
        Ok(())
    }

    /// Goes on by what was prepared ahead, if it fits, else by `budget` entries. Returns whether
    /// the merge is finished.
    fn step(
        &mut self,
        step: Step<'_>,
        state: &mut State,
        ahead: Vec<Part>,
        budget: u64,
    ) -> Result<bool> {
        let Step { fixed, writer } = step;
        let mut went_on = false;
        for part in ahead {
            if self.fits(&part, &state.manifest, fixed.layout) {
                self.apply(part, writer, state)?;
                went_on = true;
            }
        }
        // What was prepared is for the size of the last commit, which is near enough.
        if !went_on {
            let parts = {
                let postings = writer.txn.open_table(POSTINGS).doing(fixed.path, "merging runs")?;
                self.prepare(fixed, &postings, &state.manifest, budget)?
            };
            for part in parts {
                self.apply(part, writer, state)?;
            }
        }
        let finished = self.next_band(&state.manifest, fixed.layout).is_none();
        if finished && self.purges {
            state.dead.forget(&self.dead, self.first, self.last);
        }
        Ok(finished)
    }
}

/// What a step needs to read and to write.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    pub(crate) fixed: Fixed<'a>,
    pub(crate) writer: RunWriter<'a>,
}

/// Starts a merge in every tier that has enough runs and none under way; `None` where run numbers
/// are used up.
pub(crate) fn start_due(state: &mut State, merge_runs: usize) -> Option<()> {
    let tiers: std::collections::BTreeSet<u8> =
        state.manifest.runs().iter().map(|run| run.tier).collect();
    for tier in tiers {
        let next = tier.saturating_add(1);
        if state.merges.iter().any(|task| task.tier() == next) {
            continue;
        }
        let due: Vec<Arc<Run>> = state
            .manifest
            .runs()
            .iter()
            .filter(|run| run.tier == tier && run.is_complete())
            .filter(|run| !state.merges.iter().any(|task| task.reads(run.number)))
            .take(merge_runs)
            .cloned()
            .collect();
        if due.len() == merge_runs {
            start(state, next, &due)?;
        }
    }
    Some(())
}

/// Starts a merge of these runs; `None` where run numbers are used up.
pub(crate) fn start(state: &mut State, tier: u8, runs: &[Arc<Run>]) -> Option<()> {
    let target = state.counters.take_run()?;
    state.merges.push(MergeTask::new(target, tier, runs, &state.dead));
    Some(())
}

/// Parts that were prepared, by the run that is merged into.
pub(crate) type Prepared = Vec<(RunNo, Vec<Part>)>;

/// Prepares the next step of every merge under way.
pub(crate) fn prepare_all(
    fixed: Fixed<'_>,
    postings: &impl ChunkTable,
    state: &State,
    budget: u64,
) -> Result<Prepared> {
    let prepare = |task: &MergeTask| {
        Ok((task.target, task.prepare(fixed, postings, &state.manifest, budget)?))
    };
    state.merges.iter().map(prepare).collect()
}

/// Goes on with every merge under way, each by so many entries.
pub(crate) fn step_all(
    step: Step<'_>,
    state: &mut State,
    mut prepared: Prepared,
    budget: u64,
) -> Result<()> {
    let mut open = Vec::new();
    for mut task in std::mem::take(&mut state.merges) {
        let of_task = prepared.iter_mut().find(|(target, _)| *target == task.target);
        let parts = of_task.map(|(_, parts)| std::mem::take(parts)).unwrap_or_default();
        if !task.step(step, state, parts, budget)? {
            open.push(task);
        }
    }
    state.merges = open;
    Ok(())
}

/// The bands whose chunks are in the table though nothing lists them and no merge is writing
/// them: left by a process that ended during a merge.
pub(crate) fn abandoned(
    txn: &WriteTransaction,
    path: &Path,
    state: &State,
) -> Result<Vec<(RunNo, BandNo)>> {
    let postings = txn.open_table(POSTINGS).doing(path, "looking for unfinished merges")?;
    let mut found = Vec::new();
    let mut from = Some(0_u64);
    while let Some(key) = from {
        let next = postings
            .range(key..)
            .doing(path, "looking for unfinished merges")?
            .next()
            .transpose()
            .doing(path, "looking for unfinished merges")?;
        let Some((found_key, _)) = next else { break };
        if found_key.value() < key {
            return Err(damaged(
                path,
                Table::Postings,
                format!("{key:#018x}"),
                "keys out of order",
            ));
        }
        let (run, band) = posting_owner(found_key.value());
        let listed = state.manifest.get(run).is_some_and(|run| run.band(band).is_some());
        let being_written = state.merges.iter().any(|task| task.target() == run);
        if !listed && !being_written {
            found.push((run, band));
        }
        from = (found_key.value() | 0xFF_FFFF).checked_add(1);
    }
    Ok(found)
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
