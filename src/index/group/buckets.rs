//! Walks the buckets of a probe, band by band.

use crate::error::Result;
use crate::lsh::{BandPlan, Probe};
use crate::store::{BandEntries, BandNo, DocNo, View};

/// The buckets that hold more than one document, in the order of bands and words.
pub(crate) struct Buckets {
    plan: BandPlan,
    probe: Probe,
    band: usize,
    entries: Option<BandEntries>,
    /// The first entry of the next bucket.
    ahead: Option<(u64, DocNo)>,
    docs: Vec<DocNo>,
    passed: u64,
}

impl Buckets {
    pub(crate) fn new(plan: BandPlan, probe: Probe) -> Self {
        Self { plan, probe, band: 0, entries: None, ahead: None, docs: Vec::new(), passed: 0 }
    }

    /// The band of the bucket that was read last.
    pub(crate) fn band(&self) -> usize {
        self.band
    }

    /// The documents of the bucket that was read last, in the order of their words.
    pub(crate) fn docs(&self) -> &[DocNo] {
        &self.docs
    }

    /// The number of entries read since the last call.
    pub(crate) fn take_passed(&mut self) -> u64 {
        std::mem::take(&mut self.passed)
    }

    /// Reads the next bucket; false after the last.
    pub(crate) fn next(&mut self, view: &View<'_>) -> Result<bool> {
        while self.band < self.probe.bands() {
            let band = BandNo(self.band as u8);
            let entries = self.entries.get_or_insert_with(|| BandEntries::new(view, band));
            let first = match self.ahead.take() {
                Some(first) => Some(first),
                None => entries.next(view)?,
            };
            let Some((word, doc)) = first else {
                self.entries = None;
                self.band += 1;
                continue;
            };
            let range = self.probe.bucket(word, self.plan);
            self.docs.clear();
            self.docs.push(doc);
            while let Some(entry) = entries.next(view)? {
                if entry.0 > range.last {
                    self.ahead = Some(entry);
                    break;
                }
                self.docs.push(entry.1);
            }
            self.passed += self.docs.len() as u64;
            if self.docs.len() > 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
