//! Work on another thread, a few pieces ahead, while this thread still notices signals.

use crate::run::failure::Failure;
use crate::terminal::interrupt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Pieces that another thread makes, in order. At most two wait to be used, which bounds the
/// memory.
pub struct ReadAhead<T> {
    maker: Option<JoinHandle<()>>,
    receiver: Receiver<T>,
}

impl<T: Send + 'static> ReadAhead<T> {
    /// Starts a thread of this name, which calls `make` until it returns `None`.
    pub fn start(
        name: &str,
        mut make: impl FnMut() -> Option<T> + Send + 'static,
    ) -> Result<Self, Failure> {
        let (sender, receiver) = sync_channel(2);
        let maker = thread::Builder::new()
            .name(name.into())
            .spawn(move || {
                while let Some(piece) = make() {
                    if sender.send(piece).is_err() {
                        // The command has stopped before the end of its input.
                        break;
                    }
                }
            })
            .map_err(|error| anyhow::anyhow!("cannot start a thread: {error}"))?;
        Ok(Self { maker: Some(maker), receiver })
    }
}

/// Yields the next piece; `None` after the last one or after a signal.
impl<T> Iterator for ReadAhead<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        loop {
            if interrupt::asked() {
                return None;
            }
            match self.receiver.recv_timeout(Duration::from_millis(100)) {
                Ok(piece) => return Some(piece),
                Err(RecvTimeoutError::Disconnected) => {
                    // A panic of the other thread must not look like the end of the input.
                    if let Some(Err(panic)) = self.maker.take().map(JoinHandle::join) {
                        std::panic::resume_unwind(panic);
                    }
                    return None;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
