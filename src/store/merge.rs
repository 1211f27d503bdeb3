//! Merging runs of a tier into one of the next, a bounded step in each commit.
//!
//! Bands are merged one after the other. A band that is done is listed under the new run and
//! taken from the old ones in the same commit; chunks of a band that is not done are not listed,
//! so they do not exist if the process ends there.

use super::chunk::ChunkBuilder;
use super::cursor::{MergeCursor, RunCursor, Source};
use super::dead::DeadSet;
use super::fault::{Doing, damaged};
use super::filter::Filter;
use super::flush::RunWriter;
use super::run::{BandRun, Manifest, Run};
use super::schema::{BandNo, DocNo, Layout, POSTINGS, RunNo, Table, posting_owner};
use super::state::State;
use crate::error::Result;
use redb::{ReadableTable, WriteTransaction};
use std::path::Path;
use std::sync::Arc;

/// A merge under way. Cloning it copies pointers.
#[derive(Clone, Debug)]
pub(super) struct MergeTask {
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

#[derive(Clone, Debug)]
struct BandProgress {
    band: BandNo,
    cursor: MergeCursor,
    content: BandRun,
    filter: Option<Filter>,
}

impl MergeTask {
    /// A merge of neighbouring runs.
    pub(super) fn new(target: RunNo, tier: u8, sources: &[Arc<Run>], dead: &DeadSet) -> Self {
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
    pub(super) fn resume(target: &Run, manifest: &Manifest, dead: &DeadSet) -> Self {
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

    pub(super) fn tier(&self) -> u8 {
        self.tier
    }

    pub(super) fn target(&self) -> RunNo {
        self.target
    }

    pub(super) fn reads(&self, run: RunNo) -> bool {
        self.sources.contains(&run)
    }

    /// Merges at least `budget` entries, or what is left. Returns whether the merge is finished.
    pub(super) fn step(
        &mut self,
        writer: RunWriter<'_>,
        state: &mut State,
        budget: u64,
    ) -> Result<bool> {
        let mut left = budget;
        while left > 0 {
            let done = |band: &BandNo| {
                state.manifest.get(self.target).is_some_and(|run| run.band(*band).is_some())
            };
            let Some(band) = writer.layout.all().find(|band| !done(band)) else {
                if self.purges {
                    state.dead.forget(&self.dead, self.first, self.last);
                }
                return Ok(true);
            };
            let mut progress = match self.band.take() {
                Some(progress) => progress,
                None => {
                    writer.delete_chunks(self.target, band)?;
                    Arc::new(self.begin(band, &state.manifest, writer.layout))
                }
            };
            let finished = self.advance(Arc::make_mut(&mut progress), writer, &mut left)?;
            match finished {
                true => self.complete(&progress, writer, state)?,
                false => self.band = Some(progress),
            }
        }
        Ok(false)
    }

    fn begin(&self, band: BandNo, manifest: &Manifest, layout: Layout) -> BandProgress {
        let (mut sources, mut entries) = (Vec::new(), 0);
        for run in self.sources.iter().filter_map(|number| manifest.get(*number)) {
            if let Some(content) = run.band(band) {
                sources.push(Source::Run(RunCursor::new(run, band, content)));
                entries += content.entries;
            }
        }
        let filtered = layout.has_filters(band)
            && (band == layout.ids() || manifest.deserves_filter(band, entries, layout.bands));
        BandProgress {
            band,
            cursor: MergeCursor::new(sources),
            content: BandRun::default(),
            filter: filtered.then(|| Filter::new(entries)),
        }
    }

    /// Writes merged chunks until the budget or the band ends; returns whether the band did.
    fn advance(
        &self,
        progress: &mut BandProgress,
        writer: RunWriter<'_>,
        left: &mut u64,
    ) -> Result<bool> {
        let mut builder = ChunkBuilder::default();
        let mut chunks = Vec::new();
        let shift = writer.layout.fence_shift(progress.band);
        let ended = {
            let postings = writer.txn.open_table(POSTINGS).doing(writer.path, "merging runs")?;
            loop {
                if *left == 0 {
                    break false;
                }
                *left -= 1;
                let Some((word, doc)) = progress.cursor.next(writer.path, &postings)? else {
                    break true;
                };
                if !self.dead.contains(doc) {
                    chunks.extend(builder.push(word, doc));
                    if let Some(filter) = &mut progress.filter {
                        filter.insert((word >> shift) as u32);
                    }
                }
            }
        };
        // The last chunk of a step is closed early rather than carried to the next transaction.
        chunks.extend(builder.finish());
        writer.append(self.target, progress.band, &mut progress.content, chunks)?;
        Ok(ended)
    }

    /// Lists the merged band and drops what it was made of.
    fn complete(
        &self,
        progress: &BandProgress,
        writer: RunWriter<'_>,
        state: &mut State,
    ) -> Result<()> {
        let band = progress.band;
        let content = Arc::new(progress.content.clone());
        progress.filter.iter().for_each(|filter| content.filter.set(filter.clone()));
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
}

/// Starts a merge in every tier that has enough runs and none under way.
pub(super) fn start_due(state: &mut State, merge_runs: usize) {
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
            start(state, next, &due);
        }
    }
}

/// Starts a merge of these runs.
pub(super) fn start(state: &mut State, tier: u8, runs: &[Arc<Run>]) {
    let target = RunNo(state.counters.next_run);
    state.counters.next_run += 1;
    state.merges.push(MergeTask::new(target, tier, runs, &state.dead));
}

/// Goes on with every merge under way, each by so many entries.
pub(super) fn step_all(writer: RunWriter<'_>, state: &mut State, budget: u64) -> Result<()> {
    let mut open = Vec::new();
    for mut task in std::mem::take(&mut state.merges) {
        if !task.step(writer, state, budget)? {
            open.push(task);
        }
    }
    state.merges = open;
    Ok(())
}

/// The bands whose chunks are in the table though nothing lists them and no merge is writing
/// them: left by a process that ended during a merge.
pub(super) fn abandoned(
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
