//! Distributes work over threads if there is enough of it: distribution costs some 20 us.

use rayon::prelude::*;

/// The fewest documents whose work is worth distributing.
pub(crate) const MIN_DOCUMENTS: usize = 256;

/// Applies a function to every item, on all threads if `shared`. Results have the order of items.
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

/// Does two things, at the same time if `shared`.
pub(crate) fn join<A: Send, B: Send>(
    shared: bool,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    match shared {
        true => rayon::join(first, second),
        false => (first(), second()),
    }
}
