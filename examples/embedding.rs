//! An index inside an application: one thread writes, others read.
//!
//! A writer inserts batches of messages. Meanwhile readers ask what is similar to a message. Each
//! reader sees the state of one commit and never waits for the writer.
//!
//! `cargo run --example embedding`

#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use twindex::{Index, Result};

const BATCHES: u64 = 8;
const MESSAGES: u64 = 50;
const READERS: usize = 3;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let (documents, answers) = run(&folder.path().join("messages.twx"))?;
    println!("{documents} messages, {answers} questions answered while they were written");
    Ok(())
}

/// Writes in one thread and reads in others. Returns the number of documents at the end, and of
/// questions that were answered.
pub fn run(path: &Path) -> Result<(u64, u64)> {
    let index = Arc::new(Index::options().threshold(0.6).create(path)?);
    let writing = AtomicBool::new(true);
    let answers = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            // The readers end even if this panics.
            let _ends = Ends(&writing);
            write(&index)
        });
        let readers: Vec<_> =
            (0..READERS).map(|_| scope.spawn(|| read(&index, &writing))).collect();
        let joined = |answers: thread::Result<Result<u64>>| {
            answers.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let answers: Result<u64> = readers.into_iter().map(|reader| joined(reader.join())).sum();
        joined(writer.join().map(|written| written.map(|()| 0)))?;
        answers
    })?;
    Ok((index.snapshot()?.len(), answers))
}

/// Tells the readers, when it is dropped, that nothing is written any more.
struct Ends<'w>(&'w AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Inserts the batches, each in a transaction of its own.
fn write(index: &Index) -> Result<()> {
    for batch in 0..BATCHES {
        let messages: Vec<(String, String)> = (0..MESSAGES)
            .map(|n| (format!("{batch}/{n}"), message(batch * MESSAGES + n)))
            .collect();
        let mut txn = index.begin_write()?;
        // Sketched on all threads, written together.
        txn.insertion().contents(&messages)?;
        txn.commit()?;
    }
    Ok(())
}

/// Asks until the writer has ended, and once more. Returns how often.
fn read(index: &Index, writing: &AtomicBool) -> Result<u64> {
    let mut asked = 0;
    loop {
        let last = !writing.load(Ordering::Acquire);
        let snapshot = index.snapshot()?;
        let found = snapshot.query().limit(3).by_text(&message(asked % MESSAGES))?;
        // Nothing is there before the first commit; afterwards the message itself is.
        assert_eq!(found.is_empty(), snapshot.is_empty());
        asked += 1;
        if last {
            return Ok(asked);
        }
    }
}

/// A message that is like no other.
fn message(number: u64) -> String {
    let word = |at: u64| format!("w{:x}", (number * 31 + at).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    (0..12).map(word).collect::<Vec<_>>().join(" ")
}
