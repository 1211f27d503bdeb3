//! Opens files and standard input as streams of records.

use super::blocks::Blocks;
use super::columns::{Columns, Seekable};
use super::compression::{self, Decompressed, DecompressedRest};
use super::counted::{Count, Counted};
use super::encoding::decoding;
use super::fasta::SequenceBlocks;
use super::finding::Found;
use super::foreign;
use super::format::{self, Format};
use super::input_file::InputFile;
use super::inputs::Inputs;
use super::lines::{LineFormat, LineParser};
use super::open_stream::OpenStream;
use super::path_id::id_of;
use super::record::{BadRecord, Naming, WANTS_WEIGHTS};
use super::rows::RowBlocks;
use super::table::Table;
use super::wanted::{Head, Wanted};
use super::warc::{WarcBlocks, WarcParser};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// What counts the compressed bytes of a stream, if it is compressed.
type Packed = Option<Arc<AtomicU64>>;

/// A stream, and what counts its compressed bytes.
pub(super) type Opened = (OpenStream, Packed);

/// An input before its records are read.
struct Begun {
    /// Its name in messages.
    path: String,
    content: Decompressed<Counted>,
    format: Format,
    naming: Naming,
    /// The file, if it can be read at any place, and what counts its bytes.
    file: Option<(InputFile, Arc<Count>)>,
}

impl Inputs {
    /// Opens a file that was found.
    pub(super) fn open_found(
        &self,
        found: &Found,
        format: Format,
        counter: &Arc<AtomicU64>,
    ) -> Result<Opened, BadRecord> {
        let bad = |cause| BadRecord { place: found.path.display().to_string(), cause };
        if found.path.to_str().is_none() {
            return Err(bad("its name is not valid UTF-8".to_owned()));
        }
        let file = match &found.remote {
            Some(file) => Arc::clone(file).into(),
            None => InputFile::open(&found.path).map_err(|error| bad(error.to_string()))?,
        };
        // If a hash names the records, this only tells where they are, also if two folders have one
        // name.
        let name = if self.id_hash { id_of(&found.path) } else { found.name() };
        let begun = self.begin_file(&found.path, file, format, name, counter);
        let (begun, packed) = begun.map_err(|error| bad(error.to_string()))?;
        Ok((self.open(begun)?, packed))
    }

    /// Begins a file, whose records without an id are named by `name`.
    fn begin_file(
        &self,
        path: &Path,
        file: InputFile,
        format: Format,
        name: String,
        counter: &Arc<AtomicU64>,
    ) -> io::Result<(Begun, Packed)> {
        let left = file.size()?.unwrap_or_default();
        let stream = Counted::new(file.stream()?, left, counter);
        let seekable = format.is_columns() && file.is_seekable();
        let bytes = stream.read_so_far();
        let file = seekable.then(|| (file, stream.count()));
        let content = compression::open(stream, compression::is_named(path))?;
        let packed = content.is_packed().then_some(bytes);
        let (mut content, mut format) = self.recognized(content, format)?;
        if format == Format::Auto {
            format = self.guess_format_of_file(&mut content)?;
        }
        let naming = match format {
            Format::Text | Format::Fasta => Naming::Path(name),
            Format::FastaRecords if !self.id_hash => Naming::Required,
            // The head of a table shows at once that the wrong column was named.
            _ if self.requires_id(format) => Naming::Required,
            _ => Naming::Prefix(name),
        };
        let path = path.display().to_string();
        Ok((Begun { path, content, format, naming, file }, packed))
    }

    /// The format of a file by its first bytes.
    fn guess_format_of_file(&self, content: &mut Decompressed<Counted>) -> io::Result<Format> {
        let Decompressed { start, rest } = content;
        format::refuse_data(rest, start, self.most)?;
        let is_json = format::begins_with_an_object(rest, start, self.most)?;
        Ok(if is_json { Format::JsonLines } else { Format::Text })
    }

    /// Opens standard input.
    pub(super) fn open_standard_input(
        &self,
        format: Format,
        counter: &Arc<AtomicU64>,
    ) -> Result<Opened, BadRecord> {
        let place = "standard input";
        let (begun, packed) = self
            .begin_standard_input(place, format, counter)
            .map_err(|error| BadRecord { place: place.to_owned(), cause: error.to_string() })?;
        Ok((self.open(begun)?, packed))
    }

    fn begin_standard_input(
        &self,
        place: &str,
        format: Format,
        counter: &Arc<AtomicU64>,
    ) -> io::Result<(Begun, Packed)> {
        let input = Counted::new(Box::new(io::stdin()), 0, counter);
        let bytes = input.read_so_far();
        let (mut content, mut format) =
            self.recognized(compression::open(input, false)?, format)?;
        if format == Format::Auto {
            format = self.guess_format_of_input(&mut content)?;
        }
        let naming = match &self.id_prefix {
            Some(prefix) => Naming::Prefix(prefix.clone()),
            None if self.requires_id(format) => Naming::Required,
            None => Naming::Automatic,
        };
        let packed = content.is_packed().then_some(bytes);
        let begun = Begun { path: place.to_owned(), content, format, naming, file: None };
        Ok((begun, packed))
    }

    /// The format of standard input by its first character.
    fn guess_format_of_input(&self, content: &mut Decompressed<Counted>) -> io::Result<Format> {
        let Decompressed { start, rest } = content;
        format::refuse_data(rest, start, self.most)?;
        Ok(match format::first_character(rest, start, self.most)? {
            Some(b'{') => Format::JsonLines,
            // FASTQ, which begins with @, is thus refused as a whole, not line by line.
            Some(b'>' | b';' | b'@') if self.sequences => Format::Fasta,
            _ => Format::Lines,
        })
    }

    /// Opens any stream, whose records without an id are named by `name`.
    #[cfg(any(test, fuzzing))]
    pub(super) fn open_stream(
        &self,
        stream: Box<dyn Read + Send>,
        name: &str,
    ) -> Result<OpenStream, BadRecord> {
        let bad = |error: io::Error| BadRecord { place: name.into(), cause: error.to_string() };
        let content = compression::open(Counted::new(stream, 0, &Arc::default()), false);
        let (content, format) =
            content.and_then(|content| self.recognized(content, self.format)).map_err(bad)?;
        let path = name.to_owned();
        let naming = Naming::Prefix(path.clone());
        self.open(Begun { path, content, format, naming, file: None })
    }

    /// Tells tables by columns and WARC from texts. Refuses what is neither, and decodes texts.
    fn recognized(
        &self,
        content: Decompressed<Counted>,
        format: Format,
    ) -> io::Result<(Decompressed<Counted>, Format)> {
        let mut content = content;
        let Decompressed { start, rest } = &mut content;
        let found = foreign::look(rest, start, self.encoding.is_some())?;
        let format = foreign::check(format, found)?;
        let Some(encoding) = self.encoding.filter(|_| !format.names_its_encoding()) else {
            return Ok((content, format));
        };
        let bytes = io::Cursor::new(content.start).chain(content.rest);
        // The bytes are counted as they were before.
        let text = Counted::new(decoding(bytes, encoding), 0, &Arc::default());
        Ok((Decompressed { start: Vec::new(), rest: DecompressedRest::Plain(text) }, format))
    }

    /// Whether a record of this format must have an id.
    fn requires_id(&self, format: Format) -> bool {
        self.id_required && format.has_fields()
    }

    fn open(&self, begun: Begun) -> Result<OpenStream, BadRecord> {
        match begun.format {
            Format::Csv => self.open_table(begun, b','),
            Format::Tsv => self.open_table(begun, b'\t'),
            Format::Parquet | Format::Arrow => self.open_columns(begun),
            Format::Warc => self.open_warc(begun),
            Format::FastaRecords => self.open_sequences(begun),
            Format::Text => Ok(self.open_lines(begun, LineFormat::Whole)),
            Format::Fasta => Ok(self.open_lines(begun, LineFormat::Fasta)),
            Format::JsonLines => Ok(self.open_lines(begun, LineFormat::Json(self.fields.clone()))),
            Format::Tokens => Ok(self.open_lines(begun, LineFormat::Tokens)),
            Format::Auto | Format::Lines => Ok(self.open_lines(begun, LineFormat::Text)),
        }
    }

    fn open_table(&self, begun: Begun, delimiter: u8) -> Result<OpenStream, BadRecord> {
        let Begun { path, content: Decompressed { start, rest }, naming, .. } = begun;
        let mut rows = RowBlocks::new(rest, start, delimiter, self.most);
        let table = Table::begin(&mut rows, path, delimiter, &self.fields, naming, self.most)?;
        Ok(OpenStream::Rows(Arc::new(table), Box::new(rows), false))
    }

    /// Opens a table by columns. A file is read where its columns are; anything else is read from
    /// its beginning, or copied first.
    fn open_columns(&self, begun: Begun) -> Result<OpenStream, BadRecord> {
        let Begun { path, content, format, naming, file } = begun;
        let bad = |error: io::Error| BadRecord { place: path.clone(), cause: error.to_string() };
        let file = file.filter(|_| !content.is_packed());
        let file = file.map(|(file, count)| Seekable::new(file, Some(count)));
        let file = file.transpose().map_err(bad)?;
        let wanted = Wanted {
            text: self.fields.text.clone(),
            id: self.fields.id.clone(),
            id_required: self.id_required,
            whole_rows: self.whole_rows,
        };
        let head = Head { path: path.clone(), wanted, naming, most: self.most };
        let Decompressed { start, rest } = content;
        Ok(OpenStream::Columns(match (format, file) {
            (Format::Arrow, file) => Columns::arrow(start, Box::new(rest), file, &head)?,
            (_, Some(file)) => Columns::parquet(file, &head)?,
            (_, None) => {
                let file = Seekable::spooled(&start, rest).map_err(bad)?;
                Columns::parquet(file, &head)?
            }
        }))
    }

    fn open_warc(&self, begun: Begun) -> Result<OpenStream, BadRecord> {
        let Begun { path, content: Decompressed { start, rest }, naming, .. } = begun;
        if self.fields.weighted {
            let cause = format!("has no weights, but {WANTS_WEIGHTS}");
            return Err(BadRecord { place: path, cause });
        }
        let parser = WarcParser { path, id_field: self.warc_id.clone(), naming, most: self.most };
        let records = WarcBlocks::new(rest, start, self.most);
        Ok(OpenStream::Warc(parser, Box::new(records)))
    }

    /// Opens a file of FASTA or FASTQ whose records are documents.
    fn open_sequences(&self, begun: Begun) -> Result<OpenStream, BadRecord> {
        let Begun { path, content: Decompressed { start, rest }, naming, .. } = begun;
        let mut sequences = SequenceBlocks::new(rest, start, self.most);
        match sequences.begin() {
            Ok(Ok(())) => {}
            Ok(Err((line, cause))) => {
                let place = format!("{path}:{line}");
                return Err(BadRecord { place, cause: cause.to_owned() });
            }
            Err(error) => return Err(BadRecord { place: path, cause: error.to_string() }),
        }
        let format = LineFormat::FastaRecord;
        let parser = LineParser { path, format, naming, most: self.most };
        Ok(OpenStream::Sequences(parser, Box::new(sequences)))
    }

    fn open_lines(&self, begun: Begun, format: LineFormat) -> OpenStream {
        let Begun { path, content: Decompressed { start, rest }, naming, .. } = begun;
        let blocks = match format {
            LineFormat::Whole | LineFormat::Fasta => Blocks::whole(rest, start, self.most),
            _ => Blocks::new(rest, start, self.most),
        };
        let parser = LineParser { path, format, naming, most: self.most };
        OpenStream::Lines(parser, Box::new(blocks))
    }
}
