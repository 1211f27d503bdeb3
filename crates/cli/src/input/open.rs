//! Opens files and standard input as streams of records.

use super::batch::Batch;
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
use super::record::{BadRecord, Naming, WANTS_WEIGHTS};
use super::rows::{RowBlock, RowBlocks};
use super::table::Table;
use super::wanted::{Head, Wanted};
use super::warc::{WarcBlocks, WarcParser};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

type CountedRest = DecompressedRest<Counted>;

/// A stream that is being read.
pub(super) enum OpenStream {
    Lines(LineParser, Box<Blocks<CountedRest>>),
    Sequences(LineParser, Box<SequenceBlocks<CountedRest>>),
    /// A table, and whether its header was passed on. The header has a batch of its own, so that a
    /// table without rows has one, too.
    Rows(Arc<Table>, Box<RowBlocks<CountedRest>>, bool),
    Warc(WarcParser, Box<WarcBlocks<CountedRest>>),
    Columns(Columns),
}

/// A stream, and what counts its compressed bytes if it is compressed.
pub(super) type Opened = (OpenStream, Option<Arc<AtomicU64>>);

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
        let opened = self.open_file(&found.path, file, format, found.name(), counter);
        opened.map_err(|error| bad(error.to_string()))?
    }

    /// Opens a file, whose records without an id are named by `name`. The inner error names its
    /// place already.
    fn open_file(
        &self,
        path: &Path,
        file: InputFile,
        mut format: Format,
        name: String,
        counter: &Arc<AtomicU64>,
    ) -> io::Result<Result<Opened, BadRecord>> {
        let left = file.size()?.unwrap_or_default();
        let stream = Counted::new(file.stream()?, left, counter);
        let seekable = format.is_columns() && file.is_seekable();
        let (bytes, file) = (stream.read_so_far(), seekable.then(|| (file, stream.count())));
        let mut content = compression::open(stream, compression::is_named(path))?;
        let packed = content.is_packed().then_some(bytes);
        (content, format) = self.recognized(content, format)?;
        if format == Format::Auto {
            let Decompressed { start, rest } = &mut content;
            format::refuse_data(rest, start, self.most)?;
            format = match format::begins_with_an_object(rest, start, self.most)? {
                true => Format::JsonLines,
                false => Format::Text,
            };
        }
        let naming = match format {
            Format::Text | Format::Fasta => Naming::Path(name),
            // The head of a table shows at once that the wrong column was named.
            Format::FastaRecords => Naming::Required,
            _ if self.requires_id(format) => Naming::Required,
            _ => Naming::Prefix(name),
        };
        let path = path.display().to_string();
        let begun = Begun { path, content, format, naming, file };
        Ok(self.open(begun).map(|stream| (stream, packed)))
    }

    /// Opens standard input.
    pub(super) fn open_standard_input(
        &self,
        mut format: Format,
        counter: &Arc<AtomicU64>,
    ) -> Result<Opened, BadRecord> {
        let path = "standard input".to_owned();
        let input = Counted::new(Box::new(io::stdin()), 0, counter);
        let bytes = input.read_so_far();
        let begun = compression::open(input, false).and_then(|content| {
            let mut content = content;
            (content, format) = self.recognized(content, format)?;
            let Decompressed { start, rest } = &mut content;
            if format == Format::Auto {
                format::refuse_data(rest, start, self.most)?;
                format = match format::first_character(rest, start, self.most)? {
                    Some(b'{') => Format::JsonLines,
                    // FASTQ, which begins with @, is thus refused as a whole, not line by line.
                    Some(b'>' | b';' | b'@') if self.sequences => Format::Fasta,
                    _ => Format::Lines,
                };
            }
            Ok(content)
        });
        let naming = match &self.id_prefix {
            Some(prefix) => Naming::Prefix(prefix.clone()),
            None if self.requires_id(format) => Naming::Required,
            None => Naming::Automatic,
        };
        match begun {
            Ok(content) => {
                let packed = content.is_packed().then_some(bytes);
                let begun = Begun { path, content, format, naming, file: None };
                Ok((self.open(begun)?, packed))
            }
            Err(error) => Err(BadRecord { place: path, cause: error.to_string() }),
        }
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
        let (path, naming) = (name.to_owned(), Naming::Prefix(name.to_owned()));
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
        let most = self.most;
        let Begun { path, content, format, naming, file } = begun;
        let packed = content.is_packed();
        let Decompressed { start, rest } = content;
        let bad = |error: io::Error| BadRecord { place: path.clone(), cause: error.to_string() };
        let format = match format {
            Format::Csv | Format::Tsv => {
                let delimiter = if format == Format::Csv { b',' } else { b'\t' };
                let mut rows = RowBlocks::new(rest, start, delimiter, most);
                let table = Table::begin(&mut rows, path, delimiter, &self.fields, naming, most)?;
                return Ok(OpenStream::Rows(Arc::new(table), Box::new(rows), false));
            }
            Format::Warc if self.fields.weighted => {
                let cause = format!("has no weights, but {WANTS_WEIGHTS}");
                return Err(BadRecord { place: path, cause });
            }
            Format::Parquet | Format::Arrow => {
                let wanted = Wanted {
                    text: self.fields.text.clone(),
                    id: (!self.id_hash || self.id_required).then(|| self.fields.id.clone()),
                    id_required: self.id_required,
                    whole_rows: self.whole_rows,
                };
                let head = Head { path: path.clone(), wanted, naming, most };
                let whole = file.filter(|_| !packed);
                let whole = whole.map(|(file, count)| Seekable::new(file, Some(count)));
                let whole = whole.transpose().map_err(bad)?;
                return Ok(OpenStream::Columns(match (format, whole) {
                    (Format::Arrow, whole) => Columns::arrow(start, Box::new(rest), whole, &head)?,
                    (_, Some(file)) => Columns::parquet(file, &head)?,
                    (_, None) => {
                        let file = Seekable::spooled(&start, rest).map_err(bad)?;
                        Columns::parquet(file, &head)?
                    }
                }));
            }
            Format::Warc => {
                let id_field = self.warc_id.clone();
                let parser = WarcParser { path, id_field, naming, most };
                let records = WarcBlocks::new(rest, start, most);
                return Ok(OpenStream::Warc(parser, Box::new(records)));
            }
            Format::FastaRecords => {
                let mut sequences = SequenceBlocks::new(rest, start, most);
                if let Err((line, cause)) = sequences.begin().map_err(bad)? {
                    let place = format!("{path}:{line}");
                    return Err(BadRecord { place, cause: cause.to_owned() });
                }
                let stream = LineParser { path, format: LineFormat::FastaRecord, naming, most };
                return Ok(OpenStream::Sequences(stream, Box::new(sequences)));
            }
            Format::Text => LineFormat::Whole,
            Format::Fasta => LineFormat::Fasta,
            Format::JsonLines => LineFormat::Json(self.fields.clone()),
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

impl OpenStream {
    /// The input, for messages.
    pub(super) fn place(&self) -> &str {
        match self {
            Self::Lines(stream, _) | Self::Sequences(stream, _) => &stream.path,
            Self::Rows(table, ..) => &table.path,
            Self::Warc(parser, _) => &parser.path,
            Self::Columns(columns) => &columns.table.path,
        }
    }

    /// The next batch of records; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Batch>, BadRecord> {
        let cause = |error: io::Error| error.to_string();
        let batch = match self {
            Self::Lines(stream, blocks) => {
                let batch = |block| Batch::Lines(stream.clone(), block);
                blocks.read_block().map(|block| block.map(batch)).map_err(cause)
            }
            Self::Sequences(stream, sequences) => {
                let batch = |block| Batch::Sequences(stream.clone(), block);
                sequences.next().map(|block| block.map(batch)).map_err(cause)
            }
            Self::Rows(table, rows, begun) => {
                let block = match std::mem::replace(begun, true) {
                    false => Ok(Some(RowBlock::default())),
                    true => rows.next(),
                };
                let batch = |block| Batch::Rows(Arc::clone(table), block);
                block.map(|block| block.map(batch)).map_err(cause)
            }
            Self::Warc(parser, records) => {
                let batch = |block| Batch::Warc(parser.clone(), block);
                records.next().map(|block| block.map(batch)).map_err(cause)
            }
            Self::Columns(columns) => {
                let piece = columns.next();
                let batch = |piece| Batch::Columns(Arc::clone(&columns.table), piece);
                piece.map(|piece| piece.map(batch))
            }
        };
        batch.map_err(|cause| BadRecord { place: self.place().to_owned(), cause })
    }
}
