//! Checks invariant 14, on tracked clusters.

use crate::error::Result;
use crate::store::bytes::clusters::{ChangeRow, ClusterRow};
use crate::store::bytes::schema::{CLUSTERS_ROW, DocNo};
use crate::store::care::check_report::{CheckReport, Invariant};
use crate::store::progress::Watch;
use crate::store::read::clusters::ClusterReader;
use crate::store::read::reader::Reader;
use crate::store::storage_error::Doing;
use redb::ReadableTable;

const ACTION: &str = "checking the clusters";

/// Checks that the three tables of tracked clusters agree with each other and with the documents.
pub(super) fn check_clusters(
    reader: &Reader,
    report: &mut CheckReport,
    watch: &mut Watch<'_>,
) -> Result<()> {
    let Some(clusters) = reader.clusters()? else { return Ok(()) };
    watch.begin("checking clusters", 0)?;
    let counters = reader.state.counters;
    if clusters.tracking().upto > counters.next_doc {
        let detail = "it is tracked beyond the next document number";
        report.add(Invariant::Clusters, format!("meta {CLUSTERS_ROW}"), detail);
    }
    let placed = check_places(reader, &clusters, report, watch)?;
    check_members(reader, &clusters, report, placed.in_clusters)?;
    check_changes(reader, &clusters, report, placed.rows)
}

/// What the cluster rows imply about the other tables.
#[derive(Default)]
struct Placed {
    rows: u64,
    in_clusters: u64,
}

fn check_places(
    reader: &Reader,
    clusters: &ClusterReader,
    report: &mut CheckReport,
    watch: &mut Watch<'_>,
) -> Result<Placed> {
    let (path, view) = (reader.engine().path(), reader.view());
    let mut placed = Placed::default();
    for item in clusters.clusters.iter().doing(path, ACTION)? {
        let (number, row) = item.doing(path, ACTION)?;
        let doc = DocNo(number.value());
        watch.advance(1)?;
        let mut violation = |detail: &str| {
            report.add(Invariant::Clusters, format!("clusters {}", doc.0), detail);
        };
        placed.rows += 1;
        let row = match ClusterRow::decode(row.value(), doc) {
            Ok(row) => row,
            Err(fault) => {
                violation(fault);
                continue;
            }
        };
        if view.documents.get(doc.0).doing(path, ACTION)?.is_none() {
            violation("there is no such document");
        }
        if let Some(cluster) = row.cluster {
            placed.in_clusters += 1;
            if cluster >= clusters.tracking().next_cluster {
                violation("its cluster is not below the next cluster");
            }
            if clusters.members.get((cluster, doc.0)).doing(path, ACTION)?.is_none() {
                violation("it is not among the members of its cluster");
            }
        }
        let change = clusters.changes.get((row.changed, doc.0)).doing(path, ACTION)?;
        if change.is_none_or(|change| !change.value().is_empty()) {
            violation("its change is not among the changes");
        }
    }
    Ok(placed)
}

/// Every member was found from its document, so their numbers must be equal.
fn check_members(
    reader: &Reader,
    clusters: &ClusterReader,
    report: &mut CheckReport,
    expected: u64,
) -> Result<()> {
    let path = reader.engine().path();
    let mut count = 0;
    for row in clusters.members.iter().doing(path, ACTION)? {
        row.doing(path, ACTION)?;
        count += 1;
    }
    if count != expected {
        let detail = format!("it has {count} members instead of {expected}");
        report.add(Invariant::Clusters, "members", detail);
    }
    Ok(())
}

fn check_changes(
    reader: &Reader,
    clusters: &ClusterReader,
    report: &mut CheckReport,
    expected: u64,
) -> Result<()> {
    let (path, view) = (reader.engine().path(), reader.view());
    let mut moved = 0;
    for item in clusters.changes.iter().doing(path, ACTION)? {
        let (key, row) = item.doing(path, ACTION)?;
        let (commit, doc) = key.value();
        let mut violation = |detail: &str| {
            report.add(Invariant::Clusters, format!("cluster changes {commit} {doc}"), detail);
        };
        if commit > reader.state.counters.commit {
            violation("its commit is still to come");
        }
        match ChangeRow::decode(row.value(), commit, DocNo(doc)) {
            Ok(ChangeRow::Moved) => moved += 1,
            Ok(ChangeRow::Removed(_)) => {
                if view.documents.get(doc).doing(path, ACTION)?.is_some() {
                    violation("the document is still there");
                }
            }
            Err(fault) => violation(fault),
        }
    }
    if moved != expected {
        let detail = format!("it has {moved} changes of places instead of {expected}");
        report.add(Invariant::Clusters, "cluster changes", detail);
    }
    Ok(())
}
