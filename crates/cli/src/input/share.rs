//! Work that all threads of a pool share.

use rayon::prelude::*;
use std::mem;
use std::sync::{Mutex, PoisonError};

/// Applies a function to every item, on all threads. Results have the order of items.
pub fn map<T: Send, R: Send>(items: Vec<T>, apply: impl Fn(T) -> R + Sync) -> Vec<R> {
    map_init(items, || (), |(), item| apply(item))
}

/// As [`map`], for a function that needs something which is made anew for every few items.
pub fn map_init<S, T: Send, R: Send>(
    items: Vec<T>,
    init: impl Fn() -> S + Sync,
    apply: impl Fn(&mut S, T) -> R + Sync,
) -> Vec<R> {
    /// Enough pieces that all threads end at about the same time.
    const PIECES_PER_THREAD: usize = 16;
    let count = items.len();
    let length = count.div_ceil(rayon::current_num_threads() * PIECES_PER_THREAD).max(1);
    let mut rest = items.into_iter();
    let pieces: Vec<Mutex<(Vec<T>, Vec<R>)>> = (0..count.div_ceil(length))
        .map(|_| Mutex::new((rest.by_ref().take(length).collect(), Vec::new())))
        .collect();
    in_parallel(pieces.len(), &|place| {
        if let Some(piece) = pieces.get(place) {
            let mut piece = piece.lock().unwrap_or_else(PoisonError::into_inner);
            let mut made = init();
            let items = mem::take(&mut piece.0);
            piece.1 = items.into_iter().map(|item| apply(&mut made, item)).collect();
        }
    });
    let mut results = Vec::with_capacity(count);
    for piece in pieces {
        results.append(&mut piece.into_inner().unwrap_or_else(PoisonError::into_inner).1);
    }
    results
}

/// Calls a function with each number below `count`, on all threads. It is passed as `dyn`, so that
/// the distribution is compiled once.
fn in_parallel(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_items_and_each_piece_its_own_state() {
        for count in [0, 1, 2, 33, 1000] {
            let numbers = || (0..count).collect::<Vec<usize>>();
            assert_eq!(
                map(numbers(), |number| 2 * number),
                (0..count).map(|n| 2 * n).collect::<Vec<_>>()
            );
            let counted = map_init(
                numbers(),
                || 0,
                |seen, number| {
                    *seen += 1;
                    (number, *seen)
                },
            );
            assert!(counted.iter().enumerate().all(|(at, (number, _))| at == *number));
            let follows = |pair: &[(usize, usize)]| pair[1].1 == 1 || pair[1].1 == pair[0].1 + 1;
            assert!(counted.windows(2).all(follows));
        }
    }
}
