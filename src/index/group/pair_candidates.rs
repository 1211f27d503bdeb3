//! Finds the groups of documents whose pairs are similar by estimate, bucket by bucket.

use crate::error::Result;
use crate::estimate::equal_lanes_from;
use crate::index::ask::score::Score;
use crate::index::group::groups::Groups;
use crate::index::group::pair_block::PairCounts;
use crate::index::snapshot::Snapshot;
use crate::lsh::Probe;
use crate::store::DocNo;
use rustc_hash::FxHashMap;
use std::ops::Deref;
use std::slice;
use std::sync::Arc;

/// Documents that are compared as one.
#[derive(Clone)]
pub(crate) enum Docs {
    /// Most groups have one document, which needs no memory of its own.
    One(DocNo),
    Many(Arc<[DocNo]>),
}

impl Deref for Docs {
    type Target = [DocNo];

    fn deref(&self) -> &[DocNo] {
        match self {
            Self::One(doc) => slice::from_ref(doc),
            Self::Many(docs) => docs,
        }
    }
}

impl AsRef<[DocNo]> for Docs {
    fn as_ref(&self) -> &[DocNo] {
        self
    }
}

impl From<&[DocNo]> for Docs {
    fn from(docs: &[DocNo]) -> Self {
        match docs {
            [doc] => Self::One(*doc),
            _ => Self::Many(Arc::from(docs)),
        }
    }
}

/// Two groups of documents that are similar: by estimate, until their texts are compared.
pub(crate) struct Similar {
    pub(crate) left: Docs,
    /// `None` for the pairs within the group on the left.
    pub(crate) right: Option<Docs>,
    pub(crate) score: Score,
}

impl Similar {
    /// The number of pairs.
    pub(crate) fn pairs(&self) -> u64 {
        pairs_of(self.left.len(), self.right.as_ref().map(|right| right.len()))
    }
}

/// The number of pairs between two groups, or within one.
pub(crate) fn pairs_of(left: usize, right: Option<usize>) -> u64 {
    let left = left as u64;
    match right {
        Some(right) => left * right as u64,
        None => left * left.saturating_sub(1) / 2,
    }
}

/// The pairs of groups with equal signatures, in the order of buckets.
pub(crate) struct PairCandidates<'s> {
    groups: Groups<'s>,
    /// The minimum number of equal lanes.
    pub(crate) least: usize,
    /// Two groups of the bucket that come next. The pairs that are compared now decide whether the
    /// limit leaves them out.
    undecided: Option<(usize, usize)>,
    /// The groups of the bucket with several documents.
    large: FxHashMap<usize, Docs>,
    /// Whether all buckets have been read.
    is_done: bool,
}

impl<'s> PairCandidates<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, probe: Probe, least: usize) -> Self {
        let groups = Groups::new(snapshot, probe);
        Self { groups, least, undecided: None, large: FxHashMap::default(), is_done: false }
    }

    /// Finds the next two groups. Returns `None` at the end, and while the pairs that are compared
    /// now decide whether the limit leaves the next two out.
    pub(crate) fn next(&mut self, mut counts: Option<&mut PairCounts>) -> Result<Option<Similar>> {
        loop {
            let two = match self.undecided.take() {
                Some(two) => Some(two),
                None => self.groups.next_two()?,
            };
            let Some((left, right)) = two else {
                self.large.clear();
                self.is_done = !self.groups.next_bucket()?;
                if self.is_done {
                    return Ok(None);
                }
                continue;
            };
            let (x, y) = self.groups.lanes((left, right));
            let same = left == right;
            if same && self.groups.docs(left).len() < 2 {
                continue;
            }
            let Some(equal) = equal_lanes_from(x, y, self.least) else { continue };
            if let Some(counts) = counts.as_deref_mut() {
                let (lefts, rights) = (self.groups.docs(left), self.groups.docs(right));
                if counts.none_open(lefts) || counts.none_open(rights) {
                    // Whether their texts are similar would take long to say, and changes no
                    // answer.
                    counts.left_out += pairs_of(lefts.len(), (!same).then_some(rights.len()));
                    continue;
                }
                if counts.may_reach_limit(lefts) || counts.may_reach_limit(rights) {
                    self.undecided = Some((left, right));
                    return Ok(None);
                }
            }
            let (left, right) = (self.docs(left), (!same).then(|| self.docs(right)));
            return Ok(Some(Similar { left, right, score: Score::Estimated(equal) }));
        }
    }

    /// Whether no groups are left.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Finds the next groups, up to a number of pairs of groups, that are to be compared together.
    /// Ends early if they have many documents, which all take memory.
    pub(crate) fn next_many(
        &mut self,
        most: usize,
        mut counts: Option<&mut PairCounts>,
    ) -> Result<Vec<Similar>> {
        if let Some(counts) = counts.as_deref_mut() {
            counts.expect_nothing();
        }
        /// The documents, counted in each pair of groups, from which on no more follow.
        const MANY: usize = 1 << 17;
        let (mut found, mut documents) = (Vec::new(), 0);
        while found.len() < most
            && documents < MANY
            && let Some(similar) = self.next(counts.as_deref_mut())?
        {
            if let Some(counts) = counts.as_deref_mut() {
                counts.expect(&similar.left, similar.right.as_deref());
            }
            documents += similar.left.len() + similar.right.as_ref().map_or(0, |it| it.len());
            found.push(similar);
        }
        Ok(found)
    }

    /// The documents of a group of the bucket. Those of a large one are kept, because it is part of
    /// many pairs.
    fn docs(&mut self, group: usize) -> Docs {
        let docs = self.groups.docs(group);
        match docs {
            [doc] => Docs::One(*doc),
            _ => self.large.entry(group).or_insert_with(|| Docs::from(docs)).clone(),
        }
    }
}
