//! Longest matches: for each place of a sequence, the longest stretch that occurs in another one.

/// For each place of `a`, the length of the longest stretch that begins there and occurs in `b`,
/// and its first place in `b`; (0, 0) if there is none.
///
/// The algorithm builds a suffix array of both sequences (SA-IS: Nong, Zhang, Chan 2009) with the
/// lengths of common prefixes (Kasai et al. 2001). It visits the intervals of suffixes with a
/// common prefix, inner ones with longer prefixes first (Abouelhoda, Kurtz, Ohlebusch 2004). The
/// match of a place of `a` is the first visited interval around it that holds a place of `b`.
///
/// Time and memory are linear, even for repetitive sequences: about 40 bytes an element of both.
/// All elements must be from 1 to `most`, and their total number below 2^32 - 1.
pub(super) fn longest_matches(a: &[u32], b: &[u32], most: u32) -> Vec<(u32, u32)> {
    // No match crosses the 0 between the two sequences.
    let both: Vec<u32> = b.iter().copied().chain([0]).chain(a.iter().copied()).collect();
    let order = suffix_array(&both, most);
    let prefixes = common_prefixes(&both, &order);
    let mut matches = vec![(0, 0); a.len()];
    // The places of `a` that no visited interval has matched yet.
    let mut unmatched: Vec<usize> = Vec::new();
    let mut open = vec![Interval { length: 0, first: NONE, unmatched: 0 }];
    for (rank, &place) in order.iter().enumerate() {
        let mut within = Interval { length: 0, first: NONE, unmatched: unmatched.len() };
        match (place as usize).checked_sub(b.len() + 1) {
            Some(in_a) => unmatched.push(in_a),
            None => within.first = place,
        }
        let next = prefixes.get(rank + 1).copied().unwrap_or(0);
        while let Some(interval) = open.pop_if(|interval| interval.length > next) {
            let first = interval.first.min(within.first);
            if first != NONE {
                for in_a in unmatched.drain(interval.unmatched..) {
                    matches[in_a] = (interval.length, first);
                }
            }
            within = Interval { first, ..interval };
        }
        match open.last_mut().filter(|interval| interval.length == next) {
            Some(interval) => interval.first = interval.first.min(within.first),
            None => open.push(Interval { length: next, ..within }),
        }
    }
    matches
}

/// For each place of a sequence, the length of the longest stretch that begins there and also at
/// another place, and one such place; (0, 0) if there is none. Elements are from 1 to `most`.
pub(super) fn longest_repeats(text: &[u32], most: u32) -> Vec<(u32, u32)> {
    let order = suffix_array(text, most);
    let prefixes = common_prefixes(text, &order);
    let mut repeats = vec![(0, 0); text.len()];
    for (rank, &place) in order.iter().enumerate() {
        // The neighbours in the order share the longest prefixes.
        let before = rank.checked_sub(1).map_or((0, 0), |before| (prefixes[rank], order[before]));
        let after = prefixes.get(rank + 1).map_or((0, 0), |length| (*length, order[rank + 1]));
        let (length, other) = if after.0 > before.0 { after } else { before };
        repeats[place as usize] = if length > 0 { (length, other) } else { (0, 0) };
    }
    repeats
}

/// The windows of `length` elements that occur at an earlier place without overlap, in order: the
/// place of each, and the first place of that window. Elements are from 1 to `most`.
pub(super) fn earlier_windows(text: &[u32], most: u32, length: usize) -> Vec<(usize, usize)> {
    let order = suffix_array(text, most);
    let prefixes = common_prefixes(text, &order);
    let mut found = Vec::new();
    let mut start = 0;
    for rank in 1..=order.len() {
        if prefixes.get(rank).is_some_and(|prefix| *prefix as usize >= length) {
            continue;
        }
        // Suffixes that begin with the same window follow each other.
        let places = &order[start..rank];
        let first = places.iter().min().map_or(0, |first| *first as usize);
        let places = places.iter().map(|place| *place as usize);
        found.extend(places.filter(|place| first + length <= *place).map(|place| (place, first)));
        start = rank;
    }
    found.sort_unstable();
    found
}

const NONE: u32 = u32::MAX;

/// An interval of the suffix array whose suffixes share a prefix.
#[derive(Clone, Copy)]
struct Interval {
    /// The length of the prefix.
    length: u32,
    /// The first place of `b` in the interval, or `NONE`.
    first: u32,
    /// The number of unmatched places of `a` when the interval began.
    unmatched: usize,
}

/// For each suffix but the first of the order, the length of the prefix that it shares with the
/// suffix before it.
fn common_prefixes(text: &[u32], order: &[u32]) -> Vec<u32> {
    let mut rank = vec![0_u32; text.len()];
    for (at, &place) in order.iter().enumerate() {
        rank[place as usize] = at as u32;
    }
    let mut prefixes = vec![0; text.len()];
    let mut shared = 0;
    for place in 0..text.len() {
        let at = rank[place] as usize;
        let Some(before) = at.checked_sub(1) else {
            shared = 0;
            continue;
        };
        let before = order[before] as usize;
        let pairs = text[place + shared..].iter().zip(&text[before + shared..]);
        shared += pairs.take_while(|(x, y)| x == y).count();
        prefixes[at] = shared as u32;
        shared = shared.saturating_sub(1);
    }
    prefixes
}

/// The places of all suffixes in lexicographic order. Elements are from 0 to `most`.
fn suffix_array(text: &[u32], most: u32) -> Vec<u32> {
    let length = text.len();
    if length < 2 {
        return (0..length as u32).collect();
    }
    // A suffix rises if it is less than the suffix that begins one later (S-type in the paper), and
    // falls otherwise (L-type).
    let mut rises = vec![false; length];
    for at in (0..length - 1).rev() {
        rises[at] = match text[at].cmp(&text[at + 1]) {
            std::cmp::Ordering::Equal => rises[at + 1],
            order => order.is_lt(),
        };
    }
    let sorting = Sorting::new(text, &rises, most);
    // A valley is a rising suffix after a falling one (LMS in the paper).
    let valleys: Vec<u32> =
        (1..length).filter(|&at| !rises[at - 1] && rises[at]).map(|at| at as u32).collect();
    let mut number = vec![NONE; length];
    for (at, &valley) in valleys.iter().enumerate() {
        number[valley as usize] = at as u32;
    }
    let mut order = vec![NONE; length];
    sorting.induce(&valleys, &mut order);
    if valleys.is_empty() {
        return order;
    }

    // The stretches from valley to valley are sorted now. Their ranks are the elements of a shorter
    // text.
    let stretch = |valley: u32| {
        let next = valleys.get(number[valley as usize] as usize + 1);
        // A stretch includes the first element of the next. The last stretch equals no other.
        next.map(|&next| &text[valley as usize..=next as usize])
    };
    let mut shorter = vec![0; valleys.len()];
    let (mut names, mut before) = (0, None);
    for &valley in order.iter().filter(|place| number[**place as usize] != NONE) {
        if before
            .is_some_and(|before| stretch(before).is_none() || stretch(before) != stretch(valley))
        {
            names += 1;
        }
        shorter[number[valley as usize] as usize] = names;
        before = Some(valley);
    }
    drop(number);
    let sorted: Vec<u32> =
        suffix_array(&shorter, names).iter().map(|&at| valleys[at as usize]).collect();
    sorting.induce(&sorted, &mut order);
    order
}

/// Induced sorting: derives the order of all suffixes from that of the valleys.
struct Sorting<'t> {
    text: &'t [u32],
    rises: &'t [bool],
    /// For each element, the position in the order of the first falling suffix that begins with it.
    falling: Vec<u32>,
    /// For each element, the position in the order of the first rising suffix that begins with it.
    rising: Vec<u32>,
}

impl<'t> Sorting<'t> {
    fn new(text: &'t [u32], rises: &'t [bool], most: u32) -> Self {
        let mut falling = vec![0; most as usize + 2];
        let mut rising = vec![0; most as usize + 1];
        for (&element, &rises) in text.iter().zip(rises) {
            if rises { rising[element as usize] += 1 } else { falling[element as usize] += 1 }
        }
        let mut start = 0;
        for (falling, rising) in falling.iter_mut().zip(&mut rising) {
            let (falls, rises) = (*falling, *rising);
            (*falling, *rising) = (start, start + falls);
            start += falls + rises;
        }
        if let Some(end) = falling.last_mut() {
            *end = start;
        }
        Self { text, rises, falling, rising }
    }

    fn induce(&self, sorted: &[u32], order: &mut [u32]) {
        let element = |place: usize| self.text[place] as usize;
        order.fill(NONE);
        let mut next = self.rising.clone();
        let append = |next: &mut [u32], order: &mut [u32], place: usize| {
            let next = &mut next[element(place)];
            order[*next as usize] = place as u32;
            *next += 1;
        };
        sorted.iter().for_each(|&place| append(&mut next, order, place as usize));
        next.clone_from(&self.falling);
        append(&mut next, order, self.text.len() - 1);
        for at in 0..order.len() {
            if let Some(place) = self.before(order[at], false) {
                append(&mut next, order, place);
            }
        }
        next.clone_from(&self.falling);
        for at in (0..order.len()).rev() {
            if let Some(place) = self.before(order[at], true) {
                // Rising suffixes are placed from the end of their bucket, where the falling ones
                // of the next element begin.
                let next = &mut next[element(place) + 1];
                *next -= 1;
                order[*next as usize] = place as u32;
            }
        }
    }

    /// The suffix that begins one earlier, if it rises (`rises`) or falls (not `rises`).
    fn before(&self, place: u32, rises: bool) -> Option<usize> {
        let before = (place != NONE).then_some(place as usize)?.checked_sub(1)?;
        (self.rises[before] == rises).then_some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_brute_force(a: &[u32], b: &[u32]) -> Vec<(u32, u32)> {
        let longest = |at: usize| {
            let common =
                |place: usize| a[at..].iter().zip(&b[place..]).take_while(|(x, y)| x == y).count();
            let all = (0..b.len()).map(|place| (common(place) as u32, place as u32));
            let best = all.max_by_key(|(length, place)| (*length, std::cmp::Reverse(*place)));
            best.filter(|(length, _)| *length > 0).unwrap_or_default()
        };
        (0..a.len()).map(longest).collect()
    }

    fn elements(most: u32, length: usize) -> impl Strategy<Value = Vec<u32>> {
        proptest::collection::vec(1..=most, 0..length)
    }

    proptest! {
        #[test]
        fn suffixes_are_in_lexicographic_order(
            text in (0_u32..6).prop_flat_map(|most| elements(most + 1, 200)),
        ) {
            let mut expected: Vec<u32> = (0..text.len() as u32).collect();
            expected.sort_by_key(|place| &text[*place as usize..]);
            prop_assert_eq!(suffix_array(&text, 6), expected);
        }

        #[test]
        fn matches_agree_with_brute_force(a in elements(3, 60), b in elements(3, 60)) {
            prop_assert_eq!(longest_matches(&a, &b, 3), by_brute_force(&a, &b));
        }

        #[test]
        fn matches_of_repetitive_sequences_agree_with_brute_force(
            part in elements(4, 9), other in elements(4, 9), times in 0_usize..8,
        ) {
            let a = [part.repeat(times), other.clone()].concat();
            let b = [other, part.repeat(times / 2 + 1)].concat();
            prop_assert_eq!(longest_matches(&a, &b, 4), by_brute_force(&a, &b));
        }
    }
}
