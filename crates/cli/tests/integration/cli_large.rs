//! One text a hundred thousand times, among as many others: the commands that meet all its copies.
//!
//! `TWINDEX_COPIES=1000000` takes more.

use crate::command::{Shell, number_from};
use crate::support::Random;
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
