//! The rows of tracked clusters in a write transaction: which document is in which cluster, and
//! what changed (`docs/format.md`, section "Clusters").

use crate::error::{Error, Result};
use crate::store::bytes::clusters::{ChangeRow, ClusterRow, Tracking};
use crate::store::bytes::record::DocumentRecord;
use crate::store::bytes::schema::{
    CLUSTER_CHANGES, CLUSTERS, CLUSTERS_ROW, DOCUMENTS, DocNo, MEMBERS, META, Table,
};
use crate::store::parallel;
use crate::store::read::recent_lanes::RecentLanes;
use crate::store::read::view::View;
use crate::store::storage_error::{Doing, damaged};
use crate::store::write::writer::Writer;
use redb::{ReadableTable, WriteTransaction};
use std::collections::BTreeSet;
use std::ops::{Bound, Range};
use std::path::Path;

const ACTION: &str = "tracking clusters";

/// How many rows are passed in the time of one lookup.
const PASSED_PER_LOOKUP: usize = 8;

/// The rows of tracked clusters.
pub(crate) struct ClusterRows<'t> {
    path: &'t Path,
    /// The commit that the changes become part of.
    commit: u64,
    next_cluster: u64,
    /// The number of changed rows.
    changes: u64,
    clusters: redb::Table<'t, u32, &'static [u8]>,
    members: redb::Table<'t, (u64, u32), &'static [u8]>,
    cluster_changes: redb::Table<'t, (u64, u32), &'static [u8]>,
}

impl<'t> ClusterRows<'t> {
    fn open(
        txn: &'t WriteTransaction,
        path: &'t Path,
        commit: u64,
        tracking: Tracking,
    ) -> Result<Self> {
        Ok(Self {
            path,
            commit,
            next_cluster: tracking.next_cluster,
            changes: 0,
            clusters: txn.open_table(CLUSTERS).doing(path, ACTION)?,
            members: txn.open_table(MEMBERS).doing(path, ACTION)?,
            cluster_changes: txn.open_table(CLUSTER_CHANGES).doing(path, ACTION)?,
        })
    }

    fn row(&self, doc: DocNo) -> Result<Option<ClusterRow>> {
        let row = self.clusters.get(doc.0).doing(self.path, ACTION)?;
        row.map(|row| self.decoded(doc, row.value())).transpose()
    }

    fn decoded(&self, doc: DocNo, row: &[u8]) -> Result<ClusterRow> {
        let row = ClusterRow::decode(row, doc);
        row.map_err(|fault| damaged(self.path, Table::Clusters, doc.0, fault))
    }

    /// The cluster of each of these documents, whose numbers ascend.
    pub(crate) fn clusters_of(&self, docs: &[DocNo]) -> Result<Vec<Option<u64>>> {
        let (Some(first), Some(last)) = (docs.first(), docs.last()) else { return Ok(Vec::new()) };
        if (last.0 - first.0) as usize / PASSED_PER_LOOKUP > docs.len() {
            let clusters = docs.iter().map(|doc| Ok(self.row(*doc)?.and_then(|row| row.cluster)));
            return clusters.collect();
        }
        let mut clusters = Vec::with_capacity(docs.len());
        let mut rest = docs.iter().peekable();
        for row in self.clusters.range(first.0..=last.0).doing(self.path, ACTION)? {
            let (doc, row) = row.doing(self.path, ACTION)?;
            let doc = DocNo(doc.value());
            // Those before it have no rows.
            while rest.next_if(|other| **other < doc).is_some() {
                clusters.push(None);
            }
            if rest.next_if(|other| **other == doc).is_some() {
                clusters.push(self.decoded(doc, row.value())?.cluster);
            }
        }
        clusters.resize(docs.len(), None);
        Ok(clusters)
    }

    /// The documents of a cluster, by number.
    pub(crate) fn members(&self, cluster: u64) -> Result<Vec<DocNo>> {
        let members = self.members.range((cluster, 0)..=(cluster, u32::MAX));
        let members = members.doing(self.path, ACTION)?;
        members.map(|row| Ok(DocNo(row.doing(self.path, ACTION)?.0.value().1))).collect()
    }

    /// A cluster id that was never used.
    pub(crate) fn new_cluster(&mut self) -> Result<u64> {
        let cluster = self.next_cluster;
        self.next_cluster = cluster.checked_add(1).ok_or_else(|| {
            damaged(self.path, Table::Meta, CLUSTERS_ROW, "its next cluster is the last number")
        })?;
        Ok(cluster)
    }

    /// Puts documents that have no rows in clusters, or in none, and notes the changes.
    pub(crate) fn put_all(&mut self, mut places: Vec<(DocNo, Option<u64>)>) -> Result<()> {
        // Rows are written in the order of their keys: neighbours go to the same page.
        places.sort_unstable();
        let (path, commit) = (self.path, self.commit);
        let Self { clusters, members, cluster_changes, changes, .. } = self;
        let write_clusters = || {
            let row =
                |cluster: Option<u64>, doc| ClusterRow { cluster, changed: commit }.encode(doc);
            let rows = places.iter().map(|(doc, cluster)| (doc.0, row(*cluster, *doc)));
            insert_in_order(clusters, path, rows)
        };
        let note = || {
            let row = |doc| ChangeRow::Moved.encode(commit, doc);
            let rows = places.iter().map(|(doc, _)| ((commit, doc.0), row(*doc)));
            insert_in_order(cluster_changes, path, rows)
        };
        let write_members = || {
            let members_of = places.iter().filter_map(|(doc, cluster)| Some(((*cluster)?, doc.0)));
            let mut keys: Vec<(u64, u32)> = members_of.collect();
            keys.sort_unstable();
            insert_in_order(members, path, keys.into_iter().map(|key| (key, Vec::new())))
        };
        let shared = places.len() >= parallel::MIN_DOCUMENTS;
        *changes += places.len() as u64;
        let work: Vec<parallel::Work<'_>> =
            vec![Box::new(write_clusters), Box::new(note), Box::new(write_members)];
        parallel::all(work, shared)
    }

    /// Takes a removed document out of its cluster, and notes the id that it had. Returns the
    /// cluster, if it was in one.
    fn remove(&mut self, doc: DocNo, id: impl FnOnce() -> Result<String>) -> Result<Option<u64>> {
        let Some(former) = self.forget(doc)? else { return Ok(None) };
        self.note(doc, &ChangeRow::Removed(id()?))?;
        Ok(former.cluster)
    }

    fn note(&mut self, doc: DocNo, change: &ChangeRow) -> Result<()> {
        self.changes += 1;
        let row = change.encode(self.commit, doc);
        let inserted = self.cluster_changes.insert((self.commit, doc.0), &row[..]);
        inserted.doing(self.path, ACTION)?;
        Ok(())
    }

    /// Deletes the rows of a document. Returns where it was.
    pub(crate) fn forget(&mut self, doc: DocNo) -> Result<Option<ClusterRow>> {
        let former = self.row(doc)?;
        if let Some(ClusterRow { cluster, changed }) = former {
            let path = self.path;
            self.clusters.remove(doc.0).doing(path, ACTION)?;
            self.cluster_changes.remove((changed, doc.0)).doing(path, ACTION)?;
            if let Some(cluster) = cluster {
                self.members.remove((cluster, doc.0)).doing(path, ACTION)?;
            }
        }
        Ok(former)
    }
}

/// Inserts rows whose keys ascend, each of them once. Those that follow all rows of the table go to
/// its end together.
fn insert_in_order<K>(
    table: &mut redb::Table<'_, K, &'static [u8]>,
    path: &Path,
    rows: impl ExactSizeIterator<Item = (K, Vec<u8>)>,
) -> Result<()>
where
    K: redb::Key + for<'k> redb::Value<SelfType<'k> = K> + Copy + Ord + 'static,
{
    let is_one = rows.len() == 1;
    let last = table.last().doing(path, ACTION)?.map(|(key, _)| key.value());
    let mut rows = rows.peekable();
    while let Some((key, row)) = rows.next_if(|(key, _)| is_one || Some(*key) <= last) {
        table.insert(key, &row[..]).doing(path, ACTION)?;
    }
    if rows.peek().is_none() {
        return Ok(());
    }
    let mut end = table.upper_bound_mut(Bound::<K>::Unbounded).doing(path, ACTION)?;
    for (key, row) in rows {
        end.insert_before(key, &row[..]).doing(path, ACTION)?;
    }
    end.close().doing(path, ACTION)
}

/// What has changed since the clusters were brought up to date.
#[derive(Clone, Debug, Default)]
pub(crate) struct Untracked {
    /// The clusters that have lost documents.
    pub(crate) shrunk: BTreeSet<u64>,
    /// The numbers of the documents that are not in their clusters yet.
    pub(crate) new: Range<u64>,
}

impl Untracked {
    pub(crate) fn is_empty(&self) -> bool {
        self.shrunk.is_empty() && self.new.is_empty()
    }
}

impl Writer {
    /// Whether the index tracks clusters.
    pub(crate) fn tracks_clusters(&self) -> bool {
        self.state().tracking.is_some()
    }

    /// Begins to track clusters. All documents are untracked.
    pub(crate) fn begin_tracking(&mut self) -> Result<()> {
        let commit = self.next_commit();
        let tracking = Tracking::begin(commit);
        ClusterRows::open(self.txn()?, self.path(), commit, tracking)?;
        self.state_mut().tracking = Some(tracking);
        self.touch(1);
        Ok(())
    }

    /// Puts documents in the clusters that they were in before a repair. All documents are
    /// untracked: what these clusters lack is not known.
    pub(crate) fn restore_clusters(
        &mut self,
        places: &[(DocNo, u64)],
        next_cluster: u64,
    ) -> Result<()> {
        self.begin_tracking()?;
        self.track(0, |_, rows| {
            rows.next_cluster = next_cluster;
            rows.put_all(places.iter().map(|(doc, cluster)| (*doc, Some(*cluster))).collect())
        })?;
        Ok(())
    }

    /// Ends the tracking of clusters, and deletes their rows.
    pub(crate) fn end_tracking(&mut self) -> Result<()> {
        self.shrunk.clear();
        self.state_mut().recent_lanes = RecentLanes::default();
        if self.state_mut().tracking.take().is_none() {
            return Ok(());
        }
        self.touch(1);
        self.change(|writer| {
            let (txn, path) = (writer.txn()?, writer.path());
            txn.delete_table(CLUSTERS).doing(path, ACTION)?;
            txn.delete_table(MEMBERS).doing(path, ACTION)?;
            txn.delete_table(CLUSTER_CHANGES).doing(path, ACTION)?;
            Ok(())
        })
    }

    /// Forgets which documents were removed before a commit. Returns how many.
    pub(crate) fn forget_removed(&mut self, before: u64) -> Result<u64> {
        let Some(mut tracking) = self.state().tracking else { return Ok(0) };
        let before = before.min(self.next_commit());
        let mut forgotten = 0;
        self.change(|writer| {
            let (txn, path) = (writer.txn()?, writer.path());
            let mut changes = txn.open_table(CLUSTER_CHANGES).doing(path, ACTION)?;
            // A change that moved a document has an empty row, and stays.
            let removed = changes.extract_from_if(..(before, 0), |_, row| !row.is_empty());
            for row in removed.doing(path, ACTION)? {
                row.doing(path, ACTION)?;
                forgotten += 1;
            }
            Ok(())
        })?;
        tracking.since = tracking.since.max(before);
        self.state_mut().tracking = Some(tracking);
        self.touch(1);
        Ok(forgotten)
    }

    /// What has changed since the clusters were brought up to date.
    pub(crate) fn untracked(&mut self) -> Result<Untracked> {
        self.settle();
        self.remove_rows()?;
        let Some(tracking) = self.state().tracking else { return Ok(Untracked::default()) };
        let next = self.next_number();
        // A crafted file may be tracked beyond its last document, which `check` reports.
        let new = tracking.upto.min(next)..next;
        let shrunk = match tracking.upto {
            0 => self.all_clusters()?,
            _ => self.shrunk.clone(),
        };
        Ok(Untracked { shrunk, new })
    }

    /// All clusters. Before the first document is tracked, there are those that a repair has
    /// restored.
    fn all_clusters(&self) -> Result<BTreeSet<u64>> {
        let path = self.path();
        let members = self.txn()?.open_table(MEMBERS).doing(path, ACTION)?;
        let rows = members.iter().doing(path, ACTION)?;
        rows.map(|row| Ok(row.doing(path, ACTION)?.0.value().0)).collect()
    }

    /// Brings the clusters up to date: `work` reads the documents and changes the rows. After it,
    /// no cluster is shrunk and all documents below `upto` are tracked.
    pub(crate) fn track<T>(
        &mut self,
        upto: u64,
        work: impl FnOnce(&View<'_>, &mut ClusterRows<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(mut tracking) = self.state().tracking else { return Ok(None) };
        let commit = self.next_commit();
        let mut result = None;
        self.change(|writer| {
            let worked = writer.read_settled(|view| {
                let (txn, path) = (writer.txn()?, writer.path());
                let mut rows = ClusterRows::open(txn, path, commit, tracking)?;
                let worked = work(view, &mut rows)?;
                Ok((worked, rows.next_cluster, rows.changes))
            })?;
            tracking.next_cluster = worked.1;
            writer.touch(worked.2);
            result = Some(worked.0);
            Ok(())
        })?;
        self.touch(u64::from(tracking.upto != upto));
        tracking.upto = upto;
        self.state_mut().tracking = Some(tracking);
        self.shrunk.clear();
        Ok(result)
    }

    /// Keeps the lanes of the latest documents for the next update.
    pub(crate) fn keep_lanes(&mut self, recent: RecentLanes) {
        self.state_mut().recent_lanes = recent;
    }

    /// Takes removed documents out of their clusters.
    pub(super) fn leave_clusters(&mut self, removed: &[DocNo]) -> Result<()> {
        let Some(tracking) = self.state().tracking else { return Ok(()) };
        let commit = self.next_commit();
        let (mut shrunk, changes) = {
            let (txn, path) = (self.txn()?, self.path());
            let mut rows = ClusterRows::open(txn, path, commit, tracking)?;
            let documents = txn.open_table(DOCUMENTS).doing(path, ACTION)?;
            let fault = |doc: DocNo, detail| damaged(path, Table::Documents, doc.0, detail);
            let mut shrunk = BTreeSet::new();
            for doc in removed {
                shrunk.extend(rows.remove(*doc, || {
                    let row = documents.get(doc.0).doing(path, ACTION)?;
                    let row = row.ok_or_else(|| fault(*doc, "its row is missing"))?;
                    let record = DocumentRecord::decode(row.value(), *doc);
                    record.map(|record| record.id).map_err(|detail| fault(*doc, detail))
                })?);
            }
            (shrunk, rows.changes)
        };
        self.shrunk.append(&mut shrunk);
        self.touch(changes);
        Ok(())
    }

    /// Fails if documents were inserted or removed and the clusters were not brought up to date.
    /// After a repair no document is tracked, which the next update changes.
    pub(super) fn check_tracked(&mut self) -> Result<()> {
        let begun = self.state().tracking.is_some_and(|tracking| tracking.upto > 0);
        if begun && !self.untracked()?.is_empty() {
            Err(Error::Storage {
                path: self.path().to_owned(),
                action: "committing",
                detail: "its clusters were not brought up to date".into(),
            })
        } else {
            Ok(())
        }
    }

    /// Writes how far clusters are tracked, if that has changed.
    pub(super) fn write_tracking(&self, before: Option<Tracking>) -> Result<()> {
        let (now, path) = (self.state().tracking, self.path());
        if now == before {
            return Ok(());
        }
        let mut meta = self.txn()?.open_table(META).doing(path, ACTION)?;
        match now {
            Some(tracking) => {
                meta.insert(CLUSTERS_ROW, &tracking.encode()[..]).doing(path, ACTION)?
            }
            None => meta.remove(CLUSTERS_ROW).doing(path, ACTION)?,
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sim::testing::filled;

    #[test]
    fn cluster_ids_that_are_used_up_are_an_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 5);
        let mut writer = engine.write().expect("begun");
        writer.begin_tracking().expect("begun");
        let given = writer.track(0, |_, rows| {
            rows.next_cluster = u64::MAX - 1;
            assert_eq!(rows.new_cluster().expect("the last one"), u64::MAX - 1);
            rows.new_cluster()
        });
        assert!(matches!(given, Err(Error::Damaged { .. })), "{given:?}");
    }

    #[test]
    fn clusters_that_are_tracked_beyond_the_last_document_have_no_new_ones() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 5);
        let mut writer = engine.write().expect("begun");
        writer.begin_tracking().expect("begun");
        assert_eq!(writer.untracked().expect("read").new, 0..5);
        writer.track(1000, |_, _| Ok(())).expect("tracked");
        writer.shrunk.insert(1);
        assert_eq!(writer.untracked().expect("read").new, 5..5);
    }
}
