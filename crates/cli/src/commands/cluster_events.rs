//! Counts what happens to tracked clusters while a command changes an index.

use crate::terminal::output::{count, listed};
use serde_json::Value;
use twindex::{ClusterEvent, Result, WriteTxn};

/// The number of clusters by what happened to them. All are 0 if the index tracks no clusters.
#[derive(Default)]
pub(crate) struct ClusterCounts {
    formed: u64,
    joined: u64,
    split: u64,
    ended: u64,
}

impl ClusterCounts {
    /// Commits a transaction, and counts what it does to the clusters.
    pub(crate) fn commit(&mut self, mut txn: WriteTxn) -> Result<()> {
        let events = txn.update_clusters()?;
        txn.commit()?;
        for event in events {
            match event {
                ClusterEvent::Joined { .. } => self.joined += 1,
                ClusterEvent::Split { .. } => self.split += 1,
                ClusterEvent::Ended { .. } => self.ended += 1,
                _ => self.formed += 1,
            }
        }
        Ok(())
    }

    /// The counts as a field of a summary; `None` if nothing happened.
    pub(crate) fn field(&self) -> Option<(&'static str, Value)> {
        let Self { formed, joined, split, ended } = *self;
        let counts = serde_json::json!({
            "formed": formed, "joined": joined, "split": split, "ended": ended,
        });
        (formed + joined + split + ended > 0).then_some(("clusters", counts))
    }

    /// The counts as a part of a summary's sentence; empty if nothing happened.
    pub(crate) fn sentence(&self) -> String {
        let Self { formed, joined, split, ended } = *self;
        match formed + joined + split + ended {
            0 => String::new(),
            _ => {
                let others =
                    listed(&[(joined, "joined to others"), (split, "split off"), (ended, "ended")]);
                format!("; {} formed{others}", count(formed, "cluster"))
            }
        }
    }
}
