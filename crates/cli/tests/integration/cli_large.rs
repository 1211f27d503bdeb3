//! What large inputs cost: one text a hundred thousand times among as many others, more texts to
//! compare than the cache holds, and large tables.
//!
//! `TWINDEX_COPIES=1000000` takes more copies.

use crate::columns::{parquet, table};
use crate::command::{Shell, number_from, report};
use crate::support::Random;
use std::thread::sleep;
use std::time::Duration;
use twindex::{Document, Index, Signature};

/// What a command may take, whatever the cluster.
const MEMORY: u64 = 512 << 20;

/// A folder with an index of so many copies and as many documents that are like nothing.
fn folder(copies: u64) -> Shell {
    let shell = Shell::new();
    let index = Index::create(shell.path("i.twx")).expect("created");
    let lanes = index.settings().lanes() as u64;
    let mut random = Random(9);
    let mut signature = || {
        let lanes: Vec<u8> = (0..lanes).map(|_| random.next() as u8).collect();
        Signature::from_lanes(lanes, 1_000)
    };
    let same = signature();
    for first in (0..copies).step_by(20_000) {
        let some = first..copies.min(first + 20_000);
        let document = |(id, signature)| Document::from_signature(id, signature).expect("valid");
        let documents = some
            .flat_map(|n| [(format!("copy-{n}"), same.clone()), (format!("own-{n}"), signature())])
            .map(document);
        let mut txn = index.begin_write().expect("begun");
        txn.insertion().documents(documents.collect()).expect("inserted");
        txn.commit().expect("committed");
    }
    index.close().expect("closed");
    shell
}

#[test]
fn a_hundred_thousand_copies_fit_into_memory_and_take_ten_times_the_work_of_a_tenth() {
    let copies = number_from("TWINDEX_COPIES").unwrap_or(100_000);
    let (shell, tenth) = (folder(copies), folder(copies / 10));
    let clusters = [
        ("clusters i.twx --duplicates --json", copies - 1),
        ("clusters i.twx --duplicates --json --linkage connected --keep id", copies - 1),
        ("clusters i.twx --duplicates --json --keep longest", copies - 1),
        ("pairs i.twx --json --max-per-document 3", copies * 3 / 2),
    ];
    for (words, lines) in clusters {
        let mut small = tenth.start(words);
        small.read_a_line();
        let mut running = shell.start(words);
        running.read_a_line();
        // It has found all by now, or it walks a cluster of which it knows the ids.
        #[cfg(target_os = "linux")]
        {
            assert!(running.peak_memory() < MEMORY, "{words}: {} bytes", running.peak_memory());
            // Comparing each copy with each would take a hundred times the work.
            let (work, of_tenth) = (running.work(), small.work());
            assert!(work < 30 * of_tenth.max(2), "{words}: {work} and {of_tenth} of a tenth");
        }
        let done = running.finish();
        assert_eq!(done.stdout.lines().count() as u64, lines - 1, "{words}");
    }

    // There are five thousand million pairs, more than memory holds: the first come before all are
    // found.
    let mut running = shell.start("pairs i.twx");
    assert!(running.read_a_line().starts_with("copy-"));
    for _ in 0..1_000 {
        running.read_a_line();
    }
    #[cfg(target_os = "linux")]
    assert!(running.peak_memory() < MEMORY, "{} bytes", running.peak_memory());
}

/// The most memory that a command takes.
#[cfg(target_os = "linux")]
fn peak(shell: &Shell, words: &str) -> u64 {
    let (running, mut peak) = (shell.start(words), 0);
    while let Some(now) = running.peak_memory_if_running() {
        peak = peak.max(now);
        sleep(Duration::from_millis(5));
    }
    running.finish().succeeds();
    peak
}

/// Stored texts whose elements, 8 bytes for each character, take far more than the cache. Each is
/// one of two near copies, so all are compared.
#[test]
#[cfg(target_os = "linux")]
fn texts_are_compared_within_the_memory_of_the_cache() {
    const TEXTS: usize = 2_000;
    const CHARACTERS: usize = 8_000;
    let shell = Shell::new();
    let options = Index::options().store_text(true);
    let index = options.create(shell.path("t.twx")).expect("created");
    let mut random = Random(11);
    let mut txn = index.begin_write().expect("begun");
    for family in 0..TEXTS / 2 {
        let mut text: String =
            (0..CHARACTERS).map(|_| char::from(b'a' + (random.next() % 26) as u8)).collect();
        for copy in 0..2 {
            txn.insert(&format!("{family}-{copy}"), &*text).expect("inserted");
            text.push_str(" and some more");
        }
    }
    txn.commit().expect("committed");
    index.close().expect("closed");
    let elements = (8 * TEXTS * CHARACTERS) as u64;
    for words in ["clusters t.twx -o c.tsv", "clusters t.twx -o c.tsv --linkage connected"] {
        let of = |cache: &str| peak(&shell, &format!("{words} --cache {cache}"));
        let (small, large) = (of("4M"), of("256M"));
        report(&format!("{words}: {small} and {large} bytes for {elements} of elements"));
        assert!(small < elements / 2, "{words}: {small} bytes");
        assert!(large > elements, "{words}: {large} bytes, so the texts are not in memory at once");
    }
}

/// A table takes no more memory than a row group of it, nor than some batches of rows.
#[test]
#[cfg(target_os = "linux")]
fn a_table_is_read_within_the_memory_of_a_row_group_or_a_batch() {
    const TEXTS: usize = 12_000;
    const CHARACTERS: usize = 16_000;
    let mut random = Random(12);
    let mut text = || -> String {
        (0..CHARACTERS).map(|_| char::from(b'a' + (random.next() % 26) as u8)).collect()
    };
    let documents: Vec<_> = (0..TEXTS).map(|number| (format!("{number}"), Some(text()))).collect();
    let shell = Shell::new();
    shell.write("groups.parquet", parquet(&table(&documents), 100));
    shell.write("one.parquet", parquet(&table(&documents), TEXTS));
    drop(documents);
    let all = (TEXTS * CHARACTERS) as u64;
    for name in ["groups", "one"] {
        let peak = peak(&shell, &format!("add {name}.twx {name}.parquet --cache 4M -q"));
        report(&format!("{name}: {peak} bytes for {all} of text"));
        assert!(peak < all * 3 / 4, "{name}: {peak} bytes");
    }
}
