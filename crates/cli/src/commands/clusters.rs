//! `twindex clusters`: groups similar documents, and lists the duplicates to remove.

use crate::commands::{clusters_preference, clusters_report, clusters_tracked};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::input_options::{InputOptions, NamingOptions};
use crate::run::preference::Preference;
use crate::run::results_table::{Column, Kind, ResultsOption};
use crate::run::{ending::Ending, opening};
use crate::terminal::escape::cell_for_terminal;
use crate::terminal::interrupt;
use crate::terminal::numbers::grouped;
use crate::terminal::output::{Results, count, rounded_recall, summary, whole_millis};
use crate::terminal::progress_bar::ProgressBar;
use anyhow::Context;
use clap::ValueEnum;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Seek, Write};
use std::path::PathBuf;
use std::time::Instant;
use tempfile::SpooledTempFile;
use twindex::{Cluster, Clusters as FoundClusters, Linkage, Snapshot};
use unicode_width::UnicodeWidthStr;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each line is a cluster of two or more documents; the largest comes first. Output columns (fields
with --json): representative, size, members. The representative is one of the members.

Examples:
  twindex clusters pages.twx
  twindex clusters pages.twx --threshold 0.9 --keep longest --json
  twindex clusters pages.twx --duplicates | twindex remove pages.twx --ids-from -
  twindex clusters pages.twx --keep max:score --records pages.jsonl
  twindex clusters pages.twx --report clusters.html --quiet > /dev/null")]
pub(crate) struct Clusters {
    /// The index file
    pub(crate) index: PathBuf,
    #[command(flatten)]
    pub(crate) clustering: ClusteringOptions,
    /// Print the ids of all members but the representatives, one a line, to be removed. The index
    /// is closed before the first is printed
    #[arg(long)]
    pub(crate) duplicates: bool,
    /// With --duplicates: end each id with a NUL instead of a line end, and print it as it is
    #[arg(long, short = '0', requires = "duplicates",
          conflicts_with_all = ["ids", "json", "output"])]
    pub(crate) print0: bool,
    /// Print the clusters that the index tracks, each by its id, which stays while documents come
    /// and go: see track. Output columns: cluster, size, members
    #[arg(long, conflicts_with_all = ["threshold", "estimate", "linkage", "keep", "records",
          "group_field", "duplicates", "report"])]
    pub(crate) ids: bool,
    /// Write a page to this file that shows the clusters: numbers, pairs to judge, the largest
    /// clusters, sources. It is one file for a browser
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) results: ResultsOption,
}

/// What forms clusters.
#[derive(Debug, clap::Args)]
pub(crate) struct ClusteringOptions {
    /// Least similarity of two documents in one cluster [default: the index's own]
    #[arg(long, value_name = "T")]
    pub(crate) threshold: Option<f64>,
    /// Use estimates even if the index stores texts: faster, because no text is read
    #[arg(long)]
    pub(crate) estimate: bool,
    /// How similar documents form clusters
    #[arg(long, value_enum, default_value_t = LinkageChoice::Representative)]
    pub(crate) linkage: LinkageChoice,
    /// Which document represents a cluster: first, the one added first; longest; id, the smallest;
    /// max:FIELD or min:FIELD, by a number or date in the --records; prefer:SOURCE,SOURCE,..., by
    /// the file or folder at the beginning of its id, or by --group-field
    #[arg(long, value_name = "RULE", default_value_t = Preference::First)]
    pub(crate) keep: Preference,
    /// The files or directories whose records have the fields that --keep goes by (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) records: Vec<PathBuf>,
    /// The field of a record that says where it comes from, for --keep prefer:SOURCE
    #[arg(long, value_name = "NAME")]
    pub(crate) group_field: Option<String>,
    #[command(flatten)]
    pub(crate) naming: NamingOptions,
    #[command(flatten)]
    pub(crate) input: InputOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinkageChoice {
    /// Every member was found similar to the representative
    Representative,
    /// A chain of similar pairs leads from each member to every other
    Connected,
}

/// The most bytes of ids held in memory; more go to a temporary file.
const MAX_SPOOL_BYTES: usize = 8 << 20;

/// The columns of the results.
const COLUMNS: [Column; 3] =
    [("representative", Kind::Text), ("size", Kind::Count), ("members", Kind::Texts)];

/// The number of clusters whose columns are aligned together on a terminal.
const ALIGNED_CLUSTERS: usize = 64;

/// The greatest width of the representative column on a terminal, in characters.
const MAX_NAME_WIDTH: usize = 60;

pub(crate) fn run(global: &GlobalOptions, args: &Clusters) -> Result<Ending, Failure> {
    interrupt::catch()?;
    if args.ids {
        return clusters_tracked::run(global, args);
    }
    let start = Instant::now();
    clusters_preference::check(&args.clustering, &args.index)?;
    let records = &args.clustering.records;
    if let Some(report) = &args.report {
        clusters_report::check(report, &args.index, args.results.file(), records)?;
    }
    let index = opening::to_read(global, &args.index)?;
    let snapshot = index.snapshot()?;
    let columns: &[Column] = if args.duplicates { &[("id", Kind::Text)] } else { &COLUMNS };
    let mut results = args.results.results(global, &args.index, records, columns)?;
    let (clusters, failed) = args.clustering.find(global, &snapshot)?;
    let sentence = sentence(&clusters, &snapshot);
    let number = clusters.len() as u64;
    let documents = clusters.member_count();
    let recall = clusters.recall();
    if let Some(report) = &args.report {
        clusters_report::write(global, report, &args.clustering, &snapshot, &clusters, &sentence)?;
    }
    if args.duplicates {
        let mut ids = spool_duplicates(&clusters)?;
        // The program that reads the ids may wait for the index, so it is closed first.
        drop(clusters);
        drop(snapshot);
        drop(index);
        print_ids(&mut results, &mut ids, args.print0)?;
    } else {
        print_clusters(&mut results, &clusters)?;
    }
    results.finish()?;
    let duplicates = documents - number;
    let seconds = start.elapsed().as_secs_f64();
    let fields = [
        ("clusters", number.into()),
        ("documents", documents.into()),
        ("duplicates", duplicates.into()),
        ("recall", rounded_recall(recall)),
        ("limited", false.into()),
        ("seconds", whole_millis(seconds)),
    ];
    summary(global, &fields, &sentence);
    Ok(match (failed, number) {
        (1.., _) => Ending::SomeFailed,
        (0, 0) => Ending::Nothing,
        (0, _) => Ending::Done,
    })
}

/// The summary of clusters.
pub(crate) fn sentence(clusters: &FoundClusters<'_>, snapshot: &Snapshot) -> String {
    let number = clusters.len() as u64;
    let documents = clusters.member_count();
    format!(
        "{} of {} among {}, {}; recall at the threshold {}",
        count(number, "cluster"),
        count(documents, "document"),
        grouped(snapshot.len()),
        count(documents - number, "duplicate"),
        rounded_recall(clusters.recall())
    )
}

impl ClusteringOptions {
    /// The least similarity of two documents in one cluster.
    pub(crate) fn threshold(&self, snapshot: &Snapshot) -> f64 {
        self.threshold.unwrap_or(snapshot.settings().threshold())
    }

    /// Finds the clusters with the linkage and the representatives that are asked for. Returns also
    /// how many of the records that tell of representatives were bad.
    pub(crate) fn find<'s>(
        &self,
        global: &GlobalOptions,
        snapshot: &'s Snapshot,
    ) -> Result<(FoundClusters<'s>, u64), Failure> {
        let linkage = match self.linkage {
            LinkageChoice::Representative => Linkage::Representative,
            LinkageChoice::Connected => Linkage::Connected,
        };
        let clustering = snapshot.clusters(self.threshold(snapshot))?.linkage(linkage);
        let (clustering, failed) = clusters_preference::prefer(global, self, snapshot, clustering)?;
        let progress = ProgressBar::of_parts(global);
        let found = clustering.estimate(self.estimate).find().watch(progress.watch());
        progress.finish();
        Ok((found?, failed))
    }
}

/// The error for an interrupted command.
fn interrupted() -> Failure {
    anyhow::anyhow!("interrupted; not all clusters were printed").into()
}

/// Prints one line for each cluster.
fn print_clusters(results: &mut Results, clusters: &FoundClusters<'_>) -> Result<(), Failure> {
    // The first cluster is the largest, so its size is the widest number.
    let digits = clusters.iter().next().map_or(0, |largest| largest.len().to_string().len());
    let mut rest = clusters.iter().peekable();
    while rest.peek().is_some() {
        let group: Vec<Cluster<'_>> = rest.by_ref().take(ALIGNED_CLUSTERS).collect();
        let names =
            group.iter().map(Cluster::representative).collect::<twindex::Result<Vec<_>>>()?;
        let widest = names.iter().map(|name| cell_for_terminal(name).width()).max();
        for (cluster, name) in group.into_iter().zip(names) {
            let fields = [("representative", Value::from(name)), ("size", cluster.len().into())];
            let widths = [widest.unwrap_or(0).min(MAX_NAME_WIDTH), digits];
            let members = cluster.members().map(|member| member.map_err(Failure::from));
            results.line_with_list(&fields, &widths, "members", members)?;
            if interrupt::asked() {
                results.flush()?;
                return Err(interrupted());
            }
        }
    }
    Ok(())
}

/// Writes the ids of all duplicates to a temporary file.
///
/// Each id is stored as its length and its bytes, because an id may contain line breaks.
fn spool_duplicates(clusters: &FoundClusters<'_>) -> Result<SpooledTempFile, Failure> {
    let mut ids = tempfile::spooled_tempfile(MAX_SPOOL_BYTES);
    for cluster in clusters.iter() {
        if interrupt::asked() {
            return Err(interrupted());
        }
        for id in cluster.duplicates() {
            let id = id?;
            let write = |ids: &mut SpooledTempFile| {
                ids.write_all(&(id.len() as u32).to_le_bytes())?;
                ids.write_all(id.as_bytes())
            };
            write(&mut ids).context("a temporary file")?;
        }
    }
    ids.rewind().context("a temporary file")?;
    Ok(ids)
}

/// Prints one id per line, or each as it is with a NUL at its end.
fn print_ids(
    results: &mut Results,
    ids: &mut SpooledTempFile,
    print0: bool,
) -> Result<(), Failure> {
    let mut ids = BufReader::new(ids);
    while let Some(id) = read_id(&mut ids).context("a temporary file")? {
        if print0 {
            results.id0(&id)?;
        } else {
            results.line(&[("id", Value::from(id))])?;
        }
        if interrupt::asked() {
            results.flush()?;
            return Err(interrupted());
        }
    }
    Ok(())
}

/// Reads the next id of the temporary file, or `None` at its end.
fn read_id(ids: &mut impl BufRead) -> io::Result<Option<String>> {
    if ids.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut length = [0; 4];
    ids.read_exact(&mut length)?;
    let mut id = vec![0; u32::from_le_bytes(length) as usize];
    ids.read_exact(&mut id)?;
    String::from_utf8(id).map(Some).map_err(io::Error::other)
}
