//! The sorted entries of one band in memory, with a directory for fast search.

use crate::lsh::WordRange;
use crate::store::bytes::chunk::Entry;
use crate::store::bytes::schema::DocNo;
use crate::store::runs::spread::sort_spread;

/// The average number of entries per directory slot: their words fill a cache line.
const ENTRIES_PER_SLOT: usize = 8;

/// The words of a slot are compared one by one if there are no more than this.
const FEW: usize = 4 * ENTRIES_PER_SLOT;

/// How far a search among words that ascend looks before it uses the directory.
const NEAR: usize = ENTRIES_PER_SLOT;

/// The sorted entries of one band.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    words: Vec<u64>,
    docs: Vec<DocNo>,
    /// A word shifted right by `shift` is its slot of the directory.
    shift: u32,
    /// Where the words of each slot start, and after the last slot where they end. Words are
    /// spread evenly, so a slot has few of them. A slot with many equal words has more.
    starts: Vec<u32>,
}

/// Collects and sorts the entries of a column. Each entry is one number, which sorts fastest.
pub(crate) struct ColumnBuilder {
    /// The word in the upper 48 bits, the position of the document in the lower 16.
    keys: Vec<u64>,
}

impl ColumnBuilder {
    /// The most documents of one builder: positions have 16 bits.
    pub(crate) const MAX_DOCUMENTS: usize = 1 << 16;

    pub(crate) fn with_capacity(entries: usize) -> Self {
        Self { keys: Vec::with_capacity(entries) }
    }

    /// Adds a word of at most 48 bits and the position of its document, which is below
    /// [`MAX_DOCUMENTS`](Self::MAX_DOCUMENTS).
    pub(crate) fn push(&mut self, word: u64, position: usize) {
        debug_assert!(word < 1 << 48 && position < Self::MAX_DOCUMENTS, "{word:#x} {position}");
        self.keys.push(word << 16 | position as u64);
    }

    /// Sorts the entries by word, then by position. `doc` maps a position to its document.
    pub(crate) fn into_column(mut self, word_bits: u32, doc: impl Fn(usize) -> DocNo) -> Column {
        sort_spread(&mut self.keys, &mut Vec::new(), |key| *key);
        let words = self.keys.iter().map(|key| key >> 16).collect();
        let docs = self.keys.iter().map(|key| doc((key & 0xFFFF) as usize)).collect();
        Column::new(words, docs, word_bits)
    }
}

impl Column {
    fn new(words: Vec<u64>, docs: Vec<DocNo>, word_bits: u32) -> Self {
        let slot_bits = (words.len() / ENTRIES_PER_SLOT).max(1).ilog2();
        let mut column = Self {
            words,
            docs,
            shift: word_bits.saturating_sub(slot_bits),
            starts: Vec::with_capacity((1 << slot_bits) + 1),
        };
        for (at, word) in column.words.iter().enumerate() {
            let slot = (word >> column.shift) as usize;
            while column.starts.len() <= slot {
                column.starts.push(at as u32);
            }
        }
        column.starts.resize((1 << slot_bits) + 1, column.words.len() as u32);
        column
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<Entry> {
        Some((*self.words.get(at)?, *self.docs.get(at)?))
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        self.words.iter().copied().zip(self.docs.iter().copied())
    }

    /// The position of the first word that is not less than `word`.
    fn lower_bound(&self, word: u64) -> usize {
        let slot = (word >> self.shift) as usize;
        let end = self.words.len();
        let start = |slot: usize| self.starts.get(slot).map_or(end, |at| *at as usize);
        let (from, to) = (start(slot), start(slot + 1));
        let words = self.words.get(from..to).unwrap_or_default();
        // Bisection would branch three times on what cannot be predicted.
        from + match words.len() {
            ..=FEW => words.iter().map(|other| usize::from(*other < word)).sum(),
            _ => words.partition_point(|other| *other < word),
        }
    }

    /// The documents whose words lie in the range.
    pub(crate) fn within(&self, range: WordRange) -> &[DocNo] {
        self.starting_at(self.lower_bound(range.first), range)
    }

    /// As [`within`](Self::within), for ranges that ascend: `end` is where the documents of the
    /// last one end, and 0 at first. Many words are found where the last search has ended.
    pub(crate) fn next_within(&self, end: &mut usize, range: WordRange) -> &[DocNo] {
        let near = self.words.get(*end..).unwrap_or_default().iter().take(NEAR);
        let from = match near.take_while(|word| **word < range.first).count() {
            NEAR => self.lower_bound(range.first),
            smaller => *end + smaller,
        };
        let docs = self.starting_at(from, range);
        *end = from + docs.len();
        docs
    }

    /// The documents from a position on whose words are not beyond the range.
    fn starting_at(&self, from: usize, range: WordRange) -> &[DocNo] {
        let rest = self.words.get(from..).unwrap_or_default();
        let count = rest.iter().take_while(|word| **word <= range.last).count();
        self.docs.get(from..from + count).unwrap_or_default()
    }

    /// All entries of this column and these newer ones, which are sorted and whose documents have
    /// higher numbers.
    pub(crate) fn entries_with(&self, newer: &[Entry]) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(self.len() + newer.len());
        let (mut a, mut b) = (0, 0);
        while let (Some(x), Some(y)) = (self.get(a), newer.get(b)) {
            // As in `merge`.
            let take_newer = y.0 < x.0;
            entries.push(if take_newer { *y } else { x });
            a += usize::from(!take_newer);
            b += usize::from(take_newer);
        }
        entries.extend(self.entries().skip(a));
        entries.extend_from_slice(newer.get(b..).unwrap_or_default());
        entries
    }

    /// Merges two columns. Every document of `newer` has a higher number than those of `older`.
    pub(crate) fn merge(older: &Self, newer: &Self, word_bits: u32) -> Self {
        let length = older.len() + newer.len();
        let (mut words, mut docs) = (Vec::with_capacity(length), Vec::with_capacity(length));
        let (mut a, mut b) = (0, 0);
        while let (Some(x), Some(y)) = (older.get(a), newer.get(b)) {
            // On equal words the older entry comes first: documents ascend. The outcome is
            // unpredictable, so the code avoids a branch on it.
            let take_newer = y.0 < x.0;
            let next = if take_newer { y } else { x };
            words.push(next.0);
            docs.push(next.1);
            a += usize::from(!take_newer);
            b += usize::from(take_newer);
        }
        for (rest, at) in [(older, a), (newer, b)] {
            words.extend_from_slice(rest.words.get(at..).unwrap_or_default());
            docs.extend_from_slice(rest.docs.get(at..).unwrap_or_default());
        }
        Self::new(words, docs, word_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BITS: u32 = 48;

    fn column(words: &[u64], first_doc: u32) -> Column {
        let mut builder = ColumnBuilder::with_capacity(words.len());
        words.iter().enumerate().for_each(|(at, word)| builder.push(*word, at));
        builder.into_column(BITS, |at| DocNo(first_doc + at as u32))
    }

    fn sorted(words: &[u64]) -> Vec<Entry> {
        let mut entries: Vec<Entry> = (0..).map(DocNo).zip(words).map(|(d, w)| (*w, d)).collect();
        entries.sort_unstable();
        entries
    }

    proptest! {
        #[test]
        fn merging_columns_keeps_all_entries_in_order(
            words in proptest::collection::vec(any::<u64>(), 0..600),
            shift in 16_u32..62,
            cut in any::<prop::sample::Index>(),
        ) {
            let words: Vec<u64> = words.into_iter().map(|word| word >> shift).collect();
            let (old, new) = words.split_at(cut.index(words.len() + 1));
            let merged = Column::merge(&column(old, 0), &column(new, old.len() as u32), BITS);
            prop_assert_eq!(merged.entries().collect::<Vec<_>>(), sorted(&words));
            let newer: Vec<Entry> = column(new, old.len() as u32).entries().collect();
            prop_assert_eq!(column(old, 0).entries_with(&newer), sorted(&words));
        }

        #[test]
        fn a_range_query_returns_exactly_the_words_in_the_range(
            words in proptest::collection::vec(any::<u64>(), 0..600),
            shift in 16_u32..62,
            ends in (any::<u64>(), any::<u64>()),
        ) {
            let words: Vec<u64> = words.into_iter().map(|word| word >> shift).collect();
            let (first, last) = (ends.0.min(ends.1) >> shift, ends.0.max(ends.1) >> shift);
            let entries = sorted(&words);
            let expected: Vec<DocNo> = entries
                .iter()
                .filter(|(word, _)| (first..=last).contains(word))
                .map(|(_, doc)| *doc)
                .collect();
            let column = column(&words, 0);
            prop_assert_eq!(column.within(WordRange { first, last }), &expected[..]);
        }

        #[test]
        fn ranges_that_ascend_find_what_each_finds_alone(
            words in proptest::collection::vec(any::<u64>(), 0..600),
            shift in 16_u32..62,
            mut ends in proptest::collection::vec(any::<u64>(), 0..100),
        ) {
            let words: Vec<u64> = words.into_iter().map(|word| word >> shift).collect();
            let column = column(&words, 0);
            ends.iter_mut().for_each(|end| *end >>= shift);
            ends.sort_unstable();
            ends.dedup();
            let mut end = 0;
            for ends in ends.chunks_exact(2) {
                let [first, last] = *ends else { continue };
                let range = WordRange { first, last };
                prop_assert_eq!(column.next_within(&mut end, range), column.within(range));
            }
        }
    }

    #[test]
    fn a_slot_with_many_equal_words_is_searched_completely() {
        let mut words = vec![7 << 40; 5000];
        words.extend((0..5000).map(|n| n << 30));
        let column = column(&words, 0);
        assert_eq!(column.within(WordRange::only(7 << 40)).len(), 5000);
        assert_eq!(column.within(WordRange::only(1)).len(), 0);
        assert_eq!(column.within(WordRange { first: 0, last: u64::MAX }).len(), 10_000);
    }
}
