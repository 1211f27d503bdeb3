//! Which documents of a batch are in the buckets that its documents share.

/// The documents in each shared bucket, as far as they were added. They are numbered from 0 on, in
/// the order in which they are added.
pub(super) struct Members {
    buckets: Vec<Vec<u32>>,
    /// The last search that met each document.
    last: Vec<u32>,
    search: u32,
}

impl Members {
    /// This many buckets, with no documents.
    pub(super) fn new(buckets: usize) -> Self {
        Self { buckets: vec![Vec::new(); buckets], last: Vec::new(), search: 0 }
    }

    /// Adds the next document, which is in these buckets.
    pub(super) fn add(&mut self, shared: &[u32]) {
        let number = self.last.len() as u32;
        self.last.push(0);
        for bucket in shared {
            if let Some(bucket) = self.buckets.get_mut(*bucket as usize) {
                bucket.push(number);
            }
        }
    }

    /// The documents in these buckets, each of them once: a crowded bucket has thousands of
    /// documents that are in all other buckets too. A batch has fewer than 2^32 searches.
    pub(super) fn of<'m>(&'m mut self, shared: &'m [u32]) -> impl Iterator<Item = u32> + 'm {
        let Self { buckets, last, search } = self;
        *search += 1;
        let search = *search;
        let buckets = shared.iter().filter_map(|bucket| buckets.get(*bucket as usize));
        buckets.flatten().copied().filter(move |number| {
            let last = last.get_mut(*number as usize);
            last.is_some_and(|last| std::mem::replace(last, search) != search)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_search_meets_each_document_of_its_buckets_once() {
        let mut members = Members::new(3);
        members.add(&[0, 2]);
        members.add(&[1]);
        members.add(&[0, 1, 2]);
        let mut of = |shared: &[u32]| members.of(shared).collect::<Vec<u32>>();
        assert_eq!(of(&[0, 1, 2]), [0, 2, 1]);
        assert_eq!(of(&[2, 0]), [0, 2]);
        assert_eq!(of(&[1]), [1, 2]);
        assert_eq!(of(&[]), []);
        assert_eq!(of(&[7]), []);
    }
}
