//! The report of the clusters of an index.

use crate::commands::clusters::{ClusteringOptions, LinkageChoice};
use crate::input::same_file;
use crate::report::{
    AuditLines, Facts, Gathering, Kind, ReadLines, circumstances, gather, write as write_page,
};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::terminal::interrupt;
use crate::terminal::numbers::grouped;
use crate::terminal::output::{bytes, json_line, similarity};
use anyhow::{Context, anyhow};
use std::io::{BufReader, Seek, Write};
use std::path::Path;
use tempfile::SpooledTempFile;
use twindex::{Clusters, Overlap, Shingler, Signature, Snapshot};

/// The most bytes of the list of duplicates held in memory; more go to a temporary file.
const MAX_SPOOL_BYTES: usize = 8 << 20;

/// Writes a report of these clusters.
pub(crate) fn write(
    global: &GlobalOptions,
    path: &Path,
    options: &ClusteringOptions,
    snapshot: &Snapshot,
    clusters: &Clusters<'_>,
    sentence: &str,
) -> Result<(), Failure> {
    if same_file(path, snapshot.path()) {
        return Err(anyhow!("{}: is the index; name another file", path.display()).into());
    }
    let threshold = options.threshold(snapshot);
    let mut list = duplicates(snapshot, clusters, options.estimate)?;
    let findings = gather(Gathering {
        global,
        removed: &mut AuditLines(|read: &mut ReadLines<'_>| {
            list.rewind().context("a temporary file")?;
            read(&mut BufReader::new(&mut list))
        }),
        snapshot,
        threshold,
        estimate: options.estimate,
        input: None,
    })?;
    let (number, members) = (clusters.len() as u64, clusters.member_count());
    let all = snapshot.len();
    let share = match all {
        0 => String::new(),
        _ => format!(" ({:.1} %)", 100.0 * (members - number) as f64 / all as f64),
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
            match options.linkage {
                LinkageChoice::Representative => "similarity to the kept document",
                LinkageChoice::Connected => "chains of similar pairs",
            }
            .to_owned(),
        ),
        ("recall at the threshold", similarity(clusters.recall()).to_string()),
    ];
    settings.extend(circumstances(snapshot.settings(), options.estimate));
    let facts = Facts {
        kind: Kind::Clusters,
        title: format!("Similar documents in {}", snapshot.path().display()),
        sentence: sentence.to_owned(),
        numbers,
        settings,
        failed: 0,
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
        if interrupt::asked() {
            return Err(anyhow!("interrupted before the report was written").into());
        }
        let representative = cluster.representative()?;
        let Some(kept) = judge.elements(&representative)? else { continue };
        for id in cluster.duplicates() {
            let id = id?;
            let Some(other) = judge.elements(&id)? else { continue };
            let line = json_line(&[
                ("id", id.into()),
                ("duplicate_of", representative.as_str().into()),
                ("similarity", similarity(kept.similarity(&other))),
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
    Signature(Signature),
}

impl Elements {
    /// The similarity of two documents of one index.
    fn similarity(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::Shingles(a), Self::Shingles(b)) => Overlap::of_sets(a, b).similarity(),
            (Self::Signature(a), Self::Signature(b)) => {
                a.similarity(b).map_or(0.0, |estimate| estimate.similarity)
            }
            _ => 0.0,
        }
    }
}

impl<'s> Judge<'s> {
    fn new(snapshot: &'s Snapshot, estimate: bool) -> Result<Self, Failure> {
        let settings = snapshot.settings();
        let has_texts = settings.store_text && !settings.weighted && !estimate;
        let shingler = has_texts.then(|| {
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
        let Some(text) = self.snapshot.text(id)? else { return Ok(None) };
        let mut shingles = shingler.hashes(&text);
        shingles.sort_unstable();
        shingles.dedup();
        Ok(Some(Elements::Shingles(shingles)))
    }
}
