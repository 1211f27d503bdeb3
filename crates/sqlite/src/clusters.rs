//! `twindex_clusters(path, threshold)`: the clusters of similar documents, a row for each member.

use crate::error::of_library;
use crate::table::{Function, Rows};
use crate::values::number;
use rusqlite::Result;
use rusqlite::types::Value;
use self_cell::self_cell;
use std::collections::VecDeque;
use std::ffi::{CStr, c_int};
use std::sync::Arc;
use twindex::{Clusters, Snapshot};

pub(crate) struct AllClusters;

impl Function for AllClusters {
    const NAME: &'static str = "twindex_clusters";
    const DECLARATION: &'static CStr =
        c"CREATE TABLE x(cluster INTEGER, id TEXT, representative TEXT, \
                                         path HIDDEN, threshold HIDDEN)";
    const COLUMNS: c_int = 3;
    const ARGUMENTS: &'static [&'static str] = &["path", "threshold"];
    const NEEDED: usize = 1;
    const ROWS: i64 = 1_000_000;
    type Rows = Members;

    fn rows(snapshot: Arc<Snapshot>, arguments: &[Value]) -> Result<Option<Members>> {
        let [_, threshold] = arguments else { return Ok(None) };
        let threshold = number(threshold.into(), "the threshold")?;
        let threshold = threshold.unwrap_or(snapshot.settings().threshold());
        let clusters =
            ClustersCell::try_new(snapshot, |snapshot| snapshot.clusters(threshold)?.find().run());
        let clusters = clusters.map_err(of_library)?;
        let (representative, members) = (String::new(), VecDeque::new());
        Ok(Some(Members { clusters, number: 0, representative, members }))
    }
}

self_cell!(
    struct ClustersCell {
        owner: Arc<Snapshot>,
        #[not_covariant]
        dependent: Clusters,
    }
);

/// The members of all clusters, the largest cluster first.
pub(crate) struct Members {
    clusters: ClustersCell,
    /// The number of the current cluster, from 1.
    number: usize,
    representative: String,
    /// The current member and those after it.
    members: VecDeque<String>,
}

impl Rows for Members {
    fn advance(&mut self) -> Result<bool> {
        self.members.pop_front();
        if self.members.is_empty() {
            let next = self.clusters.with_dependent(|_, clusters| {
                let Some(cluster) = clusters.get(self.number) else { return Ok(None) };
                let members = cluster.members().collect::<twindex::Result<VecDeque<_>>>()?;
                Ok(Some((cluster.representative()?, members)))
            });
            let Some((representative, members)) = next.map_err(of_library)? else {
                return Ok(false);
            };
            self.number += 1;
            (self.representative, self.members) = (representative, members);
        }
        Ok(true)
    }

    fn column(&self, column: c_int) -> Value {
        match column {
            0 => Value::Integer(self.number as i64),
            1 => self.members.front().map_or(Value::Null, |id| Value::Text(id.clone())),
            _ => Value::Text(self.representative.clone()),
        }
    }
}
