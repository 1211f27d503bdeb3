//! Reads tracked clusters: the cluster of a document, and the documents of a cluster.

use crate::error::{Error, Result};
use crate::index::snapshot::Snapshot;
use crate::store::ClusterReader;
use std::fmt;

/// The clusters that an index tracks, as of one snapshot. See
/// [`Index::track_clusters`](crate::Index::track_clusters).
pub struct TrackedClusters<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) reader: ClusterReader,
}

impl fmt::Debug for TrackedClusters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrackedClusters")
            .field("path", &self.snapshot.path())
            .finish_non_exhaustive()
    }
}

/// A tracked cluster and its documents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrackedCluster {
    /// The id of the cluster, which stays as long as it has a document.
    pub cluster: u64,
    /// The ids of its documents, in order of insertion.
    pub members: Vec<String>,
}

impl Snapshot {
    /// Whether the index [tracks](crate::Index::track_clusters) clusters.
    pub fn tracks_clusters(&self) -> bool {
        self.reader().state.tracking.is_some()
    }

    /// The clusters that the index tracks.
    ///
    /// # Errors
    ///
    /// [`Error::NotTracked`] if the index tracks no clusters; [`Error::Storage`] or [`Error::Io`]
    /// if the file cannot be read.
    pub fn tracked_clusters(&self) -> Result<TrackedClusters<'_>> {
        match self.reader().clusters()? {
            Some(reader) => Ok(TrackedClusters { snapshot: self, reader }),
            None => Err(Error::NotTracked { path: self.path().to_owned() }),
        }
    }
}

impl TrackedClusters<'_> {
    /// The cluster of the document with this id. `None` if the document is similar to no other one,
    /// or if there is no such document. A document whose cluster has lost all others keeps the id
    /// of the cluster.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`] if the file cannot be read.
    pub fn cluster_of(&self, id: &str) -> Result<Option<u64>> {
        match self.snapshot.view().find(id)? {
            Some((doc, _)) => self.reader.cluster_of(doc),
            None => Ok(None),
        }
    }

    /// The ids of the documents of a cluster, in order of insertion. Empty if there is no such
    /// cluster.
    ///
    /// # Errors
    ///
    /// Those of [`cluster_of`](Self::cluster_of).
    pub fn members(&self, cluster: u64) -> Result<Vec<String>> {
        let view = self.snapshot.view();
        let members = self.reader.members(cluster)?.into_iter();
        members.map(|doc| Ok(view.document(doc)?.id)).collect()
    }

    /// Iterates over the clusters of two or more documents, by id.
    pub fn iter(&self) -> impl Iterator<Item = Result<TrackedCluster>> {
        let mut next = Some(0);
        std::iter::from_fn(move || self.from(&mut next).transpose())
    }

    /// The first cluster of two or more documents with this id or a later one, and where to go on.
    fn from(&self, next: &mut Option<u64>) -> Result<Option<TrackedCluster>> {
        while let Some(from) = next.take() {
            let Some(cluster) = self.reader.first_cluster(from)? else { break };
            *next = cluster.checked_add(1);
            let members = self.members(cluster)?;
            if members.len() > 1 {
                return Ok(Some(TrackedCluster { cluster, members }));
            }
        }
        Ok(None)
    }
}
