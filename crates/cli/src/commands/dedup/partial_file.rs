//! Files that are written beside and appear when they are complete, or grow where that cannot be.

use crate::commands::dedup::targets::Target;
use crate::input::STANDARD_INPUT;
use crate::run::failure::Failure;
use anyhow::{Context, anyhow};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// How many bytes a file has, and their hash.
pub type Content = (u64, u64);

/// A file that is written under another name until it is complete.
pub struct Part {
    file: BufWriter<File>,
    part: PathBuf,
    path: PathBuf,
    length: u64,
    hash: Box<Xxh3>,
    last: Option<u8>,
}

impl Part {
    /// Begins anew.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let part = part_of(path);
        let place = || part.display().to_string();
        let file = File::create(&part).with_context(place)?;
        sync_folder(&part).with_context(place)?;
        Ok(Self::new(file, path, Box::new(Xxh3::new()), 0, None))
    }

    fn new(file: File, path: &Path, hash: Box<Xxh3>, length: u64, last: Option<u8>) -> Self {
        let file = BufWriter::with_capacity(1 << 16, file);
        Self { file, part: part_of(path), path: path.to_owned(), length, hash, last }
    }

    /// Goes on with what a run left that was stopped, and cuts off what came after this content.
    /// `None`, and nothing is changed, if it is not there.
    pub fn resume(path: &Path, content: Content) -> Result<Option<Self>, Failure> {
        let part = part_of(path);
        let place = || part.display().to_string();
        let Some((hash, last)) = read(&part, content).with_context(place)? else {
            return Ok(None);
        };
        let open = || -> io::Result<File> {
            let mut file = OpenOptions::new().write(true).open(&part)?;
            file.set_len(content.0)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().with_context(place)?;
        Ok(Some(Self::new(file, path, hash, content.0, last)))
    }

    /// Gives a file its name that a run has completed, if it has not got it. False if it is not there.
    pub fn complete(path: &Path, content: Content) -> Result<bool, Failure> {
        let part = part_of(path);
        let place = || path.display().to_string();
        if read(&part, content).with_context(place)?.is_some() {
            fs::rename(&part, path).and_then(|()| sync_folder(path)).with_context(place)?;
            return Ok(true);
        }
        let length = |found: fs::Metadata| found.len();
        let whole = fs::metadata(path).is_ok_and(|found| length(found) == content.0);
        Ok(whole && read(path, content).with_context(place)?.is_some())
    }

    /// The last byte.
    pub fn last(&self) -> Option<u8> {
        self.last
    }

    /// What is there already.
    pub fn reader(&self) -> Result<impl BufRead + use<>, Failure> {
        let file = File::open(&self.part).with_context(|| self.part.display().to_string())?;
        Ok(BufReader::new(file.take(self.length)))
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.length += bytes.len() as u64;
        self.hash.update(bytes);
        self.last = bytes.last().copied().or(self.last);
        Ok(self.file.write_all(bytes).with_context(|| self.part.display().to_string())?)
    }

    /// Makes durable what was written, and returns what that is.
    pub fn sync(&mut self) -> Result<Content, Failure> {
        let synced = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
        synced.with_context(|| self.part.display().to_string())?;
        Ok((self.length, self.hash.digest()))
    }

    /// Gives it its name.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.sync()?;
        let named = fs::rename(&self.part, &self.path).and_then(|()| sync_folder(&self.path));
        Ok(named.with_context(|| self.path.display().to_string())?)
    }

    /// Deletes it: its content was printed.
    pub fn discard(self) -> Result<(), Failure> {
        Ok(fs::remove_file(&self.part).with_context(|| self.part.display().to_string())?)
    }
}

/// Hashes the first bytes of a file; `None` if they are others, or if there are fewer.
fn read(path: &Path, (length, hash): Content) -> io::Result<Option<(Box<Xxh3>, Option<u8>)>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
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

/// Makes a new name durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match cfg!(unix) {
        true => File::open(folder.unwrap_or(Path::new(".")))?.sync_all(),
        false => Ok(()),
    }
}

/// The name of a file that is not complete yet.
pub fn part_of(path: &Path) -> PathBuf {
    with_suffix(path, ".part")
}

/// The path with something behind its name.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Where lines go.
pub enum Sink {
    Part(Part),
    /// Standard output, a pipe, a device: written as it comes, under this name.
    Stream(BufWriter<Box<dyn Write>>, String),
    Nowhere,
}

impl Sink {
    pub fn open(target: &Target) -> Result<Self, Failure> {
        let path = match target {
            Target::File(path) => return Part::create(path).map(Self::Part),
            Target::Stream(path) => path,
        };
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

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Part(part) => part.write(bytes),
            Self::Stream(stream, name) => {
                stream.write_all(bytes).map_err(|error| failed(name, &error))
            }
            Self::Nowhere => Ok(()),
        }
    }

    /// Makes durable what was written; what that is, where it can be gone on from.
    pub fn sync(&mut self) -> Result<Option<Content>, Failure> {
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
    pub fn finish(mut self) -> Result<(), Failure> {
        self.sync()?;
        match self {
            Self::Part(part) => part.finish(),
            Self::Stream(..) | Self::Nowhere => Ok(()),
        }
    }
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

    fn put(part: &mut Part, text: &str) -> Content {
        assert!(part.write(text.as_bytes()).is_ok());
        part.sync().ok().expect("synced")
    }

    fn resumed(path: &Path, content: Content) -> Option<Part> {
        Part::resume(path, content).ok().expect("readable")
    }

    #[test]
    fn an_output_goes_on_where_it_was_and_appears_at_the_end() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out");
        let mut part = Part::create(&path).ok().expect("created");
        let begun = put(&mut part, "one\n");
        put(&mut part, "two\nthr");
        drop(part);
        assert!(!path.exists());
        let other = (4, begun.1 ^ 1);
        assert!(resumed(&path, other).is_none(), "other bytes than there were");
        assert!(resumed(&path, (40, begun.1)).is_none(), "more than there are");
        let mut part = resumed(&path, begun).expect("it is there");
        assert_eq!(part.last(), Some(b'\n'));
        let whole = put(&mut part, "2\n");
        assert!(part.finish().is_ok());
        assert_eq!(content(&path), "one\n2\n");
        assert!(resumed(&path, whole).is_none(), "what has its name is left alone");
        assert!(Part::complete(&path, whole).ok().expect("readable"));
        assert!(!Part::complete(&path, begun).ok().expect("readable"), "another file");
    }

    #[test]
    fn what_is_complete_gets_its_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out");
        fs::write(&path, "of an earlier run").expect("written");
        let mut part = Part::create(&path).ok().expect("created");
        let whole = put(&mut part, "one\n");
        drop(part);
        for _ in 0..2 {
            assert!(Part::complete(&path, whole).ok().expect("readable"));
            assert_eq!(content(&path), "one\n");
        }
    }
}
