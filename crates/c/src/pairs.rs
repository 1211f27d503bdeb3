//! All similar pairs of a snapshot, one after the other.

use crate::border::{call, free, handle, needed, place};
use crate::error::{ErrorHandle, Failure};
use crate::settings::{choice, number};
use crate::snapshot::SnapshotHandle;
use crate::status::Status;
use crate::structs::{self, Growing};
use crate::view::{View, nul_terminated};
use self_cell::self_cell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Arc, Mutex, TryLockError};
use twindex::{Pairs, Snapshot};

/// Which pairs to look for. Set all bytes to zero, then `size`; a field that is zero has its
/// default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PairsOptions {
    /// sizeof(twindex_pairs_options).
    pub size: usize,
    /// The least similarity to report: above 0, at most 1. Default: that of the index.
    pub threshold: f64,
    /// The probability that the interval of a similarity holds the true one. Default 0.95.
    pub confidence: f64,
    /// Reports each document in at most so many pairs. Default: in all.
    pub max_per_document: u32,
    /// TWINDEX_YES: uses estimates even if the index stores texts.
    pub estimate: u32,
}

// SAFETY: the size is first, and the two fields of 4 bytes fill a word.
unsafe impl Growing for PairsOptions {
    const NAME: &'static str = "twindex_pairs_options";
    const FIRST: usize = 32;
    const ZERO: Self = Self {
        size: size_of::<Self>(),
        threshold: 0.0,
        confidence: 0.0,
        max_per_document: 0,
        estimate: 0,
    };
}

/// A pair of similar documents. Later versions may add fields at the end, so use it through the
/// pointer that the library gives.
#[repr(C)]
pub struct PairStruct {
    /// The smaller of the two ids, in byte order.
    pub a: View,
    /// The greater id.
    pub b: View,
    /// The Jaccard similarity, from 0 to 1.
    pub similarity: f64,
    /// The lower end of the interval of the similarity. Equals it if that is exact.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// 1 if the similarity was computed from stored texts, 0 if it is an estimate.
    pub exact: u32,
}

self_cell!(
    /// The pairs with the snapshot that they read.
    pub(crate) struct PairsCell {
        owner: Arc<Snapshot>,
        #[not_covariant]
        dependent: Pairs,
    }
);

impl Iterator for PairsCell {
    type Item = twindex::Result<twindex::Pair>;

    fn next(&mut self) -> Option<Self::Item> {
        self.with_dependent_mut(|_, pairs| pairs.next())
    }
}

/// A walk over all similar pairs of a snapshot, each once.
///
/// Threads: one at a time. A call meanwhile returns TWINDEX_BUSY.
pub struct PairsHandle(Mutex<Reading>);

struct Reading {
    pairs: Option<PairsCell>,
    current: Option<PairStruct>,
    ids: [Vec<u8>; 2],
}

impl PairsHandle {
    /// Takes the pairs out of the handle.
    pub(crate) fn take(&self) -> Result<PairsCell, Failure> {
        self.reading(|reading| {
            reading.pairs.take().ok_or_else(|| Failure::closed("the pairs were taken over before"))
        })
    }

    fn reading<T>(
        &self,
        read: impl FnOnce(&mut Reading) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match self.0.try_lock() {
            Ok(mut reading) => read(&mut reading),
            Err(TryLockError::Poisoned(_)) => {
                Err(Failure::closed("an earlier call with these pairs failed; open them again"))
            }
            Err(TryLockError::WouldBlock) => Err(Failure::busy("another thread reads these pairs")),
        }
    }
}

/// Begins to look for all pairs of similar documents. `options` may be null: the threshold of the
/// index counts then. The pairs are found while twindex_pairs_next is called.
///
/// Ownership: the caller frees `*pairs` with twindex_pairs_free. It is null after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_pairs_open(
    snapshot: Option<&SnapshotHandle>,
    options: *const PairsOptions,
    pairs: Option<&mut MaybeUninit<Option<Box<PairsHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let place = place(pairs, "pairs")?;
        let snapshot = needed(snapshot, "snapshot")?.share();
        // SAFETY: the caller promises options.
        let options = unsafe { structs::read(options) }?;
        let estimate = choice("estimate", options.estimate)? == Some(true);
        let threshold = number(options.threshold).unwrap_or(snapshot.settings().threshold());
        let cell = PairsCell::try_new(snapshot, |snapshot| {
            let mut pairs = snapshot.pairs(threshold)?.estimate(estimate);
            if let Some(confidence) = number(options.confidence) {
                pairs = pairs.confidence(confidence)?;
            }
            if let Some(most) = number(options.max_per_document) {
                pairs = pairs.max_per_document(most);
            }
            Ok::<_, Failure>(pairs)
        })?;
        let reading = Reading { pairs: Some(cell), current: None, ids: Default::default() };
        *place = Some(Box::new(PairsHandle(Mutex::new(reading))));
        Ok(())
    })
}

/// Finds the next pair. `*pair` is null after the last one.
///
/// Ownership: the pair belongs to the pairs, until the next call with them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_pairs_next(
    pairs: *mut PairsHandle,
    pair: Option<&mut MaybeUninit<*const PairStruct>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let place = pair.ok_or_else(|| Failure::null("pair"))?.write(ptr::null());
        // SAFETY: the caller promises a handle.
        unsafe { handle(pairs, "pairs") }?.reading(|reading| {
            let Some(pairs) = &mut reading.pairs else {
                return Err(Failure::closed("the pairs were taken over before"));
            };
            let Some(found) = pairs.next().transpose()? else { return Ok(()) };
            let twindex::Pair { a, b, similarity, low, high, exact, .. } = found;
            reading.ids = [a, b].map(|id| nul_terminated(id.into_bytes()));
            let [a, b] = [&reading.ids[0], &reading.ids[1]].map(|id| View::of_terminated(id));
            let exact = exact.into();
            let fields = PairStruct { a, b, similarity, low, high, exact };
            *place = ptr::from_ref(reading.current.insert(fields));
            Ok(())
        })
    })
}

/// Frees pairs. Null is fine.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_pairs_free(pairs: Option<Box<PairsHandle>>) {
    free(pairs);
}
