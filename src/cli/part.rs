//! Files that are written beside and appear when they are complete, or grow where that cannot be.

use super::failure::Failure;
use crate::input::STANDARD_INPUT;
use anyhow::{Context, anyhow};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file that is written under another name until it is complete.
pub(super) struct Part {
    file: BufWriter<File>,
    part: PathBuf,
    path: PathBuf,
    length: u64,
}

impl Part {
    /// Begins anew.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let part = part_of(path);
        let file = File::create(&part).with_context(|| part.display().to_string())?;
        Ok(Self::new(file, part, path, 0))
    }

    fn new(file: File, part: PathBuf, path: &Path, length: u64) -> Self {
        Self { file: BufWriter::with_capacity(1 << 16, file), part, path: path.to_owned(), length }
    }

    /// Goes on with what a run left that was stopped, from this length on. `None` if it is not there.
    pub(super) fn resume(path: &Path, length: u64) -> Result<Option<Self>, Failure> {
        let part = part_of(path);
        let has = |path: &Path| fs::metadata(path).ok().map(|found| found.len());
        if has(&part).is_none() && has(path) == Some(length) {
            // It was stopped after this had its name.
            fs::rename(path, &part).with_context(|| path.display().to_string())?;
        }
        if has(&part).is_none_or(|there| there < length) {
            return Ok(None);
        }
        let open = || -> io::Result<File> {
            let mut file = OpenOptions::new().read(true).write(true).open(&part)?;
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().with_context(|| part.display().to_string())?;
        Ok(Some(Self::new(file, part, path, length)))
    }

    /// Its last byte.
    pub(super) fn last(&self) -> Result<Option<u8>, Failure> {
        let Some(at) = self.length.checked_sub(1) else { return Ok(None) };
        let mut last = [0; 1];
        let mut read = || {
            let mut file = File::open(&self.part)?;
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(&mut last)
        };
        read().with_context(|| self.part.display().to_string())?;
        Ok(Some(last[0]))
    }

    /// What is there already.
    pub(super) fn reader(&self) -> Result<impl Read + use<>, Failure> {
        let file = File::open(&self.part).with_context(|| self.part.display().to_string())?;
        Ok(file.take(self.length))
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.length += bytes.len() as u64;
        Ok(self.file.write_all(bytes).with_context(|| self.part.display().to_string())?)
    }

    /// Makes durable what was written, and returns its length.
    pub(super) fn sync(&mut self) -> Result<u64, Failure> {
        let synced = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
        synced.with_context(|| self.part.display().to_string())?;
        Ok(self.length)
    }

    /// Gives it its name.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.sync()?;
        let place = || self.path.display().to_string();
        fs::rename(&self.part, &self.path).with_context(place)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if cfg!(unix) {
            let folder = File::open(folder.unwrap_or(Path::new(".")));
            folder.and_then(|folder| folder.sync_all()).with_context(place)?;
        }
        Ok(())
    }

    /// Deletes it: its content was printed.
    pub(super) fn discard(self) -> Result<(), Failure> {
        Ok(fs::remove_file(&self.part).with_context(|| self.part.display().to_string())?)
    }
}

/// The name of a file that is not complete yet.
pub(super) fn part_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".part");
    PathBuf::from(name)
}

/// Where lines go.
pub(super) enum Sink {
    Part(Part),
    /// Standard output, a pipe, a device: written as it comes, under this name.
    Stream(BufWriter<Box<dyn Write>>, String),
    Nowhere,
}

impl Sink {
    /// What has this name: standard output, a file to appear, or what is there and is no file.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        if is_file(path) {
            return Part::create(path).map(Self::Part);
        }
        let (stream, name): (Box<dyn Write>, _) = match path.as_os_str() == STANDARD_INPUT {
            true => (Box::new(io::stdout()), "standard output".to_owned()),
            false => {
                let name = path.display().to_string();
                let file = OpenOptions::new().write(true).open(path);
                (Box::new(file.with_context(|| name.clone())?), name)
            }
        };
        Ok(Self::Stream(BufWriter::with_capacity(1 << 16, stream), name))
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Part(part) => part.write(bytes),
            Self::Stream(stream, name) => {
                stream.write_all(bytes).map_err(|error| failed(name, &error))
            }
            Self::Nowhere => Ok(()),
        }
    }

    /// Makes durable what was written; its length, where that can be gone on from.
    pub(super) fn sync(&mut self) -> Result<Option<u64>, Failure> {
        match self {
            Self::Part(part) => part.sync().map(Some),
            Self::Stream(stream, name) => {
                stream.flush().map_err(|error| failed(name, &error))?;
                Ok(None)
            }
            Self::Nowhere => Ok(None),
        }
    }

    /// Lets a file appear.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.sync()?;
        match self {
            Self::Part(part) => part.finish(),
            Self::Stream(..) | Self::Nowhere => Ok(()),
        }
    }
}

/// Whether a path is that of a file, or of none yet.
pub(super) fn is_file(path: &Path) -> bool {
    let other = || fs::metadata(path).is_ok_and(|found| !found.is_file());
    path.as_os_str() != STANDARD_INPUT && !other()
}

fn failed(name: &str, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
        _ => anyhow!("{name}: {error}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(path: &Path) -> String {
        fs::read_to_string(path).expect("a file")
    }

    fn put(part: &mut Part, text: &str) {
        assert!(part.write(text.as_bytes()).is_ok());
        assert!(part.sync().is_ok());
    }

    fn resumed(path: &Path, length: u64) -> Option<Part> {
        Part::resume(path, length).ok().expect("readable")
    }

    #[test]
    fn an_output_goes_on_where_it_was_and_appears_at_the_end() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out");
        let mut part = Part::create(&path).ok().expect("created");
        put(&mut part, "one\ntwo\nthr");
        drop(part);
        assert!(!path.exists());
        let mut part = resumed(&path, 4).expect("it is there");
        put(&mut part, "2\n");
        assert!(part.finish().is_ok());
        assert_eq!(content(&path), "one\n2\n");
        assert!(resumed(&path, 5).is_none(), "another file of that name is left alone");
        assert!(resumed(&path, 6).is_some(), "stopped after it had its name");
        assert!(!path.exists());
        assert!(resumed(&path, 7).is_none(), "less than there was");
    }
}
