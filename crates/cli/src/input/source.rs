//! Reads the inputs of a command: files, directories, standard input.

use super::batch::Batch;
use super::compression::{self, Decompressed};
use super::counted::Density;
use super::encoding::decoding;
use super::file_identity::FileIdentity;
use super::files::WholeFile;
use super::foreign;
use super::format::{self, Format};
use super::inputs::{Inputs, is_standard_input};
use super::open::OpenStream;
use super::path_id::{id_below, id_of};
use super::record::BadRecord;
use super::walk;
use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads inputs in order, as batches of raw records.
pub struct Reading {
    inputs: Inputs,
    left_out: Vec<FileIdentity>,
    waiting: VecDeque<PathBuf>,
    walk: Option<Walking>,
    /// The names of the directories that were given.
    roots: HashSet<String>,
    /// A file that waits until the files before it were passed on.
    held_back: Option<Found>,
    /// What was found of the inputs and is not said yet.
    notes: Vec<String>,
    open: Option<OpenStream>,
    /// An error to report after the files that were found before it.
    bad: Option<BadRecord>,
    /// The bytes of streams that were read since the last batch.
    counter: Arc<AtomicU64>,
    /// How many records the open stream has for its bytes.
    density: Density,
}

/// The most whole files in a batch: enough for all threads.
const FILES: usize = 64;

/// A directory that is being walked, and how many files of records and texts it has.
struct Walking {
    root: Arc<Path>,
    walk: ignore::Walk,
    data: u64,
    texts: u64,
}

impl Walking {
    /// What to say of a directory that has both: a file that is no text to its owner may be one.
    fn note(&self) -> Option<String> {
        let Self { root, data, texts, .. } = self;
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

/// A path, and the directory in which it was found.
struct Found {
    path: PathBuf,
    root: Option<Arc<Path>>,
}

/// What a path leads to.
enum PathKind {
    Directory,
    /// A file of this many bytes that is one text, and whether it must be FASTA.
    Text(u64, bool),
    /// A stream that is opened and read on this thread.
    Stream(Format),
}

impl Reading {
    /// Prepares to read these inputs.
    pub fn new(inputs: Inputs) -> Self {
        let left_out = inputs.leave_out.iter();
        let left_out = left_out.filter_map(|path| FileIdentity::of_path(path)).collect();
        let waiting = inputs.paths.iter().cloned().collect();
        let counter = Arc::default();
        let (walk, held_back, open, bad) = (None, None, None, None);
        let (roots, notes, density) = (HashSet::new(), Vec::new(), Density::default());
        Self {
            inputs,
            left_out,
            waiting,
            walk,
            roots,
            held_back,
            notes,
            open,
            bad,
            counter,
            density,
        }
    }

    /// Takes account of the records of the last batch. A compressed stream that has more records
    /// than its size can explain is given up before the next batch.
    pub fn took(&mut self, records: u64) {
        let refused = self.density.add(records);
        if let Some(open) = self.open.take_if(|_| refused.is_some()) {
            let place = open.place().to_owned();
            self.bad = refused.map(|cause| BadRecord { place, cause });
        }
    }

    /// The bytes on disk of all inputs; `None` unless all are files.
    pub fn expected_bytes(&self) -> Option<u64> {
        let sizes = self.inputs.paths.iter().map(|path| {
            let found = std::fs::metadata(path).ok()?;
            found.is_file().then_some(found.len())
        });
        sizes.sum()
    }

    fn next_batch(&mut self) -> Option<Batch> {
        let mut files = Vec::new();
        loop {
            match self.open.as_mut().map(OpenStream::next) {
                None => {}
                Some(Ok(Some(batch))) => return Some(batch),
                Some(Ok(None)) => self.open = None,
                Some(Err(bad)) => {
                    self.open = None;
                    self.bad = Some(bad);
                }
            }
            if self.bad.is_none() && files.len() < FILES && self.find_more(&mut files) {
                continue;
            }
            if !files.is_empty() {
                return Some(Batch::Files(files, self.inputs.most));
            }
            if let Some(bad) = self.bad.take() {
                return Some(Batch::Bad(bad));
            }
            let more = self.held_back.is_some() || self.walk.is_some() || !self.waiting.is_empty();
            if self.open.is_none() && !more {
                return None;
            }
        }
    }

    /// What was found of the inputs since it was asked last, unless they are quiet.
    pub fn notes(&mut self) -> Vec<String> {
        let notes = std::mem::take(&mut self.notes);
        if self.inputs.quiet { Vec::new() } else { notes }
    }

    /// Takes the next path; returns whether to continue before passing on `files`.
    fn find_more(&mut self, files: &mut Vec<WholeFile>) -> bool {
        let held_back = self.held_back.take();
        let is_new = held_back.is_none();
        let found = match (held_back, &mut self.walk) {
            (Some(found), _) => found,
            (None, Some(walking)) => match walking.walk.next() {
                Some(Ok(entry)) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    Found { path: entry.into_path(), root: Some(Arc::clone(&walking.root)) }
                }
                Some(Ok(_)) => return true,
                Some(Err(error)) => {
                    self.bad = Some(walk::bad(&walking.root, &error));
                    return false;
                }
                None => {
                    self.notes.extend(walking.note());
                    self.walk = None;
                    return true;
                }
            },
            (None, None) => match self.waiting.pop_front() {
                Some(path) => Found { path, root: None },
                None => return false,
            },
        };
        let Found { path, root } = &found;
        let bad = |error: io::Error| {
            let place = path.display().to_string();
            BadRecord { place, cause: error.to_string() }
        };
        let kind = self.look_at(path, root.is_some());
        if let (true, Some(walking), Ok(Some(kind))) = (is_new, &mut self.walk, &kind) {
            match kind {
                PathKind::Stream(format) if format.is_data() => walking.data += 1,
                PathKind::Stream(_) | PathKind::Text(..) => walking.texts += 1,
                PathKind::Directory => {}
            }
        }
        let started = match kind {
            Ok(None) => return true,
            Ok(Some(PathKind::Directory)) if !self.roots.insert(id_below(path, path)) => {
                Err(BadRecord {
                    place: path.display().to_string(),
                    cause: "has the same name as another folder of this run, and records without an id \
                            get that name; name the folder above both, or run once for each"
                        .to_owned(),
                })
            }
            Ok(Some(PathKind::Directory)) => match self.inputs.walking.walk(path) {
                Ok(walk) => {
                    let root = Arc::from(path.as_path());
                    self.walk = Some(Walking { root, walk, data: 0, texts: 0 });
                    Ok(())
                }
                Err(error) => Err(walk::bad(path, &error)),
            },
            Ok(Some(PathKind::Text(size, fasta))) => {
                let encoding = self.inputs.encoding;
                files.push(WholeFile { path: found.path, size, fasta, encoding });
                return true;
            }
            // The files before it come first.
            Ok(Some(PathKind::Stream(_))) if !files.is_empty() => {
                self.held_back = Some(found);
                return false;
            }
            Ok(Some(PathKind::Stream(_))) if path.to_str().is_none() => {
                let place = path.display().to_string();
                Err(BadRecord { place, cause: "its name is not valid UTF-8".to_owned() })
            }
            Ok(Some(PathKind::Stream(format))) => {
                let opened = match root {
                    None if is_standard_input(path) => {
                        self.inputs.open_standard_input(format, &self.counter)
                    }
                    root => {
                        let name = match root {
                            Some(root) if format.is_data() => id_below(root, path),
                            _ => id_of(path),
                        };
                        let opened = self.inputs.open_file(path, format, name, &self.counter);
                        opened.map_err(bad).and_then(|opened| opened)
                    }
                };
                opened.map(|(open, density)| (self.open, self.density) = (Some(open), density))
            }
            Err(error) => Err(bad(error)),
        };
        if let Err(bad) = started {
            self.bad = Some(bad);
            return false;
        }
        true
    }

    /// What a path leads to; `None` for a file that is left out of a directory.
    fn look_at(&self, path: &Path, in_directory: bool) -> io::Result<Option<PathKind>> {
        let mut format = self.inputs.format;
        if is_standard_input(path) && !in_directory {
            return Ok(Some(PathKind::Stream(format)));
        }
        let found = std::fs::metadata(path)?;
        if found.is_dir() {
            return Ok(Some(PathKind::Directory));
        }
        let identity = FileIdentity::of(path, &found);
        if in_directory && identity.is_some_and(|identity| self.left_out.contains(&identity)) {
            return Ok(None);
        }
        if format == Format::Auto {
            format = self.by_name(path, in_directory);
        }
        // Only a regular file can be read twice.
        let by_content = format == Format::Auto || format == Format::Text && !in_directory;
        if self.inputs.format == Format::Auto && by_content && found.is_file() {
            // A file that cannot be read is reported when it is read as a text.
            format = self.by_content(path, format).unwrap_or(Format::Text);
        }
        Ok(Some(match format {
            Format::Text => PathKind::Text(found.len(), false),
            Format::Fasta if found.is_file() => PathKind::Text(found.len(), true),
            format => PathKind::Stream(format),
        }))
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
    fn by_content(&self, path: &Path, by_name: Format) -> io::Result<Format> {
        let file = File::open(path)?;
        let Decompressed { mut start, mut rest } =
            compression::open(file, compression::is_named(path))?;
        match foreign::look(&mut rest, &mut start, self.inputs.encoding.is_some())? {
            // A text about WARC may begin like it.
            Some(Format::Warc) if by_name == Format::Text => return Ok(Format::Text),
            Some(found) => return Ok(found),
            None => {}
        }
        let most = self.inputs.most;
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

/// Yields the next batch, and the bytes of input that were read for it, before decompression. An
/// input that cannot be read is a batch of its own; reading then continues with the next input.
impl Iterator for Reading {
    type Item = (Batch, u64);

    fn next(&mut self) -> Option<(Batch, u64)> {
        let batch = self.next_batch()?;
        let of_files = match &batch {
            Batch::Files(files, _) => files.iter().map(|file| file.size).sum(),
            _ => 0,
        };
        Some((batch, of_files + self.counter.swap(0, Ordering::Relaxed)))
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
