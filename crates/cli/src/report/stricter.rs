//! What a higher threshold would find: clusters that would fall apart.

use super::cluster_sizes::ClusterSizes;
use super::id_hash;
use super::removed::RemovedRecords;
use crate::run::failure::Failure;
use std::collections::{BTreeMap, HashMap, HashSet};
use twindex::Signature;

/// The largest clusters are all looked at, and of the others so many records.
const LARGE: usize = 20;
const SMALL_RECORDS: u64 = 10_000;

/// The most records of a cluster that are looked at: the first ones.
const MOST_OF_CLUSTER: usize = 400;

/// Some clusters with their records, to see what another threshold leaves of them.
///
/// A record that a higher threshold does not remove for the kept document may still be removed for
/// another record of its cluster, which that threshold keeps. So the similarities within clusters
/// are needed, and they come from signatures.
pub(super) struct Stricter {
    clusters: BTreeMap<u64, SampledCluster>,
    signatures: HashMap<u64, Signature>,
}

struct SampledCluster {
    /// For how many records each record of the sample stands, as far as this cluster is not one of
    /// the largest.
    weight: f64,
    /// All records of the cluster.
    size: u64,
    /// Its first records in order: hashes of ids, and the similarity to the kept document.
    records: Vec<(u64, f64)>,
}

impl Stricter {
    /// Chooses clusters, and finds their records.
    pub(super) fn choose(
        sizes: &ClusterSizes,
        removed: &mut dyn RemovedRecords,
    ) -> Result<Self, Failure> {
        let by_size = sizes.largest(usize::MAX);
        let (large, small) = by_size.split_at(by_size.len().min(LARGE));
        let mut small: Vec<(u64, u64)> = small.to_vec();
        let records_of =
            |clusters: &[(u64, u64)]| -> u64 { clusters.iter().map(|(_, size)| size - 1).sum() };
        let all_small = records_of(&small);
        // The hashes of ids are random, so the first are a sample.
        small.sort_unstable();
        let mut chosen = 0;
        small.retain(|(_, size)| {
            let room = chosen < SMALL_RECORDS;
            chosen += if room { size - 1 } else { 0 };
            room
        });
        let weight = all_small as f64 / chosen.max(1) as f64;
        let sampled = |weight: f64| {
            move |(of, size): &(u64, u64)| {
                (*of, SampledCluster { weight, size: size - 1, records: Vec::new() })
            }
        };
        let mut clusters: BTreeMap<u64, SampledCluster> =
            large.iter().map(sampled(1.0)).chain(small.iter().map(sampled(weight))).collect();
        removed.each(&mut |record| {
            if let Some(cluster) = clusters.get_mut(&record.kept_hash())
                && cluster.records.len() < MOST_OF_CLUSTER
            {
                cluster.records.push((id_hash(&record.id), record.similarity));
            }
            Ok(())
        })?;
        Ok(Self { clusters, signatures: HashMap::new() })
    }

    /// No clusters.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self { clusters: BTreeMap::new(), signatures: HashMap::new() }
    }

    /// The records whose signatures are needed: those of clusters with two or more.
    pub(super) fn wanted(&self) -> HashSet<u64> {
        let clusters = self.clusters.values().filter(|cluster| cluster.records.len() > 1);
        clusters.flat_map(|cluster| cluster.records.iter().map(|(id, _)| *id)).collect()
    }

    /// Takes the signature of a record.
    pub(super) fn add(&mut self, id: u64, signature: Signature) {
        self.signatures.insert(id, signature);
    }

    /// Whether signatures were found, if any are needed. Without them, what a higher threshold
    /// finds is counted too low.
    pub(super) fn is_known(&self) -> bool {
        !self.signatures.is_empty() || self.wanted().is_empty()
    }

    /// About how many records a run at a threshold above that of the clusters would remove.
    pub(super) fn removed_at(&self, threshold: f64) -> u64 {
        let of_cluster = |cluster: &SampledCluster| {
            let SampledCluster { weight, size, records } = cluster;
            let mut kept: Vec<&Signature> = Vec::new();
            let mut removed = 0_usize;
            for (id, similarity) in records {
                let own = self.signatures.get(id);
                let is_similar = |other: &&Signature| {
                    let estimate = own.and_then(|own| own.similarity(other));
                    estimate.is_some_and(|estimate| estimate.similarity >= threshold)
                };
                if *similarity >= threshold || kept.iter().any(is_similar) {
                    removed += 1;
                } else {
                    kept.extend(own);
                }
            }
            weight * *size as f64 * removed as f64 / records.len().max(1) as f64
        };
        self.clusters.values().map(of_cluster).sum::<f64>().round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::removed::Removed;
    use twindex::{Index, Normalization, Shingle, Shingler, Sketcher};

    struct List(Vec<Removed>);

    impl RemovedRecords for List {
        fn each(
            &mut self,
            take: &mut dyn FnMut(Removed) -> Result<(), Failure>,
        ) -> Result<(), Failure> {
            self.0.iter().cloned().try_for_each(take)
        }
    }

    #[test]
    fn records_that_stay_stand_for_others_of_their_cluster() {
        let lanes = Index::options().settings().expect("settings").lanes();
        let shingler = Shingler::new(Shingle::chars(9), Normalization::default(), false, 0);
        let sketcher = Sketcher::new(shingler.expect("a shingler"), lanes, 0).expect("a sketcher");
        let text = |n: usize| format!("a text of its own, number {n}, with words ").repeat(3);
        // Ten records are alike, ten others differ, and all are .8 similar to the kept document.
        let texts: Vec<String> =
            (0..20).map(|n| if n % 2 == 0 { text(0) } else { text(n) }).collect();
        let record = |n: usize| Removed {
            id: n.to_string(),
            of: "kept".into(),
            against: None,
            similarity: 0.8,
            text: None,
        };
        let mut list = List((0..20).map(record).collect());
        let mut sizes = ClusterSizes::default();
        list.0.iter().for_each(|record| sizes.add(record));
        let mut stricter = Stricter::choose(&sizes, &mut list).ok().expect("chosen");
        assert!(!stricter.is_known() && stricter.wanted().len() == 20);
        assert_eq!(stricter.removed_at(0.99), 0);
        for (n, text) in texts.iter().enumerate() {
            let signature = sketcher.signature(text.as_str()).expect("a signature");
            stricter.add(id_hash(&n.to_string()), signature);
        }
        assert!(stricter.is_known());
        assert_eq!((stricter.removed_at(0.8), stricter.removed_at(0.99)), (20, 9));
    }
}
