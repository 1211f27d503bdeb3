//! Reads the signatures of many documents, on all threads if that is asked for.

use crate::error::Result;
use crate::sketch::SetSize;
use crate::store::bytes::schema::DocNo;
use crate::store::parallel;
use crate::store::read::view::View;
use crate::store::storage_error::{Doing, guard};
use std::ops::Range;

/// The document numbers that one thread reads at a time, which bounds the memory of results.
const PART: u64 = if cfg!(test) { 64 } else { 1 << 13 };

impl View<'_> {
    /// Calls `map` with the lanes and the set size of each live document with these numbers, and
    /// `take` with what it returns, in the order of numbers.
    ///
    /// Reads on all threads if `shared`. A thread that waits for others may begin any other work of
    /// their pool, so the caller must hold no lock then.
    pub(crate) fn map_signatures<T: Send>(
        &self,
        numbers: Range<u64>,
        shared: bool,
        map: impl Fn(DocNo, &[u8], SetSize) -> Option<T> + Sync,
        mut take: impl FnMut(T),
    ) -> Result<()> {
        let together = PART * rayon::current_num_threads() as u64;
        let mut from = numbers.start;
        while from < numbers.end {
            let to = from.saturating_add(together).min(numbers.end);
            let starts: Vec<u64> = (from..to).step_by(PART as usize).collect();
            let part = |start: u64| self.mapped(start..to.min(start + PART), &map);
            let shared = shared && starts.len() > 1;
            for part in parallel::map(starts, shared, part) {
                part?.into_iter().for_each(&mut take);
            }
            from = to;
        }
        Ok(())
    }

    fn mapped<T>(
        &self,
        numbers: Range<u64>,
        map: impl Fn(DocNo, &[u8], SetSize) -> Option<T>,
    ) -> Result<Vec<T>> {
        let (path, action) = (self.fixed.path, "reading signatures");
        let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let numbers = number(numbers.start)..=number(numbers.end.saturating_sub(1));
        guard(path, || {
            let mut mapped = Vec::new();
            for row in self.signatures.range(numbers).doing(path, action)? {
                let (number, row) = row.doing(path, action)?;
                let doc = DocNo(number.value());
                let (lanes, size) = self.signature_in(row.value(), doc)?;
                mapped.extend(map(doc, lanes, size));
            }
            Ok(mapped)
        })
    }
}
