//! `twindex report`: a page about the similar documents of an index.

use crate::commands::clusters::{ClusteringOptions, sentence};
use crate::commands::{clusters_preference, clusters_report};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::{ending::Ending, opening};
use crate::terminal::interrupt;
use crate::terminal::output::summary;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The page is one file that a browser opens from disk; it needs no network. It shows how similar
documents are and what another threshold would find, a sample of pairs side by side, the largest
clusters, and which folders duplicates lead from and to. `dedup --report` writes one about a run.

Texts are shown if the index stores them. Memory: some 150 bytes for each duplicate.

Examples:
  twindex report pages.twx -o pages.html
  twindex report pages.twx -o pages.html --threshold 0.9 --keep longest")]
pub(crate) struct Report {
    /// The index file
    pub(crate) index: PathBuf,
    /// The file to write
    #[arg(long, short, value_name = "FILE.html")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) clustering: ClusteringOptions,
}

pub(crate) fn run(global: &GlobalOptions, args: &Report) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let Report { index: path, output, clustering } = args;
    clusters_preference::check(clustering, path)?;
    clusters_report::check(output, path, None, &clustering.records)?;
    let index = opening::to_read(global, path)?;
    let snapshot = index.snapshot()?;
    let (clusters, failed) = clustering.find(global, &snapshot)?;
    let sentence = sentence(&clusters, &snapshot);
    clusters_report::write(global, output, clustering, &snapshot, &clusters, &sentence)?;
    let number = clusters.len() as u64;
    let documents = clusters.member_count();
    let fields = [
        ("clusters", number.into()),
        ("documents", documents.into()),
        ("duplicates", (documents - number).into()),
    ];
    summary(global, &fields, &sentence);
    Ok(if failed > 0 { Ending::SomeFailed } else { Ending::Done })
}
