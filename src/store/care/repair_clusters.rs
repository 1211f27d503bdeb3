//! Carries the ids of tracked clusters into a repaired file.

use crate::error::Result;
use crate::store::bytes::clusters::{ClusterRow, Tracking};
use crate::store::bytes::schema::{CLUSTERS_ROW, DocNo};
use crate::store::care::old_file::{OldFile, RowsLeft};
use crate::store::engine::Engine;
use crate::store::storage_error::Doing;
use std::sync::Arc;

/// The number of documents whose rows are read together.
const BLOCK: u64 = 1 << 14;

/// If the old file tracks clusters, lets the new one track them too, and puts each document in the
/// cluster that its row names. What the damage has changed about the clusters is for the next
/// update to find: it begins with all documents.
pub(super) fn restore_clusters(
    old: &OldFile<'_>,
    left: &RowsLeft,
    new: &Arc<Engine>,
) -> Result<()> {
    let tracking = left.lasting(CLUSTERS_ROW);
    if tracking.is_none() && left.clusters.next(0).is_none() {
        return Ok(());
    }
    let tracking = tracking.and_then(|row| Tracking::decode(row).ok());
    let mut next_cluster = tracking.map_or(1, |tracking| tracking.next_cluster);
    let reader = new.read()?;
    let view = reader.view();
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(first) = left.clusters.next(from) {
        from = first + BLOCK;
        for (number, row) in old.read(&left.clusters, first..from)? {
            let doc = DocNo(number);
            let row = view
                .documents
                .get(number)
                .doing(new.path(), "restoring clusters")?
                .and_then(|_| ClusterRow::decode(&row, doc).ok());
            if let Some(cluster) = row.and_then(|row| row.cluster) {
                next_cluster = next_cluster.max(cluster.saturating_add(1));
                places.push((doc, cluster));
            }
        }
    }
    let mut writer = new.write()?;
    writer.restore_clusters(&places, next_cluster)?;
    writer.commit()
}
