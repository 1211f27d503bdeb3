//! What a commit changed about tracked clusters, for programs that follow them.

use crate::error::{Error, Result};
use crate::index::track::tracked::TrackedClusters;
use crate::store::ChangeRow;

/// The last change of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClusterChange {
    /// The commit that made the change.
    pub commit: u64,
    /// The id of the document.
    pub id: String,
    /// What became of the document.
    pub place: ClusterPlace,
}

/// Where a document is after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClusterPlace {
    /// In the cluster with this id.
    Cluster(u64),
    /// In no cluster: its cluster has fallen apart, and nothing is similar to it.
    Alone,
    /// The document was removed, or replaced by another version. If the other version is in a
    /// cluster, a later change says so.
    Removed,
}

impl TrackedClusters<'_> {
    /// The least commit that a reader of [changes](Self::changes) may have seen last, other than 0.
    pub fn known_since(&self) -> u64 {
        self.reader.tracking().since.saturating_sub(1)
    }

    /// Iterates over what changed after a commit: for each document that went to another cluster,
    /// or left its cluster, its last change. The changes come in the order of commits, and within
    /// a commit in the order in which the documents were inserted.
    ///
    /// A program that keeps the cluster of each document elsewhere applies the changes in this
    /// order, one by one, and then remembers
    /// [`Snapshot::commit_number`](crate::Snapshot::commit_number) of this snapshot. The next time
    /// it gives that commit. A program that knows nothing yet gives 0, and gets every document that
    /// is in a cluster.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("c.twx"))?;
    /// use twindex::ClusterPlace;
    /// index.track_clusters().run()?;
    /// let seen = index.snapshot()?.commit_number();
    /// let mut txn = index.begin_write()?;
    /// txn.insert("a", "It was the best of times, it was the worst of times")?;
    /// txn.insert("b", "It was the best of times, it was  the worst of times")?;
    /// txn.commit()?;
    /// let snapshot = index.snapshot()?;
    /// for change in snapshot.tracked_clusters()?.changes(seen)? {
    ///     assert_eq!(change?.place, ClusterPlace::Cluster(1));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ChangesForgotten`] if `since` is neither 0 nor at least
    /// [`known_since`](Self::known_since), and for a commit that is still to come.
    /// [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`] if the file cannot be read.
    pub fn changes(
        &self,
        since: u64,
    ) -> Result<impl Iterator<Item = Result<ClusterChange>> + use<'_>> {
        let (from, to) = (self.known_since(), self.snapshot.commit_number());
        if since != 0 && !(from..=to).contains(&since) {
            let path = self.snapshot.path().to_owned();
            return Err(Error::ChangesForgotten { path, since, from, to });
        }
        let rows = self.reader.changes_from(since.saturating_add(1))?;
        let view = self.snapshot.view();
        Ok(rows.map(move |row| {
            let (commit, doc, row) = row?;
            let (id, place) = match row {
                ChangeRow::Removed(id) => (id, ClusterPlace::Removed),
                ChangeRow::Moved => {
                    let cluster = self.reader.cluster_of(doc)?;
                    let place = cluster.map_or(ClusterPlace::Alone, ClusterPlace::Cluster);
                    (view.document(doc)?.id, place)
                }
            };
            Ok(ClusterChange { commit, id, place })
        }))
    }
}
