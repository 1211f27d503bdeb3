//! `twindex clusters --ids`: prints the clusters that an index tracks.

use crate::commands::clusters::Clusters;
use crate::run::ending::Ending;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::opening;
use crate::run::results_table::{Column, Kind};
use crate::terminal::interrupt;
use crate::terminal::numbers::grouped;
use crate::terminal::output::{count, summary};

/// The columns of the results.
const COLUMNS: [Column; 3] =
    [("cluster", Kind::Count), ("size", Kind::Count), ("members", Kind::Texts)];

/// Prints the tracked clusters, by id.
pub(crate) fn run(global: &GlobalOptions, args: &Clusters) -> Result<Ending, Failure> {
    let index = opening::to_read(global, &args.index)?;
    let snapshot = index.snapshot()?;
    let clusters = snapshot.tracked_clusters()?;
    let mut results = args.results.results(global, &args.index, &[], &COLUMNS)?;
    let (mut number, mut documents) = (0_u64, 0_u64);
    for cluster in clusters.iter() {
        let cluster = cluster?;
        number += 1;
        documents += cluster.members.len() as u64;
        let fields = [("cluster", cluster.cluster.into()), ("size", cluster.members.len().into())];
        let members = cluster.members.into_iter().map(Ok::<String, Failure>);
        results.line_with_list(&fields, &[], "members", members)?;
        if interrupt::asked() {
            results.flush()?;
            return Err(anyhow::anyhow!("interrupted; not all clusters were printed").into());
        }
    }
    results.finish()?;
    let commit = snapshot.commit_number();
    let fields = [
        ("clusters", number.into()),
        ("documents", documents.into()),
        ("duplicates", (documents - number).into()),
        ("commit", commit.into()),
    ];
    let sentence = format!(
        "{} of {} among {}, as of commit {commit}",
        count(number, "cluster"),
        count(documents, "document"),
        grouped(snapshot.len())
    );
    summary(global, &fields, &sentence);
    Ok(if number == 0 { Ending::Nothing } else { Ending::Done })
}
