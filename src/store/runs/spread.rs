//! Sorts entries whose words are spread evenly, as hashes are.

/// The fewest items that are spread. Fewer are sorted by comparison.
const FEWEST: usize = 64;

/// The most items of a slot that are ordered by insertion. In a fuller slot many words are equal.
const MOST_INSERTED: u32 = 16;

/// Sorts items by their words. Items with equal words keep their order. `spare` is memory for a
/// copy of the items, which may be used again.
///
/// Each item goes to a slot by the upper bits of its word, in one pass. A slot has one or two items
/// on average. Takes linear time if words are spread evenly; full slots are sorted by comparison.
pub(crate) fn sort_spread<T: Copy>(items: &mut [T], spare: &mut Vec<T>, word: impl Fn(&T) -> u64) {
    if items.is_sorted_by_key(&word) {
        return;
    }
    let bounds = |(least, most): (u64, u64), word: u64| (least.min(word), most.max(word));
    let (least, most) = items.iter().map(&word).fold((u64::MAX, 0), bounds);
    if items.len() < FEWEST {
        items.sort_by_key(word);
        return;
    }
    let slot_bits = items.len().ilog2();
    let shift = (u64::BITS - (most - least).leading_zeros()).saturating_sub(slot_bits);
    let slot = |item: &T| ((word(item) - least) >> shift) as usize;
    // The number of items of each slot, then where the next item of the slot goes.
    let mut places = vec![0_u32; 1 << slot_bits];
    for item in items.iter() {
        if let Some(count) = places.get_mut(slot(item)) {
            *count += 1;
        }
    }
    let (mut sum, mut fullest) = (0, 0);
    for place in &mut places {
        fullest = fullest.max(*place);
        sum += std::mem::replace(place, sum);
    }
    spare.clear();
    spare.extend_from_slice(items);
    for item in spare.iter() {
        if let Some(place) = places.get_mut(slot(item)) {
            if let Some(to) = items.get_mut(*place as usize) {
                *to = *item;
            }
            *place += 1;
        }
    }
    if fullest > MOST_INSERTED {
        let mut from = 0;
        for end in places {
            if end - from > MOST_INSERTED
                && let Some(full) = items.get_mut(from as usize..end as usize)
            {
                full.sort_by_key(&word);
            }
            from = end;
        }
    }
    insert_each(items, word);
}

/// Sorts items that are near their places: moves each down to where it belongs.
fn insert_each<T: Copy>(items: &mut [T], word: impl Fn(&T) -> u64) {
    let mut before = 0;
    for at in 0..items.len() {
        let Some(item) = items.get(at).copied() else { return };
        let own = word(&item);
        if before <= own {
            before = own;
            continue;
        }
        // The item before stays the greatest so far.
        let mut to = at;
        while let Some(greater) = to.checked_sub(1).and_then(|from| items.get(from)).copied()
            && word(&greater) > own
        {
            if let Some(place) = items.get_mut(to) {
                *place = greater;
            }
            to -= 1;
        }
        if let Some(place) = items.get_mut(to) {
            *place = item;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix;
    use proptest::prelude::*;

    fn sorted(mut items: Vec<(u64, u32)>) -> Vec<(u64, u32)> {
        sort_spread(&mut items, &mut Vec::new(), |item| item.0);
        items
    }

    proptest! {
        #[test]
        fn any_items_are_sorted_and_equal_words_keep_their_order(
            words in proptest::collection::vec(any::<u64>(), 0..600),
            shift in 0_u32..64,
            equal in 0_usize..600,
        ) {
            // From `equal` on, all words are equal.
            let word = |(at, word): (usize, &u64)| if at < equal { word >> shift } else { 77 };
            let items: Vec<(u64, u32)> =
                words.iter().enumerate().map(word).zip((0..1000).rev()).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            prop_assert_eq!(sorted(items), expected);
        }
    }

    #[test]
    fn words_at_both_ends_and_one_crowded_slot_are_sorted() {
        let mut random = SplitMix::new(1);
        let mut items: Vec<(u64, u32)> =
            (0..5000).map(|n| (random.next() >> 40, 5000 - n)).collect();
        items.extend([(0, 9), (u64::MAX, 8), (0, 7)]);
        let mut expected = items.clone();
        expected.sort_by_key(|item| item.0);
        assert_eq!(sorted(items), expected);
    }
}
