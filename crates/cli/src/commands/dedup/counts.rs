//! The counts of a run of `dedup`: what became of its records.

use twindex::Outcome;

/// The outcomes so far. All but [`limited`](Self::limited) are stored with the progress of a run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) added: u64,
    pub(crate) replaced: u64,
    pub(crate) unchanged: u64,
    pub(crate) duplicates: u64,
    pub(crate) empty: u64,
    pub(crate) bytes: u64,
    /// Records that were kept although a similar document is known, as it does not contain them.
    pub(crate) spared: u64,
    /// Records of which passages were cut out, and the bytes of these passages.
    pub(crate) cut: u64,
    pub(crate) cut_bytes: u64,
    /// Records that this process has kept and that had more candidates than were compared.
    pub(crate) limited: u64,
}

impl Counts {
    /// Counts a record that was spared, or of which passages were cut out. `bytes` are those of its
    /// text before.
    pub(super) fn add_spared_or_cut(&mut self, outcome: &Outcome, bytes: u64) {
        match outcome {
            Outcome::Spared { .. } => self.spared += 1,
            Outcome::Cut { text, .. } => {
                self.cut += 1;
                self.cut_bytes += bytes.saturating_sub(text.len() as u64);
            }
            _ => {}
        }
    }

    /// The records that were not in the index and are now.
    pub(crate) const fn inserted(&self) -> u64 {
        self.added + self.replaced
    }
}

/// What became of all records of the input, those that could not be read included.
#[derive(Clone, Copy, Default)]
pub(crate) struct RunResults {
    pub(crate) counts: Counts,
    /// The number of bad records.
    pub(crate) failed: u64,
}
