//! Compares the results for streams with those in memory.

use super::*;
use std::io;
use twindex::internals::SplitMix;
use twindex::{Normalization, Shingle};

fn shingler() -> Shingler {
    Shingler::new(Shingle::chars(5), Normalization::default(), false, 3).expect("valid")
}

fn similarity() -> FileSimilarity {
    FileSimilarity::new(shingler(), FileSimilarity::LEAST_MEMORY).expect("enough memory")
}

fn direct(a: &str, b: &str) -> (Overlap, Overlap) {
    let sorted = |text| {
        let mut hashes = shingler().hashes(text);
        hashes.sort_unstable();
        hashes
    };
    let (mut a, mut b) = (sorted(a), sorted(b));
    let multisets = Overlap::of_multisets(&a, &b);
    a.dedup();
    b.dedup();
    (Overlap::of_sets(&a, &b), multisets)
}

fn text(seed: u64, words: usize) -> String {
    let mut random = SplitMix::new(seed);
    let mut text = String::new();
    for _ in 0..words {
        // Short words are common to all texts, long ones are not.
        let word = random.next();
        let length = 1 + word % 11;
        (0..length).for_each(|at| text.push(char::from(b'a' + (word >> (8 + 5 * at)) as u8 % 26)));
        text.push(' ');
    }
    text
}

/// A reader that returns a few bytes at a time and is sometimes interrupted.
struct Trickle<'t>(&'t [u8], SplitMix);

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = (self.1.next() % 7_000) as usize;
        if count < 100 {
            return Err(io::Error::from(ErrorKind::Interrupted));
        }
        let count = count.min(out.len()).min(self.0.len());
        let (some, rest) = self.0.split_at(count);
        out[..count].copy_from_slice(some);
        self.0 = rest;
        Ok(count)
    }
}

#[test]
fn texts_of_several_runs_are_compared_as_in_memory() {
    let (a, b) = (text(1, 40_000), text(2, 30_000) + &text(1, 9_000));
    let expected = direct(&a, &b);
    assert!(expected.0.shared > 10_000 && expected.1.shared > expected.0.shared);
    let [x, y] = [&a, &b].map(|text| Trickle(text.as_bytes(), SplitMix::new(5)));
    let overlap = similarity().compare(x, y).expect("compared");
    assert_eq!((overlap.sets, overlap.multisets), expected);
    assert_eq!(overlap.runs, 6, "of 98,304 hashes each");
    assert_eq!(overlap.temporary_bytes, 8 * (overlap.multisets.a + overlap.multisets.b));
    assert!(overlap.peak_memory <= FileSimilarity::LEAST_MEMORY as u64, "{overlap:?}");
}

#[test]
fn a_text_is_sorted_once_and_compared_with_many_and_itself() {
    let texts = [text(1, 9_000), text(2, 3_000), String::new()];
    let mut told = 0;
    let tell = &mut |at: FileProgress| {
        told += at.read;
        ControlFlow::Continue(())
    };
    let similarity = similarity();
    let sorted = [0, 1, 2].map(|at| similarity.sort(texts[at].as_bytes(), tell).expect("sorted"));
    for (a, x) in texts.iter().zip(&sorted) {
        for (b, y) in texts.iter().zip(&sorted) {
            let overlap = x.overlap(y, tell).expect("compared");
            assert_eq!((overlap.sets, overlap.multisets), direct(a, b));
        }
    }
    assert!(told > 0);
}

#[test]
fn merging_in_several_passes_changes_nothing() {
    let (a, b) = (text(1, 1_000), text(2, 2_000));
    let similarity = similarity();
    // Runs of 16 hashes, as if the text were far larger than the memory.
    let sorted = |text: &str| {
        let mut sorter = RunSorter::new(128).expect("a file");
        sorter.take(&shingler().hashes(text)).expect("written");
        SortedShingles { runs: sorter.end().expect("written"), memory: similarity.memory, peak: 0 }
    };
    let overlap = sorted(&a).overlap(&sorted(&b), &mut |_| ControlFlow::Continue(()));
    let overlap = overlap.expect("compared");
    assert_eq!((overlap.sets, overlap.multisets), direct(&a, &b));
    assert!(
        overlap.runs > 500
            && overlap.temporary_bytes > 8 * (overlap.multisets.a + overlap.multisets.b)
    );
}

#[test]
fn a_comparison_ends_when_tell_breaks() {
    let text = text(1, 40_000);
    let similarity = similarity();
    for steps in [0, 3, 20] {
        let mut left = steps;
        let stopped = similarity.sort(text.as_bytes(), &mut |_| {
            left -= 1;
            if left < 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{steps}");
    }
    let sorted = similarity.sort(text.repeat(3).as_bytes(), &mut |_| ControlFlow::Continue(()));
    let sorted = sorted.expect("sorted");
    let stopped = sorted.overlap(&sorted, &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Interrupted { .. })));
}

#[test]
fn unreadable_texts_and_too_little_memory_are_errors() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the tape is torn"))
        }
    }
    let error = similarity().compare(&b"some text"[..], Broken).expect_err("broken");
    let cause = std::error::Error::source(&error).expect("a cause");
    assert_eq!(cause.to_string(), "the tape is torn");
    let error = similarity().compare(&b"some \xFF"[..], &b""[..]).expect_err("no UTF-8");
    assert_eq!(error.to_string(), "not valid UTF-8 at byte 6");
    let error = FileSimilarity::new(shingler(), (1 << 20) - 1).expect_err("little memory");
    assert_eq!(error.to_string(), "memory 1048575 bytes: expected 1 MiB or more");
}
