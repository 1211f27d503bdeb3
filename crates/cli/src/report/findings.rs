//! What a report tells, gathered from the list of removed records, the index and the input.

use super::cluster_sizes::ClusterSizes;
use super::histogram::Histogram;
use super::id_hash;
use super::nearest::Nearest;
use super::reading::{InputReading, Wanted, beginning};
use super::removed::{Removed, RemovedRecords};
use super::sample::{Sample, Stratum, strata};
use super::sources::{SourceMap, SourceTable};
use super::stricter::Stricter;
use super::texts::{Stores, Texts};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::terminal::progress_bar::ProgressBar;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::iter;
use twindex::Snapshot;

/// The largest clusters that are shown, and the members of each.
const MOST_CLUSTERS: usize = 40;
const MOST_MEMBERS: usize = 20;

/// The characters of a member's text that are kept for its preview.
const LONGEST_PREVIEWED: usize = 1000;

/// Where a report gathers from.
pub(crate) struct Gathering<'a> {
    pub(crate) global: &'a GlobalOptions,
    /// The removed records.
    pub(crate) removed: &'a mut dyn RemovedRecords,
    /// Whether they are documents of the index.
    pub(crate) has_removed: bool,
    /// The index after they were removed.
    pub(crate) snapshot: &'a Snapshot,
    /// Other indexes that records were compared with, by the names that the list gives them.
    pub(crate) others: &'a [(String, &'a Snapshot)],
    /// The number of documents that the report is about: those that were inserted last.
    pub(crate) newest: u64,
    pub(crate) threshold: f64,
    /// Whether a record goes exactly if a similar one stays, so that it can be said what another
    /// threshold would find.
    pub(crate) simple: bool,
    /// Whether similarities are estimates even if the index stores texts.
    pub(crate) estimate: bool,
    /// The input; `None` if it cannot be read twice, or if there is none.
    pub(crate) input: Option<InputReading>,
}

/// What a report tells.
pub(crate) struct Findings {
    pub(super) threshold: f64,
    pub(super) simple: bool,
    pub(super) removed: u64,
    pub(super) histogram: Histogram,
    pub(super) nearest: Nearest,
    pub(super) stricter: Stricter,
    /// How many clusters have each size.
    pub(super) sizes: BTreeMap<u64, u64>,
    pub(super) clusters: Vec<LargeCluster>,
    pub(super) sample: Vec<(Stratum, Vec<Removed>)>,
    pub(super) texts: Texts,
    /// Where records come from; `None` if nothing tells.
    pub(super) sources: Option<SourceTable>,
    /// What was said of failed records.
    pub(super) failures: Vec<String>,
}

/// A cluster that is shown.
pub(super) struct LargeCluster {
    pub(super) representative: String,
    pub(super) size: u64,
    /// The first members besides the representative.
    pub(super) members: Vec<Removed>,
}

/// Gathers what a report tells.
///
/// The memory is some 150 bytes for each removed record, while the input is read.
pub(crate) fn gather(gathering: Gathering<'_>) -> Result<Findings, Failure> {
    let Gathering { global, removed, has_removed, snapshot, others, newest, .. } = gathering;
    let Gathering { threshold, simple, estimate, input, .. } = gathering;
    let mut histogram = Histogram::new();
    let mut sizes = ClusterSizes::default();
    let mut sample = Sample::new(strata(threshold));
    let (mut sourced, mut gone) = (HashSet::new(), HashSet::new());
    let mut count = 0;
    removed.each(&mut |record| {
        count += 1;
        histogram.add(record.similarity);
        sizes.add(&record);
        sourced.extend([id_hash(&record.id), record.kept_hash()]);
        if has_removed {
            gone.insert(id_hash(&record.id));
        }
        sample.offer(record, false);
        Ok(())
    })?;
    let progress = ProgressBar::of_documents(global, 0).named("looking below the threshold");
    let nearest = Nearest::find(snapshot, newest, (threshold, estimate), &gone, &progress)?;
    progress.finish();
    nearest.pairs.iter().for_each(|pair| sample.offer(pair.clone(), true));
    let sample: Vec<_> = sample.pairs().collect();
    let clusters = largest(&sizes, removed)?;
    let mut stricter = Stricter::choose(&sizes, removed)?;

    let shown =
        sample.iter().flat_map(|(stratum, pairs)| pairs.iter().zip(iter::repeat(stratum.kept)));
    let in_clusters = clusters.iter().flat_map(|cluster| &cluster.members);
    let stores = Stores { snapshot, others, has_removed };
    let (mut texts, missing) =
        Texts::find(shown.chain(in_clusters.map(|member| (member, false))), stores)?;
    let mut signatures = stricter.wanted();
    if has_removed {
        add_signatures(snapshot, removed, &mut signatures, &mut stricter)?;
    }
    let (sources, failures) = match input {
        Some(input) => {
            let texts_of = missing.iter().flatten().copied().collect();
            let again = input.read(global, Wanted { texts: texts_of, signatures }, &sourced)?;
            again.signatures.into_iter().for_each(|(id, signature)| stricter.add(id, signature));
            let of = |ids: &HashSet<u64>, last: bool| -> Vec<(u64, String)> {
                let found = ids.iter().filter_map(|id| Some((*id, again.texts.get(id)?)));
                found.map(|(id, found)| (id, found.one(last).to_owned())).collect()
            };
            texts.removed.extend(of(&missing[0], true));
            texts.kept.extend(of(&missing[1], false));
            (again.sources, again.failures)
        }
        None => (sources_by_id(snapshot, removed, &sourced)?, Vec::new()),
    };
    drop(sourced);
    let mut counts = sources.counting();
    removed.each(&mut |record| {
        counts.add(&record);
        Ok(())
    })?;
    let sources = Some(counts.table()).filter(|table| table.sources.len() > 1);
    Ok(Findings {
        threshold,
        simple,
        removed: count,
        histogram,
        nearest,
        stricter,
        sizes: sizes.by_size(),
        clusters,
        sample,
        texts,
        sources,
        failures,
    })
}

/// Takes the signatures of removed records that are in the index.
fn add_signatures(
    snapshot: &Snapshot,
    removed: &mut dyn RemovedRecords,
    wanted: &mut HashSet<u64>,
    stricter: &mut Stricter,
) -> Result<(), Failure> {
    removed.each(&mut |record| {
        let hash = id_hash(&record.id);
        if wanted.remove(&hash)
            && let Some(found) = snapshot.get(&record.id)?
        {
            stricter.add(hash, found.signature);
        }
        Ok(())
    })
}

/// The largest clusters with their first members.
fn largest(
    sizes: &ClusterSizes,
    removed: &mut dyn RemovedRecords,
) -> Result<Vec<LargeCluster>, Failure> {
    let largest = sizes.largest(MOST_CLUSTERS);
    let places: HashMap<u64, usize> =
        largest.iter().enumerate().map(|(place, (of, _))| (*of, place)).collect();
    let mut clusters: Vec<LargeCluster> = largest
        .into_iter()
        .map(|(_, size)| LargeCluster { representative: String::new(), size, members: Vec::new() })
        .collect();
    removed.each(&mut |record| {
        let Some(place) = places.get(&record.kept_hash()) else { return Ok(()) };
        let cluster = &mut clusters[*place];
        if cluster.members.len() < MOST_MEMBERS {
            cluster.representative.clone_from(&record.of);
            // Only the beginning of its text is shown.
            let text = record.text.map(|text| beginning(&text, LONGEST_PREVIEWED).to_owned());
            cluster.members.push(Removed { text, ..record });
        }
        Ok(())
    })?;
    Ok(clusters)
}

/// The sources that ids tell without an input: the folder in front of their last part.
fn sources_by_id(
    snapshot: &Snapshot,
    removed: &mut dyn RemovedRecords,
    sourced: &HashSet<u64>,
) -> Result<SourceMap, Failure> {
    let mut sources = SourceMap::new(true);
    let mut left = sourced.clone();
    let mut add = |id: &str, left: &mut HashSet<u64>| {
        let folder = id.rfind('/').map_or("(no folder)", |at| &id[..=at]);
        let hash = id_hash(id);
        let remember = left.remove(&hash);
        sources.add(folder, hash, remember);
    };
    for id in snapshot.ids() {
        add(&id?, &mut left);
    }
    removed.each(&mut |record| {
        if left.contains(&id_hash(&record.id)) {
            add(&record.id, &mut left);
        }
        Ok(())
    })?;
    Ok(sources)
}
