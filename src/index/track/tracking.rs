//! Begins and ends the tracking of clusters.

use crate::error::{Error, Result};
use crate::index::handle::Index;
use crate::store::{Watch, Work};

impl Index {
    /// Tracks the clusters of this index from now on: every document that is similar to another
    /// one is in a cluster, and the cluster has an id that stays.
    ///
    /// The clusters are those of [`Linkage::Connected`](crate::Linkage::Connected) at the threshold
    /// of the index, by exact similarities if it stores texts. Each commit brings them up to date,
    /// whichever program makes it, so at any time they equal those that
    /// [`Snapshot::clusters`](crate::Snapshot::clusters) would find. What stays besides is the id:
    ///
    /// - A cluster keeps its id while documents come and go.
    /// - Clusters that a new document connects become one, under the id of the one with the most
    ///   documents.
    /// - A cluster that falls apart, because the document that connected it is removed, keeps its
    ///   id for the part with the most documents.
    ///
    /// Ids begin at 1, and none is used twice. [`Snapshot::tracked_clusters`
    /// ](crate::Snapshot::tracked_clusters) reads them.
    ///
    /// This call clusters the documents that the index has, in one transaction, and returns the
    /// number of clusters. If the index tracks clusters already, nothing changes. Cost: reading all
    /// buckets once, 30 bytes of memory for each document that shares a bucket with another, and
    /// some 100 bytes of the file for each document in a cluster. Later commits look up the buckets
    /// of their documents, and keep the lanes of the latest ones in at most 32 MiB of memory.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("t.twx"))?;
    /// index.track_clusters().run()?;
    /// let mut txn = index.begin_write()?;
    /// txn.insert("a", "It was the best of times, it was the worst of times")?;
    /// txn.insert("b", "It was the best of times, it was  the worst of times")?;
    /// txn.insert("c", "Call me Ishmael")?;
    /// txn.commit()?;
    /// let snapshot = index.snapshot()?;
    /// let clusters = snapshot.tracked_clusters()?;
    /// assert_eq!(clusters.cluster_of("b")?, Some(1));
    /// assert_eq!(clusters.members(1)?, ["a", "b"]);
    /// assert_eq!(clusters.cluster_of("c")?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`begin_write`](Self::begin_write) and of
    /// [`WriteTxn::commit`](crate::WriteTxn::commit), and [`Error::Interrupted`] if the caller
    /// stopped the work. The index is unchanged then.
    pub fn track_clusters(&self) -> Work<'_, u64> {
        Work::new(|tell| {
            const TRACKING: (&str, &str) = ("clustering", "the index is unchanged");
            let mut txn = self.begin_write()?;
            if !txn.writer().tracks_clusters() {
                txn.writer_mut().begin_tracking()?;
                txn.update_clusters_watching(&mut Watch::new(self.path(), TRACKING, tell))?;
                txn.commit()?;
            }
            let snapshot = self.snapshot()?;
            snapshot.tracked_clusters()?.reader.count()
        })
    }

    /// Ends the tracking of clusters, and deletes their ids and changes. Returns whether there were
    /// any. If the index tracks clusters again later, their ids begin at 1 again.
    ///
    /// # Errors
    ///
    /// Those of [`begin_write`](Self::begin_write) and of
    /// [`WriteTxn::commit`](crate::WriteTxn::commit).
    pub fn stop_tracking(&self) -> Result<bool> {
        let mut txn = self.begin_write()?;
        let tracked = txn.writer().tracks_clusters();
        txn.writer_mut().end_tracking()?;
        txn.commit()?;
        Ok(tracked)
    }

    /// Forgets which documents were removed from clusters before a commit, because every reader of
    /// [changes](crate::TrackedClusters::changes) has seen them. Without this, the id of each such
    /// document stays in the file. Returns how many were forgotten.
    ///
    /// # Errors
    ///
    /// [`Error::NotTracked`] if the index tracks no clusters; those of
    /// [`begin_write`](Self::begin_write) and of [`WriteTxn::commit`](crate::WriteTxn::commit).
    pub fn forget_cluster_changes(&self, before: u64) -> Result<u64> {
        let mut txn = self.begin_write()?;
        if !txn.writer().tracks_clusters() {
            return Err(Error::NotTracked { path: self.path().to_owned() });
        }
        let forgotten = txn.writer_mut().forget_removed(before)?;
        txn.commit()?;
        Ok(forgotten)
    }
}
