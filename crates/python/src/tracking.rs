//! Clusters that an index tracks under ids that stay.

use pyo3::prelude::*;
use std::collections::BTreeMap;
use twindex::{ClusterPlace, Snapshot};

/// What became of a document that went to another cluster, or left its cluster.
#[pyclass(frozen, module = "twindex", get_all, eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct ClusterChange {
    /// The commit that made the change.
    commit: u64,
    /// The id of the document.
    id: String,
    /// The cluster in which the document is now; `None` if it is in none.
    cluster: Option<u64>,
    /// Whether the document was removed, or replaced by another version.
    removed: bool,
}

#[pymethods]
impl ClusterChange {
    fn __repr__(&self) -> String {
        let Self { commit, id, cluster, removed } = self;
        let place = match (cluster, removed) {
            (Some(cluster), _) => format!("cluster={cluster}"),
            (None, true) => "removed".to_owned(),
            (None, false) => "alone".to_owned(),
        };
        format!("ClusterChange(commit={commit}, {id:?}, {place})")
    }
}

/// The clusters of two or more documents, by id.
pub(crate) fn clusters(snapshot: &Snapshot) -> twindex::Result<BTreeMap<u64, Vec<String>>> {
    let tracked = snapshot.tracked_clusters()?;
    tracked.iter().map(|cluster| cluster.map(|found| (found.cluster, found.members))).collect()
}

/// The changes after a commit.
pub(crate) fn changes(snapshot: &Snapshot, since: u64) -> twindex::Result<Vec<ClusterChange>> {
    let tracked = snapshot.tracked_clusters()?;
    let changes = tracked.changes(since)?;
    let change = |change: twindex::ClusterChange| {
        let cluster = match change.place {
            ClusterPlace::Cluster(cluster) => Some(cluster),
            ClusterPlace::Alone | ClusterPlace::Removed => None,
        };
        let removed = change.place == ClusterPlace::Removed;
        ClusterChange { commit: change.commit, id: change.id, cluster, removed }
    };
    changes.map(|found| found.map(change)).collect()
}
