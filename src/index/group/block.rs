//! The pairs between two groups of documents, or within one, handed out one by one.

use crate::index::group::by_number::ByNumber;
use crate::store::DocNo;

/// A document with its id.
pub(crate) struct Named {
    pub(crate) id: String,
    pub(crate) doc: DocNo,
}

/// In how many pairs each document was reported, and the limit of that.
pub(crate) struct PairCounts {
    counts: ByNumber,
    most: u32,
}

impl PairCounts {
    pub(crate) fn new(most: u32) -> Self {
        Self { counts: ByNumber::new(0), most }
    }

    /// Whether a document may be reported again.
    pub(crate) fn is_open(&self, doc: DocNo) -> bool {
        self.counts.get(doc) < self.most
    }

    /// Whether no document of a group may be reported again.
    pub(crate) fn none_open(&self, docs: &[DocNo]) -> bool {
        !docs.iter().any(|doc| self.is_open(*doc))
    }

    fn count(&mut self, doc: DocNo) {
        self.counts.set(doc, self.counts.get(doc) + 1);
    }
}

/// Pairs of two groups, or within one, in the order of ids.
pub(crate) struct Block {
    /// The first of the documents on the left, by number.
    first: DocNo,
    left: Vec<Named>,
    /// `None` for pairs within the left group.
    right: Option<Vec<Named>>,
    at: (usize, usize),
    /// Where counts have a most: for each on the right the first that is open, or where to look
    /// on, from there on.
    open: Vec<u32>,
}

impl Block {
    pub(crate) fn new(
        first: DocNo,
        left: Vec<Named>,
        right: Option<Vec<Named>>,
        counted: bool,
    ) -> Self {
        let at = (0, usize::from(right.is_none()));
        let length = right.as_ref().unwrap_or(&left).len() as u32;
        let open = if counted { (0..=length).collect() } else { Vec::new() };
        Self { first, left, right, at, open }
    }

    /// The left group with the names that were read for it, to be used again.
    pub(crate) fn into_left(self) -> (DocNo, Vec<Named>) {
        (self.first, self.left)
    }

    /// The next pair that may be reported; counts it, or those that are left out.
    pub(crate) fn next(
        &mut self,
        mut counts: Option<&mut PairCounts>,
        left_out: &mut u64,
    ) -> Option<(&Named, &Named)> {
        loop {
            let rights = self.right.as_ref().unwrap_or(&self.left).len();
            let x = self.left.get(self.at.0)?;
            let mut next = self.at.1;
            if let Some(counts) = counts.as_deref() {
                next = match counts.is_open(x.doc) {
                    true => first_open(&mut self.open, next),
                    false => rights,
                };
                *left_out += (next.min(rights) - self.at.1.min(rights)) as u64;
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

/// The first place from `place` on that is open; shortens the way there for the next who asks.
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

    fn named(docs: std::ops::Range<u32>) -> Vec<Named> {
        docs.map(|doc| Named { id: format!("{doc:04}"), doc: DocNo(doc) }).collect()
    }

    /// What the block hands out, and how many it leaves out.
    fn drain(mut block: Block, mut counts: Option<PairCounts>) -> (Vec<(u32, u32)>, u64) {
        let (mut out, mut left_out) = (Vec::new(), 0);
        while let Some((x, y)) = block.next(counts.as_mut(), &mut left_out) {
            out.push((x.doc.0, y.doc.0));
        }
        (out, left_out)
    }

    proptest! {
        #[test]
        fn a_pair_is_reported_if_both_were_in_fewer(
            left in 0_u32..12,
            right in proptest::option::of(0_u32..12),
            most in 0_u32..6,
        ) {
            let block = |counted| {
                let others = right.map(|right| named(100..100 + right));
                Block::new(DocNo(0), named(0..left), others, counted)
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
    fn a_clique_costs_no_more_than_what_is_reported() {
        let count = 200_000;
        let block = Block::new(DocNo(0), named(0..count), None, true);
        let (found, left_out) = drain(block, Some(PairCounts::new(3)));
        assert_eq!(found.len(), 3 * count as usize / 2);
        let all = u64::from(count) * u64::from(count - 1) / 2;
        assert_eq!(left_out, all - found.len() as u64);
    }
}
