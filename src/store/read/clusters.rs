//! Reads the rows of tracked clusters of one commit.

use crate::error::Result;
use crate::store::bytes::clusters::{ChangeRow, ClusterRow, Tracking};
use crate::store::bytes::schema::{CLUSTER_CHANGES, CLUSTERS, DocNo, MEMBERS, Table};
use crate::store::read::reader::Reader;
use crate::store::storage_error::{Doing, damaged};
use redb::{ReadOnlyTable, ReadableTable};
use std::path::PathBuf;

const ACTION: &str = "reading the clusters";

/// The tables of tracked clusters.
pub(crate) struct ClusterReader {
    path: PathBuf,
    tracking: Tracking,
    pub(crate) clusters: ReadOnlyTable<u32, &'static [u8]>,
    pub(crate) members: ReadOnlyTable<(u64, u32), &'static [u8]>,
    pub(crate) changes: ReadOnlyTable<(u64, u32), &'static [u8]>,
}

impl Reader {
    /// The tables of tracked clusters; `None` if the index tracks none.
    pub(crate) fn clusters(&self) -> Result<Option<ClusterReader>> {
        let Some(tracking) = self.state.tracking else { return Ok(None) };
        let path = self.engine().path();
        Ok(Some(ClusterReader {
            path: path.to_owned(),
            tracking,
            clusters: self.txn.open_table(CLUSTERS).doing(path, ACTION)?,
            members: self.txn.open_table(MEMBERS).doing(path, ACTION)?,
            changes: self.txn.open_table(CLUSTER_CHANGES).doing(path, ACTION)?,
        }))
    }
}

impl ClusterReader {
    pub(crate) fn tracking(&self) -> Tracking {
        self.tracking
    }

    /// The cluster of a document.
    pub(crate) fn cluster_of(&self, doc: DocNo) -> Result<Option<u64>> {
        let row = self.clusters.get(doc.0).doing(&self.path, ACTION)?;
        let row = row.map(|row| ClusterRow::decode(row.value(), doc)).transpose();
        let row = row.map_err(|fault| damaged(&self.path, Table::Clusters, doc.0, fault))?;
        Ok(row.and_then(|row| row.cluster))
    }

    /// The documents of a cluster, by number.
    pub(crate) fn members(&self, cluster: u64) -> Result<Vec<DocNo>> {
        let members = self.members.range((cluster, 0)..=(cluster, u32::MAX));
        let members = members.doing(&self.path, ACTION)?;
        members.map(|row| Ok(DocNo(row.doing(&self.path, ACTION)?.0.value().1))).collect()
    }

    /// The number of clusters of two or more documents.
    pub(crate) fn count(&self) -> Result<u64> {
        let (mut count, mut last, mut members) = (0_u64, 0_u64, 0_u64);
        for row in self.members.iter().doing(&self.path, ACTION)? {
            let (cluster, _) = row.doing(&self.path, ACTION)?.0.value();
            members = if cluster == last { members + 1 } else { 1 };
            last = cluster;
            count += u64::from(members == 2);
        }
        Ok(count)
    }

    /// The first cluster with this id or a later one.
    pub(crate) fn first_cluster(&self, from: u64) -> Result<Option<u64>> {
        let mut rows = self.members.range((from, 0)..).doing(&self.path, ACTION)?;
        let row = rows.next().transpose().doing(&self.path, ACTION)?;
        Ok(row.map(|(key, _)| key.value().0))
    }

    /// The changes of a commit and all later ones.
    pub(crate) fn changes_from(
        &self,
        commit: u64,
    ) -> Result<impl Iterator<Item = Result<(u64, DocNo, ChangeRow)>> + use<'_>> {
        let rows = self.changes.range((commit, 0)..).doing(&self.path, ACTION)?;
        Ok(rows.map(|row| {
            let (key, row) = row.doing(&self.path, ACTION)?;
            let (commit, doc) = key.value();
            let change = ChangeRow::decode(row.value(), commit, DocNo(doc)).map_err(|fault| {
                damaged(&self.path, Table::ClusterChanges, format!("{commit} {doc}"), fault)
            })?;
            Ok((commit, DocNo(doc), change))
        }))
    }
}
