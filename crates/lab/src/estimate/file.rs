//! Exact similarity of texts larger than memory.

use super::external::{Runs, Sorter};
use super::merging::{Merging, count};
use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;
use twindex::Overlap;
use twindex::{Error, Result};
use twindex::{ShingleStream, Shingler};

/// Compares texts that need not fit into memory, exactly, as sets and as multisets of shingles: the same
/// numbers, to the last digit, as [`Overlap`] gives of the hashes of [`Shingler::hashes`].
///
/// The "similarity by file" of Dembele and Lo 2015, section 4, which reads both texts again and again; here
/// each is read once. Its shingles are hashed as they come, sorted in memory, and written to a temporary file as
/// a sorted run whenever the memory is full; both texts' runs are then merged and counted. That
/// takes n log n time for n shingles, and 8 bytes a shingle of both in the folder of temporary
/// files (`TMPDIR`), up to 20 if the memory is so little that runs are merged in several
/// passes. The files have no names and go with the process, even if it is killed.
///
/// Whether shingles are counted as often as they occur does not depend on the shingler: both are told.
///
/// ```
/// use twindex::methods::FileSimilarity;
/// use twindex::{Normalization, Shingle, Shingler};
/// let shingler = Shingler::new(Shingle::chars(3), Normalization::default(), false, 0)?;
/// let similarity = FileSimilarity::new(shingler, 8 << 20)?;
/// // Anything that can be read: files, streams, bytes.
/// let overlap = similarity.compare(&b"a text, a text"[..], &b"a text"[..])?;
/// assert_eq!((overlap.sets.a, overlap.sets.b, overlap.sets.shared), (8, 4, 4));
/// assert_eq!((overlap.multisets.a, overlap.multisets.shared), (12, 4));
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FileSimilarity {
    shingler: Shingler,
    memory: usize,
}

/// How far the comparison of two texts has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileProgress {
    /// Bytes of the text that were read; 0 when texts are merged.
    pub read: u64,
    /// Shingles of both texts that were merged and counted; 0 while a text is read.
    pub merged: u64,
    /// Shingles that are to be merged, if some more than once; 0 while a text is read.
    pub shingles: u64,
}

/// The shingles of a text as sorted runs in a temporary file, to be compared with those of others.
#[derive(Debug)]
pub struct SortedShingles {
    runs: Runs,
    memory: usize,
    peak: u64,
}

/// What two texts have in common, and what it took to count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileOverlap {
    /// Each shingle counted once.
    pub sets: Overlap,
    /// Each shingle counted as often as it occurs.
    pub multisets: Overlap,
    /// The sorted runs of both that were written.
    pub runs: u64,
    /// The bytes of the temporary files, the largest number at any time.
    pub temporary_bytes: u64,
    /// The bytes of memory that were in use for it, the largest number at any time, but for some hundred
    /// KiB and what the readers of the texts take.
    pub peak_memory: u64,
}

impl FileSimilarity {
    /// The fewest bytes of memory: 1 MiB.
    pub const LEAST_MEMORY: usize = 1 << 20;

    /// A comparison that takes `memory` bytes: three quarters for hashes that are sorted or merged, the
    /// rest for text. No word, token, line or stretch without any place to cut may be longer than
    /// `memory` / 32.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] below [`Self::LEAST_MEMORY`].
    pub fn new(shingler: Shingler, memory: usize) -> Result<Self> {
        match memory >= Self::LEAST_MEMORY {
            true => Ok(Self { shingler, memory }),
            false => Err(Error::InvalidSetting {
                setting: "memory",
                got: format!("{memory} bytes"),
                expected: "1 MiB or more",
            }),
        }
    }

    /// Compares two texts in UTF-8, which are read one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::NotUtf8`]; [`Error::Unreadable`] if a reader fails; [`Error::NoRoom`] for a word, line or
    /// the like that is too long; [`Error::Io`] if the temporary files cannot be written.
    pub fn compare(&self, a: impl Read, b: impl Read) -> Result<FileOverlap> {
        let go_on = &mut |_| ControlFlow::Continue(());
        let (a, b) = (self.sort(a, go_on)?, self.sort(b, go_on)?);
        a.overlap(&b, go_on)
    }

    /// Reads a text and sorts its shingles, telling how far that is. Compare the result with
    /// [`SortedShingles::overlap`].
    ///
    /// # Errors
    ///
    /// As those of [`Self::compare`], and [`Error::Interrupted`] if `tell` says so.
    pub fn sort(
        &self,
        mut text: impl Read,
        tell: &mut dyn FnMut(FileProgress) -> ControlFlow<()>,
    ) -> Result<SortedShingles> {
        let mut sorter = Sorter::new(self.memory / 4 * 3)?;
        let mut stream = ShingleStream::new(&self.shingler, self.memory / 32);
        let mut bytes = vec![0; (self.memory / 32 / 8).min(MOST_READ)];
        let mut progress = FileProgress::default();
        let mut peak = 0;
        loop {
            let read = match text.read(&mut bytes) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(source) => return Err(Error::Unreadable { source }),
            };
            progress.read += read as u64;
            said(tell(progress))?;
            let mut failed = None;
            let mut take = |hashes: &[u64]| {
                if failed.is_none() {
                    failed = sorter.take(hashes).err();
                }
            };
            if read > 0 {
                stream.take(&bytes[..read], &mut take)?;
            } else {
                stream.end(&mut take)?;
            }
            failed.map_or(Ok(()), Err)?;
            peak = peak.max(bytes.len() + stream.memory() + sorter.memory());
            if read == 0 {
                let runs = sorter.end()?;
                return Ok(SortedShingles { runs, memory: self.memory, peak: peak as u64 });
            }
        }
    }
}

impl SortedShingles {
    /// How many shingles there are, repetitions included.
    pub fn shingles(&self) -> u64 {
        self.runs.hashes
    }

    /// Compares with another text, telling how far that is.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the temporary files fail, and [`Error::Interrupted`] if `tell` says so.
    pub fn overlap(
        &self,
        other: &Self,
        tell: &mut dyn FnMut(FileProgress) -> ControlFlow<()>,
    ) -> Result<FileOverlap> {
        let mut peak = self.peak.max(other.peak);
        let memory = self.memory.min(other.memory) / 4 * 3;
        // Beside those of the runs there are buffers of bytes, and of pieces on their way between threads.
        let most = memory / Merging::LEAST - BESIDE;
        let sides = [&self.runs, &other.runs];
        let hashes = self.runs.hashes + other.runs.hashes;
        let mut temporary = hashes;
        let mut progress = FileProgress { shingles: hashes, ..FileProgress::default() };
        let mut fewer: [Option<Runs>; 2] = [None, None];
        loop {
            let now = [0, 1].map(|side: usize| fewer[side].as_ref().unwrap_or(sides[side]));
            let counts = now.map(|runs| runs.runs.len());
            if counts[0] + counts[1] <= most {
                break;
            }
            let side = usize::from(counts[1] > counts[0]);
            progress.shingles += now[side].hashes;
            let merged = now[side].merged(most, memory, &mut |hashes| {
                progress.merged += hashes;
                said(tell(progress))
            })?;
            let others: u64 = fewer.iter().flatten().map(|runs| runs.hashes).sum();
            temporary = temporary.max(hashes + others + merged.hashes);
            peak = peak.max(memory as u64);
            fewer[side] = Some(merged);
        }
        let [a, b] = [0, 1].map(|side: usize| fewer[side].as_ref().unwrap_or(sides[side]));
        let buffer = memory / (a.runs.len() + b.runs.len() + BESIDE);
        let [a, b] = [Merging::new(a, &a.runs, buffer)?, Merging::new(b, &b.runs, buffer)?];
        peak = peak.max((a.memory() + b.memory()) as u64);
        let (sets, multisets) = count(a, b, &mut |hashes| {
            progress.merged += hashes;
            said(tell(progress))
        })?;
        Ok(FileOverlap {
            sets,
            multisets,
            runs: (self.runs.runs.len() + other.runs.runs.len()) as u64,
            temporary_bytes: 8 * temporary,
            peak_memory: peak,
        })
    }
}

/// The most bytes that are read at once; more is no faster.
const MOST_READ: usize = 1 << 20;

/// Buffers of a run's size that there are beside those of the runs.
const BESIDE: usize = 8;

fn said(answer: ControlFlow<()>) -> Result<()> {
    match answer {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Interrupted {
            path: std::env::temp_dir(),
            action: "comparing",
            outcome: "no temporary file is left",
        }),
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
