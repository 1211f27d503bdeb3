//! Iterates over the pairs between two groups of documents, or within one group.

use crate::index::doc_map::DocMap;
use crate::store::DocNo;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A document with its id.
pub(crate) struct NamedDoc {
    pub(crate) id: Arc<String>,
    pub(crate) doc: DocNo,
}

/// Counts in how many pairs each document was reported, and enforces the limit on that number.
pub(crate) struct PairCounts {
    counts: DocMap,
    most: u32,
    /// The number of pairs that the limit has left out.
    pub(crate) left_out: u64,
    /// In how many more pairs documents may be reported, of those that are compared now.
    expected: FxHashMap<DocNo, u64>,
}

impl PairCounts {
    pub(crate) fn new(most: u32) -> Self {
        Self { counts: DocMap::new(0), most, left_out: 0, expected: FxHashMap::default() }
    }

    /// Whether a document is below the limit.
    pub(crate) fn is_open(&self, doc: DocNo) -> bool {
        self.counts.get(doc) < self.most
    }

    /// Whether every document of a group has reached the limit.
    pub(crate) fn none_open(&self, docs: &[DocNo]) -> bool {
        !docs.iter().any(|doc| self.is_open(*doc))
    }

    /// Notes that two groups, or the documents of one, are compared, but were not reported yet.
    pub(crate) fn expect(&mut self, left: &[DocNo], right: Option<&[DocNo]>) {
        let others = right.map_or(left.len().saturating_sub(1), <[DocNo]>::len) as u64;
        left.iter().for_each(|doc| *self.expected.entry(*doc).or_default() += others);
        for doc in right.unwrap_or_default() {
            *self.expected.entry(*doc).or_default() += left.len() as u64;
        }
    }

    /// Forgets what was expected: all of it was reported, or turned out not to be similar.
    pub(crate) fn expect_nothing(&mut self) {
        /// A map that has had more entries takes long to clear, and much memory.
        const LARGE: usize = 1 << 14;
        if self.expected.capacity() > LARGE {
            self.expected = FxHashMap::default();
        } else {
            self.expected.clear();
        }
    }

    /// Whether some document of a group reaches the limit if all that is compared is similar.
    pub(crate) fn may_reach_limit(&self, docs: &[DocNo]) -> bool {
        let reaches = |doc: &DocNo| {
            let expected = self.expected.get(doc).copied().unwrap_or(0);
            expected > 0 && u64::from(self.counts.get(*doc)) + expected >= u64::from(self.most)
        };
        !self.expected.is_empty() && docs.iter().any(reaches)
    }

    fn count(&mut self, doc: DocNo) {
        self.counts.set(doc, self.counts.get(doc) + 1);
    }
}

/// The pairs between two groups, or within one, in the order of ids.
pub(crate) struct PairBlock {
    /// The document with the lowest number on the left.
    first: DocNo,
    left: Vec<NamedDoc>,
    /// `None` for pairs within the left group.
    right: Option<Vec<NamedDoc>>,
    /// The positions on the left and on the right of the next pair.
    at: (usize, usize),
    /// Skips documents at the limit: `open[i]` is `i` if the document at `i` on the right is below
    /// the limit, and a later position to continue from if it is not. Empty without a limit.
    open: Vec<u32>,
}

impl PairBlock {
    pub(crate) fn new(
        first: DocNo,
        left: Vec<NamedDoc>,
        right: Option<Vec<NamedDoc>>,
        counted: bool,
    ) -> Self {
        let at = (0, usize::from(right.is_none()));
        let length = right.as_ref().unwrap_or(&left).len() as u32;
        let open = if counted { (0..=length).collect() } else { Vec::new() };
        Self { first, left, right, at, open }
    }

    /// Returns the left group with the ids read for it, so that the next block can use them.
    pub(crate) fn into_left(self) -> (DocNo, Vec<NamedDoc>) {
        (self.first, self.left)
    }

    /// The next pair whose documents are below the limit. Counts the pair, and those that it skips.
    pub(crate) fn next(
        &mut self,
        mut counts: Option<&mut PairCounts>,
    ) -> Option<(&NamedDoc, &NamedDoc)> {
        loop {
            let rights = self.right.as_ref().unwrap_or(&self.left).len();
            let x = self.left.get(self.at.0)?;
            let mut next = self.at.1;
            if let Some(counts) = counts.as_deref_mut() {
                next =
                    if counts.is_open(x.doc) { first_open(&mut self.open, next) } else { rights };
                counts.left_out += (next.min(rights) - self.at.1.min(rights)) as u64;
            }
            if next >= rights {
                let row = self.at.0 + 1;
                self.at = (row, if self.right.is_some() { 0 } else { row + 1 });
                continue;
            }
            self.at.1 = next + 1;
            let (left, right) = (self.at.0, next);
            let y = self.right.as_ref().unwrap_or(&self.left).get(right)?;
            if let Some(counts) = counts.as_deref_mut() {
                counts.count(x.doc);
                counts.count(y.doc);
                let within = self.right.is_none();
                for (place, doc) in [(left, within.then_some(x.doc)), (right, Some(y.doc))] {
                    if doc.is_some_and(|doc| !counts.is_open(doc)) {
                        self.open[place] = place as u32 + 1;
                    }
                }
            }
            return Some((x, y));
        }
    }
}

/// The first open place at or after `place`. Compresses the path, so later searches are short.
fn first_open(open: &mut [u32], place: usize) -> usize {
    let mut last = place;
    while open.get(last).is_some_and(|next| *next as usize != last) {
        last = open[last] as usize;
    }
    let mut at = place;
    while at < last {
        let next = open[at] as usize;
        open[at] = last as u32;
        at = next;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named(docs: std::ops::Range<u32>) -> Vec<NamedDoc> {
        docs.map(|doc| NamedDoc { id: Arc::new(format!("{doc:04}")), doc: DocNo(doc) }).collect()
    }

    /// All pairs of the block, and the number of pairs it leaves out.
    fn drain(mut block: PairBlock, mut counts: Option<PairCounts>) -> (Vec<(u32, u32)>, u64) {
        let mut out = Vec::new();
        while let Some((x, y)) = block.next(counts.as_mut()) {
            out.push((x.doc.0, y.doc.0));
        }
        (out, counts.map_or(0, |counts| counts.left_out))
    }

    proptest! {
        #[test]
        fn a_pair_is_reported_if_both_documents_are_below_the_limit(
            left in 0_u32..12,
            right in proptest::option::of(0_u32..12),
            most in 0_u32..6,
        ) {
            let block = |counted| {
                let others = right.map(|right| named(100..100 + right));
                PairBlock::new(DocNo(0), named(0..left), others, counted)
            };
            let (all, none) = drain(block(false), None);
            let mut seen = vec![0; 200];
            let mut expected = Vec::new();
            for &(x, y) in &all {
                if seen[x as usize] < most && seen[y as usize] < most {
                    seen[x as usize] += 1;
                    seen[y as usize] += 1;
                    expected.push((x, y));
                }
            }
            let (found, left_out) = drain(block(true), Some(PairCounts::new(most)));
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!((none, left_out), (0, (all.len() - expected.len()) as u64));
        }
    }

    #[test]
    fn a_clique_costs_time_in_proportion_to_the_reported_pairs() {
        let count = 200_000;
        let block = PairBlock::new(DocNo(0), named(0..count), None, true);
        let (found, left_out) = drain(block, Some(PairCounts::new(3)));
        assert_eq!(found.len(), 3 * count as usize / 2);
        let all = u64::from(count) * u64::from(count - 1) / 2;
        assert_eq!(left_out, all - found.len() as u64);
    }
}
