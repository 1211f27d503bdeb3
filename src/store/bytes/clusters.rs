//! Encodes and decodes the rows of tracked clusters (`docs/format.md`, section "Clusters").

use crate::store::bytes::codec::{DecodeError, NumberReader, seal, unseal};
use crate::store::bytes::schema::{DocNo, Table};

/// The `clusters` row of `meta`, which an index has as long as it tracks clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tracking {
    /// The next cluster id. Ids begin at 1 and are never used again.
    pub(crate) next_cluster: u64,
    /// Documents below this number are in their clusters; those from it on are not yet.
    pub(crate) upto: u64,
    /// The changes of this commit and all later ones are known.
    pub(crate) since: u64,
}

/// The key of the row, as its checksum identifies it.
const TRACKING_KEY: u64 = 5;

impl Tracking {
    /// The tracking of an index that begins with a commit.
    pub(crate) const fn begin(commit: u64) -> Self {
        Self { next_cluster: 1, upto: 0, since: commit }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let numbers = [self.next_cluster, self.upto, self.since];
        seal(numbers.map(u64::to_le_bytes).concat(), Table::Meta, TRACKING_KEY)
    }

    pub(crate) fn decode(sealed: &[u8]) -> Result<Self, DecodeError> {
        let mut numbers = NumberReader(unseal(sealed, Table::Meta, TRACKING_KEY)?);
        let (next_cluster, upto, since) = (numbers.u64()?, numbers.u64()?, numbers.u64()?);
        numbers.end()?;
        match next_cluster {
            0 => Err("its next cluster is 0"),
            _ => Ok(Self { next_cluster, upto, since }),
        }
    }
}

/// The row of a document that is in a cluster, or was in one and is alone now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClusterRow {
    /// The cluster; `None` for a document that is alone now.
    pub(crate) cluster: Option<u64>,
    /// The commit that put the document there.
    pub(crate) changed: u64,
}

impl ClusterRow {
    pub(crate) fn encode(&self, doc: DocNo) -> Vec<u8> {
        let numbers = [self.cluster.unwrap_or(0), self.changed];
        seal(numbers.map(u64::to_le_bytes).concat(), Table::Clusters, u64::from(doc.0))
    }

    pub(crate) fn decode(sealed: &[u8], doc: DocNo) -> Result<Self, DecodeError> {
        let mut numbers = NumberReader(unseal(sealed, Table::Clusters, u64::from(doc.0))?);
        let (cluster, changed) = (numbers.u64()?, numbers.u64()?);
        numbers.end()?;
        Ok(Self { cluster: Some(cluster).filter(|cluster| *cluster > 0), changed })
    }
}

/// What a commit changed about a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChangeRow {
    /// It put the document where its cluster row says.
    Moved,
    /// It removed the document, which was in a cluster and had this id.
    Removed(String),
}

/// The key of a change as a number, which seeds its checksum.
const fn change_key(commit: u64, doc: DocNo) -> u64 {
    (commit << 32).wrapping_add(doc.0 as u64)
}

impl ChangeRow {
    pub(crate) fn encode(&self, commit: u64, doc: DocNo) -> Vec<u8> {
        match self {
            Self::Moved => Vec::new(),
            Self::Removed(id) => {
                seal(id.as_bytes().to_vec(), Table::ClusterChanges, change_key(commit, doc))
            }
        }
    }

    pub(crate) fn decode(row: &[u8], commit: u64, doc: DocNo) -> Result<Self, DecodeError> {
        if row.is_empty() {
            return Ok(Self::Moved);
        }
        let id = unseal(row, Table::ClusterChanges, change_key(commit, doc))?;
        let id = std::str::from_utf8(id).map_err(|_| "its id is not UTF-8")?;
        Ok(Self::Removed(id.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_back_under_its_own_key_only() {
        let tracking = Tracking { next_cluster: 7, upto: 90, since: 3 };
        assert_eq!(Tracking::decode(&tracking.encode()), Ok(tracking));
        for cluster in [Some(1), Some(u64::MAX), None] {
            let row = ClusterRow { cluster, changed: 12 };
            let bytes = row.encode(DocNo(5));
            assert_eq!(ClusterRow::decode(&bytes, DocNo(5)), Ok(row));
            assert!(ClusterRow::decode(&bytes, DocNo(6)).is_err());
        }
        for row in [ChangeRow::Moved, ChangeRow::Removed("an id".to_owned())] {
            let bytes = row.encode(12, DocNo(5));
            assert_eq!(ChangeRow::decode(&bytes, 12, DocNo(5)), Ok(row));
        }
        let removed = ChangeRow::Removed("an id".to_owned()).encode(12, DocNo(5));
        assert!(ChangeRow::decode(&removed, 13, DocNo(5)).is_err());
    }

    #[test]
    fn a_row_with_a_wrong_number_or_length_is_damage() {
        let none = Tracking { next_cluster: 0, upto: 0, since: 0 };
        assert_eq!(Tracking::decode(&none.encode()), Err("its next cluster is 0"));
        let long = seal(vec![1; 25], Table::Meta, TRACKING_KEY);
        assert_eq!(Tracking::decode(&long), Err("too long"));
        let short = seal(vec![1; 15], Table::Clusters, 5);
        assert_eq!(ClusterRow::decode(&short, DocNo(5)), Err("cut short"));
        let bytes = seal(vec![0xFF], Table::ClusterChanges, change_key(1, DocNo(5)));
        assert_eq!(ChangeRow::decode(&bytes, 1, DocNo(5)), Err("its id is not UTF-8"));
    }
}
