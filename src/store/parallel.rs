//! Sharing work between threads where there is enough of it: handing it out costs some 20 us.

use rayon::prelude::*;

/// Documents from which on it pays.
pub(crate) const DOCUMENTS: usize = 256;

/// Applies a function to every item, on all threads if `shared`. The results keep the order.
pub(crate) fn map<T: Send, R: Send>(
    items: Vec<T>,
    shared: bool,
    apply: impl Fn(T) -> R + Sync + Send,
) -> Vec<R> {
    match shared {
        true => items.into_par_iter().map(apply).collect(),
        false => items.into_iter().map(apply).collect(),
    }
}
