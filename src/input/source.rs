//! What a person names on the command line: files, directories, standard input.

use super::blocks::Blocks;
use super::json::Fields;
use super::lines::{BadRecord, Batch, LineFormat, Naming, Stream};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The name of standard input among paths.
pub(crate) const STANDARD_INPUT: &str = "-";

/// What inputs hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// By name: `.jsonl` and `.ndjson` files hold JSON Lines, others a text. Standard input holds
    /// JSON Lines if its first character is `{`, else a text a line.
    Auto,
    /// Each file is one text.
    Text,
    /// Each line is one text.
    Lines,
    /// Each line is one JSON object.
    JsonLines,
}

/// What to read, and how.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) format: Format,
    pub(crate) fields: Fields,
    /// For records without an id from standard input: this and their line make one.
    pub(crate) id_prefix: Option<String>,
    /// The most bytes of a record: a line, a file, or all of standard input as one text.
    pub(crate) most: usize,
    /// The index itself and what the command writes: no documents where they lie in a directory
    /// that is read.
    pub(crate) leave_out: Vec<PathBuf>,
}

/// Reads inputs one after the other, as batches of raw records.
pub(crate) struct Reading {
    inputs: Inputs,
    waiting: VecDeque<PathBuf>,
    walk: Option<ignore::Walk>,
    stream: Option<(Stream, Blocks<Box<dyn Read + Send>>)>,
    /// Comes after the files that were read before it was found.
    bad: Option<BadRecord>,
}

/// So many whole files make a batch, so that all threads have some.
const FILES: usize = 64;

/// What a path turns out to be.
enum Found {
    Directory,
    /// A text of so many bytes.
    Text(u64),
    Stream(LineFormat),
}

impl Reading {
    pub(crate) fn new(inputs: Inputs) -> Self {
        let waiting = inputs.paths.iter().cloned().collect();
        Self { inputs, waiting, walk: None, stream: None, bad: None }
    }

    /// The bytes of all files that are named, where that is known.
    pub(crate) fn expected_bytes(&self) -> Option<u64> {
        let sizes = self.inputs.paths.iter().map(|path| {
            let found = std::fs::metadata(path).ok()?;
            found.is_file().then_some(found.len())
        });
        sizes.sum()
    }

    /// The next records; `None` at the end. What cannot be read is a batch of its own, and the
    /// rest goes on.
    pub(crate) fn next(&mut self) -> Option<Batch> {
        let mut files = Vec::new();
        loop {
            if let Some((stream, blocks)) = &mut self.stream {
                match blocks.next() {
                    Ok(Some(block)) => return Some(Batch::Lines(stream.clone(), block)),
                    Ok(None) => {}
                    Err(error) => self.bad = Some(bad(&stream.path, &error)),
                }
                self.stream = None;
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
            if self.stream.is_none() && self.walk.is_none() && self.waiting.is_empty() {
                return None;
            }
        }
    }

    /// Takes the next path; returns whether to go on before handing out `files`.
    fn find_more(&mut self, files: &mut Vec<(PathBuf, u64)>) -> bool {
        let (path, in_directory) = match self.walk.as_mut().map(Iterator::next) {
            Some(Some(Ok(entry))) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                match self.is_left_out(entry.path()) {
                    true => return true,
                    false => (entry.into_path(), true),
                }
            }
            Some(Some(Ok(_))) => return true,
            Some(Some(Err(error))) => {
                let cause = error.to_string();
                self.bad = Some(BadRecord { place: "reading a directory".into(), cause });
                return false;
            }
            Some(None) => {
                self.walk = None;
                return true;
            }
            None => match self.waiting.pop_front() {
                Some(path) => (path, false),
                None => return false,
            },
        };
        let started = match self.look_at(&path, in_directory) {
            Ok(Found::Directory) => {
                let mut walk = ignore::WalkBuilder::new(&path);
                walk.sort_by_file_name(Ord::cmp).require_git(false);
                self.walk = Some(walk.build());
                Ok(())
            }
            Ok(Found::Text(size)) => {
                files.push((path, size));
                return true;
            }
            // Files before it come first.
            Ok(Found::Stream(_)) if !files.is_empty() => {
                self.waiting.push_front(path);
                return false;
            }
            Ok(Found::Stream(format)) => self.start(&path, format),
            Err(error) => Err(error),
        };
        if let Err(error) = started {
            self.bad = Some(bad(&path.display().to_string(), &error));
            return false;
        }
        true
    }

    fn is_left_out(&self, path: &Path) -> bool {
        self.inputs.leave_out.iter().any(|other| {
            path.file_name() == other.file_name()
                && path.canonicalize().ok() == other.canonicalize().ok()
        })
    }

    fn look_at(&self, path: &Path, in_directory: bool) -> io::Result<Found> {
        let json = || LineFormat::Json(self.inputs.fields.clone());
        let standard_input = is_standard_input(path);
        let mut size = 0;
        if !standard_input {
            let found = std::fs::metadata(path)?;
            if found.is_dir() {
                return Ok(Found::Directory);
            }
            size = found.len();
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        Ok(match (self.inputs.format, extension) {
            (Format::JsonLines, _) => Found::Stream(json()),
            (Format::Lines, _) => Found::Stream(LineFormat::Text),
            (Format::Auto, Some("jsonl" | "ndjson")) if !in_directory => Found::Stream(json()),
            // The format of standard input shows when it is read.
            (Format::Auto, _) if standard_input => Found::Stream(LineFormat::Text),
            (Format::Text, _) if standard_input => Found::Stream(LineFormat::Whole),
            (Format::Auto | Format::Text, _) => Found::Text(size),
        })
    }

    fn start(&mut self, path: &Path, mut format: LineFormat) -> io::Result<()> {
        let most = self.inputs.most;
        if !is_standard_input(path) {
            let shown = path.display().to_string();
            let naming = match format {
                LineFormat::Json(_) => Naming::Required,
                _ => Naming::Prefix(shown.clone()),
            };
            let file: Box<dyn Read + Send> = Box::new(File::open(path)?);
            let stream = Stream { path: shown, format, naming, most };
            self.stream = Some((stream, Blocks::new(file, Vec::new(), most)));
            return Ok(());
        }
        let mut input = io::stdin();
        let mut start = Vec::new();
        let auto = self.inputs.format == Format::Auto;
        if auto && first_character(&mut input, &mut start, most)? == Some(b'{') {
            format = LineFormat::Json(self.inputs.fields.clone());
        }
        let naming = match &self.inputs.id_prefix {
            Some(prefix) => Naming::Prefix(prefix.clone()),
            None => Naming::Automatic,
        };
        let whole = matches!(format, LineFormat::Whole);
        let stream = Stream { path: "standard input".into(), format, naming, most };
        let input: Box<dyn Read + Send> = Box::new(input);
        let blocks = match whole {
            true => Blocks::whole(input, most),
            false => Blocks::new(input, start, most),
        };
        self.stream = Some((stream, blocks));
        Ok(())
    }
}

/// The text of a file, or of standard input, if it has at most so many bytes.
pub(crate) fn whole_text(path: &Path, most: usize) -> Result<String, BadRecord> {
    if path.is_dir() {
        let cause = "is a directory; name a file".to_owned();
        return Err(BadRecord { place: path.display().to_string(), cause });
    }
    let mut reading = Reading::new(Inputs {
        paths: vec![path.to_owned()],
        format: Format::Text,
        fields: Fields::default(),
        id_prefix: None,
        most,
        leave_out: Vec::new(),
    });
    let mut text = String::new();
    while let Some(batch) = reading.next() {
        for part in batch.parse(|record| Ok(record.text.into_owned())) {
            text.push_str(&part?);
        }
    }
    Ok(text)
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STANDARD_INPUT
}

/// Reads up to the first character that is no white space, if that comes before more bytes than a
/// record may have; what was read stays in `start`.
pub(super) fn first_character(
    input: &mut impl Read,
    start: &mut Vec<u8>,
    most: usize,
) -> io::Result<Option<u8>> {
    let mut buffer = [0; 1024];
    loop {
        let read = match input.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        start.extend_from_slice(&buffer[..read]);
        let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
        if read == 0 || first.is_some() || start.len() > most {
            return Ok(first.copied());
        }
    }
}

fn bad(place: &str, error: &io::Error) -> BadRecord {
    BadRecord { place: place.to_owned(), cause: error.to_string() }
}
