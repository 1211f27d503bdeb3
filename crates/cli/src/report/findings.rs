//! What a report tells, gathered from the list of removed records, the index and the input.

use super::cluster_sizes::ClusterSizes;
use super::histogram::Histogram;
use super::id_hash;
use super::nearest::Nearest;
use super::reading::{InputReading, LONGEST_TEXT, Wanted, beginning};
use super::removed::{Removed, RemovedRecords};
use super::sample::{Sample, Stratum, strata};
use super::sources::{SourceMap, SourceTable};
use super::stricter::Stricter;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use std::collections::{BTreeMap, HashMap, HashSet};
use twindex::Snapshot;

/// The largest clusters that are shown, and the members of each.
const MOST_CLUSTERS: usize = 40;
const MOST_MEMBERS: usize = 20;

/// Where a report gathers from.
pub(crate) struct Gathering<'a> {
    pub(crate) global: &'a GlobalOptions,
    /// The removed records.
    pub(crate) removed: &'a mut dyn RemovedRecords,
    /// The index after they were removed.
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) threshold: f64,
    /// Whether similarities are estimates even if the index stores texts.
    pub(crate) estimate: bool,
    /// The input; `None` if it cannot be read twice, or if there is none.
    pub(crate) input: Option<InputReading>,
}

/// What a report tells.
pub(crate) struct Findings {
    pub(super) threshold: f64,
    pub(super) removed: u64,
    pub(super) histogram: Histogram,
    pub(super) nearest: Nearest,
    pub(super) stricter: Stricter,
    /// How many clusters have each size.
    pub(super) sizes: BTreeMap<u64, u64>,
    pub(super) clusters: Vec<LargeCluster>,
    pub(super) sample: Vec<(Stratum, Vec<Removed>)>,
    /// Texts by the hash of their id.
    pub(super) texts: HashMap<u64, String>,
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
/// The memory is some 40 bytes for each removed record, while the input is read.
pub(crate) fn gather(gathering: Gathering<'_>) -> Result<Findings, Failure> {
    let Gathering { global, removed, snapshot, threshold, estimate, input } = gathering;
    let mut histogram = Histogram::new();
    let mut sizes = ClusterSizes::default();
    let mut sample = Sample::new(strata(threshold));
    let mut sourced = HashSet::new();
    let mut count = 0;
    removed.each(&mut |record| {
        count += 1;
        histogram.add(record.similarity);
        sizes.add(&record);
        sourced.extend([id_hash(&record.id), id_hash(&record.of)]);
        sample.offer(record, false);
        Ok(())
    })?;
    let nearest = Nearest::find(snapshot, threshold, estimate)?;
    nearest.pairs.iter().for_each(|pair| sample.offer(pair.clone(), true));
    let sample: Vec<_> = sample.pairs().collect();
    let clusters = largest(&sizes, removed)?;
    let mut stricter = Stricter::choose(&sizes, removed)?;

    let in_sample = sample.iter().flat_map(|(_, pairs)| pairs);
    let in_clusters = clusters.iter().flat_map(|cluster| &cluster.members);
    let mut texts = HashMap::new();
    let mut wanted = HashSet::new();
    for pair in in_sample.chain(in_clusters) {
        if let Some(text) = &pair.text {
            texts.insert(id_hash(&pair.id), beginning(text, LONGEST_TEXT).to_owned());
        }
        for id in [&pair.id, &pair.of] {
            let hash = id_hash(id);
            if texts.contains_key(&hash) || !wanted.insert(hash) {
                continue;
            }
            if let Some(text) = stored_text(snapshot, id)? {
                texts.insert(hash, text);
                wanted.remove(&hash);
            }
        }
    }
    let mut signatures = stricter.wanted();
    if input.is_none() {
        add_signatures(snapshot, removed, &mut signatures, &mut stricter)?;
    }
    let (sources, failures) = match input {
        Some(input) => {
            let again = input.read(global, Wanted { texts: wanted, signatures }, &sourced)?;
            again.signatures.into_iter().for_each(|(id, signature)| stricter.add(id, signature));
            texts.extend(again.texts);
            (again.sources, again.failures)
        }
        None => (sources_by_id(snapshot, removed, &sourced)?, Vec::new()),
    };
    let mut counts = sources.counting();
    removed.each(&mut |record| {
        counts.add(&record);
        Ok(())
    })?;
    let sources = Some(counts.table()).filter(|table| table.sources.len() > 1);
    Ok(Findings {
        threshold,
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
        let Some(place) = places.get(&id_hash(&record.of)) else { return Ok(()) };
        let cluster = &mut clusters[*place];
        if cluster.members.len() < MOST_MEMBERS {
            cluster.representative.clone_from(&record.of);
            cluster.members.push(record);
        }
        Ok(())
    })?;
    Ok(clusters)
}

/// The text that the index stores for an id, if it stores texts.
fn stored_text(snapshot: &Snapshot, id: &str) -> Result<Option<String>, Failure> {
    let settings = snapshot.settings();
    if !settings.store_text || settings.weighted {
        return Ok(None);
    }
    let text = snapshot.text(id)?;
    Ok(text.map(|text| beginning(&text, LONGEST_TEXT).to_owned()))
}

/// The sources that ids tell without an input: the folder in front of their last part.
fn sources_by_id(
    snapshot: &Snapshot,
    removed: &mut dyn RemovedRecords,
    sourced: &HashSet<u64>,
) -> Result<SourceMap, Failure> {
    let mut sources = SourceMap::default();
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
