//! Doing work on another thread, some pieces ahead, while this one stays open to signals.

use crate::run::failure::Failure;
use crate::run::interrupt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Pieces that another thread makes, in order. At most two wait to be used, so that memory stays
/// bounded.
pub struct Ahead<T> {
    maker: Option<JoinHandle<()>>,
    receiver: Receiver<T>,
}

impl<T: Send + 'static> Ahead<T> {
    /// Starts making pieces until there is none.
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
                        // The command has ended before its input.
                        break;
                    }
                }
            })
            .map_err(|error| anyhow::anyhow!("cannot start a thread: {error}"))?;
        Ok(Self { maker: Some(maker), receiver })
    }
}

impl<T> Ahead<T> {}

/// The next piece; `None` after the last or when the command was asked to end.
impl<T> Iterator for Ahead<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        loop {
            if interrupt::asked() {
                return None;
            }
            match self.receiver.recv_timeout(Duration::from_millis(100)) {
                Ok(piece) => return Some(piece),
                Err(RecvTimeoutError::Disconnected) => {
                    // A panic over there must not look like the end of the input.
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
