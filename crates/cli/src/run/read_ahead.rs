//! Work on another thread, a few pieces ahead, while this thread still notices signals.

use crate::input::{Ahead, Block, Blocks, Next, open_lines};
use crate::run::failure::Failure;
use crate::terminal::interrupt;
use std::io;
use std::path::Path;
use std::time::Duration;

/// How long a signal may wait until it is noticed.
pub(super) const NOTICED_WITHIN: Duration = Duration::from_millis(100);

/// Pieces that another thread makes, in order, until a signal comes.
pub struct ReadAhead<T>(Ahead<T>);

impl<T: Send + 'static> ReadAhead<T> {
    /// Starts a thread of this name, which calls `make` until it returns `None`.
    pub fn start(
        name: &str,
        make: impl FnMut() -> Option<T> + Send + 'static,
    ) -> Result<Self, Failure> {
        Self::started(Ahead::start(name, make))
    }

    /// As [`start`](Self::start), but at most `most` pieces wait to be used.
    pub fn with_queue(
        name: &str,
        most: usize,
        make: impl FnMut() -> Option<T> + Send + 'static,
    ) -> Result<Self, Failure> {
        Self::started(Ahead::with_queue(name, most, make))
    }

    fn started(ahead: io::Result<Ahead<T>>) -> Result<Self, Failure> {
        Ok(Self(ahead.map_err(|error| anyhow::anyhow!("cannot start a thread: {error}"))?))
    }
}

/// The blocks of lines of a file or of standard input, each line of at most `most` bytes. The other
/// thread opens it too, because standard input may have nothing to read for long.
pub fn blocks_ahead(path: &Path, most: usize) -> Result<ReadAhead<io::Result<Block>>, Failure> {
    let (path, mut failed) = (path.to_owned(), false);
    let mut opened: Option<Blocks<_>> = None;
    ReadAhead::start("reader", move || {
        if failed {
            return None;
        }
        let next = match &mut opened {
            Some(blocks) => blocks.read_block(),
            None => open_lines(&path, most).and_then(|blocks| opened.insert(blocks).read_block()),
        };
        failed = next.is_err();
        next.transpose()
    })
}

/// Yields the next piece; `None` after the last one or after a signal.
impl<T> Iterator for ReadAhead<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        loop {
            if interrupt::asked() {
                return None;
            }
            match self.0.next_within(NOTICED_WITHIN) {
                Next::Piece(piece) => return Some(piece),
                Next::Waiting => {}
                Next::End => return None,
            }
        }
    }
}
