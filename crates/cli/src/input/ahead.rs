//! Work on another thread, a few pieces ahead of where they are used.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Pieces that another thread makes, in order. Few wait to be used, which bounds the memory.
pub struct Ahead<T> {
    maker: Option<JoinHandle<()>>,
    receiver: Receiver<T>,
}

/// What came within a time.
pub enum Next<T> {
    Piece(T),
    /// Nothing yet.
    Waiting,
    /// The last piece came before.
    End,
}

impl<T: Send + 'static> Ahead<T> {
    /// Starts a thread of this name, which calls `make` until it returns `None`. At most two pieces
    /// wait to be used.
    pub fn start(name: &str, make: impl FnMut() -> Option<T> + Send + 'static) -> io::Result<Self> {
        Self::with_queue(name, 2, make)
    }

    /// As [`start`](Self::start), but at most `most` pieces wait to be used.
    pub fn with_queue(
        name: &str,
        most: usize,
        mut make: impl FnMut() -> Option<T> + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(most);
        let maker = thread::Builder::new().name(name.into()).spawn(move || {
            while let Some(piece) = make() {
                if sender.send(piece).is_err() {
                    // Nobody wants the rest.
                    break;
                }
            }
        })?;
        Ok(Self { maker: Some(maker), receiver })
    }
}

impl<T> Ahead<T> {
    /// Waits for the next piece, but no longer than this.
    pub fn next_within(&mut self, time: Duration) -> Next<T> {
        match self.receiver.recv_timeout(time) {
            Ok(piece) => Next::Piece(piece),
            Err(RecvTimeoutError::Timeout) => Next::Waiting,
            Err(RecvTimeoutError::Disconnected) => {
                self.join();
                Next::End
            }
        }
    }

    /// A panic of the other thread must not look like the end of the pieces.
    fn join(&mut self) {
        if let Some(Err(panic)) = self.maker.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Yields the next piece, however long it takes.
impl<T> Iterator for Ahead<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let piece = self.receiver.recv().ok();
        if piece.is_none() {
            self.join();
        }
        piece
    }
}
