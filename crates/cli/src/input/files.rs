//! Reads whole files, each of them a text, on all threads.

use super::compression::{self, DecompressedRest};
use super::fasta;
use super::foreign;
use super::format::Format;
use super::input_file::InputFile;
use super::path_id::id_of;
use super::record::{BadRecord, Body, RawRecord, Record, RecordName, not_utf8, too_long};
use super::share;
use super::text_form::TextForm;
use crate::remote::RemoteFile;
use encoding_rs::Encoding;
use std::borrow::Cow;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The least and the most bytes that are taken from the budget at once.
const STEP: (u64, u64) = (64 << 10, 4 << 20);

/// A file that is one text.
pub struct WholeFile {
    /// Where it is.
    pub(super) path: PathBuf,
    /// What is known of it if it lies behind an address.
    pub(super) remote: Option<Arc<RemoteFile>>,
    /// Its size when it was found, in bytes.
    pub(super) size: u64,
    /// Whether it must be FASTA.
    pub(super) fasta: bool,
    /// How it is encoded, if it is not UTF-8.
    pub(super) encoding: Option<&'static Encoding>,
}

/// Reads files of at most `most` bytes of text and passes each to `take`. Returns the results in
/// order.
pub(super) fn read<T: Send>(
    files: &[WholeFile],
    most: usize,
    take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Sync,
) -> Vec<Result<T, BadRecord>> {
    let mut all = Vec::with_capacity(files.len());
    for group in groups(files, most as u64) {
        let budget =
            Budget::new((most as u64).saturating_sub(group.iter().map(|file| file.size).sum()));
        let read = |file: &WholeFile| {
            // The share is returned to the budget after the text has been used.
            let mut share = Share { budget: &budget, taken: 0 };
            let text = text_of(file, most, Some(&mut share)).transpose()?;
            Some(text.and_then(|text| give(file, &text, &take)))
        };
        let results = share::map(group.iter().collect(), read);
        all.extend(results.into_iter().zip(group).map(|(result, file)| {
            // Read alone, the file may take as much as any record.
            let alone = || {
                let text = text_of(file, most, None)?.unwrap_or_default();
                give(file, &text, &take)
            };
            result.unwrap_or_else(alone)
        }));
    }
    all
}

/// Passes the text of a file to `take` as a record.
fn give<T>(
    file: &WholeFile,
    text: &str,
    take: impl Fn(Record<'_>) -> Result<T, BadRecord>,
) -> Result<T, BadRecord> {
    let place = file.path.display().to_string();
    if file.fasta
        && let Err(cause) = fasta::check(text.as_bytes())
    {
        return Err(BadRecord { place, cause: cause.to_owned() });
    }
    let id = id_of(&file.path);
    take(Record {
        name: RecordName::Id(id.clone()),
        body: Body::Text(Cow::Borrowed(text)),
        place,
        raw: RawRecord::File(&id),
        form: TextForm::Fixed,
    })
}

/// Groups of files that are read at the same time: at most `most` bytes together, or a single file.
fn groups(files: &[WholeFile], most: u64) -> impl Iterator<Item = &[WholeFile]> {
    let mut rest = files;
    std::iter::from_fn(move || {
        let mut bytes = 0_u64;
        let fit = rest.iter().take_while(|file| {
            bytes = bytes.saturating_add(file.size);
            bytes <= most
        });
        let (group, later) = rest.split_at(fit.count().max(1).min(rest.len()));
        rest = later;
        (!group.is_empty()).then_some(group)
    })
}

/// The memory that the files of a group may take together beyond their sizes. The size of a
/// compressed file does not tell how large its text is.
struct Budget(AtomicU64);

impl Budget {
    const fn new(bytes: u64) -> Self {
        Self(AtomicU64::new(bytes))
    }
}

/// The part of the budget that one file has taken.
struct Share<'b> {
    budget: &'b Budget,
    taken: u64,
}

impl Share<'_> {
    /// Takes more bytes from the budget; returns whether it had them.
    fn grow(&mut self, bytes: u64) -> bool {
        let left = |left: u64| left.checked_sub(bytes);
        let had = self.budget.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok();
        self.taken += if had { bytes } else { 0 };
        had
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.budget.0.fetch_add(self.taken, Ordering::Relaxed);
    }
}

/// The text of a file; `None` if it is compressed and the budget is too small for it.
fn text_of(
    file: &WholeFile,
    most: usize,
    share: Option<&mut Share<'_>>,
) -> Result<Option<String>, BadRecord> {
    let WholeFile { path, encoding, .. } = file;
    let opened = match &file.remote {
        Some(file) => Ok(Arc::clone(file).into()),
        None => InputFile::open(path),
    };
    let bad = |cause: String| BadRecord { place: path.display().to_string(), cause };
    if path.to_str().is_none() {
        return Err(bad("its name is not valid UTF-8".into()));
    }
    let bytes = opened.and_then(|file| bytes_of(path, &file, most, share, encoding.is_some()));
    let text = match bytes.map_err(|error| bad(error.to_string()))? {
        Bytes::All(bytes) => bytes,
        Bytes::TooLong => return Err(bad(too_long(most))),
        Bytes::OverBudget => return Ok(None),
    };
    if let Some(encoding) = encoding {
        let text = encoding.decode(&text).0.into_owned();
        return if text.len() > most { Err(bad(too_long(most))) } else { Ok(Some(text)) };
    }
    let text = String::from_utf8(text).map_err(|error| bad(not_utf8(error.utf8_error())))?;
    Ok(Some(text))
}

/// The result of reading a file.
enum Bytes {
    All(Vec<u8>),
    /// It has more bytes than a record may have. A device may even be endless.
    TooLong,
    /// It is compressed, and the budget is too small for it.
    OverBudget,
}

fn bytes_of(
    path: &Path,
    file: &InputFile,
    most: usize,
    share: Option<&mut Share<'_>>,
    is_encoded: bool,
) -> io::Result<Bytes> {
    let size = file.size()?.unwrap_or_default();
    let compression::Decompressed { mut start, mut rest } =
        compression::open(file.stream()?, compression::is_named(path))?;
    let found = foreign::look(&mut rest, &mut start, is_encoded)?;
    foreign::check(Format::Text, found)?;
    let limit = (most as u64).saturating_add(1).saturating_sub(start.len() as u64);
    let mut bytes = Vec::new();
    match (&rest, share) {
        (DecompressedRest::Plain(_), _) => {
            if size > most as u64 {
                return Ok(Bytes::TooLong);
            }
            // One byte more than expected, so that reading finds the end without a larger buffer.
            bytes.reserve_exact(size as usize + 1);
            bytes.extend_from_slice(&start);
            rest.take(limit).read_to_end(&mut bytes)?;
        }
        (DecompressedRest::Packed(_), None) => {
            bytes = start;
            rest.take(limit).read_to_end(&mut bytes)?;
        }
        (DecompressedRest::Packed(_), Some(share)) => {
            bytes = start;
            loop {
                let step = (bytes.len() as u64).clamp(STEP.0, STEP.1);
                if !share.grow(step) {
                    return Ok(Bytes::OverBudget);
                }
                let read = rest.by_ref().take(step).read_to_end(&mut bytes)?;
                if (read as u64) < step || bytes.len() > most {
                    break;
                }
            }
        }
    }
    Ok(if bytes.len() > most { Bytes::TooLong } else { Bytes::All(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::compression::packing::{gzip, zstd};

    fn text(path: PathBuf, size: u64) -> WholeFile {
        WholeFile { path, remote: None, size, fasta: false, encoding: None }
    }

    #[test]
    fn files_that_are_read_together_fit_into_the_limit() {
        for (sizes, groups_of) in [
            (vec![], vec![]),
            (vec![3, 3, 4, 1], vec![3, 1]),
            (vec![50, 1, 60, 10, 1], vec![1, 1, 1, 1, 1]),
            (vec![0; 5], vec![5]),
            (vec![5, u64::MAX, u64::MAX, 5, 5], vec![1, 1, 1, 2]),
        ] {
            let files: Vec<_> = sizes.iter().map(|size| text(PathBuf::new(), *size)).collect();
            let lengths: Vec<usize> = groups(&files, 10).map(<[_]>::len).collect();
            assert_eq!(lengths, groups_of, "{sizes:?}");
        }
    }

    #[test]
    fn compressed_files_are_read_whatever_the_budget_gives() {
        let folder = tempfile::tempdir().expect("a folder");
        let texts: Vec<String> = (0..8).map(|n| "text ".repeat(n * 20_000)).collect();
        let mut files = Vec::new();
        for (number, content) in texts.iter().enumerate() {
            let path = folder.path().join(number.to_string());
            let pack = [gzip, zstd, |bytes: &[u8]| bytes.to_vec()][number % 3];
            let bytes = pack(content.as_bytes());
            std::fs::write(&path, &bytes).expect("written");
            files.push(text(path, bytes.len() as u64));
        }
        for most in [700_000, 1_000_000, usize::MAX] {
            let all = read(&files, most, |record| Ok(record.body.text().map_or(0, str::len)));
            let lengths: Vec<_> = all.into_iter().flatten().collect();
            assert_eq!(lengths, texts.iter().map(String::len).collect::<Vec<_>>(), "{most}");
        }
        let all = read(&files, 450_000, |record| Ok(record.body.text().map_or(0, str::len)));
        assert_eq!(all.iter().filter(|read| read.is_ok()).count(), 5);
    }
}
