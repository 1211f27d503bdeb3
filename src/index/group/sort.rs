//! Sorts documents by keys that do not fit in memory all at once.

use crate::error::Result;
use crate::store::DocNo;
use std::cmp::Reverse;

/// The memory for keys in bytes: enough for about 100,000 ids or 16,384 signatures.
pub(crate) const ROOM: usize = 4 << 20;

/// Sorts documents by the byte string that `read` appends for each, then by number. Returns the
/// position at which each distinct string begins.
///
/// Takes `room` bytes plus 16 bytes per document. Strings that do not fit in `room` together are
/// sorted by the first eight bytes after their common prefix; ties are then sorted by later bytes
/// in the same way. Each such step reads a string twice, or once if all strings are equal.
pub(crate) fn sort_by_bytes(
    docs: &mut [DocNo],
    room: usize,
    mut read: impl FnMut(DocNo, &mut Vec<u8>) -> Result<()>,
) -> Result<Vec<u32>> {
    let mut starts = Vec::new();
    let mut bytes = Vec::new();
    // Ranges of documents still to sort, each with the length of a known common prefix.
    let mut undecided = vec![(0..docs.len(), 0)];
    while let Some((range, common)) = undecided.pop() {
        let Some(stretch) = docs.get_mut(range.clone()) else { continue };
        let first = range.start;
        let common = match gather(stretch, room, common, &mut bytes, &mut read)? {
            Gathered::All(ends) => {
                sort_gathered(stretch, &bytes, &ends, |at| starts.push((first + at) as u32));
                continue;
            }
            Gathered::AllEqual => {
                stretch.sort_unstable();
                starts.push(first as u32);
                continue;
            }
            Gathered::Common(common) => common,
        };
        let mut keys = Vec::with_capacity(stretch.len());
        for &doc in &*stretch {
            bytes.clear();
            read(doc, &mut bytes)?;
            keys.push(Key::new(bytes.get(common..).unwrap_or_default(), doc));
        }
        keys.sort_unstable();
        stretch.iter_mut().zip(&keys).for_each(|(doc, key)| *doc = key.doc);
        let mut start = first;
        for equals in keys.chunk_by(|a, b| (a.next, a.left) == (b.next, b.left)) {
            let end = start + equals.len();
            if equals.len() > 1 && equals.iter().any(|key| key.left == Key::MORE) {
                undecided.push((start..end, common + Key::BYTES));
            } else {
                starts.push(start as u32);
            }
            start = end;
        }
    }
    starts.sort_unstable();
    Ok(starts)
}

/// Eight bytes of a string, and how many bytes of it remained at that position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    next: u64,
    left: u8,
    doc: DocNo,
}

impl Key {
    const BYTES: usize = 8;
    /// The value of `left` for a string with more bytes than the key holds.
    const MORE: u8 = Self::BYTES as u8 + 1;

    fn new(rest: &[u8], doc: DocNo) -> Self {
        let mut next = [0; Self::BYTES];
        next.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        let left = rest.len().min(usize::from(Self::MORE)) as u8;
        Self { next: u64::from_be_bytes(next), left, doc }
    }
}

/// The result of reading the strings of a range of documents.
enum Gathered {
    /// All strings are in memory and end at these positions.
    All(Vec<usize>),
    /// All strings are equal.
    AllEqual,
    /// The strings have a common prefix of this length.
    Common(usize),
}

/// Reads the strings of a range of documents, which share their first `common` bytes.
fn gather(
    stretch: &[DocNo],
    room: usize,
    common: usize,
    bytes: &mut Vec<u8>,
    mut read: impl FnMut(DocNo, &mut Vec<u8>) -> Result<()>,
) -> Result<Gathered> {
    bytes.clear();
    let mut ends = Vec::new();
    let mut rest = stretch.iter();
    for &doc in rest.by_ref() {
        read(doc, bytes)?;
        ends.push(bytes.len());
        if bytes.len() + size_of_val(&*ends) > room {
            break;
        }
    }
    if ends.len() == stretch.len() {
        return Ok(Gathered::All(ends));
    }
    let mut strings = strings(bytes, &ends);
    let first = strings.next().unwrap_or_default().to_vec();
    let (mut same, mut all_equal) = (first.len(), true);
    let mut compare = |string: &[u8]| {
        same = first.iter().zip(string).take(same).take_while(|(a, b)| a == b).count();
        all_equal &= string == first;
        // Strings that differ where they may differ need not be read to the end.
        all_equal || same > common
    };
    strings.for_each(|string| {
        compare(string);
    });
    for &doc in rest {
        bytes.clear();
        read(doc, bytes)?;
        if !compare(bytes) {
            break;
        }
    }
    Ok(if all_equal { Gathered::AllEqual } else { Gathered::Common(same) })
}

fn strings<'b>(bytes: &'b [u8], ends: &'b [usize]) -> impl Iterator<Item = &'b [u8]> {
    let starts = [0].into_iter().chain(ends.iter().copied());
    starts.zip(ends).map(|(start, end)| bytes.get(start..*end).unwrap_or_default())
}

/// Sorts documents whose strings are in memory. Calls `begins` with the start of each distinct one.
fn sort_gathered(
    stretch: &mut [DocNo],
    bytes: &[u8],
    ends: &[usize],
    mut begins: impl FnMut(usize),
) {
    let mut rows: Vec<(&[u8], DocNo)> = strings(bytes, ends).zip(stretch.iter().copied()).collect();
    rows.sort_unstable();
    let mut start = 0;
    for equals in rows.chunk_by(|a, b| a.0 == b.0) {
        begins(start);
        start += equals.len();
    }
    stretch.iter_mut().zip(rows).for_each(|(doc, row)| *doc = row.1);
}

/// Sorts documents by the value that `read` returns for each, the greatest first, then by document
/// number. Takes 16 bytes per document.
pub(crate) fn sort_by_greatest(
    docs: &mut [DocNo],
    mut read: impl FnMut(DocNo) -> Result<u64>,
) -> Result<()> {
    let key = |&doc: &DocNo| Ok((Reverse(read(doc)?), doc));
    let mut keys = docs.iter().map(key).collect::<Result<Vec<_>>>()?;
    keys.sort_unstable();
    docs.iter_mut().zip(keys).for_each(|(doc, key)| *doc = key.1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn strings_are_sorted_with_any_amount_of_room(
            strings in proptest::collection::vec("[a\0]{0,30}[ab]{0,3}", 0..60),
            room in 0_usize..500,
        ) {
            let mut docs: Vec<DocNo> = (0..strings.len() as u32).rev().map(DocNo).collect();
            let string = |doc: &DocNo| strings[doc.0 as usize].as_bytes();
            let mut expected = docs.clone();
            expected.sort_by_key(|doc| (string(doc), *doc));
            let starts = sort_by_bytes(&mut docs, room, |doc, out| {
                out.extend_from_slice(string(&doc));
                Ok(())
            });
            prop_assert_eq!(&docs, &expected);
            let begins = |at: &usize| *at == 0 || string(&docs[at - 1]) != string(&docs[*at]);
            let expected: Vec<u32> = (0..docs.len()).filter(begins).map(|at| at as u32).collect();
            prop_assert_eq!(starts.expect("read"), expected);
        }
    }

    #[test]
    fn strings_behind_many_empty_ones_are_sorted_too() {
        let strings = ["", "", "", "", "b", "a"];
        let mut docs: Vec<DocNo> = (0..strings.len() as u32).map(DocNo).collect();
        let starts = sort_by_bytes(&mut docs, 8, |doc, out| {
            out.extend_from_slice(strings[doc.0 as usize].as_bytes());
            Ok(())
        });
        assert_eq!(docs, [0, 1, 2, 3, 5, 4].map(DocNo));
        assert_eq!(starts.expect("read"), [0, 4, 5]);
    }

    #[test]
    fn equal_strings_are_read_once_even_if_they_are_long() {
        let reads = std::cell::Cell::new(0);
        let mut docs: Vec<DocNo> = (0..1000).rev().map(DocNo).collect();
        let starts = sort_by_bytes(&mut docs, 2_000, |_, out| {
            reads.set(reads.get() + 1);
            out.extend_from_slice(&[7; 512]);
            Ok(())
        });
        assert_eq!((starts.expect("read"), reads.get()), (vec![0], 1000));
        assert!(docs.is_sorted());
    }
}
