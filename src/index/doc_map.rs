//! A sparse map from document numbers to `u32` values.

use crate::store::DocNo;

/// The number of values in a page. The index never reuses a document number, so after many
/// replacements the numbers in use are sparse, and whole pages stay unallocated.
const PAGE: usize = 4096;

/// Stands for "no document": writers never give this number.
pub(crate) const NO_DOC: u32 = u32::MAX;

/// A value for each document. Takes 4 bytes for each document number in a page that has a value.
#[derive(Clone, Debug)]
pub(crate) struct DocMap {
    pages: Vec<Option<Box<[u32]>>>,
    /// The number of pages that have values.
    used: usize,
    unset: u32,
}

impl DocMap {
    /// An empty map, whose [`get`](Self::get) returns `unset` for every document.
    pub(crate) fn new(unset: u32) -> Self {
        Self { pages: Vec::new(), used: 0, unset }
    }

    #[inline]
    pub(crate) fn get(&self, doc: DocNo) -> u32 {
        let place = doc.0 as usize;
        match self.pages.get(place / PAGE) {
            Some(Some(page)) => page[place % PAGE],
            _ => self.unset,
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, doc: DocNo, value: u32) {
        let place = doc.0 as usize;
        if place / PAGE >= self.pages.len() {
            self.pages.resize(place / PAGE + 1, None);
        }
        let page = &mut self.pages[place / PAGE];
        self.used += usize::from(page.is_none());
        page.get_or_insert_with(|| vec![self.unset; PAGE].into())[place % PAGE] = value;
    }

    /// The bytes that the map takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<u32>() * PAGE * self.used + size_of::<Option<Box<[u32]>>>() * self.pages.len()
    }

    /// All documents whose value is not `unset`, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (DocNo, u32)> {
        let all = (0..).zip(&self.pages).flat_map(|(number, page): (usize, _)| {
            let values = page.iter().flat_map(|page| page.iter().copied());
            (PAGE * number..).zip(values).map(|(place, value)| (DocNo(place as u32), value))
        });
        all.filter(|(_, value)| *value != self.unset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_were_set_are_returned_and_no_others() {
        let mut numbers = DocMap::new(7);
        let set = [(0, 1), (4095, 2), (4096, 3), (1 << 30, 4)].map(|(doc, n)| (DocNo(doc), n));
        set.iter().rev().for_each(|(doc, value)| numbers.set(*doc, *value));
        assert_eq!(numbers.iter().collect::<Vec<_>>(), set);
        assert_eq!(set.map(|(doc, _)| numbers.get(doc)), [1, 2, 3, 4]);
        assert_eq!([1, 8192, u32::MAX].map(|doc| numbers.get(DocNo(doc))), [7, 7, 7]);
    }
}
