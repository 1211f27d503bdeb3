//! The report of the clusters of an index.

use crate::commands::clusters::{ClusteringOptions, LinkageChoice};
use crate::commands::outputs::targets::is_same_destination;
use crate::input::is_index;
use crate::report::{
    AuditLines, Facts, Gathering, Kind, ReadLines, check_page_name, check_target, circumstances,
    gather, interrupted, percent, write as write_page,
};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::over_input::check_no_input;
use crate::run::results_file::IS_INDEX;
use crate::terminal::interrupt;
use crate::terminal::numbers::grouped;
use crate::terminal::output::{bytes, json_line, likeness, rounded_recall};
use anyhow::{Context, anyhow};
use std::io::{BufReader, Seek, Write};
use std::path::{Path, PathBuf};
use tempfile::SpooledTempFile;
use twindex::{Clusters, Overlap, Shingler, Signature, Snapshot, weighted_jaccard};

/// The most bytes of the list of duplicates held in memory; more go to a temporary file.
const MAX_SPOOL_BYTES: usize = 8 << 20;

/// Checks that the report of an index can be written to a path, before any work is done.
pub(crate) fn check(
    path: &Path,
    index: &Path,
    results: Option<&Path>,
    records: &[PathBuf],
) -> Result<(), Failure> {
    check_target(path)?;
    let place = path.display();
    if is_same_destination(path, index) {
        return Err(anyhow!("{place}: is the index; name another file").into());
    }
    if is_index(path) {
        return Err(anyhow!("{place}: {IS_INDEX}").into());
    }
    check_no_input(path, records)?;
    if results.is_some_and(|results| is_same_destination(path, results)) {
        return Err(anyhow!("{place}: cannot take both the results and the report").into());
    }
    check_page_name(path)
}

/// Writes a report of these clusters.
pub(crate) fn write(
    global: &GlobalOptions,
    path: &Path,
    options: &ClusteringOptions,
    snapshot: &Snapshot,
    clusters: &Clusters<'_>,
    sentence: &str,
) -> Result<(), Failure> {
    let threshold = options.threshold(snapshot);
    let by_chains = options.linkage == LinkageChoice::Connected;
    let mut list = duplicates(snapshot, clusters, options.estimate)?;
    let findings = gather(Gathering {
        global,
        removed: &mut AuditLines(|read: &mut ReadLines<'_>| {
            list.rewind().context("a temporary file")?;
            read(&mut BufReader::new(&mut list))
        }),
        has_removed: true,
        snapshot,
        others: &[],
        newest: snapshot.len(),
        threshold,
        simple: !by_chains,
        estimate: options.estimate,
        input: None,
    })?;
    let (number, members) = (clusters.len() as u64, clusters.member_count());
    let all = snapshot.len();
    let share = match all {
        0 => String::new(),
        _ => format!(" ({})", percent((members - number) as f64 / all as f64)),
    };
    let numbers = vec![
        ("documents", grouped(all)),
        ("clusters", grouped(number)),
        ("in clusters", grouped(members)),
        ("duplicates", grouped(members - number) + &share),
    ];
    let mut settings = vec![
        ("index", snapshot.path().display().to_string()),
        ("size of the file", bytes(snapshot.usage()?.file_bytes)),
        ("threshold", threshold.to_string()),
        (
            "clusters are formed by",
            if by_chains { "chains of similar pairs" } else { "similarity to the kept document" }
                .to_owned(),
        ),
        ("recall at the threshold", rounded_recall(clusters.recall()).to_string()),
        ("kept of each cluster", options.keep.to_string()),
    ];
    settings.extend(circumstances(snapshot.settings(), options.estimate));
    let facts = Facts {
        kind: Kind::Clusters,
        title: format!("Similar documents in {}", snapshot.path().display()),
        sentence: sentence.to_owned(),
        numbers,
        settings,
        failed: 0,
        by_chains,
    };
    write_page(path, &facts, &findings, snapshot.settings())
}

/// Lists the documents that clusters could do without, as an audit does.
fn duplicates(
    snapshot: &Snapshot,
    clusters: &Clusters<'_>,
    estimate: bool,
) -> Result<SpooledTempFile, Failure> {
    let mut list = tempfile::spooled_tempfile(MAX_SPOOL_BYTES);
    let judge = Judge::new(snapshot, estimate)?;
    for cluster in clusters.iter() {
        let representative = cluster.representative()?;
        let Some(kept) = judge.elements(&representative)? else { continue };
        for id in cluster.duplicates() {
            let id = id?;
            if interrupt::asked() {
                return Err(interrupted());
            }
            let Some(other) = judge.elements(&id)? else { continue };
            let line = json_line(&[
                ("id", id.into()),
                ("duplicate_of", representative.as_str().into()),
                ("similarity", likeness(kept.similarity(&other), kept.is_exact())),
            ])?;
            list.write_all(line.as_bytes()).context("a temporary file")?;
        }
    }
    Ok(list)
}

/// Compares documents of an index: exactly if it stores texts, else by signatures.
struct Judge<'s> {
    snapshot: &'s Snapshot,
    shingler: Option<Shingler>,
}

/// What two documents are compared by.
enum Elements {
    /// The distinct shingles of a text, in ascending order.
    Shingles(Vec<u64>),
    /// The hashes of the tokens of a weighted set, in ascending order, with their weights.
    Weights(Vec<(u64, f64)>),
    Signature(Signature),
}

impl Elements {
    /// The similarity of two documents of one index.
    fn similarity(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::Shingles(a), Self::Shingles(b)) => Overlap::of_sets(a, b).similarity(),
            (Self::Weights(a), Self::Weights(b)) => weighted_jaccard(a, b),
            (Self::Signature(a), Self::Signature(b)) => {
                a.similarity(b).map_or(0.0, |estimate| estimate.similarity)
            }
            _ => 0.0,
        }
    }

    /// Whether similarities are exact.
    fn is_exact(&self) -> bool {
        !matches!(self, Self::Signature(_))
    }
}

impl<'s> Judge<'s> {
    fn new(snapshot: &'s Snapshot, estimate: bool) -> Result<Self, Failure> {
        let settings = snapshot.settings();
        let is_exact = settings.store_text && !estimate;
        let shingler = is_exact.then(|| {
            Shingler::new(
                settings.shingle,
                settings.normalization,
                settings.multiset,
                settings.seed,
            )
        });
        Ok(Self { snapshot, shingler: shingler.transpose()? })
    }

    /// What a document is compared by; `None` if it is not there.
    fn elements(&self, id: &str) -> Result<Option<Elements>, Failure> {
        let Some(shingler) = &self.shingler else {
            return Ok(self.snapshot.get(id)?.map(|found| Elements::Signature(found.signature)));
        };
        if self.snapshot.settings().weighted {
            let weights = self.snapshot.weights(id)?;
            return Ok(weights.map(|weights| Elements::Weights(shingler.weights(&weights))));
        }
        let Some(text) = self.snapshot.text(id)? else { return Ok(None) };
        let mut shingles = shingler.hashes(&text);
        shingles.sort_unstable();
        shingles.dedup();
        Ok(Some(Elements::Shingles(shingles)))
    }
}
