//! Tests of cutting FASTA into records, read in pieces of any size.

use super::*;
use proptest::prelude::*;

/// The first line of a record, and its bytes unless it was left out.
type CutRecord = (u64, Option<Vec<u8>>);

/// Cuts a text into records, read `drip` bytes at a time.
fn cut(text: &[u8], drip: usize, most: usize) -> Result<Vec<CutRecord>, NoFasta> {
    struct Drip<'a>(&'a [u8], usize);
    impl Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(out.len());
            (&mut self.0).take(count as u64).read(out)
        }
    }
    let mut sequences = SequenceBlocks::new(Drip(text, drip), Vec::new(), most);
    sequences.size = BlockSize::fixed(64);
    sequences.begin().expect("memory can be read")?;
    let mut out = Vec::new();
    while let Some(block) = sequences.next().expect("memory can be read") {
        assert_eq!(block.cut.is_some(), block.records().is_empty());
        out.extend(block.cut.map(|line| (line, None)));
        for record in block.records() {
            let raw = Some(record.raw.to_vec()).filter(|raw| raw.len() <= most);
            out.push((record.number, raw));
        }
    }
    Ok(out)
}

/// Cuts a text into records line by line, as the expected result.
fn by_lines(text: &str, most: usize) -> Vec<CutRecord> {
    let mut out: Vec<(u64, Vec<u8>)> = Vec::new();
    let (mut number, mut begins) = (1, true);
    for letter in text.bytes() {
        match out.last_mut() {
            Some((_, record)) if !(begins && letter == b'>') => record.push(letter),
            _ if begins && letter == b'>' => out.push((number, vec![letter])),
            _ => {}
        }
        number += u64::from(letter == b'\n');
        begins = letter == b'\n' || letter == b'\r';
    }
    let kept = |record: Vec<u8>| Some(record).filter(|record| record.len() <= most);
    out.into_iter().map(|(line, record)| (line, kept(record))).collect()
}

#[test]
fn a_record_begins_with_a_line_that_begins_with_a_greater_sign() {
    let text = ">one a > b\nACGT\n\n;c\nAC>GT\r\n>two\r\nAC\r>three\rGT\n>\n>five";
    let records = [
        (1, ">one a > b\nACGT\n\n;c\nAC>GT\r\n"),
        (6, ">two\r\nAC\r"),
        (7, ">three\rGT\n"),
        (8, ">\n"),
        (9, ">five"),
    ];
    let expected: Vec<_> =
        records.iter().map(|(line, text)| (*line, Some(text.as_bytes().to_vec()))).collect();
    for drip in 1..70 {
        assert_eq!(cut(text.as_bytes(), drip, 100).as_ref(), Ok(&expected), "{drip}");
    }
}

#[test]
fn blank_lines_and_comments_may_come_before_the_first_record() {
    for before in
        ["\n\n", "; a comment > b\n;\n", " \t\r\n;\r\n", "\u{feff}", "\u{feff}\n;\n", ";\r;\r"]
    {
        let text = format!("{before}>a\nACGT\n");
        let line = 1 + lines(before.as_bytes());
        for drip in 1..9 {
            let expected = vec![(line, Some(b">a\nACGT\n".to_vec()))];
            assert_eq!(cut(text.as_bytes(), drip, 100), Ok(expected), "{before:?} {drip}");
        }
        assert_eq!(check(text.as_bytes()), Ok(()), "{before:?}");
    }
}

#[test]
fn a_stream_without_records_is_one_of_no_document() {
    for text in ["", "\n\r\n  \n", ";only a comment", "\u{feff}"] {
        assert_eq!(cut(text.as_bytes(), 2, 100), Ok(Vec::new()), "{text:?}");
        assert_eq!(check(text.as_bytes()), Ok(()), "{text:?}");
    }
}

#[test]
fn an_error_about_bad_fasta_names_its_line() {
    for (text, line, cause) in [
        ("ACGT\n>a\nACGT\n", 1, NO_FASTA),
        ("\n;comment\n >a\nACGT\n", 3, NO_FASTA),
        ("@read\nACGT\n+\nIIII\n", 1, FASTQ),
        ("\n@read\nACGT\n+\nIIII\n", 2, FASTQ),
        ("\u{feff}\u{feff}>a\n", 1, NO_FASTA),
    ] {
        for drip in [1, 3, 100] {
            assert_eq!(cut(text.as_bytes(), drip, 100), Err((line, cause)), "{text:?}");
        }
        assert_eq!(check(text.as_bytes()), Err(cause), "{text:?}");
    }
    let endless = [b";".to_vec(), vec![b'x'; 300_000]].concat();
    assert!(cut(&endless, 70_000, 100_000).is_err());
}

#[test]
fn fastq_is_no_sequence_also_behind_blank_lines_and_comments() {
    for before in ["", "\n", " \r\n\n", ";a\n\n;b\r", "\u{feff}", "\u{feff}\n;\n"] {
        let text = format!("{before}@read\nACGT\n+\nIIII\n");
        assert_eq!(no_sequence(&text), Some(FASTQ), "{text:?}");
    }
    for text in ["", "\n", "ACGT", "\nACGT\n@", ">a\n@", ";@\nACGT", " @read\nACGT\n"] {
        assert_eq!(no_sequence(text), None, "{text:?}");
    }
}

#[test]
fn bytes_before_the_first_record_are_searched_once() {
    for (line, more) in [("    ", "\n>a"), (";  x", " y\n>a"), ("\n; x", "\n\n>a")] {
        let mut beginning = Beginning::new();
        let mut bytes = line.as_bytes().to_vec();
        assert_eq!(beginning.look(&bytes), Ok(None));
        // If these bytes were searched again, they would be no FASTA.
        bytes.fill(b'x');
        bytes.extend(more.as_bytes());
        assert_eq!(beginning.look(&bytes), Ok(Some(bytes.len() - 2)), "{line:?}");
    }
}

#[test]
fn a_long_line_before_the_first_record_takes_no_longer_than_short_ones() {
    const BYTES: usize = 4 << 20;
    let time = |line: &[u8]| {
        let text = [&line.repeat(BYTES / line.len()), b"\n>a\n".as_slice()].concat();
        let began = std::time::Instant::now();
        let found = cut(&text, 4 << 10, 2 * BYTES).expect("FASTA");
        assert_eq!(found.len(), 1);
        began.elapsed()
    };
    let short = time(b" \n");
    for line in [b"  ", b";;"] {
        // A line that is searched again for each piece takes hundreds of times as long.
        let long = time(line);
        assert!(long < 20 * short, "{line:?}: {long:?}, short lines {short:?}");
    }
}

#[test]
fn a_record_that_is_too_long_is_left_out_and_the_next_one_read() {
    let long = "ACGT\n".repeat(60_000);
    let text = format!(">a\nACGT\n>long\n{long}>b\nAC\n>last\n{long}");
    for drip in [7, 1_000, 70_000, 1 << 20] {
        let found = cut(text.as_bytes(), drip, 100_000);
        let expected = vec![
            (1, Some(b">a\nACGT\n".to_vec())),
            (3, None),
            (60_004, Some(b">b\nAC\n".to_vec())),
            (60_006, None),
        ];
        assert_eq!(found, Ok(expected), "{drip}");
    }
}

#[test]
fn many_short_records_are_several_blocks() {
    let count = 2 * BLOCK_LINES + 5;
    let text = ">a\nA\n".repeat(count);
    let mut sequences = SequenceBlocks::new(text.as_bytes(), Vec::new(), 100);
    assert_eq!(sequences.begin().expect("memory can be read"), Ok(()));
    let mut found = 0;
    while let Some(block) = sequences.next().expect("memory can be read") {
        assert!(block.records().len() <= BLOCK_LINES);
        found += block.records().len();
    }
    assert_eq!(found, count);
}

#[test]
fn the_id_is_the_first_word_of_the_header() {
    for (record, expected) in [
        (">chr1 a name\nACGT", Some("chr1")),
        ("> chr1\nACGT", Some("chr1")),
        (">gi|15|ref|NC_2.1|\tname\r\nACGT", Some("gi|15|ref|NC_2.1|")),
        (">chr1\rACGT", Some("chr1")),
        (">\nACGT", None),
        ("> \t\nACGT", None),
    ] {
        assert_eq!(id(record), expected, "{record:?}");
    }
}

proptest! {
    #[test]
    fn records_are_those_of_the_lines(
        text in "(>[aA >;\r\n]{0,80})?", drip in 1_usize..80, most in 1_usize..50
    ) {
        prop_assert_eq!(cut(text.as_bytes(), drip, most), Ok(by_lines(&text, most)));
    }
}
