//! The longest stretch at each place of a sequence that occurs in another one.

/// For each place of `a`, the length of the longest stretch that begins there and occurs in `b`, and the
/// first place of `b` where it does; (0, 0) where there is none. Linear in time and memory, however
/// often anything repeats: some 40 bytes an element of both.
///
/// Of a suffix array of both (Nong, Zhang, Chan 2009: SA-IS) with the lengths of common prefixes
/// (Kasai et al. 2001), the intervals of a common prefix are visited from the longest on
/// (Abouelhoda, Kurtz, Ohlebusch 2004): a place of `a` belongs to the first that has one of `b`.
///
/// All elements must be from 1 to `most`, and together fewer than 2^32 - 1.
pub(super) fn longest_matches(a: &[u32], b: &[u32], most: u32) -> Vec<(u32, u32)> {
    // Nothing reaches over the 0 in between.
    let both: Vec<u32> = b.iter().copied().chain([0]).chain(a.iter().copied()).collect();
    let order = suffix_array(&both, most);
    let prefixes = common_prefixes(&both, &order);
    let mut matches = vec![(0, 0); a.len()];
    // Places of `a` in no interval so far that has one of `b`.
    let mut waiting: Vec<usize> = Vec::new();
    let mut open = vec![Interval { length: 0, first: NONE, waiting: 0 }];
    for (rank, &place) in order.iter().enumerate() {
        let mut within = Interval { length: 0, first: NONE, waiting: waiting.len() };
        match (place as usize).checked_sub(b.len() + 1) {
            Some(in_a) => waiting.push(in_a),
            None => within.first = place,
        }
        let next = prefixes.get(rank + 1).copied().unwrap_or(0);
        while let Some(interval) = open.pop_if(|interval| interval.length > next) {
            let first = interval.first.min(within.first);
            if first != NONE {
                for in_a in waiting.drain(interval.waiting..) {
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

const NONE: u32 = u32::MAX;

/// Suffixes that lie together and share a prefix.
#[derive(Clone, Copy)]
struct Interval {
    length: u32,
    /// The first place of `b` among them, or `NONE`.
    first: u32,
    /// How many places waited when it began.
    waiting: usize,
}

/// Of each suffix but the first in this order, how long a prefix it shares with the one before it.
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

/// The places of all suffixes in their order, of elements from 0 to `most`.
fn suffix_array(text: &[u32], most: u32) -> Vec<u32> {
    let length = text.len();
    if length < 2 {
        return (0..length as u32).collect();
    }
    // Whether a suffix comes before the one that begins after it.
    let mut rises = vec![false; length];
    for at in (0..length - 1).rev() {
        rises[at] = match text[at].cmp(&text[at + 1]) {
            std::cmp::Ordering::Equal => rises[at + 1],
            order => order.is_lt(),
        };
    }
    let sorting = Sorting::new(text, &rises, most);
    // Where it turns from falling to rising.
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

    // The stretches from valley to valley, sorted now, become the elements of a shorter text.
    let stretch = |valley: u32| {
        let next = valleys.get(number[valley as usize] as usize + 1);
        // With the first element of the next one; the last reaches beyond the end.
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

/// Sorts all suffixes from some that are sorted.
struct Sorting<'t> {
    text: &'t [u32],
    rises: &'t [bool],
    /// Where the suffixes begin in the order that begin with an element and fall.
    falling: Vec<u32>,
    /// The same of those that rise.
    rising: Vec<u32>,
}

impl<'t> Sorting<'t> {
    fn new(text: &'t [u32], rises: &'t [bool], most: u32) -> Self {
        let mut falling = vec![0; most as usize + 2];
        let mut rising = vec![0; most as usize + 1];
        for (&element, &rises) in text.iter().zip(rises) {
            match rises {
                true => rising[element as usize] += 1,
                false => falling[element as usize] += 1,
            }
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
                // From the end, where those that fall with the next element begin.
                let next = &mut next[element(place) + 1];
                *next -= 1;
                order[*next as usize] = place as u32;
            }
        }
    }

    /// The suffix that begins one earlier, if it rises or falls as asked.
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
        fn suffixes_are_in_their_order(text in (0_u32..6).prop_flat_map(|most| elements(most + 1, 200))) {
            let mut expected: Vec<u32> = (0..text.len() as u32).collect();
            expected.sort_by_key(|place| &text[*place as usize..]);
            prop_assert_eq!(suffix_array(&text, 6), expected);
        }

        #[test]
        fn matches_are_those_of_brute_force(a in elements(3, 60), b in elements(3, 60)) {
            prop_assert_eq!(longest_matches(&a, &b, 3), by_brute_force(&a, &b));
        }

        #[test]
        fn repeated_parts_are_matched_as_by_brute_force(
            part in elements(4, 9), other in elements(4, 9), times in 0_usize..8,
        ) {
            let (a, b) = ([part.repeat(times), other.clone()].concat(), [other, part.repeat(times / 2 + 1)].concat());
            prop_assert_eq!(longest_matches(&a, &b, 4), by_brute_force(&a, &b));
        }
    }
}
