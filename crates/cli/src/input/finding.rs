//! Finds the files of a command's inputs, in order, and tells what each of them holds.

use super::compression::{self, Decompressed};
use super::encoding::decoding;
use super::file_identity::FileIdentity;
use super::foreign;
use super::format::{self, Format};
use super::input_file::InputFile;
use super::inputs::{Inputs, is_standard_input};
use super::path_id::{id_below, id_of};
use super::record::BadRecord;
use super::walk::Walk;
use crate::remote::{Looked, RemoteFile, address, look};
use std::collections::{HashSet, VecDeque};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Finds inputs in order: those that were named, and the files of directories.
pub struct Finding {
    inputs: Arc<Inputs>,
    left_out: Vec<FileIdentity>,
    waiting: VecDeque<PathBuf>,
    walk: Option<Walking>,
    /// The names of the directories that were given.
    roots: HashSet<String>,
    /// What was found of the inputs and is not said yet.
    notes: Vec<String>,
    /// Whether it was said that a text seems to be records.
    told_of_records: bool,
}

/// A directory that is being walked, and how many files it has, of records and of texts.
struct Walking {
    root: Arc<Path>,
    walk: Walk,
    files: u64,
    data: u64,
    texts: u64,
    /// Whether some of it could not be read.
    has_failed: bool,
}

impl Walking {
    /// What to say of a directory without a file, and of one that has both: a file that is no text
    /// to its owner may be one.
    fn note(&self) -> Option<String> {
        let Self { root, files, data, texts, has_failed, .. } = self;
        if *files == 0 && !has_failed {
            let root = root.display();
            return Some(format!(
                "{root}: has no file to read; hidden ones, and those that .gitignore or --glob \
                 leaves out, are passed over"
            ));
        }
        (*data > 0 && *texts > 0).then(|| {
            format!(
                "{}: has {} of records, and every other file ({texts}) is taken as one text; \
                 choose with --glob if that is not meant",
                root.display(),
                if *data == 1 { "1 file".to_owned() } else { format!("{data} files") },
            )
        })
    }
}

/// An input that was found.
pub struct Found {
    /// Its path.
    pub path: PathBuf,
    /// The directory in which it was found; `None` if it was named itself.
    pub root: Option<Arc<Path>>,
    /// What it holds.
    pub holds: Holds,
    /// Its bytes, if it can be read again.
    pub size: Option<u64>,
    /// What is known of it if it lies behind an address.
    pub(super) remote: Option<Arc<RemoteFile>>,
}

/// A path, the directory in which it was found, and what is known of it behind an address.
struct Named {
    path: PathBuf,
    root: Option<Arc<Path>>,
    remote: Option<Arc<RemoteFile>>,
}

/// What an input holds.
#[derive(Clone, Copy, Debug)]
pub enum Holds {
    /// One text.
    Text {
        /// The bytes of the file.
        size: u64,
        /// Whether it must be FASTA.
        fasta: bool,
    },
    /// A stream of records, which is opened and read on one thread.
    Records(Format),
}

/// What a path leads to.
enum PathKind {
    Directory,
    /// With its bytes, if it can be read again.
    Input(Holds, Option<u64>),
}

impl Found {
    /// The name of its records without an id.
    pub(super) fn name(&self) -> String {
        match (&self.root, self.holds) {
            (Some(root), Holds::Records(format)) if format.is_data() => id_below(root, &self.path),
            _ => id_of(&self.path),
        }
    }

    /// Its path below the directory in which it was found, or its file name.
    pub fn below(&self) -> &Path {
        let below = self.root.as_ref().and_then(|root| self.path.strip_prefix(root).ok());
        below.or_else(|| self.path.file_name().map(Path::new)).unwrap_or(&self.path)
    }
}

impl Finding {
    /// Prepares to find these inputs.
    pub fn new(inputs: Arc<Inputs>) -> Self {
        let left_out = inputs.leave_out.iter();
        let left_out = left_out.filter_map(|path| FileIdentity::of_path(path)).collect();
        let waiting = inputs.paths.iter().cloned().collect();
        let (roots, notes) = (HashSet::new(), Vec::new());
        Self { inputs, left_out, waiting, walk: None, roots, notes, told_of_records: false }
    }

    /// What was found of the inputs since it was asked last.
    pub fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// The next path, and the directory in which it was found.
    fn next_path(&mut self) -> Option<Result<Named, BadRecord>> {
        while let Some(walking) = &mut self.walk {
            match walking.walk.next() {
                Some(Ok((path, remote))) => {
                    walking.files += 1;
                    let root = Some(Arc::clone(&walking.root));
                    return Some(Ok(Named { path, root, remote }));
                }
                Some(Err(bad)) => {
                    walking.has_failed = true;
                    return Some(Err(bad));
                }
                None => {
                    self.notes.extend(walking.note());
                    self.walk = None;
                }
            }
        }
        self.waiting.pop_front().map(|path| Ok(Named { path, root: None, remote: None }))
    }

    /// Begins to walk a directory.
    fn enter(&mut self, root: &Path) -> Result<(), BadRecord> {
        if !self.inputs.id_hash && !self.roots.insert(id_below(root, root)) {
            return Err(BadRecord {
                place: root.display().to_string(),
                cause:
                    "has the same name as another folder of this run, and records without an id \
                        get that name; name the folder above both, or say --id hash"
                        .to_owned(),
            });
        }
        let walk = Walk::new(root, &self.inputs.walking)?;
        let (root, files, data, texts, has_failed) = (Arc::from(root), 0, 0, 0, false);
        self.walk = Some(Walking { root, walk, files, data, texts, has_failed });
        Ok(())
    }

    /// Whether a path is that of a file to leave out. It may not have been there at the beginning,
    /// and may be gone soon.
    fn is_written(&self, path: &Path) -> bool {
        let folder = |path: &Path| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            folder.unwrap_or(Path::new(".")).canonicalize().ok()
        };
        let same_name = |other: &&PathBuf| other.file_name() == path.file_name();
        let mut named = self.inputs.leave_out.iter().filter(same_name);
        named.any(|other| folder(other).is_some_and(|other| folder(path) == Some(other)))
    }

    /// What a path leads to; `None` for a file that is left out of a directory.
    fn look_at(&mut self, named: &mut Named) -> io::Result<Option<PathKind>> {
        let Named { path, root, remote } = named;
        let (path, in_directory) = (path.as_path(), root.is_some());
        let mut format = self.inputs.format;
        if is_standard_input(path) && !in_directory {
            return Ok(Some(PathKind::Input(Holds::Records(format), None)));
        }
        let (size, is_regular) = match address(path) {
            Some(address) if remote.is_none() => match look(address)? {
                Looked::Folder(_) => return Ok(Some(PathKind::Directory)),
                Looked::File(file) => (remote.insert(Arc::new(file)).size(), true),
            },
            Some(_) => (remote.as_ref().map_or(0, |file| file.size()), true),
            None => {
                if in_directory && self.is_written(path) {
                    return Ok(None);
                }
                let found = std::fs::metadata(path)?;
                if found.is_dir() {
                    return Ok(Some(PathKind::Directory));
                }
                let identity = FileIdentity::of(path, &found);
                let is_left_out = identity.is_some_and(|found| self.left_out.contains(&found));
                if in_directory && is_left_out {
                    return Ok(None);
                }
                (found.len(), found.is_file())
            }
        };
        if format == Format::Auto {
            format = self.by_name(path, in_directory);
        }
        // Only a regular file can be read twice.
        let by_content = format == Format::Auto || format == Format::Text && !in_directory;
        if self.inputs.format == Format::Auto && by_content && is_regular {
            // A file that cannot be read is reported when it is read as a text.
            let file = remote.clone().map_or_else(|| InputFile::open(path), |file| Ok(file.into()));
            let found = file.and_then(|file| self.by_content(path, &file, format));
            format = found.unwrap_or(Format::Text);
        }
        let holds = match format {
            Format::Text => Holds::Text { size, fasta: false },
            Format::Fasta if is_regular => Holds::Text { size, fasta: true },
            format => Holds::Records(format),
        };
        Ok(Some(PathKind::Input(holds, is_regular.then_some(size))))
    }

    /// The format by the name of a file. FASTA is plain text unless texts are sequences.
    fn by_name(&self, path: &Path, in_directory: bool) -> Format {
        let by_name = if in_directory { format::by_name_in_directory } else { format::by_name };
        match by_name(path) {
            Format::Fasta if !self.inputs.sequences => Format::Text,
            format => format,
        }
    }

    /// The format by the first bytes of a file, which its name does not tell. A file that is a text
    /// by its name may still be a table by columns.
    fn by_content(&mut self, path: &Path, file: &InputFile, by_name: Format) -> io::Result<Format> {
        let Decompressed { mut start, mut rest } =
            compression::open(file.stream()?, compression::is_named(path))?;
        match foreign::look(&mut rest, &mut start, self.inputs.encoding.is_some())? {
            // A text about WARC may begin like it.
            Some(Format::Warc) if by_name == Format::Text => return Ok(Format::Text),
            Some(found) => return Ok(found),
            None => {}
        }
        let most = self.inputs.most;
        let is_plain = by_name == Format::Auto && self.inputs.encoding.is_none();
        if foreign::is_export(&start)
            || is_plain && format::refuse_data(&mut rest, &mut start, most).is_err()
        {
            // Opening it as records says what it is.
            return Ok(Format::Auto);
        }
        if by_name == Format::Text
            && !self.told_of_records
            && format::begins_with_objects(&mut rest, &mut start, most)?
        {
            self.told_of_records = true;
            self.notes.push(format!(
                "{}: begins like JSON Lines and is taken as one text, because of its name; if it \
                 is JSON Lines, say --format jsonl",
                path.display()
            ));
        }
        let is_records = match self.inputs.encoding {
            _ if by_name != Format::Auto => false,
            None => format::begins_with_an_object(&mut rest, &mut start, most)?,
            Some(encoding) => {
                let mut text = decoding(Cursor::new(start).chain(rest), encoding);
                format::begins_with_an_object(&mut text, &mut Vec::new(), most)?
            }
        };
        Ok(if is_records { Format::JsonLines } else { Format::Text })
    }
}

/// Yields the next input. What cannot be read is an error; the next one follows it.
impl Iterator for Finding {
    type Item = Result<Found, BadRecord>;

    fn next(&mut self) -> Option<Result<Found, BadRecord>> {
        loop {
            let mut named = match self.next_path()? {
                Ok(named) => named,
                Err(bad) => return Some(Err(bad)),
            };
            let (holds, size) = match self.look_at(&mut named) {
                Ok(None) => continue,
                Ok(Some(PathKind::Directory)) => match self.enter(&named.path) {
                    Ok(()) => continue,
                    Err(bad) => return Some(Err(bad)),
                },
                Ok(Some(PathKind::Input(holds, size))) => (holds, size),
                Err(error) => {
                    let place = named.path.display().to_string();
                    return Some(Err(BadRecord { place, cause: error.to_string() }));
                }
            };
            if let Some(walking) = &mut self.walk {
                match holds {
                    Holds::Records(format) if format.is_data() => walking.data += 1,
                    Holds::Records(_) | Holds::Text { .. } => walking.texts += 1,
                }
            }
            let Named { path, root, remote } = named;
            return Some(Ok(Found { path, root, holds, size, remote }));
        }
    }
}
