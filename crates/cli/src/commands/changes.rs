//! `twindex changes`: tells programs that follow an index what changed about its clusters.

use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::results_table::{Column, Kind, ResultsOption};
use crate::run::{ending::Ending, opening};
use crate::terminal::interrupt;
use crate::terminal::output::{count, summary};
use serde_json::Value;
use std::path::PathBuf;
use twindex::ClusterPlace;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Prints the last change of each document that went to another cluster or left its cluster after
a commit, in order. Output columns (fields with --json): commit, id, change, cluster. The change
is `cluster` if the document is in that cluster now, `alone` if it is in none, and `removed` if it
was removed or replaced. A program that keeps the clusters elsewhere applies the lines in this
order. The summary names the commit to give the next time. The exit status is 1 if nothing
changed.

Examples:
  twindex changes pages.twx                         every document that is in a cluster
  twindex changes pages.twx --since 41 --json
  twindex changes pages.twx --since 41 -o changes.parquet")]
pub(crate) struct Changes {
    /// The index file
    pub(crate) index: PathBuf,
    /// The last commit whose changes are known already; 0 if none are
    #[arg(long, value_name = "COMMIT", default_value_t = 0)]
    pub(crate) since: u64,
    #[command(flatten)]
    pub(crate) results: ResultsOption,
}

/// The columns of the results.
const COLUMNS: [Column; 4] =
    [("commit", Kind::Count), ("id", Kind::Text), ("change", Kind::Text), ("cluster", Kind::Count)];

pub(crate) fn run(global: &GlobalOptions, args: &Changes) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let index = opening::to_read(global, &args.index)?;
    let snapshot = index.snapshot()?;
    let clusters = snapshot.tracked_clusters()?;
    let changes = clusters.changes(args.since)?;
    let mut results = args.results.results(global, &args.index, &[], &COLUMNS)?;
    let mut number = 0_u64;
    for change in changes {
        let change = change?;
        let (kind, cluster) = match change.place {
            ClusterPlace::Cluster(cluster) => ("cluster", Value::from(cluster)),
            ClusterPlace::Alone => ("alone", Value::Null),
            ClusterPlace::Removed => ("removed", Value::Null),
        };
        results.line(&[
            ("commit", change.commit.into()),
            ("id", change.id.into()),
            ("change", kind.into()),
            ("cluster", cluster),
        ])?;
        number += 1;
        if interrupt::asked() {
            results.flush()?;
            return Err(anyhow::anyhow!("interrupted; not all changes were printed").into());
        }
    }
    results.finish()?;
    let commit = snapshot.commit_number();
    let fields =
        [("changes", number.into()), ("since", args.since.into()), ("commit", commit.into())];
    let sentence = format!(
        "{} after commit {}; give --since {commit} the next time",
        count(number, "change"),
        args.since
    );
    summary(global, &fields, &sentence);
    Ok(if number == 0 { Ending::Nothing } else { Ending::Done })
}
