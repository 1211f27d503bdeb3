//! Output files that get their final name when they are complete, and output streams.

use crate::commands::outputs::exclusive_file;
use crate::commands::outputs::write_behind::WriteBehind;
use crate::run::compressor::{Compressor, decompressed};
use crate::run::failure::Failure;
use crate::run::results_file::is_standard_output;
use crate::run::whole_file::sync_folder;
use anyhow::{Context, anyhow};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// The length of a file in bytes, and the hash of those bytes.
pub type LengthAndHash = (u64, u64);

/// A file that has a temporary name until it is complete. No other run can write it meanwhile.
pub struct PartialFile {
    file: WriteBehind,
    /// The temporary name.
    partial: PathBuf,
    /// The final name.
    path: PathBuf,
    /// Compresses what is written, if the final name asks for it.
    compressor: Option<Compressor>,
    /// The length and the hash of the bytes in the file.
    length: u64,
    hash: Box<Xxh3>,
    /// The last byte that was written, before compression.
    last: Option<u8>,
}

impl PartialFile {
    /// Creates an empty file, and replaces a partial file of an earlier run.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let partial = partial_path(path);
        let place = || partial.display().to_string();
        let file = exclusive_file::create(&partial)?;
        sync_folder(&partial).with_context(place)?;
        Ok(Self::new(file, path, Box::new(Xxh3::new()), 0, None))
    }

    fn new(file: File, path: &Path, hash: Box<Xxh3>, length: u64, last: Option<u8>) -> Self {
        let file = WriteBehind::new(file);
        let (partial, path, compressor) =
            (partial_path(path), path.to_owned(), Compressor::of(path));
        Self { file, partial, path, compressor, length, hash, last }
    }

    /// Resumes the partial file of an interrupted run, and truncates it to the given length.
    ///
    /// Returns `None` and changes nothing if the file is absent, shorter, or has another hash.
    pub fn resume(path: &Path, content: LengthAndHash) -> Result<Option<Self>, Failure> {
        let partial = partial_path(path);
        let place = || partial.display().to_string();
        let Some(mut file) = exclusive_file::open(&partial)? else { return Ok(None) };
        let Some((hash, last)) = read(&file, content).with_context(place)? else {
            return Ok(None);
        };
        let cut = file.set_len(content.0).and_then(|()| file.seek(SeekFrom::End(0)));
        cut.with_context(place)?;
        let mut resumed = Self::new(file, path, hash, content.0, last);
        if resumed.compressor.is_some() {
            resumed.last =
                resumed.read_back(|written| Ok(last_byte(written).with_context(place)?))?;
        }
        Ok(Some(resumed))
    }

    /// Fails if there is a partial file that another run is writing, or that is a link.
    pub fn check_free(path: &Path) -> Result<(), Failure> {
        exclusive_file::open(&partial_path(path)).map(drop)
    }

    /// Whether there is a partial file that begins with this content. Changes nothing.
    pub fn begins_with(path: &Path, content: LengthAndHash) -> Result<bool, Failure> {
        let partial = partial_path(path);
        let begins = match File::open(&partial) {
            Ok(file) => read(&file, content).map(|found| found.is_some()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        };
        Ok(begins.with_context(|| partial.display().to_string())?)
    }

    /// Gives a complete file its final name, unless it has that name already.
    ///
    /// Returns false if neither name belongs to a file with this content.
    pub fn complete(path: &Path, content: LengthAndHash) -> Result<bool, Failure> {
        let partial = partial_path(path);
        let place = || path.display().to_string();
        if let Some(file) = exclusive_file::open(&partial)?
            && file.metadata().with_context(place)?.len() == content.0
            && read(&file, content).with_context(place)?.is_some()
        {
            Self::name(path)?;
            return Ok(true);
        }
        Self::is_complete(path, content)
    }

    /// Gives a file that was synced and closed its final name, and the permissions of the file that
    /// it replaces.
    pub fn name(path: &Path) -> Result<(), Failure> {
        let partial = partial_path(path);
        if let Ok(before) = fs::metadata(path) {
            let kept = fs::set_permissions(&partial, before.permissions());
            kept.with_context(|| partial.display().to_string())?;
        }
        let named = fs::rename(partial, path).and_then(|()| sync_folder(path));
        Ok(named.with_context(|| path.display().to_string())?)
    }

    /// Whether a file has its final name and this content, and no more.
    pub fn is_complete(path: &Path, content: LengthAndHash) -> Result<bool, Failure> {
        let whole = fs::metadata(path).is_ok_and(|found| found.len() == content.0);
        let read = |file: File| read(&file, content);
        let place = || path.display().to_string();
        Ok(whole && File::open(path).and_then(read).with_context(place)?.is_some())
    }

    /// The length and hash of a file that has its final name; `None` if there is none.
    pub fn content_of(path: &Path) -> Result<Option<LengthAndHash>, Failure> {
        let place = || path.display().to_string();
        let mut file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.with_context(place)?,
        };
        let mut hash = HashWriter(Xxh3::new());
        let length = io::copy(&mut file, &mut hash).with_context(place)?;
        Ok(Some((length, hash.0.digest())))
    }

    /// Returns the last byte before compression, or `None` if nothing was written.
    pub fn last(&self) -> Option<u8> {
        self.last
    }

    /// Reads what was written from its start, as far as it is in the file. What is written later
    /// follows it.
    pub fn read_back<T>(
        &mut self,
        read: impl FnOnce(&mut dyn BufRead) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let place = || self.partial.display().to_string();
        let mut file = self.file.get_ref();
        file.seek(SeekFrom::Start(0)).with_context(place)?;
        let mut written = decompressed(&self.path, file.take(self.length)).with_context(place)?;
        let found = read(&mut written)?;
        file.seek(SeekFrom::End(0)).with_context(place)?;
        Ok(found)
    }

    /// Passes the file with all bytes that were written to a function that reads it at any place.
    #[cfg(feature = "tables")]
    pub fn read_anywhere<T>(
        &mut self,
        read: impl FnOnce(File) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let place = || self.partial.display().to_string();
        self.file.flush().with_context(place)?;
        let mut file = self.file.get_ref();
        let found = read(file.try_clone().with_context(place)?)?;
        file.seek(SeekFrom::End(0)).with_context(place)?;
        Ok(found)
    }

    /// Gives the file the names of another one, whose partial file it replaces.
    #[cfg(feature = "tables")]
    pub fn rename_to(&mut self, path: &Path) -> Result<(), Failure> {
        let partial = partial_path(path);
        let named = fs::rename(&self.partial, &partial).and_then(|()| sync_folder(&partial));
        named.with_context(|| partial.display().to_string())?;
        (self.partial, self.path) = (partial, path.to_owned());
        Ok(())
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.last = bytes.last().copied().or(self.last);
        match &mut self.compressor {
            None => self.put(bytes),
            Some(compressor) => {
                let ready = compressor.write(bytes);
                let ready = ready.with_context(|| self.partial.display().to_string())?;
                self.put(&ready)
            }
        }
    }

    /// Appends bytes to the file as they are.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.write_all(bytes).with_context(|| self.partial.display().to_string())?)
    }

    /// Ends the member of a compressed file: what follows can be decompressed on its own.
    pub fn end_member(&mut self) -> Result<(), Failure> {
        let Some(compressor) = &mut self.compressor else { return Ok(()) };
        let rest = compressor.end(false).with_context(|| self.partial.display().to_string())?;
        self.put(&rest)
    }

    /// Makes the written bytes durable, and returns the length and hash of the file.
    pub fn sync(&mut self) -> Result<LengthAndHash, Failure> {
        if let Some(compressor) = &mut self.compressor {
            let rest = compressor.end(self.length == 0);
            let rest = rest.with_context(|| self.partial.display().to_string())?;
            self.put(&rest)?;
        }
        let synced = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
        synced.with_context(|| self.partial.display().to_string())?;
        Ok((self.length, self.hash.digest()))
    }

    /// Makes the file durable and gives it its final name.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.sync()?;
        Self::name(&self.path)
    }

    /// Deletes the partial file of a run that has ended.
    pub fn forget(path: &Path) -> Result<(), Failure> {
        let partial = partial_path(path);
        Ok(fs::remove_file(&partial).with_context(|| partial.display().to_string())?)
    }

    /// Deletes the partial file, which no later run needs.
    pub fn discard(self) -> Result<(), Failure> {
        Ok(fs::remove_file(&self.partial).with_context(|| self.partial.display().to_string())?)
    }
}

/// Appends bytes to the file as they are, without compressing them.
impl Write for PartialFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.length += written as u64;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Hashes what is written to it.
struct HashWriter(Xxh3);

impl Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The last byte of a stream.
fn last_byte(stream: &mut dyn BufRead) -> io::Result<Option<u8>> {
    let mut last = None;
    loop {
        let bytes = stream.fill_buf()?;
        let Some(byte) = bytes.last().copied() else { return Ok(last) };
        last = Some(byte);
        let count = bytes.len();
        stream.consume(count);
    }
}

/// Hashes the first `length` bytes of a file. Returns the hasher and the last of these bytes.
///
/// Returns `None` if the file is shorter or has another hash.
fn read(
    mut file: &File,
    (length, hash): LengthAndHash,
) -> io::Result<Option<(Box<Xxh3>, Option<u8>)>> {
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::with_capacity(1 << 18, file.take(length));
    let (mut found, mut read, mut last) = (Box::new(Xxh3::new()), 0, None);
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            break;
        }
        found.update(bytes);
        last = bytes.last().copied();
        let count = bytes.len();
        read += count as u64;
        reader.consume(count);
    }
    Ok((read == length && found.digest() == hash).then_some((found, last)))
}

/// Creates the folders above a file that are not there, and makes their names durable.
pub fn create_folders(path: &Path) -> Result<(), Failure> {
    let missing: Vec<_> = path
        .ancestors()
        .skip(1)
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .collect();
    for folder in missing.into_iter().rev() {
        let created = fs::create_dir(folder).and_then(|()| sync_folder(folder));
        created.with_context(|| folder.display().to_string())?;
    }
    Ok(())
}

/// Returns the temporary name of a file that is not complete.
pub fn partial_path(path: &Path) -> PathBuf {
    with_suffix(path, ".part")
}

/// Appends a suffix to the file name of a path.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// An open output: a file, a stream, or nothing.
pub enum OutputWriter {
    /// A file that gets its final name when it is complete.
    File(Box<PartialFile>),
    /// Standard output, a pipe or a device, with its name for messages. It cannot be resumed.
    Stream(BufWriter<Box<dyn Write>>, String),
    /// Discards everything.
    Nowhere,
}

impl OutputWriter {
    /// Whether nothing is written.
    pub const fn is_nowhere(&self) -> bool {
        matches!(self, Self::Nowhere)
    }

    /// Opens standard output, a pipe or a device.
    pub fn stream(path: &Path) -> Result<Self, Failure> {
        let (stream, name): (Box<dyn Write>, _) = if is_standard_output(path) {
            (Box::new(io::stdout()), "standard output".to_owned())
        } else {
            let name = path.display().to_string();
            let file = OpenOptions::new().write(true).open(path);
            (Box::new(file.with_context(|| name.clone())?), name)
        };
        Ok(Self::Stream(BufWriter::with_capacity(1 << 16, stream), name))
    }

    /// Writes bytes. A closed pipe gives [`Failure::BrokenPipe`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Self::File(file) => file.as_mut().write(bytes),
            Self::Stream(stream, name) => {
                stream.write_all(bytes).map_err(|error| failed(name, &error))
            }
            Self::Nowhere => Ok(()),
        }
    }

    /// Ends the member of a compressed file.
    pub fn end_member(&mut self) -> Result<(), Failure> {
        match self {
            Self::File(file) => file.as_mut().end_member(),
            Self::Stream(..) | Self::Nowhere => Ok(()),
        }
    }

    /// Flushes a stream, or makes a file durable and returns its length and hash.
    ///
    /// Returns `None` for anything but a file, as only a file can be resumed.
    pub fn sync(&mut self) -> Result<Option<LengthAndHash>, Failure> {
        match self {
            Self::File(file) => file.sync().map(Some),
            Self::Stream(stream, name) => {
                stream.flush().map_err(|error| failed(name, &error))?;
                Ok(None)
            }
            Self::Nowhere => Ok(None),
        }
    }

    /// Deletes what was written of a file, which no later run needs.
    pub fn discard(self) -> Result<(), Failure> {
        match self {
            Self::File(file) => file.discard(),
            Self::Stream(..) | Self::Nowhere => Ok(()),
        }
    }

    /// Completes the output: a file gets its final name.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.sync()?;
        match self {
            Self::File(file) => file.finish(),
            Self::Stream(..) | Self::Nowhere => Ok(()),
        }
    }
}

/// Converts an error of a stream.
fn failed(name: &str, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
        _ => anyhow!("{name}: {error}").into(),
    }
}

/// The error for a file that is not as the interrupted run has left it.
pub(crate) fn changed_error(file: &Path) -> Failure {
    let file = file.display();
    anyhow!("{file}: is not as the interrupted run has left it; --restart starts over").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(path: &Path) -> String {
        fs::read_to_string(path).expect("a file")
    }

    fn put(file: &mut PartialFile, text: &str) -> LengthAndHash {
        assert!(file.write(text.as_bytes()).is_ok());
        file.sync().ok().expect("synced")
    }

    fn resumed(path: &Path, content: LengthAndHash) -> Option<PartialFile> {
        PartialFile::resume(path, content).ok().expect("readable")
    }

    #[test]
    fn a_resumed_file_continues_after_the_synced_content_and_gets_its_name_at_the_end() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out");
        let mut file = PartialFile::create(&path).ok().expect("created");
        let begun = put(&mut file, "one\n");
        put(&mut file, "two\nthr");
        drop(file);
        assert!(!path.exists());
        let other = (4, begun.1 ^ 1);
        assert!(resumed(&path, other).is_none(), "other bytes than there were");
        assert!(resumed(&path, (40, begun.1)).is_none(), "more than there are");
        let mut file = resumed(&path, begun).expect("it is there");
        assert_eq!(file.last(), Some(b'\n'));
        let whole = put(&mut file, "2\n");
        assert!(file.finish().is_ok());
        assert_eq!(content(&path), "one\n2\n");
        assert!(resumed(&path, whole).is_none(), "what has its name is left alone");
        assert!(PartialFile::complete(&path, whole).ok().expect("readable"));
        assert!(!PartialFile::complete(&path, begun).ok().expect("readable"), "another file");
    }

    #[test]
    fn a_complete_file_gets_its_final_name_once() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out");
        fs::write(&path, "of an earlier run").expect("written");
        let mut file = PartialFile::create(&path).ok().expect("created");
        let whole = put(&mut file, "one\n");
        drop(file);
        for _ in 0..2 {
            assert!(PartialFile::complete(&path, whole).ok().expect("readable"));
            assert_eq!(content(&path), "one\n");
        }
    }
    #[test]
    fn a_file_that_has_more_than_was_stored_of_it_is_not_complete() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out");
        let mut file = PartialFile::create(&path).ok().expect("created");
        let (empty, begun) = (put(&mut file, ""), put(&mut file, "one\n"));
        put(&mut file, "two\n");
        drop(file);
        for less in [empty, begun] {
            assert!(!PartialFile::complete(&path, less).ok().expect("readable"));
            assert!(!path.exists());
        }
    }
}
