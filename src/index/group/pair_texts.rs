//! Compares the texts of groups that are similar by estimate, many at a time.

use crate::error::Result;
use crate::index::ask::score::Score;
use crate::index::ask::verifier::Verifier;
use crate::index::group::pair_candidates::{Docs, Similar};
use crate::index::snapshot::Snapshot;
use crate::store::DocNo;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// The number of pairs of groups, and then of pairs of texts, that are compared together.
pub(crate) const TOGETHER: usize = 4096;

/// A group with equal signatures, split into parts with equal content.
type Parts = Arc<[Docs]>;

/// Splits groups by their texts, and compares the texts of the parts.
pub(crate) struct PairTexts<'s> {
    verifier: Verifier<&'s Snapshot>,
    /// The least similarity.
    least: f64,
    /// Groups that are not split yet.
    whole: Vec<Similar>,
    /// Groups that are, but were not compared.
    split: VecDeque<Similar>,
    /// The parts of these groups, by the first document of each. All documents with a signature are
    /// in one group, whatever the bucket.
    parts: FxHashMap<DocNo, Parts>,
    /// The groups whose parts are being compared.
    comparing: Option<Comparing>,
}

/// Compares every part of one group with every part of another, or of the same group.
struct Comparing {
    lefts: Parts,
    /// `None` if the group on the left is compared with itself.
    rights: Option<Parts>,
    /// The next two parts. In a single group, equal values mean the pairs within that part.
    at: (usize, usize),
}

impl<'s> PairTexts<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, least: f64) -> Self {
        Self {
            verifier: Verifier::of(snapshot),
            least,
            whole: Vec::new(),
            split: VecDeque::new(),
            parts: FxHashMap::default(),
            comparing: None,
        }
    }

    /// Takes groups to compare after those that it has.
    pub(crate) fn take(&mut self, groups: Vec<Similar>) {
        self.whole.extend(groups);
    }

    /// Whether all groups are compared.
    pub(crate) fn is_done(&self) -> bool {
        self.whole.is_empty() && self.split.is_empty() && self.comparing.is_none()
    }

    /// The next parts that are similar. There may be none although others follow.
    pub(crate) fn next(&mut self) -> Result<VecDeque<Similar>> {
        if !self.whole.is_empty() {
            self.split_whole()?;
        }
        let mut parts = Vec::new();
        while parts.len() < TOGETHER
            && let Some(next) = self.next_parts()
        {
            parts.push(next);
        }
        let firsts = |similar: &Similar| {
            let right = similar.right.as_ref().unwrap_or(&similar.left);
            Some((*similar.left.first()?, *right.first()?))
        };
        let pairs: Vec<(DocNo, DocNo)> = parts.iter().filter_map(firsts).collect();
        let compared = self.verifier.compare(&pairs)?;
        let scored = parts.into_iter().zip(compared.iter().map(|result| result.similarity));
        let similar = scored.filter(|(_, similarity)| *similarity >= self.least);
        let score = |(similar, similarity)| Similar { score: Score::Exact(similarity), ..similar };
        Ok(similar.map(score).collect())
    }

    /// Splits the groups that were taken.
    fn split_whole(&mut self) -> Result<()> {
        let mut before = std::mem::take(&mut self.parts);
        let mut unknown: Vec<Docs> = Vec::new();
        for docs in self.whole.iter().flat_map(|two| [Some(&two.left), two.right.as_ref()]) {
            let Some((first, [_, ..])) = docs.and_then(|docs| docs.split_first()) else { continue };
            if self.parts.contains_key(first) {
                continue;
            }
            let known = before.remove(first);
            if known.is_none() {
                unknown.extend(docs.cloned());
            }
            self.parts.insert(*first, known.unwrap_or_default());
        }
        let split = self.verifier.split_all(&unknown)?;
        for (docs, parts) in unknown.iter().zip(split) {
            let parts = parts.iter().map(|part| Docs::from(&**part)).collect();
            docs.first().and_then(|first| self.parts.insert(*first, parts));
        }
        self.split.extend(self.whole.drain(..));
        Ok(())
    }

    /// The next two parts to compare.
    fn next_parts(&mut self) -> Option<Similar> {
        loop {
            if let Some(next) = self.comparing.as_mut().and_then(Comparing::next) {
                return Some(next);
            }
            self.comparing = None;
            let similar = self.split.pop_front()?;
            if let (Docs::One(_), Some(Docs::One(_))) = (&similar.left, &similar.right) {
                return Some(similar);
            }
            let Similar { left, right, .. } = similar;
            let (lefts, rights) = (self.parts_of(left), right.map(|right| self.parts_of(right)));
            self.comparing = Some(Comparing { lefts, rights, at: (0, 0) });
        }
    }

    fn parts_of(&self, docs: Docs) -> Parts {
        let parts = docs.first().and_then(|first| self.parts.get(first));
        parts.cloned().unwrap_or_else(|| Arc::from([docs]))
    }
}

impl Comparing {
    /// The next two parts.
    fn next(&mut self) -> Option<Similar> {
        loop {
            let (left, right) = self.at;
            let rights = self.rights.as_ref().unwrap_or(&self.lefts);
            let (x, Some(y)) = (self.lefts.get(left)?, rights.get(right)) else {
                let next = left + 1;
                self.at = (next, if self.rights.is_some() { 0 } else { next });
                continue;
            };
            self.at.1 += 1;
            let within = self.rights.is_none() && left == right;
            if within && x.len() < 2 {
                continue;
            }
            let right = (!within).then(|| y.clone());
            return Some(Similar { left: x.clone(), right, score: Score::Exact(0.0) });
        }
    }
}
