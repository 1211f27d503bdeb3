//! The exact similarity of texts larger than memory.

use super::external_sort::{RunFile, RunSorter};
use super::run_merger::{RunMerger, count};
use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;
use twindex::Overlap;
use twindex::{Error, Result};
use twindex::{ShingleStream, Shingler};

/// Compares texts exactly, as sets and as multisets of shingles, even if they do not fit into
/// memory. The results are identical to those of [`Overlap`] for the hashes of
/// [`Shingler::hashes`].
///
/// This is the "similarity by file" of Dembele and Lo 2015, section 4. Their method reads both
/// texts repeatedly; this one reads each text once. It hashes shingles as they come, sorts them in
/// memory, and writes a sorted run to a temporary file whenever the memory is full. Then it merges
/// the runs of both texts and counts. That takes n log n time for n shingles, and 8 bytes for each
/// shingle of both texts in the folder of temporary files (`TMPDIR`), or up to 20 bytes if the
/// memory is so small that runs are merged in several passes. The files have no names and disappear
/// with the process, even if it is killed.
///
/// The result always has both counts, whether or not the shingler counts repeated shingles.
///
/// ```
/// use twindex_lab::methods::FileSimilarity;
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

/// The progress of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileProgress {
    /// Bytes of the text read so far; 0 during merging.
    pub read: u64,
    /// Shingles of both texts merged and counted so far; 0 while a text is read.
    pub merged: u64,
    /// Shingles to merge in total, counting each pass; 0 while a text is read.
    pub shingles: u64,
}

/// The shingles of a text as sorted runs in a temporary file, ready to compare with other texts.
#[derive(Debug)]
pub struct SortedShingles {
    runs: RunFile,
    memory: usize,
    peak: u64,
}

/// The overlap of two texts, and the memory and disk space that the comparison took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileOverlap {
    /// Each shingle counted once.
    pub sets: Overlap,
    /// Each shingle counted as often as it occurs.
    pub multisets: Overlap,
    /// The number of sorted runs written for both texts.
    pub runs: u64,
    /// The greatest total size of the temporary files, in bytes.
    pub temporary_bytes: u64,
    /// The peak memory in bytes, without some hundred KiB and without the memory of the readers.
    pub peak_memory: u64,
}

impl FileSimilarity {
    /// The fewest bytes of memory: 1 MiB.
    pub const LEAST_MEMORY: usize = 1 << 20;

    /// Creates a comparison that takes `memory` bytes: three quarters for hashes, the rest for
    /// text. No word, token, line or other text that cannot be cut may be longer than `memory` /
    /// 32.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] below [`Self::LEAST_MEMORY`].
    pub fn new(shingler: Shingler, memory: usize) -> Result<Self> {
        if memory >= Self::LEAST_MEMORY {
            Ok(Self { shingler, memory })
        } else {
            Err(Error::InvalidSetting {
                setting: "memory",
                got: format!("{memory} bytes"),
                expected: "1 MiB or more",
            })
        }
    }

    /// Compares two texts in UTF-8, reading one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::NotUtf8`]; [`Error::Unreadable`] if a reader fails; [`Error::PieceTooLong`] for a
    /// word, line or the like that is too long; [`Error::Io`] if the temporary files cannot be
    /// written.
    pub fn compare(&self, a: impl Read, b: impl Read) -> Result<FileOverlap> {
        let go_on = &mut |_| ControlFlow::Continue(());
        let (a, b) = (self.sort(a, go_on)?, self.sort(b, go_on)?);
        a.overlap(&b, go_on)
    }

    /// Reads a text, sorts its shingles and reports progress to `tell`. Compare the result with
    /// [`SortedShingles::overlap`].
    ///
    /// # Errors
    ///
    /// Those of [`Self::compare`], and [`Error::Interrupted`] if `tell` breaks.
    pub fn sort(
        &self,
        mut text: impl Read,
        tell: &mut dyn FnMut(FileProgress) -> ControlFlow<()>,
    ) -> Result<SortedShingles> {
        let mut sorter = RunSorter::new(self.memory / 4 * 3)?;
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
    /// The number of shingles, including repetitions.
    pub fn shingles(&self) -> u64 {
        self.runs.hashes
    }

    /// Compares with another text and reports progress to `tell`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a temporary file fails, and [`Error::Interrupted`] if `tell` breaks.
    pub fn overlap(
        &self,
        other: &Self,
        tell: &mut dyn FnMut(FileProgress) -> ControlFlow<()>,
    ) -> Result<FileOverlap> {
        let mut peak = self.peak.max(other.peak);
        let memory = self.memory.min(other.memory) / 4 * 3;
        // Besides the buffers of the runs there are buffers for bytes and for pieces sent between
        // threads.
        let most = memory / RunMerger::LEAST - BESIDE;
        let sides = [&self.runs, &other.runs];
        let hashes = self.runs.hashes + other.runs.hashes;
        let mut temporary = hashes;
        let mut progress = FileProgress { shingles: hashes, ..FileProgress::default() };
        let mut fewer: [Option<RunFile>; 2] = [None, None];
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
        let [a, b] = [RunMerger::new(a, &a.runs, buffer)?, RunMerger::new(b, &b.runs, buffer)?];
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

/// The most bytes to read at once. More would not be faster.
const MOST_READ: usize = 1 << 20;

/// The number of buffers of a run's size besides those of the runs.
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
#[path = "file_similarity_tests.rs"]
mod tests;
