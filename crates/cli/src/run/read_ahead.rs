//! Work on another thread, a few pieces ahead, while this thread still notices signals.

use crate::input::{Ahead, Block, Blocks, Listed, Next, NulList, open_lines};
use crate::run::failure::Failure;
use crate::terminal::interrupt;
use std::io;
use std::path::Path;
use std::time::Duration;

/// How long a signal may wait until it is noticed.
pub(super) const NOTICED_WITHIN: Duration = Duration::from_millis(100);

/// The texts of a list that wait to be used.
const LISTED_AHEAD: usize = 1 << 10;

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

/// The blocks of lines of a file or of standard input, each line of at most `most` bytes.
pub fn blocks_ahead(path: &Path, most: usize) -> Result<ReadAhead<io::Result<Block>>, Failure> {
    let path = path.to_owned();
    let read = pieces(move || open_lines(&path, most), Blocks::read_block);
    ReadAhead::start("reader", read)
}

/// The texts of a file or of standard input that each end with a NUL, each of at most `most` bytes.
pub fn nuls_ahead(path: &Path, most: usize) -> Result<ReadAhead<io::Result<Listed>>, Failure> {
    let path = path.to_owned();
    let read = pieces(move || NulList::open(&path, most), NulList::read);
    ReadAhead::with_queue("reader", LISTED_AHEAD, read)
}

/// Calls `open` first, then `read` until it has nothing more or fails. It is the other thread that
/// opens, because standard input may have nothing to read for long.
fn pieces<S, T>(
    mut open: impl FnMut() -> io::Result<S>,
    mut read: impl FnMut(&mut S) -> io::Result<Option<T>>,
) -> impl FnMut() -> Option<io::Result<T>> {
    let (mut opened, mut failed) = (None, false);
    move || {
        if failed {
            return None;
        }
        let next = match &mut opened {
            Some(source) => read(source),
            None => open().and_then(|source| read(opened.insert(source))),
        };
        failed = next.is_err();
        next.transpose()
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
            match self.0.next_within(NOTICED_WITHIN) {
                Next::Piece(piece) => return Some(piece),
                Next::Waiting => {}
                Next::End => return None,
            }
        }
    }
}
