//! The passages that two sequences share: maximal stretches of the one that occur in the other.

use super::suffixes::{earlier_windows, longest_matches, longest_repeats};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::ops::Range;

/// A stretch of a sequence that occurs in another one, and cannot be extended: no longer stretch
/// around it occurs there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedStretch {
    /// The stretch of the first sequence.
    pub(crate) a: Range<usize>,
    /// The first place in the second sequence at which it occurs.
    pub(crate) b: usize,
}

impl SharedStretch {
    /// Its place in the second sequence.
    pub(crate) fn in_b(&self) -> Range<usize> {
        self.b..self.b + self.a.len()
    }
}

/// The maximal stretches of `a` of at least `least` elements that occur in `b`, in order.
///
/// `seeds` are places of both sequences; every common stretch of `least` elements must have one.
/// What they say is verified. The cost is that of sorting the seeds, and of comparing the stretches
/// around them.
pub(crate) fn around_seeds<B: Copy + Into<u32>>(
    a: &[u32],
    b: &[B],
    mut seeds: Vec<(usize, usize)>,
    least: usize,
) -> Vec<SharedStretch> {
    // Seeds of one diagonal follow each other, from left to right.
    seeds.sort_unstable_by_key(|(in_a, in_b)| (in_b.wrapping_sub(*in_a) as isize, *in_a));
    let mut found = Vec::new();
    // The diagonal of the last stretch, and where it ends in `a`.
    let (mut diagonal, mut end) = (None, 0);
    for (in_a, in_b) in seeds {
        let own = in_b.wrapping_sub(in_a);
        if diagonal == Some(own) && in_a < end {
            continue;
        }
        let (Some((a_before, a_after)), Some((b_before, b_after))) =
            (a.split_at_checked(in_a), b.split_at_checked(in_b))
        else {
            continue;
        };
        let left = a_before.iter().rev().zip(b_before.iter().rev());
        let left = left.take_while(|(x, y)| **x == (**y).into()).count();
        let right = a_after.iter().zip(b_after);
        let right = right.take_while(|(x, y)| **x == (**y).into()).count();
        (diagonal, end) = (Some(own), in_a + right);
        if right > 0 && left + right >= least {
            found.push(SharedStretch { a: in_a - left..in_a + right, b: in_b - left });
        }
    }
    maximal(found)
}

/// Does the same without seeds, by a suffix array: in linear time, however often the sequences
/// repeat themselves. Both together must have fewer than 2^32 - 1 elements.
pub(crate) fn by_suffixes<B: Copy + Into<u32>>(
    a: &[u32],
    b: &[B],
    least: usize,
) -> Vec<SharedStretch> {
    const ONLY_B: u32 = 1;
    let mut numbers = FxHashMap::default();
    let mut number = |unit: &u32| {
        let next = numbers.len() as u32 + ONLY_B + 1;
        *numbers.entry(*unit).or_insert(next)
    };
    let of_a: Vec<u32> = a.iter().map(&mut number).collect();
    let of_b: Vec<u32> =
        b.iter().map(|unit| numbers.get(&(*unit).into()).copied().unwrap_or(ONLY_B)).collect();
    let matches = longest_matches(&of_a, &of_b, numbers.len() as u32 + ONLY_B);
    maximal_matches(&matches, least)
}

/// The maximal stretches of `text` of at least `least` elements that occur at another place of it,
/// by seeds: two places each. Every such stretch must have one for each of its places.
pub(crate) fn repeated_around_seeds(
    text: &[u32],
    seeds: &[(usize, usize)],
    least: usize,
) -> Vec<SharedStretch> {
    let both = seeds.iter().filter(|(x, y)| x != y).flat_map(|(x, y)| [(*x, *y), (*y, *x)]);
    around_seeds(text, text, both.collect(), least)
}

/// Does the same without seeds, by a suffix array.
pub(crate) fn repeated_by_suffixes(text: &[u32], least: usize) -> Vec<SharedStretch> {
    let mut numbers = FxHashMap::default();
    let mut number = |unit: &u32| {
        let next = numbers.len() as u32 + 1;
        *numbers.entry(*unit).or_insert(next)
    };
    let numbered: Vec<u32> = text.iter().map(&mut number).collect();
    let matches = longest_repeats(&numbered, numbers.len() as u32);
    maximal_matches(&matches, least)
}

/// The stretches of `text` of which every window of `least` elements occurs at an earlier place
/// that does not overlap it, by a suffix array.
pub(crate) fn earlier_by_suffixes(text: &[u32], least: usize) -> Vec<SharedStretch> {
    let mut numbers = FxHashMap::default();
    let mut number = |unit: &u32| {
        let next = numbers.len() as u32 + 1;
        *numbers.entry(*unit).or_insert(next)
    };
    let numbered: Vec<u32> = text.iter().map(&mut number).collect();
    let mut found: Vec<SharedStretch> = Vec::new();
    for (at, first) in earlier_windows(&numbered, numbers.len() as u32, least) {
        match found.last_mut() {
            // The next window of the same two places.
            Some(last) if last.a.end + 1 == at + least && last.b + at == first + last.a.start => {
                last.a.end += 1;
            }
            _ => found.push(SharedStretch { a: at..at + least, b: first }),
        }
    }
    maximal(found)
}

/// The maximal ones of the longest matches at each place: their lengths, and where they occur.
fn maximal_matches(matches: &[(u32, u32)], least: usize) -> Vec<SharedStretch> {
    let mut reaches_further = further();
    let stretch = |(at, (length, b)): (usize, &(u32, u32))| {
        let (length, b) = (*length as usize, *b as usize);
        let found = length >= least && length > 0 && reaches_further(&(at..at + length));
        found.then(|| SharedStretch { a: at..at + length, b })
    };
    matches.iter().enumerate().filter_map(stretch).collect()
}

/// Drops the stretches that lie in others, and all but the first place of equal ones.
fn maximal(mut found: Vec<SharedStretch>) -> Vec<SharedStretch> {
    found.sort_unstable_by_key(|found| (found.a.start, Reverse(found.a.end), found.b));
    let mut reaches_further = further();
    found.retain(|found| reaches_further(&found.a));
    found
}

/// Tells for one range after the other whether it ends behind all before it. Of ranges that are
/// ordered by their starts, and by their ends from the last to the first, these are the ones that
/// lie in no other.
pub(crate) fn further() -> impl FnMut(&Range<usize>) -> bool {
    let mut end = 0;
    move |range| {
        let reaches_further = range.end > end;
        end = end.max(range.end);
        reaches_further
    }
}

/// The stretches that are reported: all, unless together they are longer than 65,536 units and than
/// four times the text. Then as many are reported as cover what all of them cover.
///
/// In a text that repeats itself, such as a line of dashes, a stretch may begin at each place.
/// `range` gives the range of a stretch. The stretches are in order, and each reaches further than
/// those before it. The text has so many units.
pub(crate) fn stretches_to_report<S>(
    found: Vec<S>,
    units: usize,
    range: impl Fn(&S) -> Range<usize>,
) -> Vec<S> {
    /// The units of all stretches of a short text, and those for each unit of a longer one.
    const CROWDED: usize = 1 << 16;
    const CROWDED_EACH: usize = 4;
    let length = found.iter().map(|one| range(one).len()).sum::<usize>();
    if length <= CROWDED.max(CROWDED_EACH.saturating_mul(units)) {
        return found;
    }
    let (mut kept, mut end) = (Vec::new(), 0);
    // The last one that begins within those that are kept reaches furthest.
    let mut furthest: Option<S> = None;
    for next in found {
        let at = range(&next);
        if at.start > end
            && let Some(furthest) = furthest.take()
        {
            end = range(&furthest).end;
            kept.push(furthest);
        }
        if kept.is_empty() || at.start > end {
            end = at.end;
            kept.push(next);
        } else {
            furthest = Some(next);
        }
    }
    kept.extend(furthest);
    kept
}

/// The number of elements that lie in at least one of some ranges.
pub(crate) fn covered(mut ranges: Vec<Range<usize>>) -> usize {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut end = 0;
    let new = ranges.iter().map(|range| {
        let start = range.start.max(end);
        end = end.max(range.end);
        end - start.min(end)
    });
    new.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Brute force: all stretches of `a` that occur in `b` and are in no longer one.
    fn expected(a: &[u32], b: &[u32], least: usize) -> Vec<SharedStretch> {
        let place = |range: Range<usize>| {
            let stretch = &a[range.clone()];
            b.windows(range.len()).position(|window| window == stretch)
        };
        let mut found = Vec::new();
        let mut last_end = 0;
        for start in 0..a.len() {
            let ends = (start + 1..=a.len()).take_while(|end| place(start..*end).is_some());
            let Some(end) = ends.last() else { continue };
            if end - start >= least && end > last_end {
                let b = place(start..end).expect("it occurs");
                found.push(SharedStretch { a: start..end, b });
            }
            last_end = last_end.max(end);
        }
        found
    }

    proptest! {
        #[test]
        fn both_ways_find_the_maximal_stretches(
            a in proptest::collection::vec(1_u32..4, 0..40),
            b in proptest::collection::vec(1_u32..5, 0..40),
            least in 1_usize..6,
        ) {
            let expected = expected(&a, &b, least);
            prop_assert_eq!(by_suffixes(&a, &b, least), &expected[..]);
            let places = (0..a.len()).flat_map(|x| (0..b.len()).map(move |y| (x, y)));
            prop_assert_eq!(around_seeds(&a, &b, places.collect(), least), expected);
        }
    }

    proptest! {
        #[test]
        fn both_ways_find_the_maximal_repeats(
            text in proptest::collection::vec(1_u32..4, 0..40),
            least in 1_usize..6,
        ) {
            // Brute force: the longest stretch at each place that occurs at another one.
            let longest = |at: usize| {
                let others = (0..text.len()).filter(|other| *other != at);
                let common = |other: usize| {
                    text[at..].iter().zip(&text[other..]).take_while(|(x, y)| x == y).count()
                };
                others.map(common).max().unwrap_or(0)
            };
            let mut end = 0;
            let mut expected = Vec::new();
            for at in 0..text.len() {
                let length = longest(at);
                if length >= least && at + length > end {
                    expected.push(at..at + length);
                    end = at + length;
                }
            }
            let places = (0..text.len()).flat_map(|x| (0..x).map(move |y| (x, y)));
            let seeds: Vec<(usize, usize)> = places.collect();
            let around = repeated_around_seeds(&text, &seeds, least);
            let by_suffixes = repeated_by_suffixes(&text, least);
            for found in [around, by_suffixes] {
                for stretch in &found {
                    prop_assert!(stretch.b != stretch.a.start);
                    prop_assert_eq!(&text[stretch.a.clone()], &text[stretch.in_b()]);
                }
                let found: Vec<_> = found.into_iter().map(|found| found.a).collect();
                prop_assert_eq!(found, &expected[..]);
            }
        }
    }

    proptest! {
        #[test]
        fn both_ways_find_what_came_before(
            text in proptest::collection::vec(1_u32..4, 0..60),
            least in 1_usize..6,
        ) {
            // Brute force: the elements in windows that occur before, without overlap.
            let mut expected = vec![false; text.len()];
            for (at, window) in text.windows(least).enumerate() {
                if text[..at].windows(least).any(|before| before == window) {
                    expected[at..at + least].fill(true);
                }
            }
            let seeds = (0..text.len()).flat_map(|x| (0..x).map(move |y| (x, y)));
            let apart = seeds.filter(|(x, y)| x - y >= least);
            let around = around_seeds(&text, &text, apart.collect(), least);
            for found in [around, earlier_by_suffixes(&text, least)] {
                let mut covered = vec![false; text.len()];
                for stretch in found {
                    prop_assert_eq!(&text[stretch.a.clone()], &text[stretch.in_b()]);
                    covered[stretch.a].fill(true);
                }
                prop_assert_eq!(covered, &expected[..]);
            }
        }
    }

    #[test]
    fn overlapping_ranges_are_counted_once() {
        assert_eq!(covered(vec![5..9, 0..3, 2..4, 6..7]), 8);
        assert_eq!(covered(Vec::new()), 0);
    }
}
