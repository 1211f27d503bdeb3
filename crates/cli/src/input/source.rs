//! Reads the inputs of a command: files, directories, standard input.

use super::batch::Batch;
use super::blocks::Blocks;
use super::compression::{self, Decompressed, DecompressedRest};
use super::counted::{Counted, Density};
use super::fasta::SequenceBlocks;
use super::file_identity::FileIdentity;
use super::files::WholeFile;
use super::foreign;
use super::format::{self, Format};
use super::json::Fields;
use super::lines::{LineFormat, LineParser};
use super::path_id::id_of;
use super::record::{BadRecord, Naming};
use super::rows::{RowBlock, RowBlocks};
use super::table::Table;
use super::walk::{self, WalkOptions};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The name of standard input among paths.
pub const STANDARD_INPUT: &str = "-";

/// The inputs to read, and how to read them.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Files, directories, or [`STANDARD_INPUT`].
    pub paths: Vec<PathBuf>,
    /// The format of all inputs.
    pub format: Format,
    /// Whether texts are sequences of DNA. Then [`Format::Auto`] recognizes FASTA.
    pub sequences: bool,
    /// The names of the fields that are read.
    pub fields: Fields,
    /// Whether a record of JSON or of a table must have an id, because its field was named.
    pub id_required: bool,
    /// The prefix of ids for records of standard input that have none; their line follows it.
    pub id_prefix: Option<String>,
    /// The most bytes of a record, after decompression. A record is a line, a file, a record of a
    /// table, or all of standard input as one text.
    pub most: usize,
    /// Which files of directories are read.
    pub walking: WalkOptions,
    /// The index and the output of the command. They are left out of directories.
    pub leave_out: Vec<PathBuf>,
}

/// Reads inputs in order, as batches of raw records.
pub struct Reading {
    inputs: Inputs,
    left_out: Vec<FileIdentity>,
    waiting: VecDeque<PathBuf>,
    walk: Option<(PathBuf, ignore::Walk)>,
    /// A path that waits until the files before it were passed on, and whether it was found in a
    /// directory.
    held_back: Option<(PathBuf, bool)>,
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

type CountedRest = DecompressedRest<Counted>;

/// A stream that is being read.
enum OpenStream {
    Lines(LineParser, Box<Blocks<CountedRest>>),
    Sequences(LineParser, Box<SequenceBlocks<CountedRest>>),
    /// A table, and whether its header was passed on. The header has a batch of its own, so that a
    /// table without rows has one, too.
    Rows(Arc<Table>, Box<RowBlocks<CountedRest>>, bool),
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
        let density = Density::default();
        Self { inputs, left_out, waiting, walk, held_back, open, bad, counter, density }
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

    /// Takes the next path; returns whether to continue before passing on `files`.
    fn find_more(&mut self, files: &mut Vec<WholeFile>) -> bool {
        let (path, in_directory) = match (self.held_back.take(), &mut self.walk) {
            (Some(held_back), _) => held_back,
            (None, Some((root, walk))) => match walk.next() {
                Some(Ok(entry)) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    (entry.into_path(), true)
                }
                Some(Ok(_)) => return true,
                Some(Err(error)) => {
                    self.bad = Some(walk::bad(root, &error));
                    return false;
                }
                None => {
                    self.walk = None;
                    return true;
                }
            },
            (None, None) => match self.waiting.pop_front() {
                Some(path) => (path, false),
                None => return false,
            },
        };
        let shown = path.display().to_string();
        let bad = |error: io::Error| BadRecord { place: shown.clone(), cause: error.to_string() };
        let started = match self.look_at(&path, in_directory) {
            Ok(None) => return true,
            Ok(Some(PathKind::Directory)) => match self.inputs.walking.walk(&path) {
                Ok(walk) => {
                    self.walk = Some((path, walk));
                    Ok(())
                }
                Err(error) => Err(walk::bad(&path, &error)),
            },
            Ok(Some(PathKind::Text(size, fasta))) => {
                files.push(WholeFile { path, size, fasta });
                return true;
            }
            // The files before it come first.
            Ok(Some(PathKind::Stream(_))) if !files.is_empty() => {
                self.held_back = Some((path, in_directory));
                return false;
            }
            Ok(Some(PathKind::Stream(format))) => match is_standard_input(&path) && !in_directory {
                true => self.start_standard_input(format),
                false => self.start(&path, format).map_err(bad).and_then(|open| open),
            }
            .map(|open| self.open = Some(open)),
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
        if format == Format::Auto && found.is_file() {
            // A file that cannot be read is reported when it is read as a text.
            format = match self.begins_with_an_object(path).unwrap_or(false) {
                true => Format::JsonLines,
                false => Format::Text,
            };
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

    /// Whether a record of this format must have an id.
    fn requires_id(&self, format: Format) -> bool {
        self.inputs.id_required && matches!(format, Format::JsonLines | Format::Csv | Format::Tsv)
    }

    fn begins_with_an_object(&self, path: &Path) -> io::Result<bool> {
        let file = File::open(path)?;
        let Decompressed { mut start, mut rest } =
            compression::open(file, compression::is_named(path))?;
        format::begins_with_an_object(&mut rest, &mut start, self.inputs.most)
    }

    /// Opens a file as a stream. The inner error names its place already.
    fn start(
        &mut self,
        path: &Path,
        mut format: Format,
    ) -> io::Result<Result<OpenStream, BadRecord>> {
        let file = File::open(path)?;
        let found = file.metadata()?;
        let left = if found.is_file() { found.len() } else { 0 };
        let file = Counted::new(Box::new(file), left, &self.counter);
        let bytes = file.bytes();
        let mut content = compression::open(file, compression::is_named(path))?;
        self.density = Density::of(content.is_packed().then_some(bytes));
        foreign::refuse(&mut content.rest, &mut content.start)?;
        let shown = path.display().to_string();
        if format == Format::Auto {
            let Decompressed { start, rest } = &mut content;
            format = match format::begins_with_an_object(rest, start, self.inputs.most)? {
                true => Format::JsonLines,
                false => Format::Text,
            };
        }
        let id = id_of(path);
        let naming = match format {
            Format::Text | Format::Fasta => Naming::Path(id),
            // The header of a table shows at once that the wrong column was named.
            Format::FastaRecords | Format::Csv | Format::Tsv => Naming::Required,
            Format::JsonLines if self.inputs.id_required => Naming::Required,
            _ => Naming::Prefix(id),
        };
        Ok(self.open(shown, content, format, naming))
    }

    fn start_standard_input(&mut self, mut format: Format) -> Result<OpenStream, BadRecord> {
        let shown = "standard input".to_owned();
        let input = Counted::new(Box::new(io::stdin()), 0, &self.counter);
        let bytes = input.bytes();
        let begun = compression::open(input, false).and_then(|mut content| {
            let Decompressed { start, rest } = &mut content;
            foreign::refuse(rest, start)?;
            if format == Format::Auto {
                format = match format::first_character(rest, start, self.inputs.most)? {
                    Some(b'{') => Format::JsonLines,
                    // FASTQ, which begins with @, is thus refused as a whole, not line by line.
                    Some(b'>' | b';' | b'@') if self.inputs.sequences => Format::Fasta,
                    _ => Format::Lines,
                };
            }
            Ok(content)
        });
        let naming = match &self.inputs.id_prefix {
            Some(prefix) => Naming::Prefix(prefix.clone()),
            None if self.requires_id(format) => Naming::Required,
            None => Naming::Automatic,
        };
        match begun {
            Ok(content) => {
                self.density = Density::of(content.is_packed().then_some(bytes));
                self.open(shown, content, format, naming)
            }
            Err(error) => Err(BadRecord { place: shown, cause: error.to_string() }),
        }
    }

    fn open(
        &self,
        path: String,
        content: Decompressed<Counted>,
        format: Format,
        naming: Naming,
    ) -> Result<OpenStream, BadRecord> {
        let most = self.inputs.most;
        let Decompressed { start, rest } = content;
        let format = match format {
            Format::Csv | Format::Tsv => {
                let delimiter = if format == Format::Csv { b',' } else { b'\t' };
                let mut rows = RowBlocks::new(rest, start, delimiter, most);
                let fields = &self.inputs.fields;
                let table = Table::begin(&mut rows, path, delimiter, fields, naming, most)?;
                return Ok(OpenStream::Rows(Arc::new(table), Box::new(rows), false));
            }
            Format::FastaRecords => {
                let mut sequences = SequenceBlocks::new(rest, start, most);
                let io =
                    |error: io::Error| BadRecord { place: path.clone(), cause: error.to_string() };
                if let Err((line, cause)) = sequences.begin().map_err(io)? {
                    return Err(BadRecord {
                        place: format!("{path}:{line}"),
                        cause: cause.to_owned(),
                    });
                }
                let stream = LineParser { path, format: LineFormat::FastaRecord, naming, most };
                return Ok(OpenStream::Sequences(stream, Box::new(sequences)));
            }
            Format::Text => LineFormat::Whole,
            Format::Fasta => LineFormat::Fasta,
            Format::JsonLines => LineFormat::Json(self.inputs.fields.clone()),
            Format::Tokens => LineFormat::Tokens,
            Format::Auto | Format::Lines => LineFormat::Text,
        };
        let blocks = match format {
            LineFormat::Whole | LineFormat::Fasta => Blocks::whole(rest, start, most),
            _ => Blocks::new(rest, start, most),
        };
        Ok(OpenStream::Lines(LineParser { path, format, naming, most }, Box::new(blocks)))
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

impl OpenStream {
    /// The input, for messages.
    fn place(&self) -> &str {
        match self {
            Self::Lines(stream, _) | Self::Sequences(stream, _) => &stream.path,
            Self::Rows(table, ..) => &table.path,
        }
    }

    fn next(&mut self) -> Result<Option<Batch>, BadRecord> {
        let (batch, path) = match self {
            Self::Lines(stream, blocks) => {
                let block = blocks.read_block();
                let batch = |block| Batch::Lines(stream.clone(), block);
                (block.map(|block| block.map(batch)), &stream.path)
            }
            Self::Sequences(stream, sequences) => {
                let block = sequences.next();
                let batch = |block| Batch::Sequences(stream.clone(), block);
                (block.map(|block| block.map(batch)), &stream.path)
            }
            Self::Rows(table, rows, begun) => {
                let block = match std::mem::replace(begun, true) {
                    false => Ok(Some(RowBlock::default())),
                    true => rows.next(),
                };
                let batch = |block| Batch::Rows(Arc::clone(table), block);
                (block.map(|block| block.map(batch)), &table.path)
            }
        };
        batch.map_err(|error| BadRecord { place: path.clone(), cause: error.to_string() })
    }
}

/// Reads one file or standard input as one text.
pub fn whole_text(path: &Path, most: usize) -> Result<String, BadRecord> {
    if path.is_dir() {
        let cause = "is a directory; name a file".to_owned();
        return Err(BadRecord { place: path.display().to_string(), cause });
    }
    let reading = Reading::new(Inputs {
        paths: vec![path.to_owned()],
        format: Format::Text,
        sequences: false,
        fields: Fields::default(),
        id_required: false,
        id_prefix: None,
        most,
        walking: WalkOptions::default(),
        leave_out: Vec::new(),
    });
    let mut text = String::new();
    for (batch, _) in reading {
        for part in batch.parse(|record| Ok(record.body.text().unwrap_or_default().to_owned())) {
            text.push_str(&part?);
        }
    }
    Ok(text)
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STANDARD_INPUT
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
