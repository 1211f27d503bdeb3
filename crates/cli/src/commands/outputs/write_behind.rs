//! A file that is written on a thread of its own, so that nobody waits for the disk before a sync.

use std::fs::File;
use std::io::{self, Write};
use std::mem::replace;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// The bytes that are passed on at once. A smaller file is written without the thread.
const PIECE: usize = 1 << 20;

/// How many pieces may wait to be written.
const WAITING: usize = 8;

/// After how many bytes what was written is synced, so that the sync of a commit has little left.
const SYNCED: usize = 16 << 20;

/// A file that is written in order, behind the caller.
pub(super) struct WriteBehind {
    file: File,
    /// Bytes that were not passed on.
    piece: Vec<u8>,
    /// The thread, from the first full piece on.
    thread: Option<WriterThread>,
}

struct WriterThread {
    /// `None` only while it is dropped.
    orders: Option<SyncSender<Order>>,
    results: Receiver<io::Result<()>>,
    /// The memory of pieces that were written, for further ones: the system hands out new memory
    /// page by page, which takes longer than to copy a piece.
    written: Receiver<Vec<u8>>,
    handle: Option<JoinHandle<()>>,
}

/// What the thread is to do.
enum Order {
    Write(Vec<u8>),
    /// Tell how all writes since the last answer went.
    Answer,
}

impl WriteBehind {
    /// Goes on writing a file at its end.
    pub(super) fn new(file: File) -> Self {
        Self { file, piece: Vec::new(), thread: None }
    }

    /// The file. All bytes are in it after [`Write::flush`].
    pub(super) fn get_ref(&self) -> &File {
        &self.file
    }

    /// Passes a piece on.
    fn pass_on(&mut self) -> io::Result<()> {
        let thread = match self.thread.take() {
            Some(thread) => thread,
            None => WriterThread::start(self.file.try_clone()?)?,
        };
        let next = thread.written.try_recv().unwrap_or_else(|_| Vec::with_capacity(PIECE));
        let piece = replace(&mut self.piece, next);
        self.thread.insert(thread).order(Order::Write(piece))
    }
}

/// A write that fails is reported by a later flush.
impl Write for WriteBehind {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.len() == PIECE {
            self.pass_on()?;
        }
        let room = PIECE - self.piece.len();
        let fitting = bytes.get(..room).unwrap_or(bytes);
        self.piece.extend_from_slice(fitting);
        Ok(fitting.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(thread) = &self.thread {
            thread.order(Order::Answer)?;
            thread.results.recv().map_err(|_| ended())??;
        }
        let written = self.file.write_all(&self.piece);
        self.piece.clear();
        written
    }
}

impl WriterThread {
    fn start(file: File) -> io::Result<Self> {
        let (orders, waiting) = sync_channel(WAITING);
        let (answers, results) = channel();
        let (used, written) = channel();
        let write = move || write_all(&file, &waiting, &answers, &used);
        let handle = Builder::new().name("writer".to_owned()).spawn(write)?;
        Ok(Self { orders: Some(orders), results, written, handle: Some(handle) })
    }

    fn order(&self, order: Order) -> io::Result<()> {
        let sent = self.orders.as_ref().map(|orders| orders.send(order));
        sent.and_then(Result::ok).ok_or_else(ended)
    }
}

/// Waits for the thread, so that the file is closed.
impl Drop for WriterThread {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.handle.take().map(JoinHandle::join);
    }
}

fn ended() -> io::Error {
    io::Error::other("the thread that writes has ended")
}

/// Does what it is ordered to until nobody can order anything, and gives the memory of pieces back.
/// After an error it writes nothing until that was answered.
fn write_all(
    mut file: &File,
    orders: &Receiver<Order>,
    answers: &Sender<io::Result<()>>,
    used: &Sender<Vec<u8>>,
) {
    let (mut result, mut unsynced) = (Ok(()), 0);
    for order in orders {
        match order {
            Order::Write(mut piece) if result.is_ok() => {
                unsynced += piece.len();
                result = file.write_all(&piece);
                piece.clear();
                // If nobody listens any more, no memory is needed.
                let _ = used.send(piece);
                if result.is_ok() && unsynced >= SYNCED {
                    unsynced = 0;
                    result = file.sync_data();
                }
            }
            Order::Write(_) => {}
            Order::Answer => {
                if answers.send(replace(&mut result, Ok(()))).is_err() {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_are_in_the_file_in_their_order_after_a_flush() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let mut file = WriteBehind::new(File::create(&path).expect("created"));
        let mut expected = Vec::new();
        for round in 0..40_u8 {
            for length in [10, 300_000, 3 << 20] {
                let bytes = vec![round; length];
                file.write_all(&bytes).expect("written");
                expected.extend(bytes);
                if round % 8 == 0 {
                    file.flush().expect("flushed");
                    assert!(std::fs::read(&path).expect("readable") == expected);
                }
            }
        }
        file.flush().expect("flushed");
        drop(file);
        assert!(std::fs::read(&path).expect("readable") == expected);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported_by_the_next_flush() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let mut file = WriteBehind::new(full.expect("a device"));
        file.write_all(&vec![0; 3 << 20]).expect("taken");
        assert!(file.flush().is_err());
    }
}
